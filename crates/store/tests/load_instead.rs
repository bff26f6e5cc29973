//! Loads that replace all rows, look-ups of many keys in one part, and checksums of a whole part.

use crate::support::{
    BY_ID, Change, TABLES, Twin, check, directory, item, key_of, options, read_all, rows_of, schemas, shared,
};
use disk::{Disk, Wait};
use std::path::PathBuf;
use store::{ColumnSlice, Error, Schema, Snapshot, Transaction, Value, Writer, verify};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};

fn change(numbers: std::ops::Range<u32>) -> Change {
    numbers.fold(Change::default().attach("note", b"new"), |change, number| change.put(0, item(number, 2)))
}

fn instead(disk: &SimDisk, change: &Change) -> store::Result<Writer> {
    Writer::load_instead(&shared(disk), directory(), &schemas(), &change.transaction(), options(20))
}

/// A store with segments, dead rows and a journal.
fn filled(disk: &SimDisk) -> Twin {
    let mut writer = Writer::create(&shared(disk), directory(), &schemas(), options(20)).unwrap();
    let mut twin = Twin::default();
    for (numbers, version) in [(0..30, 1), (20..50, 1), (1..3, 2)] {
        let change = numbers.fold(Change::default(), |change, number| change.put(0, item(number, version)));
        writer.commit(change.transaction()).unwrap();
        twin = twin.after(&change);
    }
    twin
}

fn check_whole(disk: &SimDisk, twin: &Twin) {
    let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
    check(&snapshot, twin).unwrap();
    assert_eq!(verify(&snapshot), []);
}

#[test]
fn a_load_replaces_all_rows() {
    let new = Twin::default().after(&change(10..25));
    let nothing = SimDisk::new(1);
    let sound = SimDisk::new(2);
    filled(&sound);
    let damaged = SimDisk::new(3);
    filled(&damaged);
    let manifest = directory().join("manifest");
    damaged.flip(&manifest, damaged.read(&manifest).unwrap().len() / 2);
    let cut = SimDisk::new(4);
    filled(&cut);
    cut.cut(&manifest, 3);
    let other = SimDisk::new(5);
    let schema = Schema { name: "others".into(), indexes: Vec::new(), ..schemas()[1].clone() };
    drop(Writer::create(&shared(&other), directory(), &[schema], options(20)).unwrap());
    for disk in [nothing, sound, damaged, cut, other] {
        let is_of_old =
            |path: &PathBuf| !path.ends_with("manifest") && !path.to_string_lossy().ends_with("lock");
        let old: Vec<PathBuf> = disk.files().into_iter().filter(is_of_old).collect();
        let writer = instead(&disk, &change(10..25)).unwrap();
        let stays: Vec<&PathBuf> = old.iter().filter(|path| disk.files().contains(path)).collect();
        assert!(stays.is_empty(), "{stays:?}");
        check(&writer.snapshot().unwrap(), &new).unwrap();
        drop(writer);
        check_whole(&disk, &new);
        // The store can be written afterwards.
        let mut writer = Writer::open(&shared(&disk), directory(), options(20)).unwrap();
        let more = Change::default().put(0, item(70, 1)).delete(0, key_of(0, &item(11, 0)));
        writer.commit(more.transaction()).unwrap();
        drop(writer);
        check_whole(&disk, &new.after(&more));
        // manifest, journal, two locks, one or two segments, dead rows: no other files.
        assert!(disk.files().len() <= 7, "{:?}", disk.files());
    }
}

#[test]
fn a_crash_leaves_the_old_rows_or_the_new() {
    let start = SimDisk::new(6);
    let old = filled(&start);
    let new = Twin::default().after(&change(5..60));
    let work = |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        instead(disk, &change(5..60))?;
        ledger.record(|is_done| *is_done = true);
        Ok::<_, Error>(())
    };
    let is_one = move |disk: &SimDisk, is_done: &bool| {
        let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
        let found = read_all(&snapshot, &["note"]).unwrap();
        assert!(found == new || !is_done && found == old, "{found:#?}");
        assert_eq!(verify(&snapshot), []);
        drop(instead(disk, &change(1..2)).unwrap());
        check_whole(disk, &Twin::default().after(&change(1..2)));
    };
    let runs = crash_at_every_operation(&start, false, work, is_one.clone());
    assert!(runs.operation_count > 10 && runs.checked_count > 20, "{runs:?}");
    fail_at_every_operation(&start, false, work, is_one);
}

