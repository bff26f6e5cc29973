//! Tests passes over mail that other programs changed: moved, reflagged, deleted, rewritten, added.
//!
//! Input: changes made by the test. Output: whether the summary counts each, and everything is still found.
//! Does not depend on how changes are detected.

use crate::support::{Home, letter, long_letter, run};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_first_index_counts_and_the_second_has_nothing_to_do() {
    let home = Home::new();
    for name in ["1:2,S", "2:2,", "3:2,F"] {
        home.deliver("", name, &letter(&name[..1], "Some subject", "text"));
    }
    let first = home.first_index();
    assert!(first.starts_with("3 files: 3 added, 0 moved, 0 changed, 0 gone, 0 unreadable; "), "{first}");
    assert!(first.ends_with(" s\n"), "{first}");
    let second = home.good(&["index"]);
    assert!(second.starts_with("3 files: 0 added, 0 moved, 0 changed, 0 gone, 0 unreadable; "), "{second}");
    assert_eq!(home.good(&["index", "--quiet"]), "");
}

#[test]
fn moves_and_flags_by_hand_are_counted_and_found() {
    let home = Home::indexed();
    let folder = home.folder("keep");
    fs::rename(home.mail().join("cur/1:2,S"), folder.join("cur/1:2,S")).unwrap();
    fs::rename(home.mail().join("cur/2:2,"), home.mail().join("cur/2:2,RS")).unwrap();
    fs::remove_file(home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
    home.deliver("", "5:2,", &letter("5", "A fifth", "just came"));
    let summary = home.good(&["index"]);
    assert!(summary.starts_with("4 files: 1 added, 2 moved, 0 changed, 1 gone, 0 unreadable; "), "{summary}");
    assert_eq!(home.subjects("maildir:/keep"), ["First steps"]);
    assert_eq!(home.subjects("flag:replied"), ["Second thoughts"]);
    assert_eq!(home.subjects("dispatch"), Vec::<String>::new(), "gone is not found");
    assert_eq!(home.subjects("fifth"), ["A fifth"]);
    assert!(home.good(&["info"]).contains("absent messages  1\n"));
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
}

#[test]
fn a_message_that_comes_back_is_found_again() {
    let home = Home::indexed();
    let path = home.mail().join(".Archive.2024/cur/4:2,S");
    let content = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    home.good(&["index"]);
    let absent = home.pneu(&["view", "id:4@example.org"]);
    assert_eq!(absent.code, Some(1));
    assert!(absent.err.contains("the last file of id:4@example.org is gone"), "{}", absent.err);
    home.deliver("elsewhere", "9:2,", &content);
    home.good(&["index"]);
    assert_eq!(home.subjects("dispatch"), ["A fourth"]);
    assert!(home.good(&["view", "id:4@example.org"]).contains("/elsewhere/cur/9:2,"));
}

#[test]
fn files_changed_in_place_are_seen_by_a_thorough_pass() {
    let home = Home::indexed();
    let path = home.mail().join("cur/1:2,S");
    fs::write(&path, letter("1", "Rewritten", "quite another text")).unwrap();
    let summary = home.good(&["index", "--thorough"]);
    assert!(summary.contains(" 0 added, 0 moved, 1 changed, 0 gone, "), "{summary}");
    assert_eq!(home.subjects("another"), ["Rewritten"]);
    assert_eq!(home.subjects("pneumatic"), Vec::<String>::new());
}

#[test]
fn a_rebuilt_index_gives_the_same_answers() {
    let home = Home::indexed();
    let queries =
        ["", "hello", "flag:seen", "maildir:/lists/rust", "date:2024-03-03..", "subject:fourth or tubes"];
    let answers = || queries.map(|query| home.good(&["find", "--format", "json", query]));
    let before = answers();
    fs::remove_dir_all(home.index_directory()).unwrap();
    home.first_index();
    assert_eq!(answers(), before);
}

#[test]
fn a_lazy_pass_and_one_without_cleanup_say_what_they_did() {
    let home = Home::indexed();
    fs::remove_file(home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
    home.deliver("", "5:2,", &letter("5", "A fifth", "just came"));
    let summary = home.good(&["index", "--lazy", "--no-cleanup"]);
    assert!(summary.starts_with("4 files: 1 added, 0 moved, 0 changed, 0 gone, 0 unreadable; "), "{summary}");
    assert_eq!(home.subjects("dispatch"), ["A fourth"], "its row is kept");
    let summary = home.good(&["index", "--lazy"]);
    assert!(summary.starts_with("4 files: 0 added, 0 moved, 0 changed, 1 gone, 0 unreadable; "), "{summary}");
    assert_eq!(home.subjects("dispatch"), Vec::<String>::new());
}

#[test]
fn the_slow_cleanup_is_asked_for_by_option_or_variable() {
    for by_variable in [false, true] {
        let home = Home::indexed();
        fs::remove_file(home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
        let mut command = if by_variable {
            let mut command = home.command(&["index"]);
            command.env("PNEU_NO_INCREMENTAL_CLEANUP", "1");
            command
        } else {
            home.command(&["index", "--legacy-cleanup"])
        };
        let said = run(&mut command);
        assert!(said.out.starts_with("3 files: 0 added, 0 moved, 0 changed, 1 gone, "), "{said:?}");
        assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    }
    let home = Home::indexed();
    for refused in [&["index", "--lazy", "--thorough"][..], &["index", "--no-cleanup", "--legacy-cleanup"]] {
        assert_eq!(home.pneu(refused).code, Some(2), "{refused:?}");
    }
    assert!(!home.good(&["index", "--help"]).contains("legacy"), "for comparison, not for use");
}

#[test]
fn what_is_gone_is_swept_when_it_is_old_enough() {
    let home = Home::indexed();
    fs::remove_file(home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
    home.good(&["index"]);
    assert_eq!(home.good(&["sweep"]), "0 messages forgotten\n", "a month is not over");
    let list = home.good(&["sweep", "--dry-run", "--older-than", "0d"]);
    assert!(list.ends_with("  Ana Example  A fourth\n") && list.lines().count() == 1, "{list}");
    assert!(home.good(&["info"]).contains("absent messages  1\n"));
    assert_eq!(home.good(&["sweep", "--older-than", "0d"]), "1 message forgotten\n");
    assert!(home.good(&["info"]).contains("absent messages  0\n"));
    assert_eq!(home.subjects("dispatch"), Vec::<String>::new());
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    assert_eq!(home.pneu(&["sweep", "--older-than", "soon"]).code, Some(2));
}

#[test]
fn a_damaged_index_is_repaired_and_tags_stay() {
    let home = Home::indexed();
    home.deliver("", "8:2,S", &long_letter("8", "Long", "many words"));
    home.good(&["index"]);
    home.good(&["tag", "+kept", "--", "subject:first"]);
    let answers = || ["", "hello", "tag:kept"].map(|query| home.good(&["find", "--format", "json", query]));
    let before = answers();
    assert_eq!(home.good(&["check", "--repair"]), "no damage found\n");
    let segment = fs::read_dir(home.index_directory().join("text")).unwrap();
    let segment = segment
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "text"));
    let segment = segment.unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[10] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let found = home.pneu(&["check", "--deep"]);
    assert_eq!(found.code, Some(2), "{found:?}");
    assert!(found.err.ends_with("is damaged: run \"pneu check --repair\"\n"), "{}", found.err);
    let repaired = home.good(&["check", "--repair"]);
    assert!(repaired.contains(&segment.display().to_string()), "{repaired}");
    assert!(
        repaired.contains("\n5 files: 5 added, 0 moved, 0 changed, 0 gone, 0 unreadable; "),
        "{repaired}"
    );
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    assert_eq!(answers(), before);
}

#[test]
fn a_header_that_is_configured_later_is_read_by_a_repair() {
    let home = Home::new();
    home.deliver("", "1:2,S", b"Subject: scored\nX-Score: twelve\n\nx\n");
    home.first_index();
    let config = home.path().join(".config/pneu");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "headers = [\"X-Score\"]\n").unwrap();
    assert_eq!(home.pneu(&["find", "x-score:twelve"]).code, Some(2));
    let repaired = home.pneu(&["check", "--repair"]);
    assert_eq!(
        (repaired.code, repaired.err.as_str()),
        (Some(0), "pneu: reading all mail again to index the headers X-Score\n")
    );
    assert!(repaired.out.starts_with("no damage found\n1 file: 1 added"), "{repaired:?}");
    assert_eq!(home.subjects("x-score:twelve"), ["scored"]);
    assert_eq!(home.good(&["check", "--repair"]), "no damage found\n", "and once is enough");
}

/// Returns what an index consists of: files, and what each holds.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        paths.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn damaged_tags_are_told_apart_and_make_no_new_index() {
    let home = Home::indexed();
    home.good(&["tag", "+kept", "--", "subject:first"]);
    let (user, before) = (home.data().join("user"), contents(&home.index_directory()));
    let manifests = [user.join("manifest"), user.join("copy/manifest")];
    let whole = fs::read(&manifests[0]).unwrap();
    let put = |bytes: &[u8]| manifests.iter().for_each(|path| fs::write(path, bytes).unwrap());
    put(b"no manifest");
    let backup = format!(
        "pneu: both copies of the tags and saved queries in {} are damaged: restore them from a backup\n",
        user.display()
    );
    for arguments in [&["check"][..], &["check", "--deep"], &["check", "--repair"]] {
        let found = home.pneu(arguments);
        assert_eq!((found.code, found.err.as_str()), (Some(2), backup.as_str()), "{arguments:?}");
        assert!(found.out.starts_with(&user.display().to_string()), "{found:?}");
        assert_eq!(found.out.lines().count(), 2, "{found:?}");
    }
    // Of a newer version: nothing is damaged.
    let mut newer = whole.clone();
    newer[8] = 99;
    put(&newer);
    for arguments in [&["check"][..], &["check", "--repair"]] {
        let found = home.pneu(arguments);
        assert_eq!((found.code, found.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(found.err.contains("newer program") && !found.err.contains("backup"), "{}", found.err);
        assert!(!found.err.contains("--repair"), "{}", found.err);
    }
    assert_eq!(contents(&home.index_directory()), before);
    // Both are damaged: what can be made again is.
    put(b"no manifest");
    fs::write(home.index_directory().join("manifest"), "no manifest").unwrap();
    let half = home.pneu(&["check", "--repair", "--maildir", "Mail"]);
    assert_eq!((half.code, half.err.as_str()), (Some(2), backup.as_str()));
    assert!(half.out.contains("4 files: 4 added"), "{half:?}");
    put(&whole);
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    assert_eq!(home.good(&["check"]), "no damage found; --deep reads every byte\n");
    assert_eq!(home.subjects("tag:kept"), ["First steps"]);
}

#[test]
fn an_index_that_cannot_say_where_the_mail_is_must_be_told() {
    let home = Home::indexed();
    fs::write(home.index_directory().join("manifest"), "no manifest").unwrap();
    let lost = home.pneu(&["check", "--repair"]);
    assert_eq!(lost.code, Some(2));
    assert!(lost.err.contains("pneu check --repair --maildir DIR"), "{}", lost.err);
    let told = home.good(&["check", "--repair", "--maildir", "Mail"]);
    assert!(told.contains("4 added"), "{told}");
    assert_eq!(home.subjects("dispatch"), ["A fourth"]);
}

#[test]
fn an_index_of_an_older_version_is_made_anew_by_the_next_pass() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "One", "text"));
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format/index-v1"),
        &home.index_directory(),
    );
    let refused = home.pneu(&["find", "text"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("version 1") && refused.err.contains("run \"pneu index\""),
        "{}",
        refused.err
    );
    // What it remembers of where the mail is, was elsewhere.
    let moved = home.pneu(&["index"]);
    assert_eq!(moved.code, Some(2));
    assert!(moved.err.contains("/home/ana/Mail"), "{}", moved.err);
    let made = home.pneu(&["index", "--maildir", "Mail"]);
    assert_eq!(
        (made.code, made.err.as_str()),
        (Some(0), "pneu: the index has an older version and is rebuilt\n")
    );
    assert!(made.out.starts_with("1 file: 1 added"), "{made:?}");
    assert_eq!(home.subjects("text"), ["One"]);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
