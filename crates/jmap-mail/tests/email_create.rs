//! Emails that come in: Email/import of blobs, and Email/set with properties.

use crate::support::{Fixture, message, text};
use jmap::{Id, Limits, Request};
use jmap_mail::CAPABILITIES;
use serde_json::{Value, json};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,S", &message("one", 1, "", "first"));
    fixture.put("mail/.Archive", "2.x:2,S", &message("two", 2, "", "second"));
    fixture.update();
    fixture
}

fn import(fixture: &Fixture, object: Value) -> Value {
    fixture.call("Email/import", json!({"emails": {"k": object}}))
}

/// Creates an email in the archive.
fn create(fixture: &Fixture, mut object: Value) -> Value {
    object["mailboxIds"] = json!({fixture.mailbox("Archive"): true});
    fixture.call("Email/set", json!({"create": {"k": object}}))
}

/// Returns the text of the message of an email.
fn text_of(fixture: &Fixture, id: &Value) -> String {
    let blob = Id::new(text(id).replacen('M', "B", 1)).expect("an id");
    let content = fixture.account().blob(&blob).expect("a message");
    String::from_utf8(content.into_bytes().expect("it is small")).expect("text")
}

#[test]
fn blobs_are_imported_with_mailboxes_and_keywords() {
    let fixture = fixture();
    let (archive, inbox) = (fixture.mailbox("Archive"), fixture.mailbox("Inbox"));
    fixture.upload("U1", message("new", 9, "", "ninth").as_bytes());
    fixture.upload("U2", b"Subject: no date\n\nat all\n");
    fixture.upload("U3", b" \n");
    fixture.upload("U4", b"no header at all");
    let old = fixture.state();
    let mailboxes = json!({archive: true, inbox.clone(): true});
    let both = json!({"blobId": "U1", "mailboxIds": mailboxes, "keywords": {"$seen": true, "todo": true}});
    let response = import(&fixture, both.clone());
    let created = &response["created"]["k"];
    assert_eq!((&response["oldState"], created["id"].is_string()), (&json!(old), true), "{response}");
    assert_eq!(created["size"], message("new", 9, "", "ninth").len());
    let email = fixture.call("Email/get", json!({"ids": [created["id"]]}))["list"][0].take();
    assert_eq!((&email["mailboxIds"], &email["subject"]), (&mailboxes, &json!("new")));
    assert_eq!(email["keywords"], json!({"$seen": true, "todo": true}));
    assert_eq!((fixture.files("mail").len(), fixture.files("mail/.Archive").len()), (2, 2));
    // A second time it is there already.
    let error = &import(&fixture, both)["notCreated"]["k"];
    assert_eq!((&error["type"], &error["existingId"]), (&json!("alreadyExists"), &created["id"]));
    // The date of a message without one is that of its reception.
    let received = "2020-02-03T04:05:06Z";
    let dated = json!({"blobId": "U2", "mailboxIds": {inbox.clone(): true}, "receivedAt": received});
    let id = import(&fixture, dated)["created"]["k"]["id"].take();
    assert_eq!(fixture.call("Email/get", json!({"ids": [id]}))["list"][0]["receivedAt"], received);
    assert!(fixture.files("mail").iter().any(|name| name.starts_with("cur/1580702706.")));
    for (object, kind, properties) in [
        (
            json!({"blobId": "U9", "mailboxIds": {inbox.clone(): true}}),
            "invalidProperties",
            json!(["blobId"]),
        ),
        (json!({"mailboxIds": {}}), "invalidProperties", json!(["blobId", "mailboxIds"])),
        (
            json!({"blobId": "U1", "mailboxIds": {inbox.clone(): true}, "x": 1, "keywords": {"a b": true}}),
            "invalidProperties",
            json!(["x", "keywords"]),
        ),
        (
            json!({"blobId": "U1", "mailboxIds": {inbox.clone(): true}, "receivedAt": "now"}),
            "invalidProperties",
            json!(["receivedAt"]),
        ),
        (json!({"blobId": "U3", "mailboxIds": {inbox.clone(): true}}), "invalidEmail", Value::Null),
        (json!({"blobId": "U4", "mailboxIds": {inbox: true}}), "invalidEmail", Value::Null),
    ] {
        let error = &import(&fixture, object.clone())["notCreated"]["k"];
        assert_eq!((&error["type"], &error["properties"]), (&json!(kind), &properties), "{object}");
    }
    assert_eq!(fixture.error("Email/import", json!({"emails": {}, "ifInState": "x"})), "stateMismatch");
}

