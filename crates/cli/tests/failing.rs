//! Tests repositories in places that fail: object stores that are busy, silent or gone, and full disks.
//!
//! Input: a server and disks that refuse when the test says so. Output: whether the program says why, ends
//! with the right code, loses nothing, and continues the next time. Does not depend on what is retried how
//! often.

use crate::support::{Home, Run, letter, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Fate, ObjectServer};

const PASSWORD: &str = "pneumatic";
const SECRET: &str = "SecretThatNobodySees";

/// A home whose repository is at `address`; waits are over at once.
struct RemoteHome {
    home: Home,
    address: String,
}

impl RemoteHome {
    fn at(address: String) -> RemoteHome {
        RemoteHome { home: Home::indexed(), address }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("RESTIC_REPOSITORY", &self.address).env("RESTIC_PASSWORD", PASSWORD);
        command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
        command.env("PNEU_NO_WAITING", "1");
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = run(&mut self.command(&[&["archive"], arguments].concat()));
        assert!(!run.err.contains(SECRET) && !run.err.contains(PASSWORD), "{run:?}");
        run
    }

    fn good(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
        run.out
    }

    /// Adds messages that do not compress, about 2 KiB each.
    fn add(&self, round: u64) {
        for number in 0..12 {
            let mut bytes = vec![0; 1024];
            testkit::Random::of(3, round, number).fill(&mut bytes);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            self.home.deliver(
                "many",
                &format!("{round}-{number}:2,S"),
                &letter(&format!("{round}-{number}"), "many", &digits),
            );
        }
        self.home.good(&["index"]);
    }
}

