//! A mailbox with its index, for the unit tests and the integration tests of this crate. Both include this
//! file, so it uses only public items.

use disk::RealDisk;
use index::{Environment, Mailbox, Order, RecordReader, Root, UpdateOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use work::Silent;

/// A mailbox and its index.
pub(crate) struct TestMailbox {
    pub(crate) directory: TempDir,
    pub(crate) environment: Environment,
    pub(crate) roots: Vec<Root>,
}

pub(crate) fn message(number: usize) -> String {
    format!(
        "From: a@example.org\nSubject: s{number}\nMessage-ID: <m{number}@example.org>\n\nwords {number}\n"
    )
}

impl TestMailbox {
    /// Makes a mailbox without messages.
    pub(crate) fn new() -> TestMailbox {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("home/Mail");
        fs::create_dir_all(&root).unwrap();
        let environment = Environment {
            disk: Arc::new(RealDisk),
            data: directory.path().join("data"),
            context: work::Context::new(|| 1_900_000_000_000_000_000, 2),
            seed: 7,
            holder: "a test".into(),
            changes_kept_seconds: index::CHANGES_KEPT_SECONDS,
            text_slots: index::TEXT_SLOTS,
            opened: index::Opened::default(),
        };
        TestMailbox { directory, environment, roots: vec![Root { name: "mail".into(), path: root }] }
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
