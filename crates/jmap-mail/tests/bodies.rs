//! Bodies of Email/get: structure, lists of parts, texts, and what a request may read.

use crate::support::{Fixture, answers_of};
use serde_json::{Value, json};
use std::fs;

/// A text in two forms, a picture and a message.
const MESSAGE: &str = "From: ana@example.org\nSubject: one\nContent-Type: multipart/mixed; boundary=a\n\n\
    --a\nContent-Type: multipart/alternative; boundary=b\n\n\
    --b\nContent-Type: text/plain; charset=utf-8\nContent-Language: de, fr\n\nZwölf Boote\n\n\
    --b\nContent-Type: text/html\nX-Tag: t\n\n<p>Zwo <a href=x>Boote</a>\n--b--\n\
    --a\nContent-Type: image/png; name=a.png\nContent-ID: <p@x>\nContent-Disposition: attachment\n\
    Content-Transfer-Encoding: base64\n\nQUJD\n\
    --a\nContent-Type: message/rfc822\n\nSubject: inner\nContent-Type: multipart/mixed; boundary=c\n\n\
    --c\n\nfirst\n--c\nContent-Transfer-Encoding: base64\n\nc2Vjb25k\n--c--\n--a--\n";

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,S", MESSAGE);
    fixture.update();
    fixture
}

#[test]
fn a_body_has_a_structure_and_lists() {
    let fixture = fixture();
    let id = fixture.id_of("one");
    let blob = |number: usize| format!("{}-{number}", id.replacen('M', "B", 1));
    let properties = json!(["bodyStructure", "textBody", "htmlBody", "attachments", "bodyValues"]);
    let email = fixture.email(properties, json!({"bodyProperties": ["partId", "type", "blobId", "size"]}));
    let leaf = |number: usize, mime: &str, size: u64| {
        let id = number.to_string();
        json!({"partId": id, "type": mime, "blobId": blob(number), "size": size})
    };
    let multipart = |subtype: &str, parts: Value| {
        let mime = format!("multipart/{subtype}");
        json!({"partId": null, "type": mime, "blobId": null, "size": 0, "subParts": parts})
    };
    let (plain, html) = (leaf(1, "text/plain", 13), leaf(2, "text/html", 26));
    let (picture, inner) = (leaf(3, "image/png", 3), leaf(4, "message/rfc822", 122));
    let texts = multipart("alternative", json!([plain, html]));
    let expected = json!({
        "id": id,
        "bodyStructure": multipart("mixed", json!([texts, picture, inner])),
        "textBody": [plain], "htmlBody": [html], "attachments": [picture, inner], "bodyValues": {},
    });
    assert_eq!(email, expected);
}

#[test]
fn parts_have_the_properties_that_are_asked_for() {
    let fixture = fixture();
    let email = fixture.email(json!(["attachments", "textBody"]), json!({}));
    let expected = json!({
        "partId": "3", "blobId": email["attachments"][0]["blobId"], "size": 3, "name": "a.png",
        "type": "image/png", "charset": null, "disposition": "attachment", "cid": "p@x", "language": null,
        "location": null,
    });
    assert_eq!(email["attachments"][0], expected);
    assert_eq!(email["textBody"][0]["charset"], "utf-8");
    assert_eq!(email["textBody"][0]["language"], json!(["de", "fr"]));
    let wanted = json!({"bodyProperties": ["header:x-TAG", "headers", "subParts", "header:X:all"]});
    let html = fixture.email(json!(["htmlBody", "bodyStructure"]), wanted);
    let fields = json!([{"name": "Content-Type", "value": " text/html"}, {"name": "X-Tag", "value": " t"}]);
    let expected = json!({"header:x-TAG": " t", "headers": fields, "subParts": null, "header:X:all": []});
    assert_eq!(html["htmlBody"][0], expected);
    assert_eq!(html["bodyStructure"]["headers"][1]["name"], "Subject");
    assert_eq!(html["bodyStructure"]["subParts"][0]["subParts"][1], expected);
}

