//! Tests what `find` does with the files of messages: an mbox, links, commands.
//!
//! Input: indexed mail, some of it moved or gone since. Output: the files written, the links made and the
//! commands run. Does not depend on how that is done.

use crate::support::{Home, Run, letter};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn home() -> Home {
    let home = Home::indexed();
    // One goes from "new" to "cur" as mail programs do it, one goes for good.
    fs::rename(home.mail().join("cur/2:2,"), home.mail().join("cur/2:2,RS")).unwrap();
    fs::remove_file(home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
    home
}

fn assert_one_is_gone(run: &Run, home: &Home) {
    let path = home.mail().join(".Archive.2024/cur/4:2,S");
    let said = format!("pneu: {} is gone; run \"pneu index\" to find where it moved\n", path.display());
    assert_eq!((run.code, run.err.as_str()), (Some(3), said.as_str()), "{run:?}");
}

#[test]
fn an_mbox_holds_the_messages_as_they_are_on_the_disk() {
    let home = home();
    let run = home.pneu(&["find", "--format", "mbox"]);
    assert_one_is_gone(&run, &home);
    let expected = [
        ("Mon Mar  4", "3", "Third time"),
        ("Sun Mar  3", "2", "Second thoughts"),
        ("Sat Mar  2", "1", "First steps"),
    ]
    .map(|(day, id, subject)| {
        let body = crate::support::SAMPLE.iter().find(|sample| sample.2 == subject).unwrap().3;
        let content = String::from_utf8(letter(id, subject, body)).unwrap();
        format!("From ana@example.org {day} 12:00:00 2024\n{content}\n")
    });
    assert_eq!(run.out, expected.concat());
}

#[test]
fn lines_of_a_message_that_begin_as_another_are_quoted() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "Quoted", "From here on\n>From there\nno From"));
    home.first_index();
    let out = home.good(&["find", "-o", "mbox"]);
    assert!(out.ends_with("\n>From here on\n>>From there\nno From\n\n"), "{out}");
}

