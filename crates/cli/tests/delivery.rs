//! Tests `pneu deliver` and `pneu mkdir`: what a mail server or a filter relies on.
//!
//! Input: messages on standard input. Output: files, what is found, exit codes. Does not depend on how the
//! index is brought in step.

use crate::support::{Home, Run, end, letter, run_with_input};
use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn deliver(home: &Home, arguments: &[&str], message: &[u8]) -> Run {
    let arguments: Vec<&str> = ["deliver"].iter().chain(arguments).copied().collect();
    run_with_input(&mut home.command(&arguments), message)
}

fn assert_silent(run: &Run) {
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""), "{run:?}");
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_delivered_message_is_new_private_and_found_at_once() {
    let home = Home::indexed();
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    assert_silent(&deliver(
        &home,
        &["lists/rust"],
        &[b"From ana Mon Jan  1 00:00:00 2024\n", &message[..]].concat(),
    ));
    assert_eq!(home.subjects("river and flag:new and maildir:/lists/rust"), ["Ninth wave"]);
    let [file] = files(&home.mail().join("lists/rust/new")).try_into().unwrap();
    assert_eq!(fs::read(&file).unwrap(), message);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(files(&home.mail().join("lists/rust/tmp")).is_empty());
    let found = home.good(&["find", "--format", "paths", "river"]);
    assert_eq!(found, format!("{}\n", file.display()));
    let nothing = "0 added, 0 moved, 0 changed, 0 gone";
    assert!(home.good(&["index"]).contains(nothing), "a pass finds nothing left to do");
}

#[test]
fn flags_tags_and_a_new_folder_are_given_with_it() {
    let home = Home::indexed();
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    assert_silent(&deliver(
        &home,
        &["--create", "--flags", "SF", "--tag", "river", "--tag", "later", "lists/water"],
        &message,
    ));
    assert_eq!(home.subjects("tag:river and tag:later and flag:flagged and not flag:unread"), ["Ninth wave"]);
    let [file] = files(&home.mail().join("lists/water/cur")).try_into().unwrap();
    assert!(file.to_str().unwrap().ends_with(":2,FS"), "{file:?}");
    // The same message once more, by path: it is one message with two files.
    let path = home.mail().join("lists/rust");
    assert_silent(&deliver(&home, &[path.to_str().unwrap()], &message));
    assert_eq!(home.subjects("tag:river"), ["Ninth wave"]);
    assert_eq!(home.good(&["find", "--format", "paths", "tag:river"]).lines().count(), 1);
    assert_eq!(home.good(&["find", "--format", "paths", "--files", "tag:river"]).lines().count(), 2);
}

#[test]
fn what_is_not_delivered_is_tried_again_and_leaves_nothing() {
    let home = Home::indexed();
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    for (arguments, input, part) in [
        (
            &["nowhere"][..],
            &message[..],
            "there is no folder nowhere; create it with --create or \"pneu mkdir\"",
        ),
        (&["List/Rust"], &message, "there is no folder List/Rust; did you mean /lists/rust?"),
        (&["--create", "../out"], &message, "it has the part \".\" or \"..\""),
        (&["--create", "/usr/../out"], &message, "that path is in no root"),
        (&["--create", "~/out"], &message, "a path in the home directory must be written out"),
        (&["/"], b"", "cannot read the message: it is empty"),
        (&["--tag", "a b", "/"], &message, "\"a b\" cannot be a tag"),
    ] {
        let run = deliver(&home, arguments, input);
        assert_eq!((run.code, run.out.as_str()), (Some(75), ""), "{arguments:?}: {run:?}");
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
    assert!(files(&home.mail().join("new")).is_empty() && files(&home.mail().join("tmp")).is_empty());
    assert_eq!(home.subjects("river"), [""; 0]);
    assert!(!home.path().join("out").exists());
    // Whatever a filter makes of a message's header: no message was stored.
    for wrong in
        [&["--flags", "X", "/"][..], &["--help"], &["-h"], &["-V"], &[], &["/", "/"], &["--", "--help"]]
    {
        assert_eq!(deliver(&home, wrong, &message).code, Some(75), "{wrong:?}");
    }
    let homeless = run_with_input(home.command(&["deliver", "/"]).env_remove("HOME"), &message);
    assert_eq!(homeless.code, Some(75), "{homeless:?}");
}

#[test]
fn a_message_that_cannot_be_indexed_is_delivered_nevertheless() {
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    let home = Home::new();
    let path = home.mail();
    let named = [path.to_str().unwrap()];
    let run = deliver(&home, &named, &message);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.err.contains("the message is delivered, but not indexed: there is no index"), "{}", run.err);
    assert_eq!(files(&home.mail().join("new")).len(), 1);
    let unknown = deliver(&home, &["inbox"], &message);
    assert_eq!(unknown.code, Some(75), "without an index, names mean nothing");
    home.first_index();
    assert_eq!(home.subjects("river"), ["Ninth wave"]);
    fs::write(home.index_directory().join("manifest"), "damaged").unwrap();
    let run = deliver(&home, &named, &message);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("the message is delivered, but not indexed: "), "{}", run.err);
    assert_eq!(files(&home.mail().join("new")).len(), 2);
    // A root of the configuration has its folders on the disk, whatever the index is.
    home.deliver("lists/rust", "1:2,", &message);
    home.configure(&format!("[[root]]\nname = 'mail'\npath = '{}'\n", home.mail().display()));
    for (name, place) in [("lists/rust", "lists/rust/new"), ("inbox", "new"), ("/", "new")] {
        let before = files(&home.mail().join(place)).len();
        let run = deliver(&home, &[name], &message);
        assert_eq!(run.code, Some(0), "{name}: {run:?}");
        assert!(run.err.contains("the message is delivered, but not indexed: "), "{}", run.err);
        assert_eq!(files(&home.mail().join(place)).len(), before + 1, "{name}");
    }
    assert_eq!(deliver(&home, &["lists/new", "--create"], &message).code, Some(75), "nothing is created");
}

