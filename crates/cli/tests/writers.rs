//! Two programs at work on one repository, one of them restic: both end, or one waits, or says so with 11; and nothing is lost.
//!
//! Comes in: processes that are held in the middle of their work by what they read from, or that run as they come. Goes out: whether
//! restic finds every snapshot whole that was said to be saved. Must not know how locks are kept.

use crate::support::{Home, Run, end, letter, run};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::Restic;

const PASSWORD: &str = "pneumatic";
const LOCKED: Option<i32> = Some(11);

/// A home whose mail has a repository, and restic for it.
struct Shared {
    home: Home,
    restic: Restic,
}

impl Shared {
    /// Returns `None` where restic is not installed.
    fn new() -> Option<Shared> {
        let home = Home::indexed();
        let restic = testkit::restic(home.path(), "repository", PASSWORD)?;
        let shared = Shared { home, restic };
        assert_eq!(shared.pneu(&["archive", "init"]).code, Some(0));
        Some(shared)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("RESTIC_REPOSITORY", self.home.path().join("repository"));
        command.env("RESTIC_PASSWORD", PASSWORD);
        command
    }

    fn pneu(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments))
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn start_restic(&self, arguments: &[&str]) -> Child {
        let mut command = self.restic.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts a backup of restic's that goes on until its standard input ends, and returns when it has its lock.
    fn restic_held(&self) -> Child {
        let mut child = self.start_restic(&["backup", "--stdin", "--stdin-filename", "held"]);
        // More than the pipe takes: it is being read by now.
        child.stdin.as_mut().unwrap().write_all(&vec![b'x'; 200_000]).unwrap();
        child
    }

    /// Fails unless restic finds nothing wrong in any byte, and nobody's lock is left.
    fn assert_sound(&self) {
        self.restic.succeed(&["check", "--read-data"]);
        let checked = self.pneu(&["archive", "check", "--read-data"]);
        assert!(checked.code == Some(0) && checked.out.ends_with("no damage found\n"), "{checked:?}");
        let locks = fs::read_dir(self.home.path().join("repository/locks")).unwrap();
        assert_eq!(locks.count(), 0);
    }

    /// Restores the newest snapshot of a path by restic and by us, and returns what restic restored of that path.
    fn restored(&self, path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let (theirs, ours) = (self.home.path().join("theirs"), self.home.path().join("ours"));
        let path_text = path.display().to_string();
        let latest = ["snapshots", "--json", "--latest", "1", "--path", &path_text];
        let json = String::from_utf8(self.restic.succeed(&latest)).unwrap();
        let id = json.split("\"short_id\":\"").nth(1).unwrap()[..8].to_owned();
        self.restic.succeed(&["restore", &id, "--target", "theirs"]);
        let run = self.pneu(&["archive", "restore", &id, "--target", "ours"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let all = files(&theirs);
        assert_eq!(files(&ours), all);
        let below = files(&theirs.join(path.strip_prefix("/").unwrap()));
        fs::remove_dir_all(theirs).unwrap();
        fs::remove_dir_all(ours).unwrap();
        below
    }
}

/// Returns every file below a directory, with its content.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        match fs::symlink_metadata(&path).unwrap().is_dir() {
            true => left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Adds messages to the mail, and the same ones and others to a directory beside it.
fn add(shared: &Shared, round: u32) -> PathBuf {
    let other = shared.home.path().join("other");
    fs::create_dir_all(&other).unwrap();
    for number in 0..60 {
        let name = format!("{round}-{number}");
        let text = letter(&name, "many", &format!("words {name} ").repeat(40));
        shared.home.deliver("many", &format!("{name}:2,S"), &text);
        fs::write(other.join(&name), &text).unwrap();
        fs::write(other.join(format!("{name}-other")), format!("{name} ").repeat(500)).unwrap();
    }
    other
}

#[test]
fn two_backups_at_once_both_end_and_both_are_whole() {
    let Some(shared) = Shared::new() else { return };
    for round in 0..4 {
        let other = add(&shared, round);
        let theirs = shared.start_restic(&["backup", "--quiet", &other.display().to_string()]);
        let ours = shared.start(&["archive", "backup"]);
        let (ours, theirs) = (end(ours), end(theirs));
        assert_eq!((ours.code, theirs.code), (Some(0), Some(0)), "{ours:?} {theirs:?}");
        assert_eq!(shared.restored(&other), files(&other));
        assert_eq!(shared.restored(&shared.home.mail()), files(&shared.home.mail()));
    }
    shared.assert_sound();
    assert_eq!(shared.pneu(&["archive", "snapshots"]).out.lines().count(), 8);
}

#[test]
fn our_prune_gives_way_to_a_backup_of_restic_or_waits_for_it() {
    let Some(shared) = Shared::new() else { return };
    let mut theirs = shared.restic_held();
    for arguments in
        [&["archive", "prune"][..], &["archive", "check"], &["archive", "forget", "--keep-last", "1"]]
    {
        let refused = shared.pneu(arguments);
        assert_eq!(refused.code, LOCKED, "{refused:?}");
        let said = format!(" process {}, since ", theirs.id());
        assert!(refused.err.contains(" is locked by ") && refused.err.contains(&said), "{refused:?}");
        assert_eq!(refused.err.lines().count(), 1, "{refused:?}");
    }
    // A backup is no trouble to another one.
    let beside = shared.pneu(&["archive", "backup"]);
    assert_eq!(beside.code, Some(0), "{beside:?}");
    let mut waiting = shared.start(&["archive", "prune", "--retry-lock", "5m"]);
    let mut errors = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert!(line.contains(&format!(" process {}, since ", theirs.id())), "{line}");
    drop(theirs.stdin.take());
    let theirs = end(theirs);
    assert_eq!(theirs.code, Some(0), "{theirs:?}");
    let pruned = end(waiting);
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    // It is said once who is waited for, however long that takes.
    assert_eq!(errors.lines().count(), 0);
    shared.assert_sound();
    assert_eq!(shared.pneu(&["archive", "snapshots"]).out.lines().count(), 2);
}

#[test]
fn whoever_comes_first_a_prune_takes_nothing_that_a_backup_saved() {
    let Some(shared) = Shared::new() else { return };
    let other = add(&shared, 0);
    assert_eq!(shared.pneu(&["archive", "backup"]).code, Some(0));
    shared.restic.succeed(&["backup", "--quiet", &other.display().to_string()]);
    // Each program prunes while the other one saves. Who is refused says so; what happens when is left to chance.
    for round in 1..4 {
        // Something to remove: what only the snapshots before this one have.
        fs::remove_dir_all(&other).unwrap();
        add(&shared, round);
        shared.restic.succeed(&["forget", "--keep-last", "1", "--quiet"]);
        let path = other.display().to_string();
        let (prune, backup) = match round % 2 {
            0 => (shared.start_restic(&["prune", "--max-unused", "0"]), shared.start(&["archive", "backup"])),
            _ => (
                shared.start(&["archive", "prune", "--max-unused", "0%"]),
                shared.start_restic(&["backup", "--quiet", &path]),
            ),
        };
        let (prune, backup) = (end(prune), end(backup));
        for run in [&prune, &backup] {
            assert!(matches!(run.code, Some(0 | 11)), "{run:?}");
            assert!(run.code == Some(0) || run.err.contains("locked"), "{run:?}");
        }
        if backup.code == Some(0) {
            let saved = if round % 2 == 0 { shared.home.mail() } else { other.clone() };
            assert_eq!(shared.restored(&saved), files(&saved));
        }
        shared.assert_sound();
    }
}
