//! The same mail gives the same answers, in whatever order it arrives, in passes and batches of any size, on
//! any number of threads.

use crate::support::{Fixture, query};
use index::{Mailbox, Order, PeopleQuestion, RecordReader, ThreadOrder, UpdateOptions};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::Random;
use testkit::corpus::{CorpusOptions, generate};

/// Queries whose answers are compared, besides that of all messages.
const QUERIES: [&str; 6] =
    ["the", "subject:re or body:report", "from:a*", "flag:attach or size:20k..", "flag:unread", "lang:en"];

/// Returns the files below a directory, in order.
fn files_in(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns all that a mailbox says about its messages.
fn everything(mailbox: &Mailbox, root: &Path) -> String {
    let mut out = String::new();
    let mut reader = RecordReader::new();
    let all = mailbox.find(&query(""), &Order::default()).unwrap();
    for hit in &all.list {
        let mut message = mailbox.message(hit, &mut reader).unwrap();
        for file in &mut message.files {
            file.path = file.path.strip_prefix(root).unwrap().to_owned();
            file.changed_seconds = Default::default();
        }
        writeln!(out, "{:?} {message:?}", hit.date).unwrap();
    }
    let found = mailbox.evaluate(&query("")).unwrap();
    for thread in mailbox.threads(&found, &ThreadOrder::default()).unwrap().list {
        let entries = thread.entries.iter().map(|entry| {
            let message = mailbox.message(&entry.hit, &mut RecordReader::new()).unwrap();
            format!("{}{:02x?}", ".".repeat(entry.depth as usize), &message.sha256[..4])
        });
        writeln!(out, "thread {}", entries.collect::<Vec<_>>().join(" ")).unwrap();
    }
    for text in QUERIES {
        let list = mailbox.find(&query(text), &Order::default()).unwrap().list;
        let ids = list.iter().map(|hit| mailbox.message(hit, &mut RecordReader::new()).unwrap().sha256);
        writeln!(out, "{text}: {:02x?}", ids.map(|id| id[..4].to_vec()).collect::<Vec<_>>()).unwrap();
    }
    writeln!(out, "{:#?}", mailbox.people(&PeopleQuestion::default()).unwrap()).unwrap();
    out
}

#[test]
fn the_order_in_which_mail_arrives_changes_no_answer() {
    let mail = tempfile::tempdir().unwrap();
    generate(&mail.path().join("m"), &CorpusOptions { folders: 5, ..CorpusOptions::varied(400, 3) }).unwrap();
    let files = files_in(&mail.path().join("m"));
    let copy = |fixture: &Fixture, file: &Path| {
        let target = fixture.root().join(file.strip_prefix(mail.path()).unwrap());
        let folder = target.parent().unwrap().parent().unwrap();
        ["cur", "new", "tmp"].iter().for_each(|place| fs::create_dir_all(folder.join(place)).unwrap());
        fs::copy(file, target).unwrap();
    };
    let at_once = Fixture::new();
    files.iter().for_each(|file| copy(&at_once, file));
    at_once.update();
    let expected = everything(&at_once.mailbox(), at_once.root());
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let mut fixture = Fixture::new();
        let mut left = files.clone();
        let mut passes = Vec::new();
        while !left.is_empty() {
            let count = 1 + random.below(1 + left.len() as u64 * 3 / 2).min(left.len() as u64 - 1);
            for _ in 0..count {
                let file = left.swap_remove(usize::try_from(random.below(left.len() as u64)).unwrap());
                copy(&fixture, &file);
            }
            let batch_message_count = [3, 50, 65_536][usize::try_from(random.below(3)).unwrap()];
            let thread_count = 1 + usize::try_from(random.below(4)).unwrap();
            fixture.environment.context.threads = work::Threads::Exactly(thread_count);
            fixture.update_with(&UpdateOptions { batch_message_count, ..UpdateOptions::default() });
            passes.push((count, batch_message_count, thread_count));
        }
        fixture.check();
        let found = everything(&fixture.mailbox(), fixture.root());
        if let Some((ours, theirs)) =
            found.lines().zip(expected.lines()).find(|(ours, theirs)| ours != theirs)
        {
            panic!("seed {seed}, passes of files, batch, threads {passes:?}:\n{ours}\ninstead of\n{theirs}");
        }
        assert_eq!(found.len(), expected.len());
    }
}
