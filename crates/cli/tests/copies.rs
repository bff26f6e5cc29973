//! Tests copies in every format: one message with the flags, files and lists of all; and messages that only
//! claim to be copies.
//!
//! Input: deliveries of a message and forgeries of it. Output: whether all formats agree. Does not depend on
//! how copies are recognised.

use crate::support::{Home, letter};
use serde_json::Value;

/// A home with a message that was read, and as a list sent it on.
fn joined() -> Home {
    let home = Home::new();
    let sent = String::from_utf8(letter("1", "Both ways", "the same words")).unwrap();
    home.deliver("", "1:2,FS", sent.as_bytes());
    let by_list = format!("List-Id: <words.example.org>\nPrecedence: list\n{sent}");
    home.deliver("lists", "2:2,", by_list.as_bytes());
    home.first_index();
    home
}

/// Returns the words of a list in JSON.
fn list(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn all_formats_show_what_queries_find() {
    let home = joined();
    let flags = ["flagged", "seen", "unread", "list"];
    assert_eq!(home.good(&["count"]), "1\n");
    for text in
        ["flag:flagged", "flag:seen", "flag:unread", "flag:list", "list:words.example.org", "prio:normal"]
    {
        assert_eq!(home.good(&["count", text]), "1\n", "{text}");
        assert_eq!(home.good(&["find", "--fields", "g p v", text]), "FSul   normal   words.example.org\n");
        assert_eq!(home.pneu(&["count", &format!("not {text}")]).out, "0\n", "not {text}");
    }
    let lines = home.good(&["find", "--files", "--fields", "m g"]);
    assert_eq!(lines, "/                FSl\n/lists           ul\n");
    let path = home.mail().join("cur/1:2,FS");
    for arguments in [
        &["find", "--format", "json"][..],
        &["find", "--threads", "--format", "json"],
        &["view", "--format", "json", "id:1@example.org"],
        &["view", "--format", "json", path.to_str().unwrap()],
    ] {
        let run = home.pneu(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        let value: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(list(&value["flags"]), flags, "{arguments:?}");
        assert_eq!(value["list_id"].as_str(), Some("words.example.org"), "{arguments:?}");
        assert_eq!(value["priority"], Value::Null, "{arguments:?}");
    }
    for arguments in [&["find", "--format", "sexp"][..], &["view", "--format", "sexp", "id:1@example.org"]] {
        let out = home.good(arguments);
        assert!(out.contains(":flags (flagged seen unread list)"), "{arguments:?}: {out}");
        assert!(out.contains(":list \"words.example.org\""), "{arguments:?}: {out}");
    }
    let plain = home.good(&["view", "id:1@example.org"]);
    assert!(plain.contains("\nFlags: flagged seen unread list\n"), "{plain}");
}

/// Mail that was hidden before: from another sender, sent again, with another name for what is attached.
#[test]
fn a_forgery_is_listed_counted_and_told_of() {
    let home = Home::new();
    let sent = String::from_utf8(letter("1", "Pay Ana", "the same words")).unwrap();
    home.deliver("", "1:2,", sent.as_bytes());
    home.deliver("", "2:2,S", sent.replace("Ana Example <ana@", "Eve Example <eve@").as_bytes());
    home.deliver("", "3:2,S", sent.replace("Subject: Pay", "Subject: Do pay").as_bytes());
    home.first_index();
    assert_eq!(home.good(&["count"]), "3\n");
    assert_eq!(home.good(&["find", "--fields", "f", "flag:unread"]), "Ana Example\n");
    assert_eq!(home.good(&["count", "from:eve"]), "1\n");
    let viewed = home.pneu(&["view", "id:1@example.org"]);
    assert!(viewed.err.contains("2 more messages have this Message-ID"), "{}", viewed.err);
}
