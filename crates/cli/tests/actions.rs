//! Tests `pneu flag`, `move`, `copy`, `delete` and `undo`: what a user sees of them.
//!
//! Input: indexed mail and commands. Output: what is printed, what is found, where files are. What happens to
//! files in a crash is tested in the library.

use crate::support::Home;
use std::fs;

#[test]
fn mail_is_flagged_moved_copied_deleted_and_all_of_it_undone() {
    let home = Home::indexed();
    home.folder("Trash");
    home.folder("done");
    home.good(&["index"]);
    let before = home.good(&["find", "--format", "paths"]);
    assert_eq!(
        home.good(&["flag", "+S", "-flagged", "--", "hello or tubes"]),
        "2 messages: 2 files changed\n"
    );
    assert_eq!(home.subjects("flag:unread or flag:flagged"), [""; 0]);
    assert_eq!(home.good(&["move", "hello", "done"]), "2 messages: 2 files moved\n");
    assert_eq!(home.subjects("maildir:/done"), ["Second thoughts", "First steps"]);
    assert_eq!(home.good(&["copy", "--create", "subject:first", "more/of it"]), "1 message: 1 file copied\n");
    assert_eq!(home.subjects("maildir:\"/more/of it\""), ["First steps"]);
    assert_eq!(home.good(&["delete", "maildir:/done"]), "2 messages: 2 files moved to the trash\n");
    assert_eq!(home.subjects("maildir:/Trash"), ["Second thoughts", "First steps"]);
    let list = home.good(&["undo", "--list"]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 4 + 2, "{list}");
    assert!(lines[0].starts_with("2 files moved to the trash at "), "{list}");
    assert!(lines[3].starts_with("2 files changed at "), "{list}");
    let place = |path: &str| home.mail().join(path).display().to_string();
    assert_eq!(lines[4], format!("{}\t{}", place("Trash/cur/1:2,S"), place("done/cur/1:2,S")));
    for kind in [
        "2 of 2 files moved to the trash",
        "1 of 1 file copied",
        "2 of 2 files moved",
        "2 of 2 files changed",
    ] {
        let said = home.good(&["undo"]);
        assert!(said.starts_with(&format!("undone for {kind} at ")), "{said}");
    }
    assert_eq!(home.good(&["find", "--format", "paths"]), before);
    let none = home.pneu(&["undo"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: there is nothing to undo\n"));
}

#[test]
fn a_dry_run_prints_places_and_changes_nothing() {
    let home = Home::indexed();
    home.folder("Trash");
    home.good(&["index"]);
    let place = |path: &str| home.mail().join(path).display().to_string();
    let printed = home.good(&["delete", "--dry-run", "tubes"]);
    assert_eq!(printed, format!("{}\t{}\n", place("lists/rust/cur/3:2,FS"), place("Trash/cur/3:2,FS")));
    let printed = home.good(&["flag", "--dry-run", "+R", "--", "tubes"]);
    assert_eq!(printed, format!("{}\t{}\n", place("lists/rust/cur/3:2,FS"), place("lists/rust/cur/3:2,FRS")));
    let printed = home.good(&["move", "--dry-run", "--create", "tubes", "fresh/place"]);
    assert!(printed.ends_with(&format!("\t{}\n", place("fresh/place/cur/3:2,FS"))), "{printed}");
    assert!(!home.mail().join("fresh/place").exists());
    assert_eq!(home.subjects("maildir:/lists/rust and flag:flagged"), ["Third time"]);
    assert_eq!(home.pneu(&["undo"]).code, Some(1));
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let home = Home::indexed();
    for (arguments, code, part) in [
        (&["flag", "+x", "--", "hello"][..], 2, "\"x\" is no flag: flags are the letters"),
        (&["flag", "hello"], 2, "no flag is given: +S adds a flag, -S removes one: pneu flag +S -- from:ana"),
        (&["flag", "+S", "--"], 2, "no query is given: put it after the flags"),
        (&["flag", "+S", "--", "nowhere"], 1, "no message matches"),
        (&["flag", "+S", "--", "subject:first"], 1, "all of them have these flags already"),
        (&["move", "hello"], 2, "a query and a folder are needed"),
        (&["move", "hello", "nowhere"], 2, "there is no folder nowhere; create it with --create"),
        (&["move", "form:bob", "lists/rust"], 2, "did you mean \"from:\"?"),
        (&["move", "tubes", "lists/rust"], 1, "all of them are there already"),
        (&["copy", "--create", "hello", "../out"], 2, "it has the part \".\" or \"..\""),
        (&["delete", "hello"], 2, "there is no trash in"),
        (&["delete", ""], 2, "no query is given; '*' means all messages"),
        (&["undo"], 1, "there is nothing to undo"),
        (&["undo", "--list"], 1, "there is nothing to undo"),
    ] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(code), ""), "{arguments:?}: {wrong:?}");
        assert!(wrong.err.contains(part), "{arguments:?}: {}", wrong.err);
    }
    assert_eq!(home.subjects("*").len(), 4);
    for command in ["flag", "tag"] {
        assert_eq!(home.pneu(&[command, "-h"]).code, Some(0));
    }
}

#[test]
fn the_configuration_names_the_trash() {
    let home = Home::indexed();
    home.folder("Trash");
    home.folder("Papierkorb/alt");
    fs::create_dir_all(home.path().join(".config/pneu")).unwrap();
    let root = "[[root]]\nname = \"mail\"\npath = \"~/Mail\"\ntrash = \"Papierkorb/alt\"\n";
    fs::write(home.path().join(".config/pneu/config.toml"), root).unwrap();
    home.good(&["index"]);
    home.good(&["delete", "tubes"]);
    assert_eq!(home.subjects("maildir:/Papierkorb/alt"), ["Third time"]);
}

