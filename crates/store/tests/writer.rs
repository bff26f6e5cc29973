//! What a writer guarantees besides its answers: one writer at a time, all or nothing, versions, and readable
//! errors for what it refuses.

use crate::support::{
    BY_GROUP, BY_ID, Change, DIRECTORY, Meddled, TABLES, Twin, check, directory, item, key_of, link, options,
    rows_of, schemas, shared, values,
};
use disk::Disk;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, Mutex};
use store::{Error, MergeOptions, OwnedValue, PRIMARY, Snapshot, Transaction, Value, Writer, merge_all};
use testkit::SimDisk;
use testkit::sim_disk::{Operation, Refusal};

fn create(disk: &SimDisk) -> Writer {
    Writer::create(&shared(disk), directory(), &schemas(), options(100)).unwrap()
}

#[test]
fn a_second_writer_is_told_what_holds_the_lock() {
    let disk = SimDisk::new(1);
    let first = create(&disk);
    let error = Writer::open(&shared(&disk), directory(), options(100)).unwrap_err();
    let said = "/data/store/lock is locked by test; wait until it has ended, and try again";
    assert_eq!(error.to_string(), said);
    drop(first);
    Writer::open(&shared(&disk), directory(), options(100)).unwrap();
}

#[test]
fn opening_the_wrong_store_is_a_readable_error() {
    let disk = SimDisk::new(1);
    assert!(Snapshot::open(&shared(&disk), directory()).unwrap_err().is_not_found());
    drop(Writer::open_or_create(&shared(&disk), directory(), &schemas(), options(100)).unwrap());
    drop(Writer::open_or_create(&shared(&disk), directory(), &schemas(), options(100)).unwrap());
    let again = Writer::create(&shared(&disk), directory(), &schemas(), options(100)).unwrap_err();
    assert_eq!(again.to_string(), "cannot create /data/store/manifest: entity already exists");
    let mut other = schemas();
    other[1].indexes.clear();
    let error = Writer::open_or_create(&shared(&disk), directory(), &other, options(100)).unwrap_err();
    assert!(error.to_string().starts_with("table links: /data/store keeps it with other columns"), "{error}");
    let error =
        Writer::open_or_create(&shared(&disk), directory(), &schemas()[..1], options(100)).unwrap_err();
    assert!(error.to_string().starts_with("table links: /data/store has it, and"), "{error}");
    let named = |name: &str| store::Schema { name: name.into(), ..schemas()[0].clone() };
    other = vec![named("more"), schemas()[0].clone(), schemas()[1].clone()];
    let error = Writer::open_or_create(&shared(&disk), directory(), &other, options(100)).unwrap_err();
    assert!(error.to_string().starts_with("table more: /data/store keeps it with other"), "{error}");
    let twice = [schemas()[0].clone(), schemas()[0].clone()];
    let fresh = SimDisk::new(1);
    let error = Writer::create(&shared(&fresh), directory(), &twice, options(100)).unwrap_err();
    assert_eq!(error.to_string(), "table items: two tables have this name");
}

#[test]
fn a_transaction_that_does_not_fit_changes_nothing() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let change = Change::default().put(0, item(1, 1));
    let version = writer.commit(change.transaction()).unwrap();
    let good = || {
        let mut transaction = Transaction::new();
        transaction.put(rows_of(0, &[item(2, 1)]));
        transaction
    };
    let mut unknown = good();
    unknown.delete("nowhere", &[Value::U32(1)]);
    let mut short = good();
    short.delete(TABLES[1], &[Value::U64(1)]);
    let mut wrong = good();
    wrong.delete(TABLES[0], &[Value::U64(1)]);
    let mut misplaced = good();
    misplaced.puts.push((TABLES[1].to_owned(), rows_of(0, &[item(3, 1)])));
    let sentences = [
        (unknown, "there is no table named nowhere"),
        (short, "table links: a key has 1 values for 2 columns"),
        (wrong, "table items: column number is U32, not U64(1)"),
        (misplaced, "table links: the rows were made for other columns"),
    ];
    for (transaction, expected) in sentences {
        assert_eq!(writer.commit(transaction.clone()).unwrap_err().to_string(), expected);
        assert_eq!(writer.load_transaction(transaction).unwrap_err().to_string(), expected);
    }
    assert_eq!(writer.version(), version);
    check(&writer.snapshot().unwrap(), &Twin::default().after(&change)).unwrap();
}

