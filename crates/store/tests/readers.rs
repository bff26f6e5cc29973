//! Readers in threads beside a writer and a merge, on a real disk.

use crate::support::{Change, TABLES, item, link, options, schemas};
use disk::{Disk, RealDisk, Wait};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{MergeOptions, Options, OwnedValue, PRIMARY, Snapshot, Value, Writer, merge};

const COMMIT_COUNT: u32 = 240;
const ROW_COUNT: u32 = 12;

/// Sets rows of both tables and the attachment to the same number.
fn change(number: u32) -> Change {
    let change = Change::default().attach("number", &number.to_le_bytes());
    (0..ROW_COUNT).fold(change, |change, row| {
        change.put(0, item(row, number)).put(1, link(u64::from(row), "same", u8::try_from(number).unwrap()))
    })
}

/// Fails if a snapshot has only some rows of a commit. Returns the commit's number.
fn check_whole(snapshot: &Snapshot) -> u32 {
    let number = snapshot.attachment("number").expect("the first commit has it");
    let number = u32::from_le_bytes(number.try_into().unwrap());
    let items = snapshot.table(TABLES[0]).unwrap();
    let rows = items.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap();
    let sizes: Vec<i64> =
        rows.map(|row| row.unwrap()).map(|row| items.part(row).i64_at(4, row.row).unwrap()).collect();
    assert_eq!(sizes, vec![i64::from(number) - 2; ROW_COUNT as usize], "commit {number}");
    let links = snapshot.table(TABLES[1]).unwrap();
    for row in 0..ROW_COUNT {
        let key = [Value::U64(u64::from(row)), Value::Bytes(b"same")];
        let found = links.get(PRIMARY, &key).unwrap().expect("each link is there");
        assert_eq!(
            links.value(2, found).unwrap().to_owned(),
            OwnedValue::U8(u8::try_from(number).unwrap()),
            "commit {number}"
        );
    }
    number
}

fn read_until(disk: &Arc<dyn Disk>, directory: &Path, is_done: &AtomicBool) -> u32 {
    let (mut snapshot, mut count) = (Snapshot::open(disk, directory).unwrap(), 0);
    loop {
        let was_done = is_done.load(Ordering::Acquire);
        let newer = if count % 2 == 0 {
            Snapshot::open(disk, directory).unwrap()
        } else {
            snapshot.newest().unwrap()
        };
        assert!(newer.version() >= snapshot.version());
        assert!(check_whole(&newer) >= check_whole(&snapshot));
        snapshot = newer;
        count += 1;
        if was_done {
            assert_eq!(check_whole(&snapshot), COMMIT_COUNT);
            return count;
        }
    }
}

#[test]
fn readers_beside_a_writer_and_a_merge_see_whole_commits_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options = Options { wait: Wait::Block, ..options(5 * ROW_COUNT) };
    let mut writer = Writer::create(&disk, &path, &schemas(), options.clone()).unwrap();
    writer.commit(change(1).transaction()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [0, 1].map(|_| scope.spawn(|| read_until(&disk, &path, &is_done)));
        let merger = scope.spawn(|| {
            let options = MergeOptions { wait: Wait::Block, seed: 4, ..MergeOptions::default() };
            let mut merge_count = 0;
            while !is_done.load(Ordering::Acquire) {
                merge_count += u32::from(merge(&disk, &path, &options).unwrap().is_some());
            }
            merge_count
        });
        for number in 2..=COMMIT_COUNT {
            if number % 16 == 0 {
                // Lets the merge publish.
                drop(writer);
                writer = Writer::open(&disk, &path, options.clone()).unwrap();
            }
            writer.commit(change(number).transaction()).unwrap();
        }
        drop(writer);
        is_done.store(true, Ordering::Release);
        let read_counts = readers.map(|reader| reader.join().unwrap());
        assert!(read_counts.iter().all(|&count| count > 0));
        merger.join().unwrap();
    });
    assert_eq!(store::verify(&Snapshot::open(&disk, &path).unwrap()), []);
}