#[test]
fn a_damaged_log_is_told_and_no_mail_is_touched() {
    let home = Home::indexed();
    home.good(&["flag", "+R", "--", "hello"]);
    let log = home.data().join("user/actions/000000000001.json");
    fs::write(&log, "{").unwrap();
    for arguments in [&["undo"][..], &["undo", "--list"], &["flag", "-R", "--", "hello"]] {
        let wrong = home.pneu(arguments);
        assert_eq!(wrong.code, Some(2), "{arguments:?}");
        assert!(wrong.err.contains("000000000001.json is damaged"), "{}", wrong.err);
    }
    assert_eq!(home.subjects("flag:replied").len(), 2);
}

#[test]
fn what_is_removed_for_good_is_told_asked_for_and_never_comes_back() {
    let home = Home::indexed();
    home.folder("Trash");
    home.good(&["index"]);
    home.good(&["delete", "tubes"]);
    let path = home.mail().join("Trash/cur/3:2,FS");
    let planned = home.pneu(&["delete", "--for-good", "--dry-run", "tubes"]);
    assert_eq!((planned.code, planned.out), (Some(0), format!("{}\n", path.display())));
    let fate = "pneu: 1 message: no archive was asked; 1 would then exist nowhere\n";
    assert_eq!(planned.err, fate);
    let refused = home.pneu(&["delete", "--for-good", "tubes"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert_eq!(refused.err, format!("{fate}pneu: nothing was removed; --yes removes them all the same\n"));
    assert!(path.exists());
    assert_eq!(
        home.good(&["delete", "--for-good", "--yes", "tubes"]),
        "1 message: 1 file removed for good\n"
    );
    assert!(!path.exists());
    assert_eq!(home.subjects("*").len(), 3);
    assert_eq!(home.good(&["sweep", "--older-than", "0d"]), "0 messages forgotten\n");
    let none = home.pneu(&["delete", "--for-good", "--yes", "tubes"]);
    assert_eq!(none.code, Some(1), "{none:?}");
    let list = home.good(&["undo", "--list"]);
    assert!(list.starts_with("1 file removed for good at "), "{list}");
    let undone = home.pneu(&["undo"]);
    assert_eq!(undone.code, Some(1));
    assert!(undone.err.contains("1 file removed for good at "), "{}", undone.err);
    assert!(
        undone.err.ends_with(" cannot come back; the next undo undoes the action before\n"),
        "{}",
        undone.err
    );
    let undone = home.pneu(&["undo"]);
    assert!(undone.err.contains("it was moved, changed or removed since"), "{}", undone.err);
    for option in ["--yes", "--no-archive"] {
        assert_eq!(home.pneu(&["delete", option, "hello"]).code, Some(2));
    }
}

#[test]
fn a_renamed_folder_that_the_configuration_names_is_told() {
    let home = Home::indexed();
    fs::create_dir_all(home.path().join(".config/pneu")).unwrap();
    let text = "[[root]]\nname = \"mail\"\npath = \"~/Mail\"\narchive = \"lists/rust\"\n";
    fs::write(home.path().join(".config/pneu/config.toml"), text).unwrap();
    let told = "pneu: the configuration still names the old folder: in the [[root]] \"mail\", replace \
                archive = \"lists/rust\" by archive = \"lists/crabs\"\n";
    let planned = home.pneu(&["rename-folder", "--dry-run", "/lists/rust", "/lists/crabs"]);
    assert_eq!((planned.code, planned.err.as_str()), (Some(0), told));
    let renamed = home.pneu(&["rename-folder", "/lists/rust", "/lists/crabs"]);
    assert_eq!(
        (renamed.code, renamed.out.as_str(), renamed.err.as_str()),
        (Some(0), "1 folder renamed\n", told)
    );
    assert_eq!(home.subjects("maildir:/lists/crabs"), ["Third time"]);
}

#[test]
fn a_folder_is_renamed_and_gets_its_old_name_back() {
    let home = Home::indexed();
    let place = |path: &str| home.mail().join(path).display().to_string();
    let planned = home.good(&["rename-folder", "--dry-run", "lists/rust", "crabs"]);
    assert_eq!(planned, format!("{}\t{}\n", place("lists/rust"), place("crabs")));
    assert_eq!(home.subjects("maildir:/lists/rust"), ["Third time"]);
    assert_eq!(home.good(&["rename-folder", "lists/rust", "crabs"]), "1 folder renamed\n");
    assert_eq!(home.subjects("maildir:/crabs"), ["Third time"]);
    let list = home.good(&["undo", "--list"]);
    assert!(list.starts_with("1 directory renamed at "), "{list}");
    assert!(list.ends_with(&format!("\n{}\t{}\n", place("crabs"), place("lists/rust"))), "{list}");
    for (old, new, part) in [
        ("crabs", "lists", "exists"),
        ("nowhere", "x", "there is no folder nowhere"),
        ("crabs", "../x", "it has the part \".\" or \"..\""),
    ] {
        let wrong = home.pneu(&["rename-folder", old, new]);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(wrong.err.contains(part), "{}", wrong.err);
    }
    let said = home.good(&["undo"]);
    assert!(said.starts_with("undone for 1 of 1 directory renamed at "), "{said}");
    assert_eq!(home.subjects("maildir:/lists/rust"), ["Third time"]);
}