#[test]
fn invalid_queries_are_readable_errors() {
    let disk = SimDisk::new(1);
    let snapshot = create(&disk).snapshot().unwrap();
    let table = snapshot.table(TABLES[0]).unwrap();
    let all = (Bound::Unbounded, Bound::Unbounded);
    let questions = [
        (table.get("none", &[]).unwrap_err(), "there is no index named items.none"),
        (table.range("none", all.0, all.1).unwrap_err(), "there is no index named items.none"),
        (
            table.range(BY_ID, all.0, all.1).unwrap_err(),
            "table items: index by_id is a hash index and has no order",
        ),
        (table.get(BY_GROUP, &[Value::U16(1)]).unwrap_err(), "table items: a key has 1 values for 2 columns"),
        (table.find(PRIMARY, &[Value::U8(1)]).unwrap_err(), "table items: column number is U32, not U8(1)"),
        (
            table.range(PRIMARY, Bound::Included(&[Value::U32(1), Value::U32(1)]), all.1).unwrap_err(),
            "table items: a key has 2 values for 1 columns",
        ),
        (snapshot.table("none").unwrap_err(), "there is no table named none"),
    ];
    for (error, expected) in questions {
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn versions_grow_with_commits_and_not_with_merges() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let first = writer.commit(Change::default().put(0, item(1, 1)).transaction()).unwrap();
    assert_eq!(writer.commit(Transaction::new()).unwrap(), first, "nothing is no commit");
    let sealed = writer.flush().unwrap();
    assert!(sealed > first && sealed.sequence == first.sequence);
    assert_eq!(writer.flush().unwrap(), sealed, "there is nothing more to seal");
    let second = writer.load("items", vec![rows_of(0, &[item(2, 1)])]).unwrap();
    assert!(second > sealed && second.sequence > first.sequence);
    drop(writer);
    merge_all(&shared(&disk), directory(), &MergeOptions::default()).unwrap().unwrap();
    let writer = Writer::open(&shared(&disk), directory(), options(100)).unwrap();
    assert!(writer.version().sequence == second.sequence && writer.version() > second);
}

/// Returns the store's locks that the work takes, in order.
fn locks_of(disk: &SimDisk, work: impl FnOnce(&Arc<dyn Disk>)) -> Vec<String> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let before_lock = {
        let asked = Arc::clone(&asked);
        move |path: &Path| {
            if let Ok(name) = path.strip_prefix(directory()) {
                asked.lock().unwrap().push(name.display().to_string());
            }
        }
    };
    let watched: Arc<dyn Disk> =
        Arc::new(Meddled { before_lock: Box::new(before_lock), ..Meddled::new(disk) });
    work(&watched);
    let asked = asked.lock().unwrap();
    asked.clone()
}

#[test]
fn a_merge_and_a_replacement_take_the_locks_in_one_order() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    for number in 1..3 {
        writer.load("items", vec![rows_of(0, &[item(number, 1)])]).unwrap();
    }
    drop(writer);
    let elsewhere = Path::new("/data/elsewhere");
    drop(Writer::create(&shared(&disk), elsewhere, &schemas(), options(100)).unwrap());
    let merge = locks_of(&disk, |disk| {
        merge_all(disk, directory(), &MergeOptions::default()).unwrap().unwrap();
    });
    let replacement =
        locks_of(&disk, |disk| store::replace(disk, directory(), elsewhere, &options(100)).unwrap());
    // The writer with which a merge publishes tries the merge lock once more, without waiting for it.
    assert_eq!(merge, ["merger.lock", "merge.lock", "lock", "merge.lock"]);
    assert_eq!(replacement, ["merge.lock", "lock"], "in another order each can wait for the other");
}

