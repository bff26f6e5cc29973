//! Files of an archive are found by name and shown, and restic finds the same.

use crate::archive::{Archived, archived};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// A home whose mail was backed up twice: in between a message was read and another deleted.
fn twice() -> Archived {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup", "--tag", "before"]).code, Some(0));
    let mail = home.home.mail();
    fs::rename(mail.join("cur/2:2,"), mail.join("cur/2:2,S")).unwrap();
    fs::remove_file(mail.join(".Archive.2024/cur/4:2,S")).unwrap();
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    home
}

fn lines(home: &Archived, arguments: &[&str]) -> Vec<String> {
    let run = home.run(&[&["archive", "find"][..], arguments].concat());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
    run.out.lines().map(str::to_owned).collect()
}

#[test]
fn a_file_is_a_line_as_long_as_it_stays_what_it_was() {
    let home = twice();
    let ids: Vec<String> =
        home.run(&["archive", "snapshots"]).out.lines().map(|line| line[..8].to_owned()).collect();
    let mail = home.home.mail().display().to_string();
    let told = |line: &String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words[0].len() == 22 && words[0].contains(".."), "{line}");
        (words[1].to_owned(), words[2].replace(&mail, ""))
    };
    let found: Vec<(String, String)> = lines(&home, &["[1-4]:2,*"]).iter().map(told).collect();
    let line = |count: &str, id: &str, path: &str| (count.to_owned(), format!("{id}:{path}"));
    assert_eq!(
        found,
        [
            line("1", &ids[0], "/.Archive.2024/cur/4:2,S"),
            line("2", &ids[1], "/cur/1:2,S"),
            line("1", &ids[0], "/cur/2:2,"),
            line("1", &ids[1], "/cur/2:2,S"),
            line("2", &ids[1], "/lists/rust/cur/3:2,FS"),
        ]
    );
    assert_eq!(lines(&home, &["--snapshot", "latest", "4:*", "2:*"]).len(), 1);
    assert_eq!(lines(&home, &["--tag", "before", "4:*", "2:*"]).len(), 2);
    assert_eq!(lines(&home, &["--ignore-case", "LISTS/RUST/cur/*"]).len(), 1);
    assert_eq!(lines(&home, &["--newest", "2999-01-01", "--oldest", "2000-01-01 12:00", "1:*"]).len(), 1);
    let long = lines(&home, &["--long", "1:2,S"]);
    assert!(long[0].contains("  - "), "{long:?}");
    for (arguments, code, said) in [
        (&["nobody"][..], 1, "no file in 2 snapshots matches"),
        (&["--host", "nowhere", "*"], 1, "no file in 0 snapshots matches"),
        (&["--oldest", "2999-01-01", "*"], 1, "no file in 2 snapshots matches"),
        (&["--snapshot", "latest", "4:*"], 1, "no file in 1 snapshot matches"),
        (&["--snapshot", "ffffffffff", "*"], 1, "list them with: pneu archive snapshots"),
        (&["a/[b"], 2, "pattern \"a/[b\": a set has no end"),
        (&["--print0", "--format", "json", "*"], 2, "--print0 works only with"),
    ] {
        let run = home.run(&[&["archive", "find"][..], arguments].concat());
        assert!(
            run.code == Some(code) && run.err.contains(said) && run.out.is_empty(),
            "{arguments:?}: {run:?}"
        );
    }
    let forget = home.run(&["archive", "forget", "ffffffffff"]);
    assert!(forget.err.contains("list them with: pneu archive snapshots"), "{forget:?}");
}

