//! Tests `pneu index --watch` and `pneu wait`, beside other commands.
//!
//! Input: a home whose mail changes. Output: what is printed, and exit codes. `crates/pneu/src/watching`
//! tests what is noticed.

use crate::support::{Home, end, letter};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn start(home: &Home, arguments: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let mut command = home.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    (child, lines)
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// Delivers as mail programs do: the file is whole when it gets its place. Returns the path.
fn deliver(home: &Home, folder: &str, name: &str, subject: &str) -> PathBuf {
    let folder = home.folder(folder);
    let (temporary, path) = (folder.join("tmp").join(name), folder.join("cur").join(name));
    fs::write(&temporary, letter(name, subject, "a")).unwrap();
    fs::rename(temporary, &path).unwrap();
    path
}

/// Waits until the watch says on standard error that it has begun.
fn has_begun(child: &mut Child) {
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("pneu: watching "), "{line}");
}

#[test]
fn a_watch_follows_the_mail_until_a_signal_comes() {
    let home = Home::indexed();
    let (mut watch, mut lines) = start(&home, &["index", "--watch"]);
    assert!(lines.next().unwrap().contains(" 0 added"));
    has_begun(&mut watch);
    deliver(&home, "", "later:2,", "Later");
    assert_eq!(lines.next().unwrap(), "1 added, 0 moved, 0 changed, 0 gone");
    assert!(home.good(&["find", "subject:later"]).contains("Later"));
    // Other commands and the watch are not in each other's way.
    home.good(&["flag", "+F", "--", "subject:later"]);
    home.good(&["tag", "+x", "--", "subject:later"]);
    deliver(&home, "new folder", "last:2,", "Last");
    // The watch may be faster than the command that renamed the file, and then says so.
    assert!(lines.by_ref().any(|line| line.starts_with("1 added, ")));
    assert_eq!(home.good(&["count", "subject:last and maildir:\"/new folder\""]), "1\n");
    signal(&watch, "TERM");
    assert_eq!(end(watch).code, Some(143));
    assert_eq!(home.good(&["check"]).lines().count(), 1);
}

