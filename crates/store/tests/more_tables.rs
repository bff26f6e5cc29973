//! A store gets tables that it was not made with.

use crate::support::{Change, Twin, check, directory, item, link, options, read_all, schemas, shared};
use store::{MergeOptions, Snapshot, Writer, merge_all};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation};

/// Commits rows of the first table to a store that has no other.
fn with_one_table(disk: &SimDisk) -> Twin {
    let mut writer = Writer::create(&shared(disk), directory(), &schemas()[..1], options(3)).unwrap();
    let changes = [0..2, 1..6, 5..7].map(|numbers: std::ops::Range<u32>| {
        numbers.fold(Change::default(), |change, number| change.put(0, item(number, 1)))
    });
    for change in &changes {
        writer.commit(change.transaction()).unwrap();
    }
    changes.iter().fold(Twin::default(), |twin, change| twin.after(change))
}

#[test]
fn rows_stay_and_a_crash_leaves_the_old_tables_or_all() {
    let start = SimDisk::new(31);
    let before = with_one_table(&start);
    let added = Change::default().put(0, item(1, 2)).put(1, link(1, "end", 3));
    let after = before.after(&added);
    let work = |disk: &SimDisk, is_done: &Acknowledged<bool>| {
        let mut writer = Writer::open_or_create(&shared(disk), directory(), &schemas(), options(3))?;
        writer.commit(added.transaction())?;
        is_done.record(|is_done| *is_done = true);
        Ok::<(), store::Error>(())
    };
    let runs = crash_at_every_operation(&start, false, work, {
        let (before, after) = (before.clone(), after.clone());
        move |disk, is_done| {
            let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
            if snapshot.tables().len() == 1 {
                assert!(!is_done);
                let rows = snapshot.table(crate::support::TABLES[0]).unwrap().row_count();
                assert_eq!(rows, before.tables[0].len() as u64);
            } else {
                let found = read_all(&snapshot, &[]).unwrap();
                check(&snapshot, &found).unwrap();
                assert!(found == after || found == before && !is_done, "{found:?}");
            }
            let mut writer =
                Writer::open_or_create(&shared(disk), directory(), &schemas(), options(3)).unwrap();
            writer.commit(added_again().transaction()).unwrap();
            drop(writer);
            while merge_all(&shared(disk), directory(), &MergeOptions::default()).unwrap().is_some() {}
            check(&Snapshot::open(&shared(disk), directory()).unwrap(), &after).unwrap();
        }
    });
    assert!(runs.operation_count > 5, "{runs:?}");
}

fn added_again() -> Change {
    Change::default().put(0, item(1, 2)).put(1, link(1, "end", 3))
}
