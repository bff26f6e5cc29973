//! Tests `pneu changes`: lines of JSON and the next token, for programs that follow the index.
//!
//! Input: mail, commands that change it. Output: what is told of it. Does not depend on the log's format.

use crate::support::Home;
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the changes since a token, and the next one.
fn since(home: &Home, token: &str) -> (Vec<Value>, String) {
    let mut lines = lines(&home.good(&["changes", "--since", token]));
    let last = lines.pop().unwrap();
    assert_eq!(last["type"], "token");
    (lines, last["token"].as_str().unwrap().to_owned())
}

/// Returns a change without what differs from run to run.
fn plain(mut change: Value) -> Value {
    let object = change.as_object_mut().unwrap();
    assert_eq!(object.remove("version"), Some(json!(1)));
    assert_eq!(object.remove("type"), Some(json!("change")));
    assert_eq!(object.remove("sha256").unwrap().as_str().unwrap().len(), 64);
    assert!(object.remove("commit").unwrap().is_u64() && object.remove("time_unix").unwrap().is_i64());
    change
}

#[test]
fn a_program_follows_the_index() {
    let home = Home::new();
    let message = |number: u32| {
        format!("From: ana@example.org\nSubject: number {number}\nMessage-ID: <n{number}@x>\n\nwords\n")
    };
    home.deliver("", "1:2,S", message(1).as_bytes());
    home.deliver("done", "0:2,S", message(0).as_bytes());
    home.good(&["index", "--maildir", "Mail"]);
    let first = lines(&home.good(&["changes"]));
    let [token] = first.as_slice() else { panic!("{first:?}") };
    let token = token["token"].as_str().unwrap().to_owned();
    assert_eq!(since(&home, &token), (vec![], token.clone()));

    home.deliver("", "2:2,", message(2).as_bytes());
    home.good(&["index"]);
    home.good(&["flag", "+F", "--", "subject:2"]);
    home.good(&["move", "subject:2", "done"]);
    home.good(&["tag", "+late", "--", "subject:1"]);
    let (told, next) = since(&home, &token);
    let told: Vec<Value> = told.into_iter().map(plain).collect();
    let folder = |maildir: &str| json!({"root": "mail", "maildir": maildir});
    assert_eq!(
        told,
        [
            json!({"change": "added", "folders": [folder("/done")]}),
            json!({"change": "flags", "folder": folder("/"), "added": ["flagged"], "removed": []}),
            json!({"change": "moved", "from": folder("/"), "to": folder("/done")}),
            json!({"change": "tags", "added": ["late"], "removed": []}),
        ]
    );
    assert_eq!(since(&home, &next).0, Vec::<Value>::new());

    // The id is a handle of the message.
    let sha256 = since(&home, &token).0[0]["sha256"].as_str().unwrap().to_owned();
    assert!(home.good(&["view", &sha256]).contains("number 2"));
}

#[test]
fn a_token_that_cannot_be_used_is_refused_with_what_to_do() {
    let home = Home::new();
    home.deliver("", "1:2,S", b"Subject: one\n\nwords\n");
    home.good(&["index", "--maildir", "Mail"]);
    let token = lines(&home.good(&["changes"]))[0]["token"].as_str().unwrap().to_owned();
    let malformed = home.pneu(&["changes", "--since", "yesterday"]);
    assert_eq!((malformed.code, malformed.out.as_str()), (Some(2), ""));
    assert_eq!(malformed.err, "pneu: this is not a token of changes\n");
    home.good(&["check", "--repair"]);
    std::fs::remove_dir_all(home.data().join("index")).unwrap();
    home.good(&["index", "--maildir", "Mail"]);
    let refused = home.pneu(&["changes", "--since", &token]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(4), ""));
    assert_eq!(
        refused.err,
        "pneu: the token is not of this index: the index was rebuilt or put back from a copy, or the token \
         is wrong; take a new one with \"pneu changes\", and then list all messages again with \"pneu \
         find\"\n"
    );
}