/// Writes all objects of the server below `root` as the files that they are, for restic to look at.
fn write_out(server: &ObjectServer, root: &Path) {
    for (name, bytes) in server.objects() {
        let path = root.join(name.strip_prefix("mail/").unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Fails if restic finds anything wrong in a repository.
fn assert_restic_accepts(directory: &Path, repository: &str) {
    if let Some(restic) = testkit::restic(directory, repository, PASSWORD) {
        restic.succeed(&["check", "--read-data"]);
    }
}

/// Returns the last line without what differs from run to run.
fn last_line(run: &Run, server: &ObjectServer) -> String {
    let line = run.err.lines().last().unwrap_or_default().replace(&server.address(), "ADDRESS");
    let words = line.split(' ').map(|word| match word.split_once('/') {
        Some((kind @ ("data" | "index" | "locks" | "keys" | "snapshots"), _)) => format!("{kind}/.."),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_store_that_fails_now_and_then_is_asked_again() {
    let server = ObjectServer::start();
    let kept = RemoteHome::at(server.address());
    server.decide(|number, _, _| match number % 5 {
        0 => Fate::Busy,
        2 => Fate::Reset,
        _ => Fate::Answer,
    });
    let mut told = Vec::new();
    for arguments in [
        &["init"][..],
        &["backup"],
        &["snapshots"],
        &["check", "--read-data"],
        &["prune"],
        &["restore", "latest", "--target", "restored"],
    ] {
        let run = kept.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        assert!(run.err.lines().count() > 0, "{arguments:?}: {run:?}");
        told.extend(run.err.lines().map(str::to_owned));
    }
    for line in &told {
        assert!(line.starts_with("pneu: cannot ") && line.contains("; trying again in "), "{line}");
    }
    assert!(told.iter().any(|line| line.contains(
        ": the server answers 503 Service Unavailable (SlowDown: Please reduce your request rate.); "
    )));
    assert!(told.iter().any(|line| line.contains(
        ": the connection broke: connection closed before message \
        completed; "
    )));
    assert!(kept.home.path().join("restored/.pneu/tags").exists());
    write_out(&server, &kept.home.path().join("repository"));
    assert_restic_accepts(kept.home.path(), "repository");
}

#[test]
fn what_comes_with_a_flipped_bit_is_read_again() {
    let server = ObjectServer::start();
    let kept = RemoteHome::at(server.address());
    kept.good(&["init"]);
    for round in 0..3 {
        kept.add(round);
        kept.good(&["backup"]);
    }
    let before = kept.home.path().join("before");
    for arguments in [
        &["snapshots"][..],
        &["check", "--read-data"],
        &["restore", "latest", "--target", "restored"],
        &["forget", "--keep-last", "1", "--prune", "--max-unused", "0%"],
        &["check", "--read-data"],
    ] {
        let seen = std::sync::Mutex::new(std::collections::HashSet::new());
        server.decide(move |_, method, name| match method {
            // The first answer for each object, the config and the key among them; a list nothing verifies.
            "GET" if !name.ends_with('/') && seen.lock().unwrap().insert(name.to_owned()) => Fate::Flip,
            _ => Fate::Answer,
        });
        kept.good(arguments);
        assert!(server.requests().iter().filter(|request| *request == "GET mail/config").count() == 2);
    }
    server.decide(|_, _, _| Fate::Answer);
    write_out(&server, &before);
    assert_restic_accepts(kept.home.path(), &before.display().to_string());
}

#[test]
fn a_store_that_falls_silent_is_asked_again() {
    let server = ObjectServer::start();
    let kept = RemoteHome::at(server.address());
    kept.good(&["init"]);
    // What was written though nobody said so is written once more, and is no damage.
    let silent = ["PUT", "GET"];
    let fallen = std::sync::Mutex::new(Vec::new());
    server.decide(move |_, method, name| {
        let mut fallen = fallen.lock().unwrap();
        let is_first = silent.contains(&method) && name.contains('/') && !fallen.contains(&method.to_owned());
        if is_first {
            fallen.push(method.to_owned());
        }
        if is_first { Fate::Hang } else { Fate::Answer }
    });
    let saved = kept.run(&["backup"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    assert_eq!(
        saved.err.matches(": the server did not respond for 500ms; trying again in 1 s\n").count(),
        2,
        "{saved:?}"
    );
    assert_eq!(saved.err.lines().count(), 2, "{saved:?}");
    server.decide(|_, _, _| Fate::Answer);
    assert!(kept.good(&["check", "--read-data"]).ends_with("no damage found\n"));
}

#[test]
fn a_store_that_is_gone_is_a_sentence_of_every_command() {
    let server = ObjectServer::start();
    let kept = RemoteHome::at(server.address());
    kept.good(&["init"]);
    kept.good(&["backup"]);
    let before = server.objects();
    let commands: [&[&str]; 8] = [
        &["init"],
        &["backup"],
        &["snapshots"],
        &["ls", "latest"],
        &["restore", "latest", "--target", "restored"],
        &["forget", "--keep-last", "1"],
        &["prune"],
        &["check"],
    ];
    for (fate, what) in [
        (Fate::Busy, "the server answers 503 Service Unavailable; tried 21 times in 15 minutes"),
        (
            Fate::Reset,
            "the connection broke: connection closed before message completed; tried 21 times in 15 minutes",
        ),
        (Fate::Deny, "the server answers 403 Forbidden"),
    ] {
        server.decide(move |_, _, _| fate);
        for arguments in commands {
            let run = kept.run(arguments);
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
            assert_eq!(
                last_line(&run, &server),
                format!("pneu: cannot stat config at ADDRESS: {what}"),
                "{arguments:?}"
            );
        }
    }
    assert!(server.objects() == before);
    let nobody = RemoteHome { address: "s3:http://127.0.0.1:1/bucket/mail".to_owned(), ..kept };
    let run = nobody.run(&["snapshots"]);
    let said = "cannot stat config at s3:http://127.0.0.1:1/bucket/mail: the server cannot be reached: \
        Connection refused (os error 111); tried 21 times in 15 minutes\n";
    assert!(run.code == Some(2) && run.err.ends_with(said), "{run:?}");
}

#[test]
fn a_store_that_goes_away_in_the_middle_loses_nothing() {
    let server = ObjectServer::start();
    let kept = RemoteHome::at(server.address());
    kept.good(&["init"]);
    kept.good(&["backup"]);
    let mut sentences = Vec::new();
    for (round, gone) in ["PUT mail/locks/", "PUT mail/data/", "PUT mail/index/", "PUT mail/snapshots/"]
        .into_iter()
        .enumerate()
    {
        kept.add(round as u64);
        let before = server.objects();
        let is_gone = std::sync::atomic::AtomicBool::new(false);
        server.decide(move |_, method, name| {
            use std::sync::atomic::Ordering;
            if format!("{method} {name}").starts_with(gone) {
                is_gone.store(true, Ordering::Relaxed);
            }
            if is_gone.load(Ordering::Relaxed) { Fate::Busy } else { Fate::Answer }
        });
        let run = kept.run(&["backup"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{gone}: {run:?}");
        sentences.push(last_line(&run, &server));
        server.decide(|_, _, _| Fate::Answer);
        // Everything from before is there, and no snapshot is new.
        let after = server.objects();
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{gone}");
        let snapshots = |objects: &BTreeMap<String, Vec<u8>>| {
            objects.keys().filter(|name| name.starts_with("mail/snapshots/")).count()
        };
        assert_eq!(snapshots(&before), snapshots(&after), "{gone}");
        // The lock of the one who could not take it away is that of a process that has ended.
        kept.good(&["unlock"]);
        let checked = kept.run(&["check", "--read-data"]);
        assert!(checked.code == Some(0) && checked.out.ends_with("no damage found\n"), "{checked:?}");
        let saved = kept.good(&["backup"]);
        assert!(saved.contains(" 12 new, "), "{gone}: {saved}");
    }
    let tail = "at ADDRESS: the server answers 503 Service Unavailable (SlowDown: Please reduce your request \
        rate.); tried 21 times in 15 minutes";
    let expected =
        ["locks", "data", "index", "snapshots"].map(|kind| format!("pneu: cannot write {kind}/.. {tail}"));
    assert_eq!(sentences, expected);
    write_out(&server, &kept.home.path().join("repository"));
    assert_restic_accepts(kept.home.path(), "repository");
}

/// Returns every file below a directory, with its content.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A home with a repository in a directory, one snapshot in it, and more mail than that.
fn with_more_mail() -> RemoteHome {
    let home = Home::indexed();
    let address = home.path().join("repository").display().to_string();
    let kept = RemoteHome { home, address };
    kept.good(&["init"]);
    kept.good(&["backup"]);
    kept.add(0);
    kept
}

/// Fails unless a backup that was refused lost nothing and the next one goes on.
fn assert_nothing_lost(kept: &RemoteHome, refused: &Run, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let repository = kept.home.path().join("repository");
    let after = files(&repository);
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "{refused:?}");
    for path in after.keys() {
        assert!(
            !path.starts_with("locks") && path.extension().is_none(),
            "{} is left: {refused:?}",
            path.display()
        );
        assert!(before.contains_key(path) || !path.starts_with("snapshots"), "{refused:?}");
    }
    // A pack that nothing names yet is no damage, and told.
    let checked = kept.run(&["check", "--read-data"]);
    assert!(checked.code == Some(0) && checked.out.ends_with("no damage found\n"), "{checked:?}");
    assert_restic_accepts(kept.home.path(), "repository");
    assert!(kept.good(&["backup"]).contains(" 12 new, "));
    assert_restic_accepts(kept.home.path(), "repository");
}

#[test]
fn a_file_that_may_not_grow_is_told_and_nothing_is_lost() {
    let kept = with_more_mail();
    let repository = kept.home.path().join("repository");
    let before = files(&repository);
    let own = kept.command(&["archive", "backup", "--no-index"]);
    let mut command = Command::new("sh");
    // 8 KiB: less than the pack of messages takes.
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"])
        .arg(own.get_program())
        .args(own.get_args());
    let variables = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.env_clear().envs(variables).current_dir(kept.home.path());
    let refused = run(&mut command);
    let said = format!("pneu: cannot write {}/data/", repository.display());
    assert!(refused.code == Some(2) && refused.err.starts_with(&said), "{refused:?}");
    assert!(refused.err.ends_with(": File too large (os error 27)\n"), "{refused:?}");
    assert_nothing_lost(&kept, &refused, &before);
}

/// Runs a backup with the repository on a disk of so many pages, and copies what is on it then back; `None`
/// where nothing may be mounted.
fn on_small_disk(kept: &RemoteHome, page_count: u64) -> Option<Run> {
    let script = "mkdir disk && mount -t tmpfs -o size=\"$1\" none disk || exit 99; shift
                  cp -r repository/. disk || exit 98
                  RESTIC_REPOSITORY=\"$PWD/disk\" \"$@\"; code=$?
                  rm -r repository && cp -r disk repository || exit 97
                  exit $code";
    let own = kept.command(&["archive", "backup", "--no-index"]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh", &format!("{}", page_count * 4096)]);
    command.arg(own.get_program()).args(own.get_args());
    let variables = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.env_clear().envs(variables).current_dir(kept.home.path());
    let run = run(&mut command);
    fs::remove_dir(kept.home.path().join("disk")).ok();
    let is_allowed = !matches!(run.code, Some(99)) && !run.err.starts_with("unshare: ");
    let way_out = "a full disk is made by mounting one, which takes unshare and a kernel that lets us";
    testkit::may_ask("mount", way_out, is_allowed, false).then_some(run)
}

#[test]
fn a_full_disk_is_told_wherever_it_is_met_and_nothing_is_lost() {
    let mut met = Vec::new();
    for free_page_count in 0.. {
        let kept = with_more_mail();
        let repository = kept.home.path().join("repository");
        let before = files(&repository);
        let page_count = before.values().map(|bytes| bytes.len().div_ceil(4096) as u64).sum::<u64>();
        let Some(run) = on_small_disk(&kept, page_count + free_page_count) else { return };
        if run.code == Some(0) {
            break;
        }
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        let disk = kept.home.path().join("disk").display().to_string();
        let said =
            run.err.strip_prefix(&format!("pneu: cannot write {disk}/")).unwrap_or_else(|| panic!("{run:?}"));
        assert!(
            said.ends_with(": No space left on device (os error 28)\n") && said.lines().count() == 1,
            "{run:?}"
        );
        met.push(said.split('/').next().unwrap().to_owned());
        assert_nothing_lost(&kept, &run, &before);
        assert!(free_page_count < 64, "{met:?}");
    }
    met.dedup();
    assert_eq!(met, ["locks", "data", "index", "snapshots"]);
}
