//! What a process has open shortens the next opening, and never hides what the files say now.

use crate::support::{Change, Twin, check, item, options, schemas};
use disk::{Disk, RealDisk};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{MergeOptions, Options, Snapshot, Writer};

/// A store on the real disk, and what should be in it.
struct Store {
    disk: Arc<dyn Disk>,
    directory: tempfile::TempDir,
    twin: Twin,
}

impl Store {
    fn new() -> Store {
        let (disk, directory): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), tempfile::tempdir().unwrap());
        drop(Writer::create(&disk, directory.path(), &schemas(), options(1000)).unwrap());
        Store { disk, directory, twin: Twin::default() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn commit(&mut self, change: &Change, options: Options) {
        let mut writer = Writer::open(&self.disk, self.path(), options).unwrap();
        writer.commit(change.transaction()).unwrap();
        self.twin.apply(change);
    }

    fn put(&mut self, number: u32, version: u32) {
        self.commit(&Change::default().put(0, item(number, version)), options(1000));
    }

    fn open(&self) -> Snapshot {
        Snapshot::open(&self.disk, self.path()).unwrap()
    }

    /// The only journal.
    fn journal(&self) -> PathBuf {
        let entries = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.into_iter().find(|path| path.to_str().unwrap().contains("journal-")).unwrap()
    }
}

#[test]
fn a_known_snapshot_and_a_fresh_one_see_the_same_after_each_commit() {
    let mut store = Store::new();
    let (mut last, mut before_last) = (store.open(), store.open());
    for number in 0..40 {
        let mut change =
            Change::default().put(0, item(number % 11, number)).attach("a", &number.to_le_bytes());
        if number % 3 == 2 {
            change = change.delete(0, crate::support::key_of(0, &item((number + 4) % 11, 0)));
        }
        // Now and then the journal is full, and a merge replaces segments.
        let known = (number % 2 == 0).then(|| before_last.clone());
        store.commit(&change, Options { known, ..options(9) });
        if number % 7 == 6 {
            let known = Some(last.clone());
            let merge = MergeOptions { seed: u64::from(number), known, ..MergeOptions::default() };
            while store::merge(&store.disk, store.path(), &merge).unwrap().is_some() {}
        }
        let newest = last.newest().unwrap();
        check(&newest, &store.twin).unwrap();
        check(&before_last.newest().unwrap(), &store.twin).unwrap();
        assert_eq!(newest.version(), store.open().version());
        (before_last, last) = (last, newest);
    }
}

#[test]
fn a_journal_that_was_put_back_is_not_taken_for_what_is_known() {
    let mut store = Store::new();
    store.put(1, 1);
    let (journal, twin) = (store.journal(), store.twin.clone());
    let old = fs::read(&journal).unwrap();
    store.put(2, 2);
    let known = store.open();
    // Shorter than what is known.
    fs::write(&journal, &old).unwrap();
    store.twin = twin;
    check(&known.newest().unwrap(), &store.twin).unwrap();
    // Another record of the same length stands where the known one was.
    store.put(3, 3);
    check(&known.newest().unwrap(), &store.twin).unwrap();
    // Longer than what is known.
    store.put(4, 4);
    check(&known.newest().unwrap(), &store.twin).unwrap();
    let options = Options { known: Some(known), ..options(1000) };
    check(&Writer::open(&store.disk, store.path(), options).unwrap().snapshot().unwrap(), &store.twin)
        .unwrap();
}

#[test]
fn a_record_that_is_not_whole_is_cut_by_a_writer_who_knows_what_is_before_it() {
    let mut store = Store::new();
    store.put(1, 1);
    let (known, whole) = (store.open(), fs::read(store.journal()).unwrap());
    let twin = store.twin.clone();
    store.put(2, 2);
    let torn = fs::read(store.journal()).unwrap();
    fs::write(store.journal(), &torn[..torn.len() - 1]).unwrap();
    store.twin = twin;
    check(&known.newest().unwrap(), &store.twin).unwrap();
    let options = Options { known: Some(known.clone()), ..options(1000) };
    let writer = Writer::open(&store.disk, store.path(), options).unwrap();
    assert_eq!(writer.cut_bytes(), (torn.len() - 1 - whole.len()) as u64);
    drop(writer);
    assert_eq!(fs::read(store.journal()).unwrap(), whole);
    store.put(5, 5);
    check(&known.newest().unwrap(), &store.twin).unwrap();
}

#[test]
fn damage_of_the_journal_is_an_error_for_who_knows_its_beginning() {
    let mut store = Store::new();
    store.put(1, 1);
    let known = store.open();
    (2..9).for_each(|number| store.put(number, number));
    let mut bytes = fs::read(store.journal()).unwrap();
    let place = bytes.len() - 2_000;
    bytes[place] ^= 1;
    fs::write(store.journal(), &bytes).unwrap();
    let error = known.newest().unwrap_err();
    assert_eq!(error.to_string(), Snapshot::open(&store.disk, store.path()).unwrap_err().to_string());
}

#[test]
fn who_knows_the_newest_commit_reads_no_more_than_its_record() {
    let mut store = Store::new();
    (0..50).for_each(|number| store.put(number, number));
    let known = store.open();
    let length = fs::metadata(store.journal()).unwrap().len();
    // What comes long before the last known record is not looked at again.
    let mut bytes = fs::read(store.journal()).unwrap();
    bytes[2_000] ^= 1;
    fs::write(store.journal(), &bytes).unwrap();
    assert!(length > 20_000 && Snapshot::open(&store.disk, store.path()).is_err());
    check(&known.newest().unwrap(), &store.twin).unwrap();
}
