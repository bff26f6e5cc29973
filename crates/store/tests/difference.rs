//! Differences of snapshots, compared with the sets of all rows after random work; and their cost after a
//! merge.

use crate::support::{
    Change, Row, TABLES, Twin, directory, item, key_of, link, options, read_rows, schemas, shared,
};
use crate::twin::{Run, Step, step};
use proptest::prelude::*;
use std::collections::BTreeSet;
use store::{Error, MergeOptions, RowId, Schema, Snapshot, TableDifference, Writer, merge_all};
use testkit::SimDisk;

/// Returns the rows of a table that `snapshot` has and `other` does not.
fn only_in(snapshot: &Twin, other: &Twin, table: usize) -> BTreeSet<Row> {
    let rows = |twin: &Twin| twin.tables[table].values().cloned().collect::<BTreeSet<Row>>();
    &rows(snapshot) - &rows(other)
}

/// Reads rows by their ids. The ids must ascend and be live, and no row may come twice.
fn rows_at(snapshot: &Snapshot, table: usize, ids: &[RowId]) -> BTreeSet<Row> {
    let table = snapshot.table(TABLES[table]).unwrap();
    assert!(ids.is_sorted_by(|id, next| id < next), "{ids:?}");
    assert!(ids.iter().all(|id| !table.part(*id).is_dead(id.row)), "{ids:?}");
    let rows = read_rows(&table, ids.iter().copied().map(Ok)).unwrap();
    let set: BTreeSet<Row> = rows.iter().cloned().collect();
    assert_eq!(set.len(), rows.len());
    set
}

