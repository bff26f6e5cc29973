//! Real mail: the index has every file exactly once, and finds every Message-ID and every subject that
//! contains a word.

use crate::scan;
use crate::support::{Fixture, dump};
use index::{Mailbox, Order, RecordReader, Root};
use query::{Field, FieldSet, Leaf, Matcher, Query, Target};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn all_real_mail_is_found() {
    let Some(real) = testkit::real_mail() else { return };
    let mut fixture = Fixture::new();
    fixture.roots = vec![Root { name: "real".into(), path: real.maildir().to_owned() }];
    check_root(&fixture, real.maildir());
}

#[test]
fn all_odd_mail_is_found() {
    let Some(real) = testkit::real_mail() else { return };
    let fixture = Fixture::new();
    for (number, path) in real.edge().iter().enumerate() {
        fs::create_dir_all(fixture.root().join("edge/cur")).unwrap();
        fs::copy(path, fixture.root().join(format!("edge/cur/{number}.edge:2,S"))).unwrap();
    }
    check_root(&fixture, fixture.root());
}

fn check_root(fixture: &Fixture, root: &Path) {
    let summary = fixture.update();
    assert!(summary.problems.is_empty(), "{:?}", summary.problems);
    let mailbox = fixture.mailbox();
    let files = files_below(root);
    let mut indexed: BTreeMap<String, u32> = BTreeMap::new();
    for (_, _, paths) in dump(&mailbox, root).values() {
        for path in paths {
            *indexed.entry(path.clone()).or_default() += 1;
        }
    }
    let expected: BTreeMap<String, u32> =
        files.iter().map(|path| (path.strip_prefix(root).unwrap().display().to_string(), 1)).collect();
    assert_eq!(indexed, expected, "every path exactly once");
    every_message_is_found(&mailbox);
    let hits = mailbox.find(&Query::All, &Order::default()).unwrap().list;
    scan::shows_the_same(&mailbox, &hits, scan::ALL, hits.len());
    assert_eq!(fixture.update().added, 0);
    fixture.check();
}

fn every_message_is_found(mailbox: &Mailbox) {
    let mut reader = RecordReader::new();
    for hit in mailbox.find(&Query::All, &Order::default()).unwrap().list {
        let message = mailbox.message(&hit, &mut reader).unwrap();
        let by_id = mailbox.by_message_id(&message.rest.message_id).unwrap();
        assert!(by_id.iter().any(|found| found.number == hit.number), "{}", message.rest.message_id);
        let asked = query::asked_words(&message.line.subject, query::Dot::IsPart);
        let mut words: Vec<String> = asked.map(|word| word.text).collect();
        words.truncate(query::limits::PHRASE_WORD_COUNT_MAX);
        if words.is_empty() {
            continue;
        }
        let target = Target::Fields(FieldSet::of(Field::Subject));
        let leaf = Query::Leaf(Leaf { target, matcher: Matcher::Words(words.clone()), span: 0..0 });
        assert!(
            mailbox.evaluate(&leaf).unwrap().contains(hit.number),
            "{words:?} of {:?}",
            message.line.subject
        );
    }
}

fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else if directory.ends_with("cur") || directory.ends_with("new") {
                files.push(entry.path());
            }
        }
    }
    files
}
