//! Header fields of Email/get, from the index and from the bytes of messages.

use crate::support::{Fixture, text};
use serde_json::{Value, json};
use std::fs;

/// Makes a mailbox with one message.
fn with(message: &(impl AsRef<[u8]> + ?Sized)) -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,S", message);
    fixture.update();
    fixture
}

/// The message of the example in RFC 8621, section 4.1.2, with more fields.
const EXAMPLE: &str = "Received: from a\n by b\nFrom: \"  James Smythe\" <james@example.com>, Friends:\n \
    jane@example.com, =?UTF-8?Q?John_Sm=C3=AEth?=\n <john@example.com>;\nSender: bo@example.com\n\
    Reply-To: undisclosed:;\nTo: u\u{308} <a@b>\nSubject:  Dinner  =?UTF-8?Q?on_Thursday=3F?= \n\
    Message-ID: <a@b>\nIn-Reply-To: <c@d>\nReferences: <e@f>\n <c@d>\nComments: one\ncomments: two\n\
    Date: Thu, 30 Oct 2014 14:12:00 +0800\nList-POST: <mailto:partytime@lists.example.com>\n\nBody\n";

#[test]
fn fields_are_read_in_their_forms() {
    let fixture = with(EXAMPLE);
    let properties = json!([
        "header:From:asAddresses",
        "header:From:asGroupedAddresses",
        "header:from",
        "header:Comments:all",
        "header:COMMENTS:asText",
        "header:Subject:asText",
        "header:List-POST:asURLs",
        "header:X",
        "header:X:asText:all",
        "header:X:asDate",
        "header:Received:asRaw",
        "header:References:asMessageIds",
        "header:Resent-To:asAddresses:all",
        "header:Date:asDate",
        "replyTo",
        "sender",
        "inReplyTo",
        "references",
        "sentAt",
        "header:To:asAddresses",
    ]);
    let mut email = fixture.email(properties, json!({}));
    email["id"].take();
    let address = |name: Value, email: &str| json!({"name": name, "email": email});
    let john = address("John Smîth".into(), "john@example.com");
    let (james, jane) = (address("James Smythe".into(), "james@example.com"), "jane@example.com");
    let friends = json!({"name": "Friends", "addresses": [address(Value::Null, jane), john]});
    let raw = " \"  James Smythe\" <james@example.com>, Friends:\n jane@example.com, \
        =?UTF-8?Q?John_Sm=C3=AEth?=\n <john@example.com>;";
    let expected = json!({
        "id": null,
        "header:From:asAddresses": [james, address(Value::Null, jane), john],
        "header:From:asGroupedAddresses": [{"name": null, "addresses": [james]}, friends],
        "header:from": raw,
        "header:Comments:all": [" one", " two"],
        "header:COMMENTS:asText": "two",
        "header:Subject:asText": "Dinner  on Thursday?",
        "header:List-POST:asURLs": ["mailto:partytime@lists.example.com"],
        "header:X": null,
        "header:X:asText:all": [],
        "header:X:asDate": null,
        "header:Received:asRaw": " from a\n by b",
        "header:References:asMessageIds": ["e@f", "c@d"],
        "header:Resent-To:asAddresses:all": [],
        "header:Date:asDate": "2014-10-30T14:12:00+08:00",
        "replyTo": [],
        "sender": [address(Value::Null, "bo@example.com")],
        "inReplyTo": ["c@d"],
        "references": ["e@f", "c@d"],
        "sentAt": "2014-10-30T14:12:00+08:00",
        "header:To:asAddresses": [address("\u{fc}".into(), "a@b")],
    });
    assert_eq!(email, expected);
    let headers = fixture.email(json!(["headers"]), json!({}))["headers"].take();
    let names: Vec<String> = headers.as_array().unwrap().iter().map(|header| text(&header["name"])).collect();
    let expected = "Received From Sender Reply-To To Subject Message-ID In-Reply-To References Comments \
        comments Date List-POST";
    assert_eq!(names.join(" "), expected);
    assert_eq!(headers[5], json!({"name": "Subject", "value": "  Dinner  =?UTF-8?Q?on_Thursday=3F?= "}));
}

#[test]
fn a_form_that_a_field_cannot_have_is_refused() {
    let fixture = with(EXAMPLE);
    for property in
        ["header:From:asDate", "header:Received:asText", "header:", "header:From:AsRaw", "Subject"]
    {
        let properties = json!({"ids": [], "properties": [property]});
        assert_eq!(fixture.error("Email/get", properties), "invalidArguments", "{property}");
        let properties = json!({"ids": [], "bodyProperties": [property]});
        assert_eq!(fixture.error("Email/get", properties), "invalidArguments", "{property}");
    }
    let same = json!({"ids": [], "properties": vec!["subject"; 300]});
    assert_eq!(fixture.call("Email/get", same)["list"], json!([]));
    let many: Vec<String> = (0..300).map(|number| format!("header:X{number}")).collect();
    assert_eq!(fixture.error("Email/get", json!({"ids": [], "properties": many})), "requestTooLarge");
}