#[test]
fn the_last_put_of_a_key_wins_and_deletes_come_first() {
    for journal_rows in [0, 100] {
        let disk = SimDisk::new(1);
        let mut writer =
            Writer::create(&shared(&disk), directory(), &schemas(), options(journal_rows)).unwrap();
        let key = |number| key_of(0, &item(number, 0));
        let changes = [
            Change::default().put(0, item(1, 1)).put(0, item(2, 1)).put(0, item(1, 2)).delete(0, key(2)),
            Change::default().put(1, link(1, "a", 1)).delete(0, key(1)).delete(0, key(9)).delete(0, key(4)),
            Change::default()
                .put(0, item(3, 1))
                .put(1, link(1, "a", 2))
                .put(0, item(3, 2))
                .put(0, item(4, 1)),
            Change::default().delete(0, key(4)),
        ];
        writer.commit_group(&changes.each_ref().map(Change::transaction)).unwrap();
        let twin = changes.iter().fold(Twin::default(), |twin, change| twin.after(change));
        assert_eq!(twin.tables[0].keys().cloned().collect::<Vec<_>>(), [key(2), key(3)]);
        check(&writer.snapshot().unwrap(), &twin).unwrap();
        assert_eq!(writer.version().sequence, 1, "a group is one commit");
    }
}

#[test]
fn the_newest_snapshot_opens_only_what_is_new() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let load = |writer: &mut Writer, numbers: std::ops::Range<u32>, version| {
        let change = numbers.fold(Change::default(), |change, number| change.put(0, item(number, version)));
        writer.load_transaction(change.transaction()).unwrap();
        change
    };
    let mut twin = Twin::default();
    for numbers in [0..3, 3..6, 2..4] {
        twin.apply(&load(&mut writer, numbers, 1));
    }
    let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
    let newest_and_maps = |snapshot: &Snapshot| {
        let before = disk.operation_count();
        let newest = snapshot.newest().unwrap();
        let is_map = |operation: &&Operation| matches!(operation, Operation::Map(_));
        (newest, disk.trace()[before..].iter().filter(is_map).count())
    };
    assert_eq!(newest_and_maps(&snapshot).1, 0);
    // One new segment, and one more dead row in each of two older ones.
    twin.apply(&load(&mut writer, 1..3, 2));
    let (newest, map_count) = newest_and_maps(&snapshot);
    assert_eq!(map_count, 3);
    check(&newest, &twin).unwrap();
}

#[test]
fn a_commit_does_not_change_open_snapshots() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let mut twin = Twin::default();
    let mut held = Vec::new();
    for number in 0..20 {
        let change = Change::default().put(0, item(number % 7, number)).attach("a", &number.to_le_bytes());
        writer.commit(change.transaction()).unwrap();
        twin.apply(&change);
        if number == 10 {
            writer.flush().unwrap();
        }
        held.push((writer.snapshot().unwrap(), twin.clone()));
    }
    for (snapshot, twin) in &held {
        check(snapshot, twin).unwrap();
    }
}

#[test]
fn readers_need_no_write_permission_and_write_nothing() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let change = Change::default().put(0, item(1, 1));
    writer.load_transaction(change.transaction()).unwrap();
    let journalled = Change::default().put(0, item(2, 1)).delete(0, key_of(0, &item(1, 1)));
    writer.commit(journalled.transaction()).unwrap();
    let other = disk.fork();
    other.refuse_from(0, Refusal::ReadOnly);
    let snapshot = Snapshot::open(&shared(&other), directory()).unwrap();
    check(&snapshot, &Twin::default().after(&change).after(&journalled)).unwrap();
    assert_eq!(store::verify(&snapshot), []);
    assert!(other.trace().iter().all(|operation| !operation.changes()));
    let error = Writer::open(&shared(&other), directory(), options(100)).unwrap_err();
    assert!(error.to_string().contains("/data/store/lock"), "{error}");
}