#[test]
fn a_file_that_cannot_be_read_is_told_of_and_the_others_are_written() {
    let home = Home::indexed();
    let path = home.mail().join("cur/1:2,S");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let run = home.without_rights(&["find", "--format", "mbox"]);
    assert_eq!((run.code, run.out.matches("From ana@example.org ").count()), (Some(3), 3), "{run:?}");
    assert!(run.err.contains(path.to_str().unwrap()) && run.err.contains("Permission denied"), "{}", run.err);
    for format in ["plain", "json", "sexp", "paths", "count"] {
        assert_eq!(home.without_rights(&["find", "--format", format]).code, Some(0), "{format}");
    }
    for format in ["plain", "html", "json", "sexp", "raw"] {
        let run = home.without_rights(&["view", "--format", format, "id:1@example.org"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{format}: {run:?}");
    }
}

/// Returns the links in a directory: their names, without what tells of their target, and their targets below
/// the mail.
fn links(home: &Home, directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in ["cur", "new"] {
        for entry in fs::read_dir(directory.join(place)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let target = fs::read_link(&path).unwrap();
            let target = target.strip_prefix(home.mail()).unwrap().to_str().unwrap().to_owned();
            let (before, behind) = name.split_once(".pneu-").unwrap();
            assert!(behind[..16].bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
            found.push((format!("{place}/{before}{}", &behind[16..]), target));
        }
    }
    found.sort();
    found
}

fn link_to(home: &Home, query: &str, more: &[&str]) -> Run {
    let arguments = [&["find", "--format", "links", "--links-dir", "Found", query], more].concat();
    home.pneu(&arguments)
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, target)| ((*name).to_owned(), (*target).to_owned())).collect()
}

#[test]
fn links_are_a_maildir_that_is_not_indexed() {
    let home = home();
    let found = home.path().join("Found");
    let run = link_to(&home, "", &[]);
    assert_one_is_gone(&run, &home);
    assert_eq!(run.out, format!("3 links in {}\n", found.display()));
    let expected =
        [("cur/1:2,S", "cur/1:2,S"), ("cur/2:2,RS", "cur/2:2,RS"), ("cur/3:2,FS", "lists/rust/cur/3:2,FS")];
    assert_eq!(links(&home, &found), pairs(&expected));
    assert!(found.join(".noindex").is_file() && found.join("tmp").is_dir());
    assert_eq!(fs::metadata(&found).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(link_to(&home, "subject:first", &["--quiet"]).out, "");
    assert_eq!(links(&home, &found), pairs(&expected), "what is linked is not linked again");
    assert_eq!(
        fs::read(
            found
                .join("cur")
                .join(fs::read_dir(found.join("cur")).unwrap().next().unwrap().unwrap().file_name())
        )
        .unwrap()
        .first(),
        Some(&b'F')
    );
}

#[test]
fn files_of_one_name_have_a_link_each() {
    let home = Home::new();
    home.deliver("a", "1:2,S", &letter("1", "One", "a"));
    home.deliver("b", "1:2,S", &letter("2", "Two", "b"));
    fs::write(home.folder("c").join("new/1"), letter("3", "Three", "c")).unwrap();
    home.first_index();
    assert_eq!(link_to(&home, "", &[]).code, Some(0));
    let expected = [("cur/1:2,S", "a/cur/1:2,S"), ("cur/1:2,S", "b/cur/1:2,S"), ("new/1", "c/new/1")];
    assert_eq!(links(&home, &home.path().join("Found")), pairs(&expected));
}

#[test]
fn only_links_that_were_made_here_are_cleared() {
    let home = Home::indexed();
    let found = home.path().join("Found");
    link_to(&home, "subject:first or subject:second", &[]);
    // A mail program gives one other flags; others put things of their own beside them, one under a name as
    // ours are.
    let ours: Vec<PathBuf> =
        fs::read_dir(found.join("cur")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let name = ours[0].to_str().unwrap();
    fs::rename(name, format!("{}:2,FT", name.rsplit_once(':').unwrap().0)).unwrap();
    let theirs = ["file", "link", "9.pneu-0123456789abcdef:2,S"].map(|name| found.join("cur").join(name));
    fs::write(&theirs[0], "x").unwrap();
    symlink("/nowhere", &theirs[1]).unwrap();
    symlink(home.mail().join("cur/1:2,S"), &theirs[2]).unwrap();
    let copy = found.join("cur").join(ours[1].file_name().unwrap().to_str().unwrap().replace(':', ",copy:"));
    fs::write(&copy, "a file under the name of a link").unwrap();

    let run = link_to(&home, "subject:third", &["--clear-links"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let left: Vec<_> = fs::read_dir(found.join("cur")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(theirs.iter().chain([&copy]).all(|path| left.contains(path)), "{left:?}");
    assert_eq!(left.len(), 5, "{left:?}");

    let none = link_to(&home, "nowhere", &["-c"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no message matches\n"));
    assert_eq!(fs::read_dir(found.join("cur")).unwrap().count(), 4, "old links are no answer");
}

#[test]
fn a_directory_that_holds_other_things_is_refused() {
    let home = Home::indexed();
    for directory in ["Mail", "Mail/lists/rust", "Mail/cur"] {
        let run = home.pneu(&["find", "--format", "links", "--linksdir", directory, "--clearlinks"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.contains("holds other things"), "{}", run.err);
    }
    assert!(!home.mail().join(".noindex").exists());
    // Inside the mail a new one is never indexed.
    let inside = home.pneu(&["find", "--format", "links", "--links-dir", "Mail/search"]);
    assert_eq!(inside.code, Some(0), "{inside:?}");
    let index = home.good(&["index"]);
    assert!(index.starts_with("4 files: 0 added, 0 moved, 0 changed, 0 gone, 0 unreadable;"), "{index}");
}

#[test]
fn commands_get_the_path_and_no_shell() {
    let home = home();
    let run = home.pneu(&["find", "--exec", "printf '%s|%s\\n' \"$HOME; a\""]);
    assert_one_is_gone(&run, &home);
    let line = |path: &str| format!("$HOME; a|{}\n", home.mail().join(path).display());
    assert_eq!(run.out, [line("lists/rust/cur/3:2,FS"), line("cur/2:2,RS"), line("cur/1:2,S")].concat());
    let inside = home.good(&["find", "--exec", "printf <{}>", "subject:first"]);
    assert_eq!(inside, format!("<{}>", home.mail().join("cur/1:2,S").display()));
}

#[test]
fn a_command_that_fails_is_told_of_and_the_next_is_run() {
    let home = Home::indexed();
    let run = home.pneu(&["find", "--exec", "sh -c 'echo ran; exit 7' sh", "maildir:/"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), "ran\nran\n"));
    let path = home.mail().join("cur/2:2,");
    assert!(run.err.starts_with(&format!("pneu: sh failed with 7 for {}\n", path.display())), "{}", run.err);
    let missing = home.pneu(&["find", "--exec", "no-such-program -x"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.starts_with("pneu: cannot run no-such-program: "), "{}", missing.err);
    assert_eq!(missing.err.lines().count(), 1);
    for (arguments, part) in [
        (&["--exec", "a 'b"][..], "--exec: the command has an unclosed '"),
        (&["--exec", "a", "--format", "json"], "cannot be used with"),
        (&["--format", "links"], "--format links and --links-dir DIR work only together"),
        (&["--links-dir", "x"], "--format links and --links-dir DIR work only together"),
        (&["--clear-links", "--format", "links"], "--links-dir"),
    ] {
        let wrong = home.pneu(&[&["find"], arguments].concat());
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains(part), "{}", wrong.err);
    }
}