#[test]
fn an_imported_message_is_used_by_later_calls_and_a_message_is_a_blob() {
    let fixture = fixture();
    let blob = fixture.id_of("one").replacen('M', "B", 1);
    let inbox = fixture.mailbox("Inbox");
    let email = json!({"blobId": blob, "mailboxIds": {inbox.clone(): true}});
    let error = &import(&fixture, email)["notCreated"]["k"];
    assert_eq!((&error["type"], text(&error["existingId"])), (&json!("alreadyExists"), fixture.id_of("one")));
    fixture.upload("U1", message("new", 9, "", "ninth").as_bytes());
    let emails = json!({"k": {"blobId": "U1", "mailboxIds": {inbox: true}}});
    let answers = fixture.answers(&json!([
        ["Email/import", {"accountId": "mail", "emails": emails}, "a"],
        ["Email/set", {"accountId": "mail", "update": {"#k": {"keywords/$flagged": true}}}, "b"],
        ["Email/get", {"accountId": "mail", "ids": ["#k"], "properties": ["keywords"]}, "c"],
    ]));
    assert_eq!(answers[2][1]["list"][0]["keywords"], json!({"$flagged": true}), "{answers}");
    let id = answers[2][1]["list"][0]["id"].clone();
    let twice = json!({"using": CAPABILITIES, "createdIds": {"k": id}, "methodCalls": [
        ["Email/set", {"accountId": "mail", "destroy": ["#k", id]}, "a"],
    ]});
    let limits = Limits::default();
    let request = Request::read(twice.to_string().as_bytes(), &limits, &CAPABILITIES).expect("a request");
    let answers = jmap::run(request, &limits, &mut fixture.account()).into_json();
    assert_eq!(answers["methodResponses"][0][1]["destroyed"], json!([id]), "it has two names");
    let same = json!({"fromAccountId": "mail", "create": {}});
    assert_eq!(fixture.error("Email/copy", same), "invalidArguments");
    let other = json!({"fromAccountId": "other", "create": {}});
    assert_eq!(fixture.error("Email/copy", other), "fromAccountNotFound");
}

