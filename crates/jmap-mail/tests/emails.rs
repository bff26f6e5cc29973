//! Email/get, Thread/get, SearchSnippet/get, blobs, and what is refused.

use crate::support::{Fixture, answers_within, message, text};
use jmap::Limits;
use serde_json::{Value, json};
use std::fs;

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put(
        "mail",
        "1.x:2,FT",
        &message("one", 1, "Cc: Cy <cy@example.org>\n", "The first boat <b>sails</b>."),
    );
    fixture.put(
        "mail/Other",
        "2.x:2,S",
        &message("one", 1, "Cc: Cy <cy@example.org>\n", "The first boat <b>sails</b>."),
    );
    fixture.put(
        "mail/Other",
        "3.x:2,",
        &message("two", 2, "In-Reply-To: <one@x>\nList-Id: <l.x>\n", "Answer"),
    );
    fixture.put("mail", "4.x:2,R", &message("two", 2, "In-Reply-To: <one@x>\n", "Answer"));
    fixture.update();
    fixture
}

#[test]
fn an_email_is_a_content_with_all_its_files() {
    let fixture = fixture();
    fixture.tag("subject:one", "To/Dö");
    let (inbox, other) = (fixture.mailbox("Inbox"), fixture.mailbox("Other"));
    let id = fixture.id_of("one");
    let properties = json!([
        "blobId",
        "threadId",
        "mailboxIds",
        "keywords",
        "size",
        "receivedAt",
        "messageId",
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "hasAttachment",
        "preview",
    ]);
    let found = fixture.call("Email/get", json!({"ids": [id, "Mab", "x"], "properties": properties}));
    assert_eq!(found["notFound"], json!(["Mab", "x"]));
    let mut email = found["list"][0].clone();
    assert!(text(&email["threadId"].take()).starts_with('T'));
    let expected = json!({
        "id": id, "blobId": id.replacen('M', "B", 1), "threadId": null,
        "mailboxIds": {inbox: true, other: true},
        "keywords": {"$flagged": true, "$seen": true, "to/d=c3=b6": true},
        "size": 170, "receivedAt": "2025-03-01T10:00:00Z", "messageId": ["one@x"],
        "from": [{"name": "Ana Ito", "email": "ana@example.org"}],
        "to": [{"name": null, "email": "bo@example.org"}],
        "cc": [{"name": "Cy", "email": "cy@example.org"}], "bcc": null,
        "subject": "one", "hasAttachment": false, "preview": "The first boat <b>sails</b>.",
    });
    assert_eq!(email, expected);
    let unknown = json!({"ids": [id], "properties": ["body"]});
    assert_eq!(fixture.error("Email/get", unknown), "invalidArguments");
}

/// Two copies that read the same, one of them from a list: each has its own files and flags.
#[test]
fn copies_are_emails_of_their_own() {
    let fixture = fixture();
    let found = fixture.call("Email/query", json!({"filter": {"subject": "two"}, "calculateTotal": true}));
    assert_eq!(found["total"], 2);
    let properties = json!(["keywords", "mailboxIds"]);
    let emails = fixture.call("Email/get", json!({"ids": found["ids"], "properties": properties}));
    let mut seen: Vec<String> = emails["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|email| {
            assert_eq!(email["mailboxIds"].as_object().unwrap().len(), 1);
            email["keywords"].to_string()
        })
        .collect();
    seen.sort();
    assert_eq!(seen, ["{\"$answered\":true}", "{}"]);
    let answered = json!({"filter": {"hasKeyword": "$answered"}, "calculateTotal": true});
    assert_eq!(fixture.call("Email/query", answered)["total"], 1);
    let inbox = json!({"filter": {"inMailbox": fixture.mailbox("Inbox"), "subject": "two"}});
    assert_eq!(fixture.subjects(inbox), "two");
}

