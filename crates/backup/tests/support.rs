//! A mailbox with its index, and a repository for it.
//!
//! In: messages. Out: backups. Knows only the public interface.

use backup::{BackupOptions, BackupReport, Target};
use disk::RealDisk;
use index::{Environment, Mailbox, Order, RecordReader, Root, UpdateOptions};
use restic::key_file::Cost;
use restic::testing::{advance, surroundings as testing_surroundings};
use restic::{HeldLock, LockKind, Password, Repository, SaveOptions, Snapshot, Storage, Surroundings};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use work::Silent;

pub(crate) const PASSWORD: &str = "secret";

/// A mailbox, its index, and where a repository may be.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) environment: Environment,
    pub(crate) roots: Vec<Root>,
}

pub(crate) fn message(number: usize) -> String {
    format!(
        "From: a@example.org\nSubject: s{number}\nMessage-ID: <m{number}@example.org>\n\nwords {number}\n"
    )
}

pub(crate) fn large() -> String {
    // Not the same over and over: the cutter looks at what is in it.
    let lines = (0..60_000u64).map(|line| format!("{:x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    message(50) + &lines.collect::<String>()
}

impl Fixture {
    /// Begins with two folders, of which one has a message that is cut, and with odd names.
    pub(crate) fn new() -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("home/Mail");
        fs::create_dir_all(&root).unwrap();
        let environment = Environment {
            disk: Arc::new(RealDisk),
            data: directory.path().join("data"),
            context: work::Context::new(|| 1_900_000_000_000_000_000, 2),
            seed: 7,
            holder: "a test".into(),
        };
        let fixture =
            Fixture { directory, environment, roots: vec![Root { name: "mail".into(), path: root }] };
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

    pub(crate) fn root(&self) -> &Path {
        &self.roots[0].path
    }

    pub(crate) fn put(&self, folder: &str, place: &str, name: &str, content: &[u8]) -> PathBuf {
        for each in ["cur", "new", "tmp"] {
            fs::create_dir_all(self.root().join(folder).join(each)).unwrap();
        }
        let path = self.root().join(folder).join(place).join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn index(&self) -> Mailbox {
        index::update(&self.environment, &self.roots, &UpdateOptions::default(), &Silent).unwrap();
        Mailbox::open(&self.environment).unwrap()
    }

    /// Brings the index in step and backs up.
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
    repository.lock(LockKind::Shared, Duration::ZERO, &|_| Ok(()))
}

/// Surroundings in which we are who we are: what is restored is to be ours.
pub(crate) fn surroundings() -> Surroundings {
    let ours = fs::metadata(tempfile::tempdir().unwrap().path()).unwrap();
    Surroundings { uid: ours.uid(), gid: ours.gid(), ..testing_surroundings() }
}

/// Makes a repository with a key that is quickly tried.
pub(crate) fn init(storage: Arc<dyn Storage>) -> restic::Result<Repository> {
    init_with(storage, surroundings())
}

/// Makes one that works in other surroundings.
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

pub(crate) fn query(text: &str) -> query::Query {
    let now = jiff::Timestamp::from_second(1_900_000_000).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
    query::parse(
        text,
        &query::Context {
            now,
            headers: Vec::new(),
            queries: Default::default(),
            stemming: Default::default(),
        },
    )
    .unwrap()
}

/// Returns the subjects that a query finds, in order.
pub(crate) fn found(mailbox: &Mailbox, text: &str) -> Vec<String> {
    let hits = mailbox.find(&query(text), &Order::default()).unwrap();
    let mut reader = RecordReader::new();
    let mut list: Vec<String> =
        hits.list.iter().map(|hit| mailbox.line(hit, &mut reader).unwrap().subject).collect();
    list.sort();
    list
}
