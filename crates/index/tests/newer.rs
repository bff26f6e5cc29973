//! A mailbox that follows the index from commit to commit answers like a newly opened one.

use crate::support::{Fixture, message, query, subjects};
use index::{
    Duplicates, Error, Mailbox, NoArchive, Order, OwnAddresses, RecordReader, TagChange, ThreadOrder,
};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::FileExt;
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
    /// Another file with the same content.
    Second {
        of: usize,
        folder: usize,
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
        2 => (number.clone(), number.clone()).prop_map(|(of, folder)| Change::Second { of, folder }),
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
            Change::Second { of, folder } => {
                self.count += 1;
                if let Some(path) = self.file(*of) {
                    let name = format!("{}.m:2,", self.count);
                    let text = fs::read_to_string(path).unwrap();
                    self.fixture.put(["a", "b"][folder % 2], "cur", &name, &text);
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

#[test]
fn a_segment_of_text_that_a_merge_removed_is_searched_by_who_had_it() {
    let fixture = Fixture::new();
    let many = (0..17_000).map(|number| format!("many{number}")).collect::<Vec<_>>().join(" ");
    fixture.put("f", "cur", "1.x:2,S", &message("many", "many words", &many));
    fixture.update();
    let mailbox = fixture.mailbox();
    let listed = fs::read_dir(fixture.environment.index_directory().join("text")).unwrap();
    let files: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    let segments = files.iter().filter(|path| path.extension().is_some_and(|end| end == "text"));
    assert_eq!(segments.map(|path| fs::remove_file(path).unwrap()).count(), 1);
    assert_eq!(subjects(&mailbox, "body:/any16999$/"), ["many words"]);
    assert_eq!(subjects(&mailbox, "body:many7"), ["many words"]);
}

#[test]
fn text_files_that_a_merge_removed_do_not_stay_mapped() {
    let mut fixture = Fixture::new();
    fixture.environment.context.threads = work::Threads::Exactly(1);
    let mut count = 0;
    let mut add = |more: u32| {
        for number in count..count + more {
            fixture.put(
                "f",
                "cur",
                &format!("{number}.x:2,S"),
                &message(&format!("m{number}"), "one", "words"),
            );
        }
        count += more;
        fixture.update();
    };
    // A large segment, which no merge of small ones takes: its reader is carried forward.
    add(1100);
    (0..4).for_each(|_| add(1));
    let mailbox = fixture.mailbox();
    mailbox.pin().unwrap();
    let before = mailbox.counts().unwrap().text_segments;
    while fixture.mailbox().counts().unwrap().text_segments >= before {
        add(1);
    }
    let newer = mailbox.newer(&fixture.environment).unwrap().expect("there is a newer commit");
    newer.pin().unwrap();
    assert!(newer.counts().unwrap().text_segments > 1, "the large segment stays");
    drop(mailbox);
    let text = fixture.environment.index_directory().join("text");
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let removed =
        maps.lines().filter(|line| line.contains(text.to_str().unwrap()) && line.ends_with("(deleted)"));
    assert_eq!(removed.collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(newer.count(&query("words")).unwrap(), u64::from(count));
}

#[test]
fn a_damaged_segment_that_was_replaced_does_not_keep_a_newer_commit_out() {
    let fixture = Fixture::new();
    // Much that compresses badly, so that most of the segment is header records, which nobody has read yet.
    let mut state = 1_u64;
    let mut put = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let long: String = (0..4000).map(|_| random_letter(&mut state)).collect();
            let text = message(&format!("m{number}"), &long, "words");
            fixture.put("f", "cur", &format!("{number}.x:2,S"), &text);
        }
        fixture.update();
    };
    put(0..500);
    let mailbox = fixture.mailbox();
    mailbox.pin().unwrap();
    let directory = fixture.environment.index_directory();
    let files = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let largest = files.filter(|path| path.is_file()).max_by_key(|path| fs::metadata(path).unwrap().len());
    let largest = largest.unwrap();
    let open = fs::OpenOptions::new().write(true).open(&largest).unwrap();
    put(500..1000);
    while largest.exists() {
        let options = store::MergeOptions::default();
        store::merge_all(&fixture.environment.disk, &directory, &options)
            .unwrap()
            .expect("not all is merged");
    }
    // The file has no name any more, but the older mailbox still has it.
    let middle = open.metadata().unwrap().len() / 2;
    open.write_all_at(&[0x55; 4096], middle).unwrap();
    let newer = mailbox.newer(&fixture.environment).unwrap().expect("there is a newer commit");
    assert_eq!(newer.count(&query("words")).unwrap(), 1000);
    assert!(newer.newer(&fixture.environment).unwrap().is_none());
}

fn random_letter(state: &mut u64) -> char {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    char::from(b'0' + u8::try_from((*state >> 40) % 64).unwrap())
}

#[test]
fn nothing_of_a_deleted_index_is_carried_forward() {
    let fixture = Fixture::new();
    let own = || OwnAddresses::new(&["bo@example.org".to_owned()]);
    fixture.put("f", "cur", "1.x:2,S", &message("m1", "to me", "words"));
    fixture.put("f", "cur", "2.x:2,S", &message("m2", "to me, too", "words"));
    fixture.update();
    let mailbox = fixture.mailbox().with_own_addresses(own());
    assert_eq!(subjects(&mailbox, "flag:personal").len(), 2);
    fs::remove_dir_all(fixture.environment.index_directory()).unwrap();
    assert!(matches!(mailbox.newer(&fixture.environment), Err(Error::NoIndex { .. })));
    fs::remove_dir_all(fixture.root().join("f")).unwrap();
    for number in 3..6 {
        let text = message(&format!("m{number}"), &format!("to others {number}"), "words");
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &text.replace("To: Bo <bo@", "To: Cy <cy@"));
    }
    let environment = index::Environment { seed: 8, ..fixture.environment.clone() };
    index::update(&environment, &fixture.roots, &Default::default(), &Silent).unwrap();
    let newer = mailbox.newer(&fixture.environment).unwrap().expect("there is a newer commit");
    assert_eq!(subjects(&newer, "flag:personal"), [""; 0]);
}