#[test]
fn restic_finds_the_same_in_each_snapshot() {
    let home = twice();
    let repository = home.home.path().join("repository").display().to_string();
    let Some(restic) = testkit::restic(home.home.path(), &repository, home.password) else { return };
    restic.succeed(&["tag", "--add", "seen"]);
    for arguments in [
        &["*"][..],
        &["cur"],
        &["1*"],
        &["2:2,", "3:*"],
        &["lists/**/3*"],
        &["lists/*/3*"],
        &["/**/cur/*S"],
        &["/nowhere/*"],
        &["--ignore-case", "MAIL/.ARCHIVE*"],
        &["[^0-9]*"],
        &[".pneu"],
    ] {
        let theirs = restic.succeed(&[&["find", "--json"][..], arguments].concat());
        let theirs: Value = serde_json::from_slice(&theirs).unwrap();
        let mut expected = BTreeSet::new();
        for snapshot in theirs.as_array().unwrap() {
            let id = snapshot["snapshot"].as_str().unwrap();
            for found in snapshot["matches"].as_array().unwrap() {
                let size = found["size"].as_u64().unwrap_or(0);
                expected.insert((id.to_owned(), found["path"].as_str().unwrap().to_owned(), size));
            }
        }
        let run = home.run(&[&["archive", "find", "--format", "json"][..], arguments].concat());
        let mut ours = BTreeSet::new();
        for line in run.out.lines() {
            let found: Value = serde_json::from_str(line).unwrap();
            for id in found["snapshots"].as_array().unwrap() {
                let path = found["path"].as_str().unwrap().to_owned();
                let is_new =
                    ours.insert((id.as_str().unwrap().to_owned(), path, found["size"].as_u64().unwrap()));
                assert!(is_new, "{line}");
            }
        }
        assert_eq!(ours, expected, "{arguments:?}");
        assert_eq!(run.code, Some(if expected.is_empty() { 1 } else { 0 }), "{run:?}");
    }
}

#[test]
fn what_is_found_is_shown() {
    let home = twice();
    let found = home.run(&["archive", "find", "--format", "paths", "4:2*"]).out;
    let place = found.trim_end();
    let raw = home.run(&["archive", "view", "--format", "raw", place]);
    let letter = crate::support::letter(
        "4",
        "A fourth",
        "dispatch by dispatch by dispatch, letter after letter, longest of all",
    );
    assert_eq!((raw.code, raw.bytes), (Some(0), letter));
    let shown = home.run(&["archive", "view", place]).out;
    for line in ["Subject: A fourth", "Flags: seen", &format!("File: {place}")] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    // The same by its path alone, which only the first snapshot has; and by what the index knows of it.
    let path = place.split_once(':').unwrap().1;
    assert_eq!(home.run(&["archive", "view", path]).out, shown);
    let text = |out: &str| out.split_once("\n\n").map(|(_, text)| text.to_owned());
    for handle in ["id:4@example.org", "subject:fourth"] {
        let run = home.run(&["archive", "view", "--format", "plain", handle]);
        assert_eq!((run.code, text(&run.out)), (Some(0), text(&shown)), "{run:?}");
    }
    let json: Value =
        serde_json::from_str(&home.run(&["archive", "view", "--format", "json", place]).out).unwrap();
    let sha256 = json["sha256"].as_str().unwrap().to_owned();
    fs::remove_dir_all(home.home.data()).unwrap();
    let run = home.run(&["archive", "view", "--format", "json", &sha256]);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["subject"], "A fourth", "without an index");
    assert_eq!(home.run(&["archive", "view", "id:4@example.org"]).code, Some(2), "no index knows it");
    // Several at once, and other files.
    let one = format!("latest:{}/cur/1:2,S", home.home.mail().display());
    let both = home.run(&["archive", "view", &one, place, "latest:/nobody"]);
    assert!(both.code == Some(3) && both.out.contains("\u{c}\n") && both.err.contains("/nobody"), "{both:?}");
    let tags = home.run(&["archive", "view", "latest:/.pneu/tags"]);
    assert!(tags.code == Some(0) && tags.err.is_empty(), "{tags:?}");
    for (arguments, code, said) in [
        (&["latest:/"][..], 1, "no snapshot has latest:/"),
        (&["latest:/.pneu"], 2, "is a directory"),
        (&["/nobody"], 1, "no snapshot has /nobody"),
        (&["ffffff:/.pneu/tags"], 1, "list them with"),
        (&["--format", "json", "latest:/.pneu/tags"], 2, "is not a message"),
        (&["--format", "raw", "/a", "/b"], 2, "shows one message"),
    ] {
        let run = home.run(&[&["archive", "view"][..], arguments].concat());
        assert!(run.code == Some(code) && run.err.contains(said), "{arguments:?}: {run:?}");
    }
}
