//! A mailbox in a temporary directory, and a host for it.

use pneu::{Host, Order, Query, Root, Settings, Silent, Summary, UpdateOptions, View};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A mailbox and its host.
pub(crate) struct Fixture {
    _directory: TempDir,
    pub(crate) host: Host,
    pub(crate) roots: Vec<Root>,
}

impl Fixture {
    /// Begins with a Maildir of one message, indexed.
    pub(crate) fn new() -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("mail");
        let mut settings = Settings::new(directory.path().join("data"));
        settings.configuration.addresses = vec!["bo@example.org".to_owned()];
        let fixture = Fixture {
            host: Host::new(settings),
            roots: vec![Root { name: "mail".into(), path: root }],
            _directory: directory,
        };
        fixture.put("1", "first", "some words");
        fixture.update();
        fixture
    }

    /// Writes a message into `cur`.
    pub(crate) fn put(&self, name: &str, subject: &str, body: &str) -> PathBuf {
        let root = &self.roots[0].path;
        for place in ["cur", "new", "tmp"] {
            fs::create_dir_all(root.join(place)).unwrap();
        }
        let path = root.join("cur").join(format!("{name}.x:2,"));
        let text = format!(
            "From: Ana <ana@example.org>\nTo: bo@example.org\nSubject: {subject}\nMessage-ID: <{name}@x>\n\
             Date: Tue, 4 Mar 2025 10:00:00 +0000\n\n{body}\n"
        );
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn update(&self) -> Summary {
        self.host.update(&self.roots, &UpdateOptions::default(), &Silent).unwrap()
    }

    pub(crate) fn view(&self) -> View {
        self.host.view().unwrap()
    }
}

/// Returns the subjects that a query finds, in alphabetical order.
pub(crate) fn subjects(view: &View, text: &str) -> Vec<String> {
    let hits = view.find(&query(view, text), &Order::default()).unwrap();
    let mut subjects: Vec<String> =
        view.lines(&hits.list).unwrap().into_iter().map(|line| line.subject).collect();
    subjects.sort();
    subjects
}

pub(crate) fn query(view: &View, text: &str) -> Query {
    view.query(text).unwrap()
}