#[test]
fn a_wrong_configuration_loses_no_mail() {
    let home = Home::indexed();
    fs::create_dir_all(home.path().join(".config/pneu")).unwrap();
    fs::write(home.path().join(".config/pneu/config.toml"), "nonsense").unwrap();
    let run = deliver(&home, &["/"], &letter("9", "Ninth wave", "a tunnel"));
    assert_eq!(run.code, Some(75), "{run:?}");
    assert!(run.err.contains("config.toml"), "{}", run.err);
}

#[test]
fn deliveries_at_the_same_time_are_all_found() {
    let home = Home::indexed();
    std::thread::scope(|scope| {
        for number in 10..18 {
            let home = &home;
            scope.spawn(move || {
                let message = letter(&number.to_string(), "One of eight", "a tunnel under the river");
                assert_silent(&deliver(home, &["/"], &message));
            });
        }
    });
    assert_eq!(home.subjects("river").len(), 8);
}

#[test]
fn a_folder_is_made_once_and_found() {
    let home = Home::indexed();
    let path = home.mail().join("archive/2026");
    assert_eq!(home.good(&["mkdir", "archive/2026"]), format!("{}\n", path.display()));
    for directory in ["cur", "new", "tmp"] {
        assert_eq!(path.join(directory).metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_silent(&deliver(&home, &["archive/2026"], &letter("9", "Ninth wave", "a tunnel")));
    assert_eq!(home.subjects("maildir:/archive/2026"), ["Ninth wave"]);
    for (name, part) in [
        ("archive/2026", "archive/2026 exists"),
        ("a/new", "cur, new and tmp are the parts of a folder"),
        ("../a", "it has the part \".\" or \"..\""),
    ] {
        let run = home.pneu(&["mkdir", name]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        assert!(run.err.contains(part), "{name}: {}", run.err);
    }
}

#[test]
fn a_signal_before_the_message_is_stored_means_try_again_and_after_it_done() {
    let home = Home::indexed();
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    let start = || {
        let mut command = home.command(&["deliver", "/"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let place = |directory: &str| files(&home.mail().join(directory));
    let wait_for = |directory: &str| {
        while place(directory).is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let terminate = |child: &Child| kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    // The filter that feeds the message hangs.
    let mut child = start();
    child.stdin.as_mut().unwrap().write_all(&message).unwrap();
    wait_for("tmp");
    terminate(&child);
    let stdin = child.stdin.take();
    let run = end(child);
    drop(stdin);
    assert_eq!((run.code, run.out.as_str()), (Some(75), ""), "{run:?}");
    assert!(run.err.contains("cannot read the message: interrupted"), "{}", run.err);
    assert!(place("tmp").is_empty() && place("new").is_empty());
    // Another process writes to the index.
    let lock = fs::File::open(home.index_directory().join("lock")).unwrap();
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
    let mut child = start();
    child.stdin.take().unwrap().write_all(&message).unwrap();
    wait_for("new");
    terminate(&child);
    let run = end(child);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.err.contains("the message is delivered, but not indexed: interrupted"), "{}", run.err);
    drop(lock);
    home.good(&["index"]);
    assert_eq!(home.subjects("river"), ["Ninth wave"]);
}

#[test]
fn a_limit_on_the_size_of_files_is_no_reason_to_deliver_twice() {
    let home = Home::indexed();
    let message = letter("9", "Ninth wave", "a tunnel under the river");
    let limited = |blocks: u32| {
        let own = home.command(&["deliver", "/"]);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -f {blocks}; exec \"$@\""), "sh"]).arg(own.get_program());
        command.args(own.get_args()).env("HOME", home.path()).current_dir(home.path());
        run_with_input(&mut command, &message)
    };
    let run = limited(0);
    assert_eq!(run.code, Some(75), "{run:?}");
    assert!(files(&home.mail().join("new")).is_empty() && files(&home.mail().join("tmp")).is_empty());
    // The message has room, a segment of text has not.
    let run = limited(1);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("the message is delivered, but not indexed: "), "{}", run.err);
    assert_eq!(files(&home.mail().join("new")).len(), 1);
}

#[test]
fn what_is_wrong_with_other_files_is_not_said_of_this_one() {
    let home = Home::indexed();
    std::os::unix::fs::symlink("/etc/passwd", home.mail().join("lists/rust/cur/5:2,S")).unwrap();
    assert_silent(&deliver(&home, &["--tag", "river", "lists/rust"], &letter("9", "Ninth wave", "a tunnel")));
    assert_eq!(home.subjects("tag:river"), ["Ninth wave"]);
    home.folder("apart");
    fs::write(home.mail().join("apart/.noindex"), "").unwrap();
    let path = home.mail().join("apart");
    let run = deliver(&home, &[path.to_str().unwrap()], &letter("10", "Tenth", "a tunnel"));
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("is not indexed: its folder is excluded"), "{}", run.err);
}
