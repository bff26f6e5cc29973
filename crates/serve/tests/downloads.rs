//! Downloads: the bytes, and the fields that keep a browser from acting on them.

use crate::support::{Fixture, json_of, message};
use serde_json::json;
use std::fs;

/// Returns the id of the blob of the only message.
fn blob(fixture: &Fixture) -> String {
    let answers = fixture.answers(json!([
        ["Email/query", { "accountId": "mail" }, "a"],
        ["Email/get", { "accountId": "mail", "properties": ["blobId"],
            "#ids": { "resultOf": "a", "name": "Email/query", "path": "/ids" } }, "b"],
    ]));
    answers["methodResponses"][1][1]["list"][0]["blobId"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_is_downloaded_as_a_file_that_nobody_shows() {
    let fixture = Fixture::new();
    let path = format!("/jmap/download/mail/{}/a%20%22b%22.eml", blob(&fixture));
    let reply = fixture.get(&format!("{path}?type=message/rfc822"));
    assert_eq!((reply.status, reply.text()), (200, message("one").as_str()));
    for (name, value) in [
        ("content-type", "message/rfc822"),
        ("content-disposition", "attachment; filename=\"a _b_.eml\"; filename*=UTF-8''a%20%22b%22.eml"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'; frame-ancestors 'none'"),
        ("cache-control", "private, max-age=31536000, immutable"),
    ] {
        assert_eq!(reply.field(name), Some(value));
    }
    let head = fixture.connect().ask(&fixture.head(&format!("HEAD {path}?type=message/rfc822"), &[]));
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.field("content-length"), Some(message("one").len().to_string().as_str()));
    for (query, expected) in [
        ("", "application/octet-stream"),
        ("?type=text/html", "application/octet-stream"),
        ("?type=image/svg%2Bxml", "application/octet-stream"),
        ("?type=text/plain%0D%0AX-A:%20b", "application/octet-stream"),
        ("?type=text/plain", "text/plain"),
    ] {
        let reply = fixture.get(&format!("{path}{query}"));
        assert_eq!((reply.status, reply.field("content-type")), (200, Some(expected)), "{query}");
        assert_eq!(reply.field("x-a"), None);
    }
}

#[test]
fn what_is_no_blob_is_not_found() {
    let fixture = Fixture::new();
    let id = blob(&fixture);
    let unknown = format!("B{}", "0".repeat(64));
    for path in [
        format!("/jmap/download/mail/{unknown}/a"),
        "/jmap/download/mail/B1/a".to_owned(),
        format!("/jmap/download/other/{id}/a"),
        format!("/jmap/download/mail/{id}"),
        "/jmap/download/mail/..%2F..%2Fcur/a".to_owned(),
    ] {
        let reply = fixture.get(&path);
        assert_eq!((reply.status, reply.field("content-type")), (404, Some("application/problem+json")));
        assert_eq!(reply.field("cache-control"), Some("no-cache, no-store, must-revalidate"), "{path}");
    }
    // Its file is gone, and the index does not know yet.
    fs::remove_file(fixture.path("1:2,")).unwrap();
    let reply = fixture.get(&format!("/jmap/download/mail/{id}/a"));
    assert_eq!((reply.status, &json_of(&reply)["status"]), (404, &json!(404)));
}

#[test]
fn what_is_uploaded_is_told_downloaded_and_read() {
    let fixture = Fixture::new();
    let text = message("two");
    let reply = fixture.post_as("/jmap/upload/mail", "Message/RFC822; x=y", &text);
    assert_eq!((reply.status, reply.field("content-type")), (200, Some("application/json")), "{reply:?}");
    let told = json_of(&reply);
    let size = json!(text.len());
    assert_eq!(
        (&told["accountId"], &told["type"], &told["size"]),
        (&json!("mail"), &json!("message/rfc822"), &size)
    );
    let blob = told["blobId"].as_str().unwrap();
    let reply = fixture.get(&format!("/jmap/download/mail/{blob}/two.eml?type=message/rfc822"));
    assert_eq!((reply.status, reply.text()), (200, text.as_str()));
    let parse =
        json!([["Email/parse", { "accountId": "mail", "blobIds": [blob], "properties": ["subject"] }, "a"]]);
    let parsed = &fixture.answers(parse)["methodResponses"][0][1]["parsed"][blob];
    assert_eq!(parsed["subject"], "two");
    // A form of another type is stored all the same, and is never shown.
    let told = json_of(&fixture.post_as("/jmap/upload/mail", "text/html", "<script>"));
    let path = format!("/jmap/download/mail/{}/a?type=text/html", told["blobId"].as_str().unwrap());
    assert_eq!(fixture.get(&path).field("content-type"), Some("application/octet-stream"));
    let large = fixture.post_head("/jmap/upload/mail", "text/plain", 50_000_001);
    assert_eq!(fixture.connect().ask(&large).status, 413);
}
