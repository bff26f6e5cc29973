//! Golden messages: one file for each oddity of mail, beside it what must become of it.
//!
//! Input: `testdata/mail/NAME.eml` and `NAME.expected`. UPDATE=1 rewrites the latter; review the difference.

use crate::message::{golden, parsed, show};

#[test]
fn golden_messages_become_what_is_expected() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let paths = golden();
    let mut failures = Vec::new();
    for path in &paths {
        let found = show(&parsed(std::fs::read(path).unwrap()));
        let expected_path = path.with_extension("expected");
        if is_update {
            std::fs::write(&expected_path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            failures.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nUPDATE=1 writes what was found", failures.join("\n"));
    assert!(paths.len() >= 100, "only {} golden messages", paths.len());
}

#[test]
fn copies_that_came_different_ways_are_known() {
    let find = |name: &str| {
        let path = golden().into_iter().find(|path| path.file_stem().unwrap() == name).unwrap();
        parsed(std::fs::read(path).unwrap())
    };
    let (sent, received) = (find("copy-sent"), find("copy-received"));
    assert!(sent.copy_hash.is_some());
    assert_eq!(sent.copy_hash, received.copy_hash);
    assert_eq!(sent.message_id, received.message_id);
}