#[test]
fn a_watch_reads_the_configuration_again() {
    let home = Home::indexed();
    let (mut watch, mut lines) = start(&home, &["index", "--watch"]);
    let mut said = BufReader::new(watch.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |part: &str| assert!(said.any(|line| line.contains(part)), "{part}");
    until("watching ");
    let rule = |tag: &str| format!("[[rule]]\nquery = \"subject:list\"\ntag = \"+{tag}\"\n");
    let mut came = || assert!(lines.any(|line| line.starts_with("1 added, ")));
    deliver(&home, "", "before:2,", "list before");
    came();
    // There was no directory of configurations before.
    home.configure(&rule("one"));
    until("the configuration was read again");
    deliver(&home, "", "one:2,", "list one");
    came();
    home.configure("[[rule]\n");
    until("the configuration that was read before stays");
    deliver(&home, "", "still:2,", "list still");
    came();
    // Editors write another file, and rename it. Mail of a new root is followed, too.
    let other = home.path().join("Other/inbox/cur");
    fs::create_dir_all(&other).unwrap();
    fs::create_dir_all(other.with_file_name("new")).unwrap();
    let path = home.path().join(".config/pneu/config.toml");
    let root = |name: &str, at: &str| {
        format!("[[root]]\nname = \"{name}\"\npath = \"{}\"\n", home.path().join(at).display())
    };
    let text = [root("mail", "Mail"), root("other", "Other"), rule("two")].concat();
    fs::write(path.with_extension("tmp"), text).unwrap();
    fs::rename(path.with_extension("tmp"), &path).unwrap();
    until("the configuration was read again");
    until("watching ");
    let temporary = other.parent().unwrap().join("temporary");
    fs::write(&temporary, letter("9", "list two", "a")).unwrap();
    fs::rename(temporary, other.join("9:2,")).unwrap();
    came();
    signal(&watch, "TERM");
    assert_eq!(end(watch).code, Some(143));
    assert_eq!(home.subjects("tag:one"), ["list still", "list one"]);
    assert_eq!(home.subjects("tag:two"), ["list two"]);
}

#[test]
fn a_watch_needs_no_reader_and_does_not_go_with_options_that_lose_mail() {
    let home = Home::indexed();
    let refused = home.pneu(&["index", "--watch", "--accept-loss"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let (mut watch, lines) = start(&home, &["index", "--watch"]);
    has_begun(&mut watch);
    // Nobody reads what it prints.
    drop(lines);
    let (mut wait, mut found) = start(&home, &["wait", "--format", "paths", "subject:second"]);
    deliver(&home, "", "first:2,", "First");
    for number in 0..1000 {
        // The wait may begin after this message, and then ends at a later one.
        let name = format!("second{number}:2,");
        deliver(&home, "", &name, "Second message");
        let wanted = format!("{}\n", number + 1);
        let is_found = (0..10_000).any(|_| home.pneu(&["count", "subject:\"second message\""]).out == wanted);
        assert!(is_found, "it is not indexed");
        if wait.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert!(found.next().unwrap().contains("/Mail/cur/second"));
    assert_eq!(end(wait).code, Some(0));
    signal(&watch, "INT");
    assert_eq!(end(watch).code, Some(130));
}

#[test]
fn a_wait_ends_when_its_time_is_up() {
    let home = Home::indexed();
    let waited = home.pneu(&["wait", "--timeout", "0", "subject:first"]);
    assert_eq!((waited.code, waited.out.as_str(), waited.err.as_str()), (Some(1), "", ""));
    assert_eq!(home.pneu(&["wait", "--timeout", "0", "date:nonsense"]).code, Some(2));
}

/// Returns the subjects and the token in lines of JSON.
fn subjects_and_token(text: &str) -> (Vec<String>, String) {
    let mut lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.pop().unwrap();
    assert_eq!((&last["version"], &last["type"]), (&1.into(), &"token".into()));
    let subject = |line: &serde_json::Value| line["subject"].as_str().unwrap().to_owned();
    (lines.iter().map(subject).collect(), last["token"].as_str().unwrap().to_owned())
}

#[test]
fn a_wait_that_has_a_token_begins_where_the_last_one_ended() {
    let home = Home::indexed();
    let (none, token) = subjects_and_token(&home.good(&["changes"]));
    assert!(none.is_empty());
    deliver(&home, "", "second:2,", "Second");
    deliver(&home, "", "other:2,", "Other");
    home.good(&["index"]);
    let wait = |token: &str| home.pneu(&["wait", "--timeout", "0", "--since", token, "subject:second"]);
    let found = wait(&token);
    let (subjects, next) = subjects_and_token(&found.out);
    assert_eq!((found.code, subjects), (Some(0), vec!["Second".to_owned()]));
    let nothing = wait(&next);
    assert_eq!((nothing.code, subjects_and_token(&nothing.out)), (Some(1), (vec![], next.clone())));
    let paths = ["wait", "--since", &token, "--format", "paths", "subject:second"];
    assert!(home.good(&paths).ends_with("/Mail/cur/second:2,\n"));
    fs::remove_dir_all(home.data().join("index")).unwrap();
    home.good(&["index", "--maildir", "Mail"]);
    let refused = wait(&next);
    assert_eq!((refused.code, refused.out.as_str()), (Some(4), ""), "{}", refused.err);
}

#[test]
fn a_wait_that_follows_lists_each_message_once_until_a_signal_comes() {
    let home = Home::indexed();
    let token = subjects_and_token(&home.good(&["changes"])).1;
    deliver(&home, "", "1:2,", "Second");
    home.good(&["index"]);
    let arguments = ["wait", "--follow", "--since", &token, "--format", "paths", "subject:second"];
    let (wait, mut lines) = start(&home, &arguments);
    let mut expected = 1;
    for line in lines.by_ref().take(3) {
        assert!(line.ends_with(&format!("/{expected}:2,")), "{line}");
        expected += 1;
        deliver(&home, "", &format!("{expected}:2,"), "Second");
        home.good(&["index"]);
    }
    assert!(lines.next().unwrap().ends_with("/4:2,"));
    signal(&wait, "INT");
    assert_eq!(end(wait).code, Some(130));
}

#[test]
fn a_wait_for_what_does_not_exist_says_so_and_waits() {
    let home = Home::indexed();
    let said = "pneu: there is no folder /nowhere; no message has the tag never; waiting for it\n";
    let waited = home.pneu(&["wait", "--timeout", "0", "maildir:/nowhere or tag:never"]);
    assert_eq!((waited.code, waited.out.as_str(), waited.err.as_str()), (Some(1), "", said));
    let mut command = home.command(&["wait", "--format", "paths", "tag:never"]);
    let mut wait = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(wait.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "pneu: no message has the tag never; waiting for it");
    // It may begin after the first one.
    for number in 0..10_000 {
        let sign = if number % 2 == 0 { "+never" } else { "-never" };
        home.good(&["tag", sign, "--", "subject:first"]);
        if wait.try_wait().unwrap().is_some() {
            break;
        }
    }
    assert_eq!(end(wait).code, Some(0));
}

#[test]
fn a_watch_accepts_that_a_folder_was_removed() {
    let home = Home::indexed();
    for number in 0..20 {
        home.deliver("big", &format!("big{number}:2,S"), &letter(&format!("b{number}"), "Big", "text"));
    }
    home.good(&["index"]);
    let (mut watch, mut lines) = start(&home, &["index", "--watch"]);
    has_begun(&mut watch);
    // A mail program moves it to where it is removed from.
    fs::rename(home.mail().join("big"), home.path().join("trash")).unwrap();
    assert!(lines.any(|line| line.contains("20 gone")));
    assert_eq!(home.pneu(&["count", "subject:big"]).out, "0\n");
    signal(&watch, "TERM");
    assert_eq!(end(watch).code, Some(143));
}
