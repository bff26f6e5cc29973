//! Adopting messages that are on no disk from an archive.

use crate::support::{Fixture, message, query};
use index::{Adopted, Archive, ArchivedFile, Error, Order, ReadableArchive, Scope, UpdateOptions};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use work::Silent;

/// Files by the SHA-256 of their bytes.
#[derive(Default)]
pub(crate) struct TestArchive(BTreeMap<[u8; 32], ArchivedFile>, AtomicUsize);

impl TestArchive {
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let kept = ArchivedFile { bytes: bytes.to_vec(), named_seconds: Some(1_000_000_000) };
        self.0.insert(Sha256::digest(bytes).into(), kept);
    }
}

impl Archive for TestArchive {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        Ok(vec![true; sha256.len()])
    }
}

impl ReadableArchive for TestArchive {
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> index::Result<()>) -> index::Result<()> {
        self.0.keys().try_for_each(|key| visit(*key))
    }

    fn read(&self, key: &[u8; 32]) -> index::Result<Option<ArchivedFile>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.get(key).cloned())
    }
}

/// Ten messages that are both on the disk and in the archive; the first four are then removed from the disk.
/// The archive also has a compressed message, a damaged one and one without a date.
fn filled() -> (Fixture, TestArchive) {
    let (fixture, mut archive) = (Fixture::new(), TestArchive::default());
    for number in 0..10 {
        let content = message(&format!("m{number}"), &format!("m{number}"), &format!("some words w{number}"));
        fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
        archive.put(content.as_bytes());
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(message("m0", "m0", "packed words").as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    archive.put(&packed);
    archive.put(&packed[..packed.len() - 9]);
    archive.put(b"Subject: undated\n\nsome words\n");
    for number in 0..4 {
        fs::remove_file(fixture.root().join(format!("inbox/cur/{number}.x:2,S"))).unwrap();
    }
    fixture.update();
    (fixture, archive)
}

fn absent_subjects(fixture: &Fixture, archive: &TestArchive, text: &str) -> Vec<String> {
    let mailbox = fixture.mailbox().with_scope(Scope::WithAbsent(archive)).unwrap();
    let hits = mailbox.find(&query(text), &Order::default()).unwrap().list;
    let mut reader = index::RecordReader::new();
    let absent = hits.iter().filter(|hit| mailbox.is_absent(hit).unwrap());
    let mut list: Vec<String> = absent.map(|hit| mailbox.line(hit, &mut reader).unwrap().subject).collect();
    list.sort();
    list
}

#[test]
fn messages_on_no_disk_are_absent_and_found() {
    let (fixture, archive) = filled();
    let adopted = index::adopt(&fixture.environment, &archive, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(adopted, Adopted { messages: 6, damaged: 1 });
    assert_eq!(archive.1.load(Ordering::Relaxed), 7, "what is on the disk is not read");
    assert_eq!(fixture.find("words").len(), 6);
    assert_eq!(absent_subjects(&fixture, &archive, "words"), ["m0", "m0", "m1", "m2", "m3", "undated"]);
    assert_eq!(absent_subjects(&fixture, &archive, "w2"), ["m2"]);
    assert_eq!(absent_subjects(&fixture, &archive, "packed"), ["m0"]);
    assert_eq!(absent_subjects(&fixture, &archive, "date:2001-09-09"), ["undated"]);
    fixture.check();
    // The second time, only compressed and damaged files are read.
    let again = index::adopt(&fixture.environment, &archive, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!((again, archive.1.load(Ordering::Relaxed)), (Adopted { messages: 0, damaged: 1 }, 9));
    // One file comes back.
    fixture.put("inbox", "cur", "1.y:2,S", &message("m1", "m1", "some words w1"));
    assert_eq!(fixture.update().new_messages, 0);
    assert_eq!(fixture.find("w1"), ["m1"]);
    fixture.check();
}

#[test]
fn a_rebuild_adopts_messages_in_the_same_step() {
    let (fixture, archive) = filled();
    fs::remove_dir_all(fixture.environment.index_directory()).unwrap();
    let options = UpdateOptions { batch_message_count: 2, ..UpdateOptions::default() };
    let (summary, adopted) =
        index::rebuild_with(&fixture.environment, &fixture.roots, &archive, &options, &Silent).unwrap();
    assert_eq!((summary.new_messages, adopted), (6, Adopted { messages: 6, damaged: 1 }));
    assert_eq!(absent_subjects(&fixture, &archive, "words"), ["m0", "m0", "m1", "m2", "m3", "undated"]);
    fixture.check();
}

#[test]
fn a_failing_archive_is_reported_and_changes_nothing() {
    struct Broken(TestArchive);
    impl Archive for Broken {
        fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
            self.0.holds(sha256)
        }
    }
    impl ReadableArchive for Broken {
        fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> index::Result<()>) -> index::Result<()> {
            self.0.each_key(visit)
        }
        fn read(&self, _key: &[u8; 32]) -> index::Result<Option<ArchivedFile>> {
            Err(Error::archive("the archive is gone"))
        }
    }
    let (fixture, archive) = filled();
    let before = fixture.dump();
    let options = UpdateOptions::default();
    let result =
        index::rebuild_with(&fixture.environment, &fixture.roots, &Broken(archive), &options, &Silent);
    assert_eq!(result.unwrap_err().to_string(), "the archive is gone");
    assert_eq!(fixture.dump(), before);
    fixture.check();
}

#[test]
fn an_interrupted_adoption_keeps_what_it_published_and_continues_later() {
    /// Asks to stop after something was read.
    #[derive(Default)]
    struct Once(AtomicU64);
    impl work::Progress for Once {
        fn add(&self, count: u64, _bytes: u64) {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 0
        }
    }
    let (fixture, mut archive) = filled();
    for number in 0..600 {
        archive.put(message(&format!("n{number}"), "n", "more").as_bytes());
    }
    let options = UpdateOptions::default();
    let first = index::adopt(&fixture.environment, &archive, &options, &Once::default());
    assert!(matches!(first, Err(Error::Interrupted)), "{first:?}");
    let counts = fixture.mailbox().counts().unwrap();
    assert!(counts.absent > 4 && counts.absent < 606, "{counts:?}");
    index::adopt(&fixture.environment, &archive, &options, &Silent).unwrap();
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 606);
    assert_eq!(absent_subjects(&fixture, &archive, "more").len(), 600);
    fixture.check();
}
