//! All real mail in PNEU_REAL_MAIL, with every property of each email.
//!
//! Contains none of the mail. Checks that no call fails, that each part can be downloaded, and in how many
//! messages the index has a field otherwise than the bytes.

use crate::support::{Fixture, answers_of, text};
use jmap::Id;
use jmap_mail::Account;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Emails in one call.
const CALL_COUNT: usize = 100;

/// What the index has, how the bytes have it, and all fields of the name.
const BOTH: [[&str; 3]; 6] = [
    ["messageId", "header:Message-ID:asMessageIds", "header:Message-ID:all"],
    ["from", "header:From:asAddresses", "header:From:all"],
    ["to", "header:To:asAddresses", "header:To:all"],
    ["cc", "header:Cc:asAddresses", "header:Cc:all"],
    ["bcc", "header:Bcc:asAddresses", "header:Bcc:all"],
    ["subject", "header:Subject:asText", "header:Subject:all"],
];
const OTHERS: [&str; 23] = [
    "blobId",
    "threadId",
    "mailboxIds",
    "keywords",
    "size",
    "receivedAt",
    "inReplyTo",
    "references",
    "sender",
    "replyTo",
    "sentAt",
    "hasAttachment",
    "preview",
    "headers",
    "bodyStructure",
    "textBody",
    "htmlBody",
    "attachments",
    "bodyValues",
    "header:Received:all",
    "header:List-Post:asURLs:all",
    "header:X:asText",
    "header:To:asGroupedAddresses:all",
];
const OF_PARTS: [&str; 13] = [
    "partId",
    "blobId",
    "size",
    "headers",
    "name",
    "type",
    "charset",
    "disposition",
    "cid",
    "language",
    "location",
    "subParts",
    "header:Content-Type",
];

/// Bytes of a Subject that the index reads.
const SUBJECT_BYTES_MAX: usize = 16 << 10;

/// Returns why the index has something else than the bytes, if it does.
fn difference(email: &Value, [name, exact, all]: [&str; 3]) -> Option<&'static str> {
    let spaced = |value: &Value| text(value).split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let (known, exact, all) = (&email[name], &email[exact], email[all].as_array().expect("an array"));
    if known == exact {
        None
    } else if all.len() > 1 {
        Some("several fields")
    } else if known.is_null() && *exact == json!([]) {
        Some("no addresses")
    } else if name == "subject" && spaced(known) == spaced(exact) {
        Some("white space")
    } else if name == "subject" && text(&all[0]).len() > SUBJECT_BYTES_MAX {
        Some("long")
    } else {
        panic!("{}: {name}: {known} and {exact}", email["id"])
    }
}

/// Checks all mail of a mailbox, and returns in how many emails the index has something else than the bytes.
fn check(fixture: &Fixture) -> BTreeMap<String, usize> {
    let mut differing = BTreeMap::new();
    let mut seen = 0;
    loop {
        let found = fixture.call("Email/query", json!({"position": seen, "limit": CALL_COUNT}));
        let ids = found["ids"].as_array().expect("an array");
        if ids.is_empty() {
            break;
        }
        seen += ids.len();
        let properties: Vec<&str> = BOTH.iter().flatten().copied().chain(OTHERS).collect();
        let get = json!({
            "accountId": "mail", "ids": ids, "properties": properties, "bodyProperties": OF_PARTS,
            "fetchAllBodyValues": true,
        });
        let mut account = fixture.account();
        let answers = answers_of(&mut account, &json!([["Email/get", get, "a"]]));
        let emails = answers[0][1]["list"].as_array().unwrap_or_else(|| panic!("{answers}"));
        assert_eq!(emails.len(), ids.len());
        let blobs: Vec<&Value> = emails.iter().map(|email| &email["blobId"]).collect();
        let parse = json!({
            "accountId": "mail", "blobIds": blobs, "properties": ["preview", "hasAttachment", "size"],
        });
        let parsed = answers_of(&mut account, &json!([["Email/parse", parse, "a"]]))[0][1]["parsed"].take();
        for email in emails {
            for names in BOTH {
                if let Some(why) = difference(email, names) {
                    *differing.entry(format!("{}: {why}", names[0])).or_default() += 1;
                }
            }
            let again = &parsed[text(&email["blobId"])];
            for name in ["preview", "hasAttachment", "size"] {
                assert_eq!(email[name], again[name], "{name} of {}", email["id"]);
            }
            check_parts(&account, &email["bodyStructure"]);
        }
    }
    differing
}

/// Downloads each part.
fn check_parts(account: &Account<'_>, structure: &Value) {
    let mut parts = vec![structure];
    while let Some(part) = parts.pop() {
        parts.extend(part["subParts"].as_array().into_iter().flatten());
        if part["partId"].is_string() {
            let blob = account.blob(&Id::new(text(&part["blobId"])).expect("an id")).expect("a part");
            assert_eq!(part["size"], blob.size_bytes, "{part}");
        }
    }
}

/// Copies messages into a mailbox of its own. They keep their names, which have their flags.
fn mailbox_of(paths: &[PathBuf]) -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    for (number, path) in paths.iter().enumerate() {
        let bytes = fs::read(path).expect("a message");
        fixture.put("mail", &format!("{number}.x:2,S"), &bytes);
    }
    fixture.update();
    fixture
}

fn named(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn real_messages_have_all_properties() {
    let Some(mail) = testkit::real_mail() else { return };
    let mut paths = Vec::new();
    files(mail.maildir(), &mut paths);
    let differing = check(&mailbox_of(&paths));
    let expected = [
        ("cc: no addresses", 26),
        ("cc: several fields", 1),
        ("subject: white space", 115),
        ("to: no addresses", 10),
    ];
    assert_eq!(differing, named(&expected));
}

#[test]
fn odd_messages_have_all_properties() {
    let Some(mail) = testkit::real_mail() else { return };
    let differing = check(&mailbox_of(mail.edge()));
    let expected = [
        ("from: several fields", 3),
        ("subject: long", 1),
        ("subject: white space", 3),
        ("to: no addresses", 1),
        ("to: several fields", 1),
    ];
    assert_eq!(differing, named(&expected));
}