#[test]
fn an_email_is_made_of_properties() {
    let fixture = fixture();
    fixture.upload("U1", b"\x00\x01\xff picture");
    fixture.upload("U2", b"some attached text\n");
    fixture.upload("U3", message("inner", 3, "", "inside").as_bytes());
    let response = create(
        &fixture,
        json!({
            "keywords": {"$draft": true, "$seen": true},
            "from": [{"name": "Ana \"A\" It\u{f6}", "email": "ana@example.org"}],
            "to": [{"email": "bo@example.org"}], "bcc": [{"name": null, "email": "cy@example.org"}],
            "subject": "Gr\u{fc}\u{df}e", "sentAt": "2025-03-05T10:00:00+01:00", "inReplyTo": ["one@x"],
            "header:X-Project:asText": "north", "header:X-Two:all": ["a", "b"],
            "textBody": [{"partId": "t", "type": "text/plain"}],
            "htmlBody": [{"partId": "h", "type": "text/html"}],
            "attachments": [
                {"blobId": "U1", "type": "image/png", "name": "p.png", "disposition": "inline", "cid": "p@x"},
                {"blobId": "U2", "type": "text/plain", "name": "n\u{f6}te.txt", "charset": "utf-8"},
                {"blobId": "U3", "type": "message/rfc822"},
            ],
            "bodyValues": {"t": {"value": "Hello,\nb\u{f6}o"}, "h": {"value": "<img src=\"cid:p@x\">"}},
        }),
    );
    let created = &response["created"]["k"];
    let bytes = text_of(&fixture, &created["id"]);
    assert_eq!(created["size"], bytes.len(), "{response}");
    let email = mail::Email::of_bytes(bytes.as_bytes());
    let field = |name: &str| {
        let fields = email.header_fields(&email.structure);
        fields
            .iter()
            .filter(|field| field.name() == name)
            .map(mail::HeaderField::text)
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(field("Subject"), "Gr\u{fc}\u{df}e");
    assert_eq!(field("Date"), "Wed, 5 Mar 2025 10:00:00 +0100");
    assert_eq!((field("In-Reply-To"), field("X-Two")), ("<one@x>".to_owned(), "a|b".to_owned()));
    assert!(field("Message-ID").ends_with("@example.org>"));
    assert_eq!((field("Bcc"), field("MIME-Version")), ("<cy@example.org>".to_owned(), "1.0".to_owned()));
    let shape = |part: &mail::BodyPart| {
        fn shape(part: &mail::BodyPart) -> String {
            let parts: Vec<String> = part.sub_parts.iter().map(shape).collect();
            if parts.is_empty() { part.mime.clone() } else { format!("{}({})", part.mime, parts.join(" ")) }
        }
        shape(part)
    };
    assert_eq!(
        shape(&email.structure),
        "multipart/mixed(multipart/alternative(text/plain multipart/related(text/html image/png)) \
         text/plain message/rfc822)"
    );
    let parts = &email.structure.sub_parts;
    assert_eq!(email.content(&parts[0].sub_parts[1].sub_parts[1]), b"\x00\x01\xff picture");
    assert_eq!(parts[1].name.as_deref(), Some("n\u{f6}te.txt"));
    assert_eq!(parts[1].disposition.as_deref(), Some("attachment"));
    assert_eq!(email.content(&parts[2]), message("inner", 3, "", "inside").as_bytes());
    let found = fixture.call("Email/get", json!({"ids": [created["id"]]}))["list"][0].take();
    assert_eq!(found["keywords"], json!({"$draft": true, "$seen": true}));
    assert_eq!(
        (&found["from"][0]["name"], &found["hasAttachment"]),
        (&json!("Ana \"A\" It\u{f6}"), &json!(true))
    );
    assert!(fixture.files("mail/.Archive").iter().any(|name| name.ends_with(":2,DS")));
}

#[test]
fn a_structure_is_written_as_it_is_given() {
    let fixture = fixture();
    let structure = json!({"type": "multipart/signed", "header:X-Part:asText": "top", "subParts": [
        {"type": "multipart/mixed", "subParts": [
            {"partId": "1", "type": "text/plain", "language": ["de", "en"], "location": "a/b"},
            {"partId": "2", "type": "text/csv", "disposition": "attachment", "name": "t.csv"},
        ]},
        {"blobId": "U1", "type": "application/pgp-signature"},
    ]});
    fixture.upload("U1", b"signature");
    let values = json!({"1": {"value": "a"}, "2": {"value": "b;c"}});
    let response = create(&fixture, json!({"bodyStructure": structure, "bodyValues": values}));
    let bytes = text_of(&fixture, &response["created"]["k"]["id"]);
    let email = mail::Email::of_bytes(bytes.as_bytes());
    let [mixed, signature] = email.structure.sub_parts.as_slice() else { panic!("{bytes}") };
    assert_eq!(
        (email.structure.mime.as_str(), signature.mime.as_str()),
        ("multipart/signed", "application/pgp-signature")
    );
    assert_eq!(mixed.sub_parts[0].languages, Some(vec!["de".to_owned(), "en".to_owned()]));
    assert_eq!(mixed.sub_parts[1].name.as_deref(), Some("t.csv"));
    assert_eq!(email.content(&mixed.sub_parts[1]), b"b;c");
    assert!(bytes.contains("X-Part: top\n") && bytes.starts_with("Date: "), "{bytes}");
    // Without any body there is an empty one.
    let response = create(&fixture, json!({"subject": "empty"}));
    assert!(text_of(&fixture, &response["created"]["k"]["id"]).contains("Subject: empty\n"), "{response}");
}

#[test]
fn properties_that_cannot_be_written_are_refused() {
    let fixture = fixture();
    fixture.upload("U1", b"x");
    let value = json!({"a": {"value": "x"}, "cut": {"value": "x", "isTruncated": true}});
    for (object, properties) in [
        (json!({"subject": "x\nBcc: y@z"}), json!(["subject"])),
        (json!({"headers": []}), json!(["headers"])),
        (json!({"id": "M1", "header:Content-Type": "text/html"}), json!(["id", "header:Content-Type"])),
        (
            json!({"from": [{"email": "a@x"}], "header:From:asAddresses": [{"email": "a@x"}]}),
            json!(["header:From:asAddresses"]),
        ),
        (json!({"textBody": [{"partId": "a"}, {"partId": "a"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "a", "type": "text/html"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "none"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "cut"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "a", "blobId": "U1"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "a", "charset": "utf-8"}]}), json!(["textBody"])),
        (json!({"textBody": [{"partId": "a", "size": 1}]}), json!(["textBody"])),
        (json!({"attachments": [{"blobId": "U1", "headers": []}]}), json!(["attachments"])),
        (json!({"attachments": [{"blobId": "U1", "type": "x"}]}), json!(["attachments"])),
        (json!({"attachments": [{"blobId": "U1", "name": "a\nb"}]}), json!(["attachments"])),
        (json!({"attachments": [{"blobId": "U1", "disposition": "x; y"}]}), json!(["attachments"])),
        (
            json!({"attachments": [{"blobId": "U1", "header:Content-Transfer-Encoding": "8bit"}]}),
            json!(["attachments"]),
        ),
        (json!({"bodyStructure": {"partId": "a"}, "textBody": []}), json!(["textBody"])),
        (json!({"bodyStructure": {"type": "multipart/mixed", "partId": "a"}}), json!(["bodyStructure"])),
        (json!({"bodyStructure": {"type": "text/plain", "subParts": []}}), json!(["bodyStructure"])),
    ] {
        let mut all = object.clone();
        all["bodyValues"] = value.clone();
        let error = create(&fixture, all)["notCreated"]["k"].take();
        assert_eq!(
            (&error["type"], &error["properties"]),
            (&json!("invalidProperties"), &properties),
            "{object}"
        );
    }
    let parts = json!([{"blobId": "U8"}, {"blobId": "U1"}, {"blobId": "U9"}]);
    let error = create(&fixture, json!({"attachments": parts}))["notCreated"]["k"].take();
    assert_eq!((&error["type"], &error["notFound"]), (&json!("blobNotFound"), &json!(["U8", "U9"])));
    let nowhere = json!({"create": {"k": {"subject": "x"}}});
    assert_eq!(fixture.call("Email/set", nowhere)["notCreated"]["k"]["properties"], json!(["mailboxIds"]));
    fixture.upload("U2", &vec![b'x'; 30_000_000]);
    let error = create(&fixture, json!({"attachments": [{"blobId": "U2"}, {"blobId": "U2"}]}))["notCreated"]
        ["k"]
        .take();
    assert_eq!((&error["type"], &error["maxSize"]), (&json!("tooLarge"), &json!(50_000_000)));
    assert_eq!(fixture.files("mail/.Archive").len(), 1, "nothing was stored");
}
