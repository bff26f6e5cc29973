//! Tests data directories that earlier versions wrote: they open, are upgraded, and keep all user data.
//!
//! Input: the directories in `testdata/format/data-v*`. Output: whether tags and saved queries are there.
//! Does not depend on formats.

use crate::support::Home;
use std::fs;
use std::path::{Path, PathBuf};

/// Each version's directories, oldest first: with a journal, and sealed.
fn golden() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format");
    let names = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let versions = names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("data-v"));
    let number = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.trim_start_matches("data-v").parse::<u32>().unwrap()
    };
    let mut versions: Vec<PathBuf> = versions.collect();
    versions.sort_by_key(number);
    versions.iter().flat_map(|path| [path.join("journal"), path.join("sealed")]).collect()
}

/// The mail that was indexed and tagged when the directories were written: never to be changed.
fn deliver(home: &Home) {
    for number in 1..=40 {
        let message = format!(
            "From: ana@example.org\nTo: bo@example.org\nSubject: number {number}\n\
             Message-ID: <n{number}@example.org>\nDate: Mon, 01 Jan 2024 10:00:{number:02} +0000\n\n\
             words of message {number}\n"
        );
        home.deliver("", &number.to_string(), message.as_bytes());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn check_said(home: &Home, context: &str) {
    assert_eq!(home.good(&["tag"]), "      39 all\n       2 first\n       1 second\n", "{context}");
    let queries = "first\ttag:first\nunread\tflag:unread and not list:*\n";
    assert_eq!(home.good(&["query"]), queries, "{context}");
    assert_eq!(home.subjects("query:first"), ["number 2", "number 1"], "{context}");
    assert_eq!(home.subjects("not tag:all"), ["number 3"], "{context}");
}

#[test]
fn what_somebody_wrote_between_saved_queries_is_kept() {
    let home = Home::new();
    let directory = golden().remove(0);
    copy(&directory, &home.data());
    let own = home.data().join("user/queries");
    let written = fs::read_to_string(&own).unwrap().replacen('\n', "\n# the first ones\n\n", 1);
    fs::write(&own, &written).unwrap();
    deliver(&home);
    assert_eq!(home.pneu(&["index", "--maildir", "Mail"]).code, Some(0));
    check_said(&home, "with lines of somebody");
    check_newest(&home, "with lines of somebody");
    let (_, lines) = written.split_once('\n').unwrap();
    let now = fs::read_to_string(&own).unwrap();
    assert!(now.starts_with(&format!("pneu-queries 2\n{lines}# checksum ")), "{now}");
}

#[test]
fn an_index_of_the_newest_version_answers_and_is_not_made_anew() {
    let home = Home::new();
    deliver(&home);
    let newest = golden().into_iter().rfind(|directory| directory.join("index").is_dir()).unwrap();
    copy(&newest, &home.data());
    // Its mail lay elsewhere.
    assert_eq!(home.good(&["count", "subject:number words"]), "40\n");
    check_said(&home, "before a pass");
    let made = home.pneu(&["index", "--maildir", "Mail", "--accept-loss"]);
    assert!(made.code == Some(0) && !made.err.contains("older version"), "{made:?}");
    check_said(&home, "after a pass");
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
}

/// What was said is there twice, in files of the newest versions.
fn check_newest(home: &Home, context: &str) {
    for place in ["user", "user/copy"] {
        let place = home.data().join(place);
        assert_eq!(fs::read(place.join("manifest")).unwrap()[8], 2, "{context}");
        assert!(fs::read(place.join("queries")).unwrap().starts_with(b"pneu-queries 2\n"), "{context}");
    }
}

#[test]
fn an_index_of_an_older_version_is_no_damage() {
    let home = Home::new();
    deliver(&home);
    let older = golden().into_iter().find(|directory| directory.join("index").is_dir()).unwrap();
    copy(&older, &home.data());
    let check = home.pneu(&["check"]);
    let index = home.index_directory();
    let said = format!(
        "pneu: the index in {} is not damaged, but of an older version: \"pneu index\" makes it anew\n",
        index.display()
    );
    assert_eq!((check.code, &check.err), (Some(2), &said), "{check:?}");
    assert_eq!(home.pneu(&["index", "--maildir", "Mail"]).code, Some(0));
    home.good(&["check"]);
}

#[test]
fn data_directories_of_all_versions_open_are_upgraded_and_keep_every_tag() {
    let all = golden();
    assert!(all.len() >= 4, "{all:?}");
    for directory in all {
        let context = directory.display().to_string();
        let home = Home::new();
        deliver(&home);
        copy(&directory, &home.data());
        let made = home.pneu(&["index", "--maildir", "Mail"]);
        assert_eq!(made.code, Some(0), "{context}: {made:?}");
        check_said(&home, &context);
        check_newest(&home, &context);
        home.good(&["tag", "+new", "--", "subject:number"]);
        home.good(&["tag", "-new", "--", "subject:number"]);
        home.good(&["query", "more", "x"]);
        home.good(&["query", "--remove", "more"]);
        check_said(&home, &context);
        assert_eq!(home.good(&["check", "--deep"]), "no damage found\n", "{context}");
        check_newest(&home, &context);
    }
}