#[test]
fn a_long_field_is_not_given_out_again_and_again() {
    let fixture = with(&format!("X-Abcdef: {}\n\nText", "long ".repeat(200_000)));
    let email = fixture.email(json!(["blobId"]), json!({}));
    // The same field under different names.
    let names = |count: u32| -> Vec<String> {
        let letter = |(place, letter): (usize, char), number: u32| match number >> place & 1 {
            0 => letter,
            _ => letter.to_ascii_uppercase(),
        };
        let name = |number| "abcdef".chars().enumerate().map(|at| letter(at, number)).collect::<String>();
        (0..count).map(|number| format!("header:x-{}", name(number))).collect()
    };
    for (count, expected) in [(30, Value::Null), (60, json!("requestTooLarge"))] {
        let got = fixture.call("Email/get", json!({"ids": [email["id"]], "properties": names(count)}));
        assert_eq!(got["type"], expected);
        let parsed =
            fixture.call("Email/parse", json!({"blobIds": [email["blobId"]], "properties": names(count)}));
        assert_eq!(parsed["type"], expected);
    }
}

/// The properties that the index has, and the same of the bytes.
const BOTH: [(&str, &str); 6] = [
    ("messageId", "header:Message-ID:asMessageIds"),
    ("from", "header:From:asAddresses"),
    ("to", "header:To:asAddresses"),
    ("cc", "header:Cc:asAddresses"),
    ("bcc", "header:Bcc:asAddresses"),
    ("subject", "header:Subject:asText"),
];

/// Returns the properties that the index does not have as the bytes do.
fn differing(fixture: &Fixture) -> Vec<&'static str> {
    let names: Vec<&str> = BOTH.iter().flat_map(|(name, exact)| [*name, *exact]).collect();
    let email = fixture.email(json!(names), json!({}));
    BOTH.iter().filter(|(name, exact)| email[*name] != email[*exact]).map(|(name, _)| *name).collect()
}

#[test]
fn odd_fields_are_the_same_from_the_index() {
    for header in [
        "",
        "Subject: \nFrom: \"Ito, Ana\" <ana@x>, bo@x (Bo)\nMessage-ID: <a@b>",
        "Subject: =?utf-8?b?w7w=?= u\u{308}\nFrom: =?iso-8859-1?q?=FC?= <a@b>, u\u{308} <c@d>",
        "To: undisclosed-recipients:;\nCc: Team: a@b, c@d;, e@f\nBcc: Ana",
        "From: Ana\nTo: nobody:;, a@b\nSubject: =?utf-8?q??=",
        "Message-ID: no-sides",
        "Message-ID: <no-sides>",
        "Message-ID: (comment) <a\n @b>",
        "Message-ID: <a@b@c>",
        "To: <mailto:a@b>\nSubject: =?x-unknown?q?a?=",
        "Message-ID:\nFrom: a@b, , c@d;",
    ] {
        let fixture = with(&format!("{header}\n\nBody\n"));
        assert_eq!(differing(&fixture), [""; 0], "{header}");
    }
    let latin = with(b"Subject: caf\xe9\nFrom: caf\xe9 <a@b>\nContent-Type: text/plain; charset=latin1\n\nx");
    assert_eq!(differing(&latin), [""; 0]);
}

/// What get.rs says of the index.
#[test]
fn fields_that_the_index_has_otherwise_are_those_that_are_named() {
    for (header, expected) in [
        ("Subject: one\nSubject: two", &["subject"][..]),
        ("Subject: two  spaces", &["subject"]),
        ("From: a@b\nFrom: c@d\nTo:\nCc: <>", &["from", "to", "cc"]),
        ("Message-ID: <a@b> <c@d>", &["messageId"]),
    ] {
        let fixture = with(&format!("{header}\n\nBody\n"));
        assert_eq!(differing(&fixture), expected, "{header}");
    }
}

#[test]
fn what_the_index_has_needs_no_file() {
    let fixture = Fixture::new(&["mail"]);
    let path = fixture.put("mail", "1.x:2,S", EXAMPLE);
    fixture.update();
    let account = fixture.account();
    fs::remove_file(path).unwrap();
    let id = fixture.id_of("Dinner");
    let get = |properties: Value| fixture.call("Email/get", json!({"ids": [id], "properties": properties}));
    let known = json!(["subject", "messageId", "cc", "preview", "hasAttachment", "size", "bodyValues"]);
    assert_eq!(get(known.clone())["notFound"], json!([]));
    assert_eq!(get(known)["list"][0]["preview"], "Body");
    for property in ["headers", "sentAt", "textBody", "header:Subject"] {
        let got = get(json!([property]));
        assert_eq!((&got["list"], &got["notFound"]), (&json!([]), &json!([id])), "{property}");
    }
    drop(account);
}
