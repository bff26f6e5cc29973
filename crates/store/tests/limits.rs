//! The limits of journals, segments and attachments, and what happens when they are reached.
//!
//! Limits of rows, schemas, manifests and merges are tested beside the code.

use crate::support::{
    Change, Meddled, TABLES, Twin, check, directory, item, key_of, link, options, rows_of, schemas, shared,
};
use disk::Disk;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::format::{RECORD_PAYLOAD_OFFSET, SECTOR_BYTES, SECTOR_CHECKSUM_OFFSET};
use store::limits::{
    ATTACHMENT_BYTES_MAX, ATTACHMENTS_BYTES_MAX, ATTACHMENTS_MAX, JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX,
    NAME_BYTES_MAX, OPEN_ATTEMPTS_MAX,
};
use store::{Error, Limits, Options, Snapshot, Transaction, Writer};
use testkit::SimDisk;

fn create(limits: Limits) -> (SimDisk, Writer) {
    let disk = SimDisk::new(1);
    let options = Options { limits, ..options(0) };
    let writer = Writer::create(&shared(&disk), directory(), &schemas(), options).unwrap();
    (disk, writer)
}

fn journal_bytes(disk: &SimDisk, writer: &Writer) -> usize {
    disk.read(&directory().join(format!("journal-{}", writer.version().manifest))).unwrap().len()
}

fn attachments(list: impl IntoIterator<Item = (String, usize)>) -> Transaction {
    let mut transaction = Transaction::new();
    for (name, length) in list {
        transaction.attach(&name, vec![0; length]);
    }
    transaction
}

#[test]
fn the_row_limit_of_a_journal_includes_dead_rows() {
    let (_disk, mut writer) = create(Limits::default());
    let half: Vec<_> = (0..JOURNAL_ROWS_MAX / 2).map(|number| item(number, 1)).collect();
    let other: Vec<_> = (JOURNAL_ROWS_MAX / 2..JOURNAL_ROWS_MAX).map(|number| item(number, 1)).collect();
    let put = |rows: &[crate::support::Row]| {
        let mut transaction = Transaction::new();
        transaction.put(rows_of(0, rows));
        transaction
    };
    assert_eq!(writer.commit(put(&half)).unwrap().manifest, 1);
    assert_eq!(writer.commit(put(&other)).unwrap().manifest, 1, "exactly full");
    assert_eq!(writer.commit(put(&[item(9999, 1)])).unwrap().manifest, 2);
    assert_eq!(writer.commit(put(&half)).unwrap().manifest, 2, "as many dead as new");
    assert_eq!(writer.commit(put(&[item(9998, 1)])).unwrap().manifest, 3);
    assert_eq!(
        writer.snapshot().unwrap().table(TABLES[0]).unwrap().row_count(),
        u64::from(JOURNAL_ROWS_MAX) + 2
    );
}

#[test]
fn a_journal_has_a_limit_of_bytes() {
    let (disk, mut writer) = create(Limits::default());
    let most = usize::try_from(JOURNAL_BYTES_MAX).unwrap();
    writer.commit(attachments([("a".to_owned(), 0)])).unwrap();
    let sectors_left = (most - journal_bytes(&disk, &writer)) / SECTOR_BYTES;
    // What a record needs besides the attachment's bytes: head, two counts, two lengths, a name of one byte.
    let room = sectors_left * SECTOR_CHECKSUM_OFFSET - RECORD_PAYLOAD_OFFSET - 17;
    assert_eq!(writer.commit(attachments([("a".to_owned(), room)])).unwrap().manifest, 1);
    assert_eq!(journal_bytes(&disk, &writer), most);
    Snapshot::open(&shared(&disk), directory()).unwrap();
    assert_eq!(writer.commit(attachments([("a".to_owned(), 0)])).unwrap().manifest, 2);
    assert_eq!(
        writer.commit(attachments([("a".to_owned(), most)])).unwrap().manifest,
        3,
        "too large for any journal"
    );
    let long = item(1, 1).into_iter().take(5).chain([store::OwnedValue::Bytes(vec![1; most])]).collect();
    let change = Change::default().put(0, long);
    assert_eq!(writer.commit(change.transaction()).unwrap().manifest, 4, "rows, too");
    check(&writer.snapshot().unwrap(), &Twin::default().after(&change)).unwrap();
}

