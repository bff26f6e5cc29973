//! Runs the program on real mail, where there is some.
//!
//! Input: thousands of real messages and hundreds of unusual ones. Output: whether each is found and shown,
//! and none controls the terminal. Does not depend on what they say.

use crate::hostile::HARMFUL;
use crate::support::{Home, run_with_input};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use testkit::real_mail;

/// Returns all files in every `cur` and `new` below a directory.
fn messages(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            messages(&path, found);
        } else if directory.ends_with("cur") || directory.ends_with("new") {
            found.push(path);
        }
    }
}

#[test]
fn every_real_message_is_listed_once_and_harmless() {
    let Some(mail) = real_mail() else { return };
    let home = Home::new();
    home.good(&["index", "--maildir", mail.maildir().to_str().unwrap()]);
    let listed = home.pneu(&["find", "--format", "paths", "--files", "--print0"]);
    let mut listed: Vec<&OsStr> = listed.bytes.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
    assert_eq!(listed.pop(), Some(OsStr::new("")), "each path has its end");
    listed.sort();
    let mut expected = Vec::new();
    messages(mail.maildir(), &mut expected);
    expected.sort();
    assert_eq!(listed, expected);
    for options in [&["--fields", "d f t c h s i m l g z v j"][..], &["--format", "json"]] {
        let out = home.good(&[&["find"], options].concat());
        assert!(!out.contains(HARMFUL), "{options:?}");
        assert_eq!(out.lines().count().to_string(), home.good(&["count"]).trim_end());
    }
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
}

#[test]
fn every_odd_message_is_shown_and_harmless() {
    let Some(mail) = real_mail() else { return };
    let home = Home::new();
    for path in mail.edge() {
        let shown = home.good(&["view", path.to_str().unwrap()]);
        assert!(!shown.contains(HARMFUL), "{}", path.display());
        let json =
            run_with_input(&mut home.command(&["view", "--format", "json", "-"]), &fs::read(path).unwrap());
        assert_eq!(json.out.lines().count(), 1, "{}: {json:?}", path.display());
        serde_json::from_str::<serde_json::Value>(&json.out).unwrap();
        assert!(!json.out.contains(HARMFUL), "{}", path.display());
        let raw = home.pneu(&["view", "--format", "raw", path.to_str().unwrap()]);
        assert_eq!(raw.bytes, fs::read(path).unwrap(), "{}", path.display());
    }
}