#[test]
fn texts_are_those_that_are_asked_for() {
    let fixture = fixture();
    let values = |arguments: Value| fixture.email(json!(["bodyValues"]), arguments)["bodyValues"].take();
    let value = |text: &str, is_truncated: bool| {
        let is_problem = false;
        json!({"value": text, "isEncodingProblem": is_problem, "isTruncated": is_truncated})
    };
    let (plain, html) = (value("Zwölf Boote\n", false), value("<p>Zwo <a href=x>Boote</a>", false));
    assert_eq!(values(json!({})), json!({}));
    assert_eq!(values(json!({"fetchTextBodyValues": true})), json!({"1": plain}));
    assert_eq!(values(json!({"fetchHTMLBodyValues": true})), json!({"2": html}));
    let both = json!({"fetchTextBodyValues": true, "fetchHTMLBodyValues": true, "maxBodyValueBytes": 0});
    assert_eq!(values(both), json!({"1": plain, "2": html}));
    assert_eq!(values(json!({"fetchAllBodyValues": true})), json!({"1": plain, "2": html}));
    let short = json!({"fetchAllBodyValues": true, "maxBodyValueBytes": 9});
    assert_eq!(values(short), json!({"1": value("Zwölf Bo", true), "2": value("<p>Zwo ", true)}));
    let short = json!({"fetchTextBodyValues": true, "maxBodyValueBytes": 3});
    assert_eq!(values(short), json!({"1": value("Zw", true)}));
    let wrong = json!({"ids": [], "maxBodyValueBytes": -1});
    assert_eq!(fixture.error("Email/get", wrong), "invalidArguments");
}

#[test]
fn a_request_reads_a_message_once() {
    let fixture = Fixture::new(&["mail"]);
    let path = fixture.put("mail", "1.x:2,S", MESSAGE);
    fixture.update();
    let id = fixture.id_of("one");
    let calls = json!([["Email/get", {"accountId": "mail", "ids": [id], "properties": ["textBody"]}, "a"]]);
    let mut account = fixture.account();
    let first = answers_of(&mut account, &calls);
    assert_eq!(first[0][1]["list"][0]["textBody"][0]["partId"], "1");
    fs::remove_file(path).unwrap();
    assert_eq!(answers_of(&mut account, &calls), first);
    assert_eq!(answers_of(&mut fixture.account(), &calls)[0][1]["notFound"], json!([id]));
}

#[test]
fn a_request_reads_no_more_than_its_limit() {
    let fixture = Fixture::new(&["mail"]);
    for name in ["one", "two"] {
        fixture.put(
            "mail",
            &format!("{name}:2,S"),
            &format!("Subject: {name}\n\n{}\n", "word ".repeat(1_000)),
        );
    }
    fixture.update();
    let (one, two) = (fixture.id_of("one"), fixture.id_of("two"));
    let get = |limit: u64, ids: &Value, properties: &Value| {
        let arguments = json!({
            "accountId": "mail", "ids": ids, "properties": properties, "fetchTextBodyValues": true,
        });
        let mut account = fixture.account().with_read_limit(limit);
        let mut answers = answers_of(&mut account, &json!([["Email/get", arguments, "a"]]));
        answers[0][1].take()
    };
    let (both, texts) = (json!([one, two]), json!(["bodyValues"]));
    assert_eq!(get(25_000, &both, &texts)["list"].as_array().map(Vec::len), Some(2));
    // What is given out counts, too.
    assert_eq!(get(12_000, &both, &texts)["type"], "requestTooLarge");
    assert_eq!(get(12_000, &both, &json!(["textBody"]))["list"].as_array().map(Vec::len), Some(2));
    assert_eq!(get(9_000, &both, &json!(["textBody"]))["type"], "requestTooLarge");
    assert_eq!(get(0, &json!([one]), &texts)["list"][0]["id"], one);
    assert_eq!(get(0, &both, &json!(["subject"]))["list"].as_array().map(Vec::len), Some(2));
}

/// What no sender means: parts in parts, and many of them.
#[test]
fn hostile_messages_have_a_body() {
    let deep = |kind: &str| {
        let mut message = "deep\n".to_owned();
        for level in 0..200 {
            message = match kind {
                "message" => format!("Content-Type: message/rfc822\n\n{message}"),
                _ => format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n{message}"),
            };
        }
        message
    };
    let many = "--b\n\nx\n".repeat(20_000);
    let wide = format!("Content-Type: multipart/mixed; boundary=b\n\n{many}--b--\n");
    for (message, has_text) in [
        (deep("multipart"), true),
        (deep("message"), false),
        (wide, true),
        ("Content-Type: multipart/mixed; boundary=b\n\n".to_owned(), true),
        ("Content-Type: multipart/alternative; boundary=\"\"\n\n--\n\nx\n----\n".to_owned(), true),
    ] {
        let fixture = Fixture::new(&["mail"]);
        fixture.put("mail", "1.x:2,S", &message);
        fixture.update();
        let properties = json!(["bodyStructure", "textBody", "htmlBody", "attachments", "bodyValues"]);
        let email = fixture.email(properties, json!({"fetchAllBodyValues": true}));
        let begin = message.get(..60);
        assert_eq!(
            email["bodyValues"].as_object().is_some_and(|values| !values.is_empty()),
            has_text,
            "{begin:?}"
        );
        assert!(email["bodyStructure"]["type"].is_string(), "{begin:?}");
    }
}