#[test]
fn a_full_disk_during_a_seal_loses_and_leaves_nothing() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let change = Change::default().put(0, item(1, 1)).put(1, link(1, "a", 1));
    writer.commit(change.transaction()).unwrap();
    let before = disk.operation_count();
    writer.flush().unwrap();
    let needed = disk.operation_count() - before;
    // manifest, journal, lock, two segments.
    assert_eq!(disk.files().len(), 5, "{:?}", disk.files());
    for after in 0..needed {
        let change = Change::default().put(0, item(1, 1)).put(1, link(1, "a", 1));
        let disk = SimDisk::new(1);
        let mut writer = create(&disk);
        writer.commit(change.transaction()).unwrap();
        disk.refuse_from(disk.operation_count() + after, Refusal::Full);
        let result = writer.flush();
        disk.allow_all();
        if let Err(error) = result {
            let text = error.to_string();
            assert!(text.contains(DIRECTORY) && text.contains("No space left"), "{text}");
            assert!(matches!(writer.flush(), Err(Error::Poisoned { .. })));
            assert!(matches!(writer.commit(change.transaction()), Err(Error::Poisoned { .. })));
            assert!(matches!(writer.snapshot(), Err(Error::Poisoned { .. })));
        }
        drop(writer);
        let mut writer = Writer::open(&shared(&disk), directory(), options(100)).unwrap();
        check(&writer.snapshot().unwrap(), &Twin::default().after(&change)).unwrap();
        writer.flush().unwrap();
        drop(writer);
        drop(Writer::open(&shared(&disk), directory(), options(100)).unwrap());
        // And the merge lock.
        assert_eq!(disk.files().len(), 6, "{:?}", disk.files());
    }
}

#[test]
fn a_writer_whose_journal_failed_refuses_everything() {
    let change = Change::default().put(0, item(1, 1));
    let more = Change::default().put(0, item(2, 1));
    // First the write fails, then the sync.
    for after in 0..2 {
        let disk = SimDisk::new(1);
        let mut writer = create(&disk);
        writer.commit(change.transaction()).unwrap();
        disk.refuse_at(disk.operation_count() + after, Refusal::Broken);
        let error = writer.commit(more.transaction()).unwrap_err();
        assert!(error.to_string().contains("/data/store/journal-1"), "{error}");
        assert!(matches!(writer.commit(more.transaction()), Err(Error::Poisoned { .. })));
        assert!(matches!(writer.load_transaction(more.transaction()), Err(Error::Poisoned { .. })));
        assert!(matches!(writer.flush(), Err(Error::Poisoned { .. })));
        let error = writer.snapshot().unwrap_err();
        assert_eq!(error.to_string(), "an earlier write to /data/store failed: open the store again");
        drop(writer);
        let mut writer = Writer::open(&shared(&disk), directory(), options(100)).unwrap();
        writer.commit(more.transaction()).unwrap();
        check(&writer.snapshot().unwrap(), &Twin::default().after(&change).after(&more)).unwrap();
    }
}

#[test]
fn loads_replace_what_is_there_and_the_last_of_equal_keys_wins() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    let mut twin = Twin::default();
    for change in
        [Change::default().put(0, item(1, 1)).put(0, item(2, 1)), Change::default().put(0, item(3, 1))]
    {
        writer.commit(change.transaction()).unwrap();
        twin.apply(&change);
        writer.flush().unwrap();
    }
    let journalled = Change::default().put(0, item(4, 1));
    writer.commit(journalled.transaction()).unwrap();
    let loaded = [item(2, 7), item(4, 7), item(5, 1), item(5, 2), item(6, 1)];
    writer
        .load(TABLES[0], vec![rows_of(0, &loaded[..3]), rows_of(0, &[]), rows_of(0, &loaded[3..])])
        .unwrap();
    twin.apply(&journalled);
    loaded.iter().for_each(|row| drop(twin.tables[0].insert(key_of(0, row), row.clone())));
    let snapshot = writer.snapshot().unwrap();
    check(&snapshot, &twin).unwrap();
    assert_eq!(snapshot.segment_count(TABLES[0]).unwrap(), 3, "two seals and one load");
    let table = snapshot.table(TABLES[0]).unwrap();
    let newest = table.get(PRIMARY, &values(&[OwnedValue::U32(5)])).unwrap().unwrap();
    assert_eq!(newest.part, 2);
}
