//! Messages that only the archive has, in every format; and what a backup takes in that no pass has seen yet.

use crate::archive::{Archived, archived, exclusive_lock};
use crate::interrupted::start;
use crate::support::{Run, end};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read};

fn backed_up() -> Archived {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    home
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn what_only_the_archive_has_is_served_in_every_format_or_told_of() {
    let home = backed_up();
    assert_eq!(home.run(&["tag", "+kept", "--", "tubes"]).code, Some(0));
    fs::remove_file(home.home.mail().join("lists/rust/cur/3:2,FS")).unwrap();
    // Before a pass, and after it.
    assert_eq!(home.run(&["view", "--format", "raw", "id:3@example.org"]).code, Some(0));
    assert_eq!(home.run(&["index"]).code, Some(0));
    let mbox = home.run(&["find", "--archived", "--format", "mbox", "tubes"]);
    assert!(mbox.code == Some(0) && mbox.out.contains("\ntubes under the city\n"), "{mbox:?}");
    for arguments in
        [&["--format", "paths"][..], &["--format", "links", "--links-dir", "found"], &["--exec", "echo"]]
    {
        let told = home.run(&[&["find", "--archived", "--quiet"], arguments, &["tubes"]].concat());
        assert_eq!((told.code, told.out.as_str()), (Some(3), ""), "{told:?}");
        assert!(told.err.contains("id:3@example.org has no file"), "{told:?}");
    }
    let shown = json(&home.run(&["view", "--format", "json", "tubes"]));
    assert_eq!(shown["tags"].to_string(), r#"["kept"]"#);
    assert_eq!(home.run(&["view", "no such words"]).code, Some(1));
}

#[test]
fn a_message_without_a_date_keeps_the_one_that_it_was_listed_with() {
    let home = archived();
    let path =
        home.home.deliver("", "9:2,S", b"From: a@example.org\nSubject: undated\nMessage-ID: <9@x>\n\nx\n");
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let listed = json(&home.run(&["find", "--format", "json", "undated"]))["date"].clone();
    fs::remove_file(path).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    assert_eq!(json(&home.run(&["view", "--format", "json", "id:9@x"]))["date"], listed);
}

#[test]
fn a_backup_takes_the_roots_of_the_configuration() {
    let home = backed_up();
    let post = home.home.path().join("Post");
    fs::create_dir_all(post.join("cur")).unwrap();
    fs::create_dir_all(post.join("new")).unwrap();
    fs::write(post.join("cur/7:2,S"), "Subject: post\n\nx\n").unwrap();
    let configure = |names: &[&str]| {
        let table = |name: &&str| format!("[[root]]\nname = \"{name}\"\npath = \"~/{name}\"\n");
        let directory = home.home.path().join(".config/pneu");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), names.iter().map(table).collect::<String>()).unwrap();
    };
    configure(&["Mail", "Post"]);
    let saved = home.run(&["archive", "backup"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let listed = home.run(&["archive", "ls", "latest"]).out;
    assert!(listed.contains("/Post/cur/7:2,S\n") && listed.contains("/Mail/cur/1:2,S\n"), "{listed}");
    configure(&["Mail", "Post", "Absent"]);
    let saved = home.run(&["archive", "backup"]);
    assert!(saved.code == Some(3) && saved.err.contains("/Absent"), "{saved:?}");
}

#[test]
fn ctrl_c_ends_every_command_with_its_code_and_leaves_no_lock() {
    let home = backed_up();
    let repository = home.home.path().join("repository");
    let lock_count = || fs::read_dir(repository.join("locks")).unwrap().count();
    // Somebody has it for himself alone, so that each waits.
    let other = exclusive_lock(&repository.display().to_string(), home.password);
    for arguments in [
        &["archive", "backup"][..],
        &["archive", "snapshots"],
        &["archive", "ls"],
        &["archive", "restore", "latest", "--target", "restored"],
        &["archive", "forget", "--keep-last", "1"],
        &["archive", "prune"],
        &["archive", "check"],
        &["archive", "stats"],
    ] {
        let mut command = home.command(&[arguments, &["--retry-lock", "20s"]].concat());
        let mut child = start(&mut command);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        errors.read_line(&mut said).unwrap();
        assert!(said.contains("is locked exclusively"), "{arguments:?}: {said}");
        let id = i32::try_from(child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
        let ended = end(child);
        let mut rest = String::new();
        errors.read_to_string(&mut rest).unwrap();
        let expected = (Some(130), "", "pneu: interrupted\n");
        assert_eq!((ended.code, ended.out.as_str(), rest.as_str()), expected, "{arguments:?}");
        assert_eq!(lock_count(), 1, "{arguments:?}");
    }
    drop(other);
    assert_eq!(lock_count(), 0);
    assert_eq!(home.run(&["archive", "snapshots"]).out.lines().count(), 1);
}