#[test]
fn a_reader_keeps_what_it_has_open() {
    let disk = SimDisk::new(7);
    let old = filled(&disk);
    let before = Snapshot::open(&shared(&disk), directory()).unwrap();
    drop(instead(&disk, &change(5..60)).unwrap());
    check(&before, &old).unwrap();
    let newest = before.newest().unwrap();
    check(&newest, &Twin::default().after(&change(5..60))).unwrap();
    assert!(newest.version() > before.version(), "later states are greater");
}

#[test]
fn files_of_a_running_merge_stay() {
    let disk = SimDisk::new(8);
    filled(&disk);
    let merging = disk.lock(&directory().join("merge.lock"), "a merge", Wait::Refuse).unwrap();
    let unnamed: PathBuf = directory().join("00000000000000ff.seg");
    disk.put(&unnamed, b"half a segment");
    drop(instead(&disk, &change(5..60)).unwrap());
    assert!(disk.files().contains(&unnamed));
    drop(merging);
    drop(instead(&disk, &change(5..60)).unwrap());
    assert!(!disk.files().contains(&unnamed));
}

#[test]
fn rows_of_other_tables_and_held_locks_are_refused() {
    let disk = SimDisk::new(9);
    let old = filled(&disk);
    let mut rows = Transaction::new();
    rows.put(rows_of(1, &[]));
    let refused = Writer::load_instead(&shared(&disk), directory(), &schemas()[..1], &rows, options(20));
    assert!(matches!(refused, Err(Error::Schema { .. })), "{refused:?}");
    let writer = Writer::open(&shared(&disk), directory(), options(20)).unwrap();
    assert!(matches!(instead(&disk, &change(0..1)), Err(Error::Io(disk::Error::Locked { .. }))));
    drop(writer);
    check_whole(&disk, &old);
}

#[test]
fn a_batch_of_keys_finds_what_single_keys_find() {
    let disk = SimDisk::new(10);
    filled(&disk);
    let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
    let items = snapshot.table(TABLES[0]).unwrap();
    let index = items.schema().index(BY_ID).unwrap();
    let ids: Vec<[u8; 32]> = (0..80)
        .map(|number| match item(number, 1 + number % 2)[1].as_value() {
            Value::Id(id) => *id,
            other => panic!("{other:?} is no id"),
        })
        .collect();
    let mut in_memory = 0;
    for part in items.parts() {
        let mut expected = vec![(7, 7)];
        for (number, id) in (0..).zip(&ids) {
            let mut rows = Vec::new();
            part.find(index, &[Value::Id(id)], &mut rows).unwrap();
            expected.extend(rows.into_iter().map(|row| (number, row)));
        }
        let mut found = vec![(7, 7)];
        part.find_batch(index, &[ColumnSlice::Id(&ids)], &mut found).unwrap();
        assert_eq!(found, expected);
        assert!(
            found.len() > 1
                && part.find_batch(index, &[ColumnSlice::U8([1][..].into())], &mut found).is_err()
        );
        in_memory += usize::from(part.has_dead());
    }
    assert!(in_memory > 0 && items.parts().len() > 1, "no part has dead rows");
}

#[test]
fn damage_anywhere_in_a_part_is_found() {
    let disk = SimDisk::new(11);
    // Enough rows that opening does not read all of them. Only a full check finds damage in the middle.
    Writer::load_instead(
        &shared(&disk),
        directory(),
        &schemas(),
        &change(0..8_000).transaction(),
        options(9_000),
    )
    .unwrap();
    let parts =
        |disk: &SimDisk| Ok(Snapshot::open(&shared(disk), directory())?.table(TABLES[0])?.parts().to_vec());
    let verified = |parts: Vec<store::Part>| parts.iter().try_for_each(store::Part::verify_checksums);
    verified(parts(&disk).unwrap()).unwrap();
    let segment =
        disk.files().into_iter().find(|path| path.extension().is_some_and(|end| end == "seg")).unwrap();
    let mut unseen_count = 0;
    for place in (0..disk.read(&segment).unwrap().len()).step_by(10_007) {
        let damaged = disk.fork();
        damaged.flip(&segment, place);
        let opened: store::Result<Vec<store::Part>> = parts(&damaged);
        unseen_count += usize::from(opened.is_ok());
        assert!(opened.and_then(verified).is_err(), "{place}");
    }
    assert!(unseen_count > 10, "{unseen_count}");
}