#[test]
fn journal_limits_can_be_lowered_but_not_raised() {
    let (disk, mut writer) = create(Limits { journal_bytes: 2000, ..Limits::default() });
    while writer.commit(attachments([("a".to_owned(), 50)])).unwrap().manifest == 1 {
        assert!(journal_bytes(&disk, &writer) <= 2000);
    }
    assert_eq!(writer.version().sequence, 3, "two records of one sector each fit beside the head's");
    let unlimited = Limits { journal_bytes: u64::MAX, journal_rows: u32::MAX, rows_per_segment: u32::MAX };
    let (_disk, mut writer) = create(unlimited);
    let rows: Vec<_> = (0..=JOURNAL_ROWS_MAX).map(|number| item(number, 1)).collect();
    assert_eq!(writer.load(TABLES[0], vec![rows_of(0, &rows)]).unwrap().manifest, 2);
    let mut transaction = Transaction::new();
    transaction.put(rows_of(0, &rows));
    assert_eq!(writer.commit(transaction).unwrap().manifest, 3);
}

#[test]
fn too_many_rows_for_a_segment_become_several() {
    for journal_rows in [0, 100] {
        let (disk, mut writer) = create(Limits { journal_rows, rows_per_segment: 10, ..Limits::default() });
        let change =
            (0..35).fold(Change::default(), |change, number| change.put(0, item((number * 8) % 35, 1)));
        let change = change.put(1, link(1, "a", 1)).delete(0, key_of(0, &item(99, 0)));
        writer.commit(change.transaction()).unwrap();
        writer.flush().unwrap();
        let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
        check(&snapshot, &Twin::default().after(&change)).unwrap();
        let table = snapshot.table(TABLES[0]).unwrap();
        assert_eq!(table.parts().iter().map(store::Part::row_count).collect::<Vec<_>>(), [10, 10, 10, 5, 0]);
        assert_eq!(snapshot.segment_count(TABLES[1]).unwrap(), 1);
    }
}

#[test]
fn attachments_have_limits_and_a_refusal_changes_nothing() {
    let (disk, mut writer) = create(Limits::default());
    let most = usize::try_from(ATTACHMENT_BYTES_MAX).unwrap();
    let all = usize::try_from(ATTACHMENTS_BYTES_MAX).unwrap();
    let whole = (0..all / most).map(|number| (format!("{number:0>100}"), most));
    writer.commit(attachments(whole)).unwrap();
    let version = writer.version();
    let refused = [
        ("bytes in an attachment", attachments([("0".to_owned(), most + 1)])),
        ("bytes in all attachments", attachments([("one more".to_owned(), 1)])),
        ("bytes in an attachment's name", attachments([("n".repeat(NAME_BYTES_MAX + 1), 1)])),
        ("attachments", attachments((0..ATTACHMENTS_MAX).map(|number| (number.to_string(), 0)))),
    ];
    for (expected, transaction) in refused {
        let error = writer.commit(transaction).unwrap_err();
        assert!(matches!(&error, Error::Limit { what, .. } if *what == expected), "{error}");
    }
    assert_eq!(writer.version(), version);
    let few = ATTACHMENTS_MAX - all / most;
    writer.commit(attachments((0..few).map(|number| (number.to_string(), 0)))).unwrap();
    let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
    assert_eq!(snapshot.attachment(&"0".repeat(100)).map(<[u8]>::len), Some(most));
}

#[test]
fn a_reader_retries_up_to_its_limit_and_gives_up() {
    let (disk, mut writer) = create(Limits { journal_rows: 0, ..Limits::default() });
    writer.commit(Change::default().put(0, item(1, 0)).transaction()).unwrap();
    drop(writer);
    // A writer publishes each time between the reader's read of the manifest and its opening of a segment.
    let open = |count| {
        let (commit_count, other) = (AtomicU32::new(0), disk.clone());
        let commit = move || {
            let number = commit_count.load(Ordering::Relaxed) + 1;
            if number <= count {
                commit_count.store(number, Ordering::Relaxed);
                let mut writer = Writer::open(&shared(&other), directory(), options(0)).unwrap();
                writer.commit(Change::default().put(0, item(1, number)).transaction()).unwrap();
            }
        };
        let restless = Meddled { before_map: Box::new(commit), ..Meddled::new(&disk) };
        Snapshot::open(&(Arc::new(restless) as Arc<dyn Disk>), directory())
    };
    let snapshot = open(OPEN_ATTEMPTS_MAX - 1).unwrap();
    let twin = Twin::default().after(&Change::default().put(0, item(1, OPEN_ATTEMPTS_MAX - 1)));
    check(&snapshot, &twin).unwrap();
    assert!(matches!(open(OPEN_ATTEMPTS_MAX), Err(Error::Limit { limit: 100, .. })));
}
