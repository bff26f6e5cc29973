//! Tests two programs that use one repository at the same time, one of them restic: both finish, or one
//! waits, or one ends with code 11; nothing is lost.
//!
//! Input: processes that are held in the middle of their work by what they read from, or that run unhindered.
//! Output: whether restic finds every snapshot that was reported as saved, complete. Does not depend on how
//! locks are stored.

use crate::support::{Home, Run, end, letter, run};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::{Random, Restic};

const PASSWORD: &str = "pneumatic";
const LOCKED: Option<i32> = Some(11);
/// More than a pack takes.
const LARGE_BYTES: usize = 17 << 20;

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
        crate::interrupted::start(&mut self.command(arguments))
    }

    fn start_restic(&self, arguments: &[&str]) -> Child {
        let mut command = self.restic.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts a backup of restic's that goes on until its standard input ends, and returns when it has its
    /// lock.
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
        assert_eq!(self.locks(), 0);
    }

    /// Returns how many locks there are: files whose names are whole.
    fn locks(&self) -> usize {
        let locks = fs::read_dir(self.home.path().join("repository/locks")).unwrap();
        locks.filter(|lock| lock.as_ref().is_ok_and(|lock| lock.file_name().len() == 64)).count()
    }

    /// Restores the newest snapshot of a path by restic and by us, and returns what restic restored of that
    /// path.
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

fn signal(child: &Child, signal: Signal) {
    let id = i32::try_from(child.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
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

/// Returns how many packs there are: files with whole names, while others come and go.
fn packs(data: &Path) -> usize {
    let below = |directory: PathBuf| fs::read_dir(directory).into_iter().flatten().flatten();
    let all = below(data.to_owned()).flat_map(|entry| below(entry.path()));
    all.filter(|entry| entry.file_name().len() == 64).count()
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
    assert!(line.ends_with("; if that process has ended: pneu archive unlock\n"), "{line}");
    drop(theirs.stdin.take());
    let theirs = end(theirs);
    assert_eq!(theirs.code, Some(0), "{theirs:?}");
    let pruned = end(waiting);
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    // The wait is reported once, however long it takes.
    assert_eq!(errors.lines().count(), 0);
    shared.assert_sound();
    assert_eq!(shared.pneu(&["archive", "snapshots"]).out.lines().count(), 2);
}

fn is_running(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

/// Starts a prune of restic's and stops the process while it has its lock, which is exclusive.
fn restic_prune_stopped(shared: &Shared) -> Child {
    // It may have given its lock back by the time that the signal comes; not every time.
    for _ in 0..50 {
        let mut child = shared.start_restic(&["prune", "--max-unused", "0"]);
        while shared.locks() == 0 && is_running(&mut child) {
            std::thread::yield_now();
        }
        if is_running(&mut child) {
            signal(&child, Signal::STOP);
        }
        let status = format!("/proc/{}/stat", child.id());
        while is_running(&mut child) && !fs::read_to_string(&status).unwrap().contains(") T ") {
            std::thread::yield_now();
        }
        if is_running(&mut child) {
            if shared.locks() == 1 {
                return child;
            }
            signal(&child, Signal::CONT);
        }
        assert_eq!(end(child).code, Some(0));
    }
    panic!("restic cannot be stopped in a prune");
}

#[test]
fn our_backup_gives_way_to_a_prune_of_restic_or_waits_for_it() {
    let Some(shared) = Shared::new() else { return };
    assert_eq!(shared.pneu(&["archive", "backup"]).code, Some(0));
    add(&shared, 0);
    assert_eq!(shared.pneu(&["archive", "backup"]).code, Some(0));
    // Something to remove, and something to save.
    fs::remove_dir_all(shared.home.mail().join("many")).unwrap();
    assert_eq!(shared.pneu(&["index", "--accept-loss"]).code, Some(0));
    assert_eq!(shared.pneu(&["archive", "backup"]).code, Some(0));
    shared.restic.succeed(&["forget", "--keep-last", "1", "--quiet"]);
    add(&shared, 1);
    let theirs = restic_prune_stopped(&shared);
    let before = files(&shared.home.path().join("repository"));
    let said = format!(" process {}, since ", theirs.id());
    let refused = shared.pneu(&["archive", "backup"]);
    assert_eq!(refused.code, LOCKED, "{refused:?}");
    assert!(refused.err.contains(" is locked exclusively by ") && refused.err.contains(&said), "{refused:?}");
    assert_eq!(files(&shared.home.path().join("repository")), before, "nothing is written meanwhile");
    let mut waiting = shared.start(&["archive", "backup", "--retry-lock", "5m"]);
    let mut errors = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert!(line.contains(&said), "{line}");
    signal(&theirs, Signal::CONT);
    let theirs = end(theirs);
    assert_eq!(theirs.code, Some(0), "{theirs:?}");
    let saved = end(waiting);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    shared.assert_sound();
    assert_eq!(shared.restored(&shared.home.mail()), files(&shared.home.mail()));
}

#[test]
fn ctrl_c_during_a_backup_leaves_no_lock_and_no_snapshot_and_the_next_one_is_whole() {
    let Some(shared) = Shared::new() else { return };
    for number in 0..4 {
        let mut attachment = vec![0; LARGE_BYTES];
        Random::new(number).fill(&mut attachment);
        let content = [&letter(&format!("large{number}"), "large", "attached")[..], &attachment].concat();
        shared.home.deliver("large", &format!("large{number}:2,S"), &content);
    }
    assert_eq!(shared.pneu(&["index"]).code, Some(0));
    // When there is a pack, most is still to be read: a message fills one.
    let mut child = shared.start(&["archive", "backup", "--no-index"]);
    let data = shared.home.path().join("repository/data");
    while packs(&data) == 0 && is_running(&mut child) {
        std::thread::yield_now();
    }
    assert!(is_running(&mut child), "it ended before it was interrupted");
    signal(&child, Signal::INT);
    let run = end(child);
    let said = "pneu: interrupted; there is no new snapshot; the next backup reuses what was saved so far\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", said));
    assert_eq!(shared.locks(), 0);
    assert_eq!(shared.pneu(&["archive", "snapshots"]).out, "");
    let saved = shared.pneu(&["archive", "backup"]);
    assert_eq!((saved.code, saved.err.as_str()), (Some(0), ""), "{saved:?}");
    shared.assert_sound();
    assert_eq!(shared.restored(&shared.home.mail()), files(&shared.home.mail()));
}

#[test]
fn whoever_comes_first_a_prune_takes_nothing_that_a_backup_saved() {
    let Some(shared) = Shared::new() else { return };
    let other = add(&shared, 0);
    assert_eq!(shared.pneu(&["archive", "backup"]).code, Some(0));
    shared.restic.succeed(&["backup", "--quiet", &other.display().to_string()]);
    // Each program prunes while the other one saves. A program that is refused says so. The order of events
    // is left to chance.
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
