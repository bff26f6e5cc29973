//! Email/parse: uploads, messages in messages, and what is no message.

use crate::support::{Fixture, answers_of, text};
use jmap::Limits;
use jmap_mail::{UPLOADS_BYTES_MAX, Uploads};
use serde_json::{Value, json};
use std::time::SystemTime;

/// A message with one in it, which has an attachment, and a file that is no message.
const MESSAGE: &str = "Subject: outer\nContent-Type: multipart/mixed; boundary=a\n\n\
    --a\nContent-Type: message/rfc822\n\nFrom: Ana <ana@example.org>\nSubject: inner\nMessage-ID: <i@x>\n\
    Date: 1 Mar 2025 10:00:00 +0100\nContent-Type: multipart/mixed; boundary=b\n\n\
    --b\n\nfirst words\n\
    --b\nContent-Type: a/b; name=x\nContent-Disposition: attachment\n\nattached\n--b--\n\
    --a\nContent-Type: a/b\n\nno message\n--a--\n";

/// Answers one call for an account with an upload.
fn call(fixture: &Fixture, upload: &str, method: &str, mut arguments: Value) -> (String, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    let uploads = Uploads::new(directory.path(), &Limits::default(), UPLOADS_BYTES_MAX);
    let told = uploads.put(upload.as_bytes(), "a/b", SystemTime::now()).expect("room");
    let id = text(&told["blobId"]);
    for given in arguments["blobIds"].as_array_mut().into_iter().flatten() {
        if given == "upload" {
            *given = id.clone().into();
        }
    }
    arguments["accountId"] = "mail".into();
    let mut account = fixture.account().with_uploads(&uploads);
    (id, answers_of(&mut account, &json!([[method, arguments, "c"]]))[0][1].take())
}

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,S", MESSAGE);
    fixture.update();
    fixture
}

#[test]
fn a_message_in_a_message_is_an_email() {
    let fixture = fixture();
    let parts = fixture.email(json!(["attachments"]), json!({}))["attachments"].take();
    let (inner, picture) = (text(&parts[0]["blobId"]), text(&parts[1]["blobId"]));
    let arguments = json!({
        "blobIds": [inner, picture, inner, "Bx", "x", picture, "x"], "fetchTextBodyValues": true,
        "bodyProperties": ["partId", "blobId", "type"],
    });
    let (_, found) = call(&fixture, "", "Email/parse", arguments);
    let leaf = |number: usize, mime: &str| {
        let blob = format!("{inner}-{number}");
        json!({"partId": number.to_string(), "blobId": blob, "type": mime})
    };
    let expected = json!({
        "messageId": ["i@x"], "inReplyTo": null, "references": null, "sender": null,
        "from": [{"name": "Ana", "email": "ana@example.org"}], "to": null, "cc": null, "bcc": null,
        "replyTo": null, "subject": "inner", "sentAt": "2025-03-01T10:00:00+01:00", "hasAttachment": true,
        "preview": "first words",
        "bodyValues": {"1": {"value": "first words", "isEncodingProblem": false, "isTruncated": false}},
        "textBody": [leaf(1, "text/plain")], "htmlBody": [leaf(1, "text/plain")],
        "attachments": [leaf(2, "a/b")],
    });
    assert_eq!(found["parsed"], json!({inner: expected}));
    assert_eq!((&found["notParsable"], &found["notFound"]), (&json!([picture]), &json!(["Bx", "x"])));
}

#[test]
fn an_upload_is_an_email_without_what_the_index_has() {
    let fixture = fixture();
    let properties = json!([
        "id",
        "blobId",
        "threadId",
        "mailboxIds",
        "keywords",
        "size",
        "receivedAt",
        "subject",
        "header:SUBJECT:all",
    ]);
    let arguments = json!({"blobIds": ["upload"], "properties": properties});
    let (id, found) = call(&fixture, "Subject: up\u{308}\n\nText", "Email/parse", arguments);
    let expected = json!({
        "id": null, "blobId": id, "threadId": null, "mailboxIds": null, "keywords": null, "size": 19,
        "receivedAt": null, "subject": "up\u{308}", "header:SUBJECT:all": [" up\u{308}"],
    });
    assert_eq!(found["parsed"][&id], expected);
    assert_eq!((&found["notParsable"], &found["notFound"]), (&Value::Null, &Value::Null));
    let (id, found) = call(&fixture, "just text", "Email/parse", json!({"blobIds": ["upload"]}));
    assert_eq!((&found["parsed"], &found["notParsable"]), (&Value::Null, &json!([id])));
}

#[test]
fn wrong_arguments_are_refused() {
    let fixture = fixture();
    let error = |arguments: Value| fixture.error("Email/parse", arguments);
    assert_eq!(error(json!({})), "invalidArguments");
    assert_eq!(error(json!({"blobIds": null})), "invalidArguments");
    assert_eq!(error(json!({"blobIds": ["a b"]})), "invalidArguments");
    assert_eq!(error(json!({"blobIds": [], "x": 1})), "invalidArguments");
    assert_eq!(error(json!({"blobIds": [], "properties": ["header:From:asDate"]})), "invalidArguments");
    assert_eq!(error(json!({"blobIds": vec!["x"; 501]})), "requestTooLarge");
    assert_eq!(fixture.call("Email/parse", json!({"blobIds": []}))["parsed"], Value::Null);
}

/// Parts count as much as they have bytes.
#[test]
fn a_request_parses_no_more_than_its_limit() {
    let fixture = Fixture::new(&["mail"]);
    let inner = format!("--a\nContent-Type: message/rfc822\n\nSubject: x\n\n{}\n", "word ".repeat(1_000));
    fixture.put(
        "mail",
        "1.x:2,S",
        &format!("Content-Type: multipart/mixed; boundary=a\n\n{inner}{inner}--a--\n"),
    );
    fixture.update();
    let attachments = fixture.email(json!(["attachments"]), json!({}))["attachments"].take();
    let blobs = [&attachments[0]["blobId"], &attachments[1]["blobId"]];
    let parse = |limit: u64| {
        let arguments = json!({"accountId": "mail", "blobIds": blobs, "properties": ["subject"]});
        let mut account = fixture.account().with_read_limit(limit);
        answers_of(&mut account, &json!([["Email/parse", arguments, "c"]]))[0][1].take()
    };
    assert_eq!(parse(25_000)["parsed"].as_object().map(serde_json::Map::len), Some(2));
    assert_eq!(parse(15_000)["type"], "requestTooLarge");
}