fn check_difference(newer: &(Snapshot, Twin), older: &(Snapshot, Twin)) {
    let difference = newer.0.difference(&older.0).unwrap();
    assert_eq!(difference.tables.len(), TABLES.len());
    for (number, TableDifference { added, removed }) in difference.tables.iter().enumerate() {
        assert_eq!(rows_at(&newer.0, number, added), only_in(&newer.1, &older.1, number), "added");
        assert_eq!(rows_at(&older.0, number, removed), only_in(&older.1, &newer.1, number), "removed");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_difference_equals_that_of_the_sets_of_rows(
        journal_rows in prop::sample::select(vec![0_u32, 10, 40, 4096]),
        steps in prop::collection::vec(step(), 1..16),
    ) {
        let mut run = Run::new(&SimDisk::new(1), journal_rows);
        let mut states = vec![(Snapshot::open(&run.disk, directory()).unwrap(), run.twin.clone())];
        for step in &steps {
            run.step(step);
            let opened = match step {
                Step::Reopen => Snapshot::open(&run.disk, directory()),
                _ => states[states.len() - 1].0.newest(),
            };
            states.push((opened.unwrap(), run.twin.clone()));
        }
        // Both orders: the later snapshot may be the second argument, too.
        for (one, other) in states.iter().flat_map(|one| states.iter().map(move |other| (one, other))) {
            check_difference(one, other);
        }
    }
}

/// Commits `before` and then each of `after`, merges all segments, and repeats the last commit. Compares each
/// state with the first one, and the last state with the one before the merge.
fn compare_around_a_merge(before: &Change, after: &[Change]) {
    let disk = shared(&SimDisk::new(1));
    let mut writer = Writer::create(&disk, directory(), &schemas(), options(4096)).unwrap();
    let mut twin = Twin::default();
    let mut commit = |writer: &mut Writer, change: &Change| {
        writer.commit(change.transaction()).unwrap();
        twin.apply(change);
        (writer.snapshot().unwrap(), twin.clone())
    };
    let first = commit(&mut writer, before);
    let mut newest = first.clone();
    for change in after {
        writer.flush().unwrap();
        newest = commit(&mut writer, change);
        check_difference(&newest, &first);
    }
    writer.flush().unwrap();
    drop(writer);
    while merge_all(&disk, directory(), &MergeOptions::default()).unwrap().is_some() {}
    let merged = (Snapshot::open(&disk, directory()).unwrap(), newest.1.clone());
    check_difference(&merged, &first);
    assert!(merged.0.difference(&newest.0).unwrap().tables.iter().all(TableDifference::is_empty));
    let mut writer = Writer::open(&disk, directory(), options(4096)).unwrap();
    check_difference(&commit(&mut writer, &after[0]), &newest);
}

#[test]
fn what_changed_before_a_merge_is_found_in_the_merged_segment() {
    let mut before = Change::default();
    for number in 0..2000 {
        before = before.put(0, item(number, 1)).put(1, link(u64::from(number / 7), &format!("{number}"), 1));
    }
    let replaced = Change::default().put(0, item(7, 2)).put(1, link(1, "8", 2));
    // Writing the same rows again is no change.
    let same = Change::default().put(0, item(9, 1)).put(1, link(0, "3", 1));
    let gone = Change::default().delete(0, key_of(0, &item(1999, 1))).delete(1, key_of(1, &link(0, "0", 1)));
    let added = Change::default().put(0, item(5000, 1)).put(1, link(0, "3a", 1));
    compare_around_a_merge(&before, &[added, same, gone, replaced]);
}

#[test]
fn snapshots_with_other_tables_have_no_difference() {
    let disk = shared(&SimDisk::new(1));
    let open = |name: &str, schemas: &[Schema]| {
        Writer::create(&disk, &directory().join(name), schemas, options(10)).unwrap().snapshot().unwrap()
    };
    let (one, other) = (open("one", &schemas()), open("other", &schemas()[..1]));
    assert!(matches!(one.difference(&other), Err(Error::Schema { .. })));
    assert!(matches!(other.difference(&one), Err(Error::Schema { .. })));
}

#[test]
fn live_rows_are_those_that_are_not_dead() {
    let disk = shared(&SimDisk::new(1));
    let mut writer = Writer::create(&disk, directory(), &schemas(), options(4096)).unwrap();
    let mut change = Change::default();
    for number in 0..10 {
        change = change.put(0, item(number, 1));
    }
    writer.commit(change.transaction()).unwrap();
    writer.flush().unwrap();
    for dead in [&[][..], &[0, 4, 9]] {
        let mut change = Change::default();
        for number in dead {
            change = change.delete(0, key_of(0, &item(*number, 1)));
        }
        writer.commit(change.transaction()).unwrap();
        let table = writer.snapshot().unwrap().table(TABLES[0]).unwrap();
        let part = &table.parts()[0];
        let live: Vec<u32> = (0..10).filter(|row| !dead.contains(row)).collect();
        assert_eq!(part.live_rows().collect::<Vec<_>>(), live);
        let numbers = part.u32s(0, 0..part.row_count()).unwrap();
        let groups = part.u16s(2, 0..part.row_count()).unwrap();
        let found: Vec<_> = part.live_values(numbers.iter().zip(groups.iter())).collect();
        assert_eq!(found, live.iter().map(|row| (*row, (row, &1))).collect::<Vec<_>>());
    }
}

#[test]
fn live_numbers_are_ranges_between_gaps_and_their_rows_are_found() {
    let disk = shared(&SimDisk::new(1));
    let mut writer = Writer::create(&disk, directory(), &schemas(), options(4096)).unwrap();
    // More rows than are read one by one, with gaps in both halves.
    let is_gap = |number: u32| matches!(number, 7 | 100..200 | 2_999);
    let numbers = || (0..3_000).filter(|number| !is_gap(*number));
    let change = numbers().fold(Change::default(), |change, number| change.put(0, item(number, 1)));
    writer.commit(change.transaction()).unwrap();
    writer.flush().unwrap();
    writer.commit(Change::default().delete(0, key_of(0, &item(2_500, 1))).transaction()).unwrap();
    let table = writer.snapshot().unwrap().table(TABLES[0]).unwrap();
    let mut ranges = Vec::new();
    table.parts()[0].live_numbers(|range| ranges.push(range)).unwrap();
    assert!(ranges.len() < 2_000, "few rows are read one by one: {}", ranges.len());
    let found: Vec<u32> = ranges.into_iter().flatten().collect();
    assert_eq!(found, numbers().filter(|number| *number != 2_500).collect::<Vec<_>>());
    let part = &table.parts()[0];
    let every_third: Vec<u32> = (0..1_100).map(|number| 3 * number).collect();
    for wanted in [&every_third[..], &[7], &[8], &[1_500, 2_499, 2_500, 2_501, 2_999, 3_000], &[]] {
        let mut rows = Vec::new();
        part.find_numbers(wanted, |number, row| rows.push((number, row))).unwrap();
        let there = numbers().zip(0..).filter(|(number, _)| *number != 2_500 && wanted.contains(number));
        assert_eq!(rows, there.collect::<Vec<(u32, u32)>>());
    }
}