#[test]
fn a_thread_has_its_emails_oldest_first() {
    let fixture = fixture();
    let gone = fixture.put("mail", "5.x:2,", &message("gone", 3, "In-Reply-To: <one@x>\n", ""));
    fixture.update();
    fs::remove_file(gone).expect("a file");
    fixture.update();
    let calls = json!([
        ["Email/query", {"accountId": "mail", "filter": {"subject": "two"}, "limit": 1}, "q"],
        ["Email/get", {"accountId": "mail", "properties": ["threadId"],
            "#ids": {"resultOf": "q", "name": "Email/query", "path": "/ids"}}, "e"],
        ["Thread/get", {"accountId": "mail",
            "#ids": {"resultOf": "e", "name": "Email/get", "path": "/list/*/threadId"}}, "t"],
    ]);
    let thread = fixture.answers(&calls)[2][1]["list"][0].take();
    assert_eq!(fixture.subjects_of(&thread["emailIds"]), "one two two");
    assert_eq!(thread["emailIds"].as_array().map(Vec::len), Some(3));
    let none = fixture.call("Thread/get", json!({"ids": ["T0000000000000001", "T1"]}));
    assert_eq!(none["notFound"].as_array().expect("an array").len(), 2);
}

#[test]
fn snippets_mark_words_of_subject_and_text() {
    let fixture = fixture();
    let id = fixture.id_of("one");
    let snippet = |filter| fixture.call("SearchSnippet/get", json!({"filter": filter, "emailIds": [id]}));
    let both = &snippet(json!({"text": "ONE boat"}))["list"][0];
    assert_eq!(both["subject"], "<mark>one</mark>");
    assert_eq!(both["preview"], "The first <mark>boat</mark> &lt;b&gt;sails&lt;/b&gt;.");
    let not = json!({"operator": "NOT", "conditions": [{"text": "one"}]});
    assert_eq!(snippet(not)["list"][0], json!({"emailId": id, "subject": null, "preview": null}));
    let twice = json!({"filter": {}, "emailIds": [id, "M1", id, "M1"]});
    let twice = fixture.call("SearchSnippet/get", twice);
    assert_eq!((twice["list"].as_array().map(Vec::len), &twice["notFound"]), (Some(1), &json!(["M1"])));
    let missing = fixture.call("SearchSnippet/get", json!({"filter": null, "emailIds": ["M1"]}));
    assert_eq!(missing["notFound"], json!(["M1"]));
}

#[test]
fn what_is_not_there_is_refused() {
    let fixture = fixture();
    assert_eq!(fixture.error("Email/sing", json!({})), "unknownMethod");
    let other = json!([["Email/get", {"accountId": "x", "ids": []}, "c"]]);
    assert_eq!(fixture.answers(&other)[0][1]["type"], "accountNotFound");
}

/// Senders decide how many recipients a message has, and an object takes many times the memory of its JSON.
#[test]
fn no_more_emails_are_got_than_the_response_has_room_for() {
    let fixture = Fixture::new(&["mail"]);
    let many: Vec<String> = (0..5_000).map(|number| format!("r{number}@example.org")).collect();
    for name in ["one", "two", "three"] {
        let recipients = format!("Cc: {}\n", many.join(",\n "));
        fixture.put("mail", &format!("{name}:2,"), &message(name, 1, &recipients, ""));
    }
    fixture.update();
    let ids = fixture.call("Email/query", json!({}))["ids"].take();
    let limits = Limits { response_bytes: 8 << 20, ..Limits::default() };
    let get =
        |ids: &Value| json!(["Email/get", {"accountId": "mail", "ids": ids, "properties": ["cc"]}, "c"]);
    let answers = |calls: Value| answers_within(&mut fixture.account(), &calls, &limits);
    let count = |answer: &Value| answer[1]["list"].as_array().map(Vec::len);
    let one = get(&json!([ids[0]]));
    let answers = answers(json!([get(&ids), one, one, one]));
    assert_eq!(answers[0][1]["type"], "requestTooLarge");
    // What was refused takes no room.
    assert_eq!([1, 2].map(|place| count(&answers[place])), [Some(1), Some(1)]);
    assert_eq!(answers[3][1]["type"], "requestTooLarge");
    assert_eq!(count(&fixture.answers(&json!([get(&ids)]))[0]), Some(3));
}
