//! Tests the modes of files that are written, and what happens without permissions.
//!
//! Input: directories that cannot be read or written, unusual umasks. Output: whether other users get access,
//! and what still works. Does not depend on which code sets modes.

use crate::support::{Home, letter};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Calls `visit` for everything below a directory, and it.
fn walk(path: &Path, visit: &mut dyn FnMut(&Path, bool)) {
    let is_directory = path.is_dir();
    visit(path, is_directory);
    if is_directory {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), visit);
        }
    }
}

#[test]
fn everything_written_is_for_the_user_alone() {
    for umask in ["000", "022", "077"] {
        let home = Home::new();
        home.deliver("", "1:2,S", &letter("1", "One", "text"));
        let run = home.pneu_after(&format!("umask {umask}"), &["index", "--maildir", "Mail"]);
        assert_eq!(run.code, Some(0));
        let mut count = 0;
        walk(&home.data(), &mut |path, is_directory| {
            count += 1;
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, if is_directory { 0o700 } else { 0o600 }, "umask {umask}: {}", path.display());
        });
        assert!(count > 5);
    }
}

#[test]
fn a_folder_that_cannot_be_read_keeps_its_rows() {
    let home = Home::indexed();
    home.deliver("", "7:2,", &letter("7", "Seventh", "text"));
    let locked = home.mail().join("lists/rust/cur");
    set_mode(&locked, 0o000);
    let partly = home.without_rights(&["index"]);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(partly.err.contains(&locked.display().to_string()), "{}", partly.err);
    assert!(
        partly.out.contains(" 1 added") && partly.out.contains(" 0 gone, 1 unreadable"),
        "{}",
        partly.out
    );
    let found = home.without_rights(&["find", "--fields", "s"]);
    assert_eq!(found.out, "Seventh\nA fourth\nThird time\nSecond thoughts\nFirst steps\n");
    set_mode(&locked, 0o700);
    assert_eq!(home.without_rights(&["index"]).code, Some(0));
}

#[test]
fn an_index_made_anew_says_what_it_lacks_of_a_folder_that_cannot_be_read() {
    let home = Home::indexed();
    home.deliver("lists/rust", "5:2,S", &letter("5", "Fifth", "text"));
    home.good(&["index"]);
    // Another header makes a sound index be made anew.
    let configuration = home.path().join(".config/pneu/config.toml");
    fs::create_dir_all(configuration.parent().unwrap()).unwrap();
    fs::write(&configuration, "headers = [\"X-Mailer\"]\n").unwrap();
    let locked = home.mail().join("lists/rust/cur");
    set_mode(&locked, 0o000);
    let partly = home.without_rights(&["check", "--repair"]);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    let sentence = "2 messages of it were indexed and are not in the new index; when it can be read again, \
        run \"pneu index\"";
    assert!(
        partly.err.contains(&locked.display().to_string()) && partly.err.contains(sentence),
        "{partly:?}"
    );
    assert!(!partly.err.contains("stay in the index"), "{partly:?}");
    assert_eq!(home.without_rights(&["find", "--fields", "s"]).out.lines().count(), 3);
    // Of an index that cannot be read nobody knows what it had.
    let manifest = home.index_directory().join("manifest");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[30] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    let partly = home.without_rights(&["check", "--repair", "--maildir", "Mail"]);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    let sentence = "what it holds is not in the new index; when it can be read again, run";
    assert!(partly.err.contains(sentence), "{partly:?}");
    set_mode(&locked, 0o700);
    let later = home.without_rights(&["index"]);
    assert!(later.code == Some(0) && later.out.contains(" 2 added"), "{later:?}");
}

#[test]
fn a_message_that_cannot_be_read_is_named_and_read_later() {
    let home = Home::indexed();
    let path = home.deliver("", "8:2,", &letter("8", "Eighth", "text"));
    set_mode(&path, 0o000);
    let partly = home.without_rights(&["index"]);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(partly.err.contains("8:2,") && partly.err.contains("ermission denied"), "{}", partly.err);
    set_mode(&path, 0o600);
    let later = home.without_rights(&["index"]);
    assert!(later.code == Some(0) && later.out.contains(" 1 added"), "{later:?}");
}

#[test]
fn a_read_only_data_directory_can_be_searched() {
    let home = Home::indexed();
    home.deliver("", "9:2,", &letter("9", "Ninth", "text"));
    let mut closed = Vec::new();
    walk(&home.path().join(".local"), &mut |path, is_directory| closed.push((path.to_owned(), is_directory)));
    for (path, is_directory) in &closed {
        set_mode(path, if *is_directory { 0o555 } else { 0o444 });
    }
    let found = home.unprivileged(&["find", "--fields", "s", "hello"]);
    assert_eq!(
        (found.code, found.out.as_str(), found.err.as_str()),
        (Some(0), "Second thoughts\nFirst steps\n", "")
    );
    for arguments in [&["count"][..], &["check", "--deep"], &["info"], &["view", "id:1@example.org"]] {
        assert_eq!(home.unprivileged(arguments).code, Some(0), "{arguments:?}");
    }
    let refused = home.unprivileged(&["index"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("ermission denied") && refused.err.contains("lock file"), "{}", refused.err);
    for (path, _) in closed {
        set_mode(&path, 0o700);
    }
}
