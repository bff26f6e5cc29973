//! A mailbox that follows the index from commit to commit answers like a newly opened one.

use crate::support::{Fixture, query};
use index::{Duplicates, Mailbox, NoArchive, Order, OwnAddresses, RecordReader, TagChange, ThreadOrder};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use work::Silent;

/// A change between two commits. Numbers choose messages, folders and tags.
#[derive(Clone, Debug)]
enum Change {
    /// A message that answers another message or a ghost.
    Add {
        answers: usize,
        folder: usize,
    },
    /// A copy of a message that arrived by another route.
    Copy {
        of: usize,
    },
    Remove(usize),
    Flag(usize),
    Tag(usize, usize),
    Sweep,
}

fn change() -> impl Strategy<Value = Change> {
    let number = 0..1000_usize;
    prop_oneof![
        4 => (number.clone(), number.clone()).prop_map(|(answers, folder)| Change::Add { answers, folder }),
        2 => number.clone().prop_map(|of| Change::Copy { of }),
        2 => number.clone().prop_map(Change::Remove),
        2 => number.clone().prop_map(Change::Flag),
        2 => (number.clone(), number).prop_map(|(message, tag)| Change::Tag(message, tag)),
        1 => Just(Change::Sweep),
    ]
}

struct World {
    fixture: Fixture,
    count: usize,
}

impl World {
    fn new() -> World {
        let mut world = World { fixture: Fixture::new(), count: 0 };
        world.apply(&Change::Add { answers: 0, folder: 0 });
        world.fixture.update();
        world
    }

    fn files(&self) -> Vec<PathBuf> {
        let folders = ["a/cur", "b/cur"].map(|folder| self.fixture.root().join(folder));
        let listed = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let mut files: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    fn file(&self, number: usize) -> Option<PathBuf> {
        let files = self.files();
        (!files.is_empty()).then(|| files[number % files.len()].clone())
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Add { answers, folder } => {
                self.count += 1;
                let (number, answers) = (self.count, answers % (self.count + 3));
                let to = if number.is_multiple_of(2) { "ana@example.org" } else { "bo@example.org" };
                let text = format!(
                    "From: Cy <cy@example.org>\nTo: {to}\nSubject: number {number}\nMessage-ID: \
                     <{number}@x>\n\
                     In-Reply-To: <{answers}@x>\nDate: Tue, 4 Mar 2025 10:00:{:02} +0000\n\nwords {number}\n",
                    number % 60
                );
                self.fixture.put(["a", "b"][folder % 2], "cur", &format!("{number}.m:2,S"), &text);
            }
            Change::Copy { of } => {
                self.count += 1;
                if let Some(path) = self.file(*of) {
                    let text = fs::read_to_string(path).unwrap();
                    let copy = format!("Received: by host {}\n{text}", self.count);
                    self.fixture.put("b", "cur", &format!("{}.m:2,", self.count), &copy);
                }
            }
            Change::Remove(number) => {
                self.file(*number).into_iter().for_each(|path| fs::remove_file(path).unwrap());
            }
            Change::Flag(number) => {
                if let Some(path) = self.file(*number) {
                    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                    let unique = name.split(':').next().unwrap();
                    let flags = if name.ends_with('F') { "S" } else { "F" };
                    fs::rename(&path, path.with_file_name(format!("{unique}:2,{flags}"))).unwrap();
                }
            }
            Change::Tag(message, tag) => {
                let mailbox = self.fixture.mailbox();
                let found = query(&format!("msgid:{}@x", message % (self.count + 1)));
                let change = match tag % 3 {
                    0 => TagChange { remove: ["t1".to_owned()].into(), ..TagChange::default() },
                    other => TagChange { add: [format!("t{other}")].into(), ..TagChange::default() },
                };
                let found = mailbox.evaluate(&found).unwrap();
                index::change_tags(&self.fixture.environment, &mailbox, &found, &change).unwrap();
            }
            Change::Sweep => {
                index::sweep(&self.fixture.environment, 0, &NoArchive, &Silent).unwrap();
            }
        }
    }
}

/// The answers of a mailbox to all queries that depend on more than one row.
fn answers(mailbox: &Mailbox) -> String {
    let mut text = String::new();
    for asked in [
        "*",
        "flag:seen",
        "flag:flagged",
        "flag:unread",
        "flag:personal",
        "tag:t1",
        "tag:t2",
        "maildir:/b",
        "words",
        "not tag:t1",
    ] {
        let found = mailbox.evaluate(&query(asked)).unwrap();
        let numbers: Vec<u32> = found.iter().collect();
        let related: Vec<u32> = mailbox.with_related(&found).unwrap().iter().collect();
        let distinct: Vec<u32> = mailbox.distinct(&found, Duplicates::Copies, None).unwrap().iter().collect();
        let threads = mailbox.threads(&found, &ThreadOrder::default()).unwrap();
        let shape: Vec<Vec<(u32, u32)>> = threads
            .list
            .iter()
            .map(|thread| thread.entries.iter().map(|entry| (entry.hit.number, entry.depth)).collect())
            .collect();
        text += &format!("{asked}: {numbers:?} {related:?} {distinct:?} {shape:?}\n");
    }
    let mut reader = RecordReader::new();
    for hit in mailbox.find(&query::Query::All, &Order::default()).unwrap().list {
        let message = mailbox.message(&hit, &mut reader).unwrap();
        let paths: Vec<_> = message.files.iter().map(|file| &file.path).collect();
        text += &format!("{} {:?} {:?} {paths:?}\n", hit.number, message.line, message.tags);
    }
    text + &format!("{:?} {:?}\n", mailbox.tags().unwrap(), mailbox.counts().unwrap().messages)
}

fn opened(world: &World) -> Mailbox {
    world.fixture.mailbox().with_own_addresses(OwnAddresses::new(&["ana@example.org".to_owned()]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_followed_mailbox_answers_like_a_newly_opened_one(
        commits in proptest::collection::vec(proptest::collection::vec(change(), 1..5), 1..8),
    ) {
        let mut world = World::new();
        let mut carried = opened(&world);
        carried.pin().unwrap();
        let first = carried.clone();
        let said_first = answers(&first);
        for changes in commits {
            changes.iter().for_each(|change| world.apply(change));
            world.fixture.update();
            if let Some(newer) = carried.newer(&world.fixture.environment).unwrap() {
                carried = newer;
            }
            prop_assert_eq!(answers(&carried), answers(&opened(&world)));
            prop_assert!(carried.newer(&world.fixture.environment).unwrap().is_none());
        }
        // An older mailbox that is still open does not change, and keeps its files and tags.
        prop_assert_eq!(answers(&first), said_first);
    }
}
