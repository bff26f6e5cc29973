//! Snapshots of one store are told from those of an older copy of it that was put back.

use crate::support::{Change, Row, item, options, schemas};
use disk::{Disk, RealDisk};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use store::{Snapshot, Writer};
use tempfile::TempDir;

/// More rows than this in the journal are sealed.
const JOURNAL_ROWS: u32 = 8;

struct Fixture {
    disk: Arc<dyn Disk>,
    directory: TempDir,
}

impl Fixture {
    /// Begins with a store of one sealed commit.
    fn new() -> Fixture {
        let fixture = Fixture { disk: Arc::new(RealDisk), directory: tempfile::tempdir().unwrap() };
        let path = fixture.path("store");
        drop(Writer::create(&fixture.disk, &path, &schemas(), options(JOURNAL_ROWS)).unwrap());
        fixture.commit(1, (0..20).map(|number| item(number, 1)));
        assert_eq!(fixture.snapshot().segment_count("items").unwrap(), 1);
        fixture.copy("store", "saved");
        fixture
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn copy(&self, from: &str, to: &str) {
        let _ = fs::remove_dir_all(self.path(to));
        fs::create_dir(self.path(to)).unwrap();
        for entry in fs::read_dir(self.path(from)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), self.path(to).join(entry.file_name())).unwrap();
        }
    }

    fn commit(&self, seed: u64, rows: impl IntoIterator<Item = Row>) {
        let path: &Path = &self.path("store");
        let options = store::Options { seed, ..options(JOURNAL_ROWS) };
        let mut writer = Writer::open(&self.disk, path, options).unwrap();
        let change = rows.into_iter().fold(Change::default(), |change, row| change.put(0, row));
        writer.commit(change.transaction()).unwrap();
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::open(&self.disk, &self.path("store")).unwrap()
    }

    /// Puts the first state back.
    fn put_back(&self) {
        self.copy("saved", "store");
    }
}

#[test]
fn later_states_of_one_store_continue_earlier_ones() {
    let fixture = Fixture::new();
    let mut states = vec![fixture.snapshot()];
    for number in 0..30 {
        fixture.commit(number.into(), [item(number % 10, 2 + number), item(number + 100, 2)]);
        states.push(states[states.len() - 1].newest().unwrap());
    }
    for (at, newer) in states.iter().enumerate() {
        for (other, older) in states.iter().enumerate() {
            assert_eq!(newer.continues(older), at >= other, "{at} and {other}");
        }
    }
}

#[test]
fn another_journal_of_the_same_manifest_is_no_later_state() {
    let fixture = Fixture::new();
    fixture.commit(2, [item(50, 1)]);
    let older = fixture.snapshot();
    fixture.put_back();
    (60..63).for_each(|number| fixture.commit(3, [item(number, 1)]));
    let newer = fixture.snapshot();
    assert!(newer.version() > older.version());
    assert!(!newer.continues(&older) && !older.newest().unwrap().continues(&older));
}

#[test]
fn a_manifest_that_holds_fewer_commits_is_no_later_state() {
    let fixture = Fixture::new();
    (50..53).for_each(|number| fixture.commit(2, [item(number, 1)]));
    let older = fixture.snapshot();
    fixture.put_back();
    fixture.commit(3, (60..80).map(|number| item(number, 1)));
    (90..95).for_each(|number| fixture.commit(3, [item(number, 1)]));
    let newer = fixture.snapshot();
    assert!(newer.version() > older.version() && newer.version().manifest > older.version().manifest);
    assert!(!newer.continues(&older));
}

#[test]
fn a_row_that_lives_again_shows_another_state() {
    let fixture = Fixture::new();
    fixture.commit(2, [item(3, 2)]);
    let older = fixture.snapshot();
    fixture.put_back();
    (0..3).for_each(|round| {
        fixture.commit(3, (60 + 20 * round..80 + 20 * round).map(|number| item(number, 1)));
    });
    let newer = fixture.snapshot();
    assert!(newer.version().manifest > older.version().manifest);
    assert!(!newer.continues(&older));
}
