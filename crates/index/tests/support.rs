//! A small mailbox in a temporary directory, and dumps of its index that tests can compare.
//!
//! Input: file names and messages. Output: an environment, and dumps. Uses only the public interface of the
//! index.

use disk::{Disk, RealDisk};
use index::{Environment, Mailbox, Order, RecordReader, Root, Summary, UpdateOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tempfile::TempDir;
use work::{Progress, Silent, Stage};

/// A mailbox and its index.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) environment: Environment,
    pub(crate) roots: Vec<Root>,
}

/// What an index has of one message: subject, flags and paths below the root.
pub(crate) type Dump = BTreeMap<String, (String, String, Vec<String>)>;

impl Fixture {
    /// Creates an empty root without an index, on the real disk.
    pub(crate) fn new() -> Fixture {
        Fixture::on(Arc::new(RealDisk))
    }

    /// Creates an empty root, with the index on another disk.
    pub(crate) fn on(disk: Arc<dyn Disk>) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("mail");
        fs::create_dir(&root).unwrap();
        let environment = environment(disk, &directory.path().join("data"));
        Fixture { environment, roots: vec![Root { name: "mail".into(), path: root }], directory }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// Creates a folder and writes a message into it.
    pub(crate) fn put(&self, folder: &str, place: &str, name: &str, content: &str) -> PathBuf {
        for each in ["cur", "new", "tmp"] {
            fs::create_dir_all(self.root().join(folder).join(each)).unwrap();
        }
        let path = self.root().join(folder).join(place).join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn update(&self) -> Summary {
        self.update_with(&UpdateOptions::default())
    }

    pub(crate) fn update_with(&self, options: &UpdateOptions) -> Summary {
        index::update(&self.environment, &self.roots, options, &Silent).unwrap()
    }

    pub(crate) fn mailbox(&self) -> Mailbox {
        Mailbox::open(&self.environment).unwrap()
    }

    /// Returns the subjects that a query finds, newest first.
    pub(crate) fn find(&self, query: &str) -> Vec<String> {
        subjects(&self.mailbox(), query)
    }

    /// Returns the subjects that a query finds when a configuration names header fields.
    pub(crate) fn find_with(&self, query: &str, headers: &[&str]) -> Vec<String> {
        subjects_of(&self.mailbox(), &query_with(query, headers))
    }

    pub(crate) fn dump(&self) -> Dump {
        dump(&self.mailbox(), self.root())
    }

    /// Fails unless a deep check finds nothing.
    pub(crate) fn check(&self) {
        let damage = index::check(&self.environment, index::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
    }
}

/// Stops a pass when it has read some files.
pub(crate) struct StopAfter {
    is_reading: AtomicBool,
    left: AtomicU64,
}

impl StopAfter {
    pub(crate) fn new(file_count: u64) -> StopAfter {
        StopAfter { is_reading: AtomicBool::new(false), left: AtomicU64::new(file_count) }
    }
}

impl Progress for StopAfter {
    fn stage(&self, stage: Stage) {
        self.is_reading.store(stage == Stage::Read, Ordering::Relaxed);
    }

    fn add(&self, items: u64, _bytes: u64) {
        if self.is_reading.load(Ordering::Relaxed) {
            let less = |left: u64| Some(left.saturating_sub(items));
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

/// An environment whose clock is in the future, so that every stamp is old enough.
pub(crate) fn environment(disk: Arc<dyn Disk>, data: &Path) -> Environment {
    Environment {
        disk,
        data: data.to_owned(),
        context: work::Context::new(|| 1_900_000_000_000_000_000, 2),
        seed: 7,
        holder: "a test".into(),
        changes_kept_seconds: index::CHANGES_KEPT_SECONDS,
        // Few, so that there is text in files, too.
        text_slots: 2,
        opened: index::Opened::default(),
    }
}

/// Returns a simple message.
pub(crate) fn message(id: &str, subject: &str, body: &str) -> String {
    format!(
        "From: Ana Ito <ana@example.org>\nTo: Bo <bo@example.org>\nSubject: {subject}\n\
         Date: Tue, 4 Mar 2025 10:00:00 +0000\nMessage-ID: <{id}@example.org>\n\n{body}\n"
    )
}

fn context(headers: &[&str]) -> query::Context {
    let now = jiff::Timestamp::from_second(1_900_000_000).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
    query::Context {
        now,
        headers: headers.iter().map(|name| (*name).to_owned()).collect(),
        queries: Default::default(),
        stemming: Default::default(),
    }
}

/// Parses a query: local time is UTC, and the current time is far in the future.
pub(crate) fn query(text: &str) -> query::Query {
    query_with(text, &[])
}

/// Parses a query when a configuration names header fields.
pub(crate) fn query_with(text: &str, headers: &[&str]) -> query::Query {
    query::parse(text, &context(headers)).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn subjects(mailbox: &Mailbox, text: &str) -> Vec<String> {
    subjects_of(mailbox, &query(text))
}

fn subjects_of(mailbox: &Mailbox, query: &query::Query) -> Vec<String> {
    let hits = mailbox.find(query, &Order::default()).unwrap();
    let mut reader = RecordReader::new();
    hits.list.iter().map(|hit| mailbox.line(hit, &mut reader).unwrap().subject).collect()
}

pub(crate) fn dump(mailbox: &Mailbox, root: &Path) -> Dump {
    let hits = mailbox.find(&query::Query::All, &Order::default()).unwrap();
    let mut reader = RecordReader::new();
    let mut dump = Dump::new();
    for hit in &hits.list {
        let message = mailbox.message(hit, &mut reader).unwrap();
        let flags = message.flags().words().collect::<Vec<_>>().join(",");
        let relative = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        let files = message.files.iter().map(|file| relative(&file.path)).collect();
        let key = message.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(dump.insert(key, (message.line.subject, flags, files)).is_none(), "one content, one message");
    }
    dump
}
