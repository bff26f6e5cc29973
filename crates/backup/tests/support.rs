//! A mailbox with its index, and a repository for it.
//!
//! Input: messages. Output: backups. Uses only the public interface.

#[path = "../src/testing/mailbox.rs"]
mod mailbox;

use backup::{BackupOptions, BackupReport, Target};
pub(crate) use mailbox::{TestMailbox, found, message, query};
use restic::key_file::Cost;
use restic::testing::{advance, surroundings as testing_surroundings};
use restic::{HeldLock, LockKind, Password, Repository, SaveOptions, Snapshot, Storage, Surroundings};
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;
use work::Silent;

pub(crate) const PASSWORD: &str = "secret";

/// A mailbox, its index, and a place for a repository.
pub(crate) struct Fixture {
    mailbox: TestMailbox,
}

impl Deref for Fixture {
    type Target = TestMailbox;

    fn deref(&self) -> &TestMailbox {
        &self.mailbox
    }
}

pub(crate) fn large() -> String {
    // Different lines, because the cut points depend on the content.
    let lines = (0..60_000u64).map(|line| format!("{:x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    message(50) + &lines.collect::<String>()
}

impl Fixture {
    /// Starts with two folders, a message that is cut into pieces, and unusual names.
    pub(crate) fn new() -> Fixture {
        let fixture = Fixture { mailbox: TestMailbox::new() };
        for number in 0..6 {
            let folder = if number < 3 { "inbox" } else { "lists/rüst \"quoted\"" };
            fixture.put(folder, "cur", &format!("{number}.x:2,S"), message(number).as_bytes());
        }
        fixture.put("inbox", "new", "50.x", large().as_bytes());
        fixture.put("inbox", "cur", "6.back\\slash:2,", message(6).as_bytes());
        fs::write(fixture.root().join("inbox/dovecot-uidlist"), "3 V1 N5\n").unwrap();
        fs::write(fixture.root().join("inbox/maildirfolder"), "").unwrap();
        fs::write(fixture.root().join("inbox/tmp/half"), "x").unwrap();
        fixture
    }

    /// Updates the index and makes a backup.
    pub(crate) fn backup(&self, repository: &Repository) -> backup::Result<BackupReport> {
        self.index();
        let lock = lock(repository)?;
        advance(Duration::from_secs(60));
        let target = Target { repository, lock: &lock };
        backup::backup(&self.environment, &target, &options(), &Silent)
    }
}

pub(crate) fn options() -> BackupOptions {
    BackupOptions {
        tags: vec!["daily".into()],
        configuration: Some(b"# none\n".to_vec()),
        save: SaveOptions::default(),
        program_version: "pneu test".into(),
    }
}

pub(crate) fn lock(repository: &Repository) -> restic::Result<HeldLock> {
    repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(()))
}

/// Surroundings with the current user, so that restored files can get their owner.
pub(crate) fn surroundings() -> Surroundings {
    let ours = fs::metadata(tempfile::tempdir().unwrap().path()).unwrap();
    Surroundings { uid: ours.uid(), gid: ours.gid(), ..testing_surroundings() }
}

/// Creates a repository with a cheap key.
pub(crate) fn init(storage: Arc<dyn Storage>) -> restic::Result<Repository> {
    init_with(storage, surroundings())
}

/// Creates a repository with other surroundings.
pub(crate) fn init_with(storage: Arc<dyn Storage>, surroundings: Surroundings) -> restic::Result<Repository> {
    let cost = Cost { n: 16, r: 8, p: 1 };
    Repository::init(storage, &Password::new(PASSWORD.into()), cost, None, surroundings)
}

pub(crate) fn open(storage: Arc<dyn Storage>) -> restic::Result<Repository> {
    Repository::open(storage, &Password::new(PASSWORD.into()), None, surroundings())
}

/// Returns all snapshots, the oldest first.
pub(crate) fn snapshots(repository: &Repository) -> Vec<Snapshot> {
    let listed = restic::snapshot::list(repository.storage(), repository.key(), 2).unwrap();
    assert!(listed.unread.is_empty());
    let mut list: Vec<Snapshot> = listed.snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
    list.sort_by_key(|snapshot| snapshot.time.ns());
    list
}
