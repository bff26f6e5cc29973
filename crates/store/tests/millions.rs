//! Two million random operations on a store and on maps: puts, deletes, loads, seals, merges, reopenings,
//! look-ups by each index, ranges in both directions.

use crate::support::{directory, options, shared};
use disk::Disk;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use store::{
    Column, Index, IndexKind, Kind, Limits, MergeOptions, OwnedValue, PRIMARY, RowId, Rows, Schema, Snapshot,
    Table, Transaction, Value, Writer, merge, merge_all, verify,
};
use testkit::{Random, SimDisk};

/// Operations. Each row that is put, loaded or deleted counts as one; so does each look-up and each range of
/// any length.
const OPERATIONS: u64 = 2_000_000;
/// Distinct primary keys.
const NUMBERS: u64 = 20_000;
/// Distinct values in the other keys.
const GROUPS: u64 = 200;
const NAMES: u64 = 300;
const SIZES: u64 = 4000;
/// Look-ups and ranges after each change.
const ASKED: u64 = 700;
/// Limits small enough for many seals, and large enough for long replays.
const JOURNAL_ROWS: u32 = 3000;
const SEGMENT_ROWS: u32 = 6000;

const BY_ID: &str = "by_id";
const BY_GROUP: &str = "by_group";
const BY_SIZE: &str = "by_size";

/// A row without its primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    id: [u8; 32],
    group: u16,
    name: Vec<u8>,
    size: i64,
    /// Differs from every earlier version of this row.
    version: u32,
}

/// The rows. For each index, its keys in order, each with the number of its row.
#[derive(Default)]
struct Twin {
    items: BTreeMap<u32, Item>,
    by_id: BTreeMap<[u8; 32], u32>,
    by_group: BTreeSet<(u16, Vec<u8>, u32)>,
    by_size: BTreeSet<(i64, u32)>,
}

impl Twin {
    fn delete(&mut self, number: u32) {
        if let Some(item) = self.items.remove(&number) {
            self.by_id.remove(&item.id);
            self.by_group.remove(&(item.group, item.name, number));
            self.by_size.remove(&(item.size, number));
        }
    }

    fn put(&mut self, number: u32, item: Item) {
        self.delete(number);
        self.by_id.insert(item.id, number);
        self.by_group.insert((item.group, item.name.clone(), number));
        self.by_size.insert((item.size, number));
        self.items.insert(number, item);
    }
}

/// What the run covered. A run that covers too little fails the test.
#[derive(Debug, Default)]
struct Seen {
    operations: u64,
    found: u64,
    not_found: u64,
    range_rows: u64,
    sealed: u64,
    merges: u64,
    replayed_rows: u64,
    segments_max: usize,
    dead_rows_max: u64,
    journal_rows_max: u32,
}

fn schema() -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, kind, unique, columns: &[u16]| Index {
        name: name.into(),
        kind,
        unique,
        columns: columns.to_vec(),
    };
    Arc::new(Schema {
        name: "items".into(),
        columns: vec![
            column("number", Kind::U32),
            column("id", Kind::Id),
            column("group", Kind::U16),
            column("name", Kind::Bytes),
            column("size", Kind::I64),
            column("version", Kind::U32),
        ],
        primary: vec![0],
        indexes: vec![
            index(BY_ID, IndexKind::Hash, true, &[1]),
            index(BY_GROUP, IndexKind::Ordered, false, &[2, 3]),
            index(BY_SIZE, IndexKind::Ordered, false, &[4]),
        ],
    })
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap()
}

/// Names of many lengths. Some of them differ only after the bytes that a hint holds.
fn name_of(number: u64) -> Vec<u8> {
    match number % 3 {
        0 => format!("a name that is long {number:03}").into_bytes(),
        1 => number.to_be_bytes()[6..].to_vec(),
        _ => vec![b'x'; usize::try_from(number).unwrap() / 9],
    }
}

struct Run {
    disk: Arc<dyn Disk>,
    writer: Option<Writer>,
    schema: Arc<Schema>,
    random: Random,
    twin: Twin,
    version: u32,
    seen: Seen,
}

impl Run {
    fn writer(&mut self) -> &mut Writer {
        let disk = &self.disk;
        self.writer.get_or_insert_with(|| {
            let mut options = options(JOURNAL_ROWS);
            options.limits = Limits { rows_per_segment: SEGMENT_ROWS, ..options.limits };
            Writer::open(disk, directory(), options).unwrap()
        })
    }

    fn item(&mut self) -> Item {
        self.version += 1;
        let mut id = [0; 32];
        id.chunks_mut(8).for_each(|part| part.copy_from_slice(&self.random.next_u64().to_be_bytes()));
        Item {
            id,
            group: u16::try_from(self.random.below(GROUPS)).unwrap(),
            name: name_of(self.random.below(NAMES)),
            size: i64::try_from(self.random.below(SIZES)).unwrap() - 2000,
            version: self.version,
        }
    }

    /// Makes a transaction of `count` changes, and applies them to the twin.
    fn transaction(&mut self, count: u64, deletes_per_mille: u64) -> Transaction {
        let mut transaction = Transaction::new();
        let mut rows = Rows::new(&self.schema);
        let mut touched = BTreeSet::new();
        for _ in 0..count {
            let number = narrow(self.random.below(NUMBERS));
            self.seen.operations += 1;
            if self.random.per_mille(deletes_per_mille) {
                // Deletes of a transaction apply before its puts.
                if touched.insert(number) {
                    transaction.delete(&self.schema.name, &[Value::U32(number)]);
                    self.twin.delete(number);
                }
                continue;
            }
            touched.insert(number);
            let item = self.item();
            let Item { id, group, name, size, version } = &item;
            rows.push(&[
                Value::U32(number),
                Value::Id(id),
                Value::U16(*group),
                Value::Bytes(name),
                Value::I64(*size),
                Value::U32(*version),
            ])
            .unwrap();
            self.twin.put(number, item);
        }
        transaction.put(rows);
        transaction
    }

    /// Makes one random change.
    fn change(&mut self) {
        let merge_options = MergeOptions { seed: 3, ..MergeOptions::default() };
        match self.random.below(100) {
            0..72 => {
                let count = 1 + self.random.below(200);
                let transaction = self.transaction(count, 300);
                self.writer().commit(transaction).unwrap();
            }
            72..78 => {
                let group: Vec<Transaction> = (0..5).map(|_| self.transaction(30, 500)).collect();
                self.writer().commit_group(&group).unwrap();
            }
            78..83 => {
                let transaction = self.transaction(1500, 100);
                self.writer().load_transaction(transaction).unwrap();
            }
            83..89 => drop(self.writer().flush().unwrap()),
            89..94 => {
                self.writer = None;
                let merged = merge(&self.disk, directory(), &merge_options).unwrap();
                self.seen.merges += u64::from(merged.is_some());
            }
            94 => {
                self.writer = None;
                while merge_all(&self.disk, directory(), &merge_options).unwrap().is_some() {
                    self.seen.merges += 1;
                }
            }
            _ => {
                self.writer = None;
                let snapshot = self.writer().snapshot().unwrap();
                let table = snapshot.table(&self.schema.name).unwrap();
                self.seen.replayed_rows += u64::from(table.parts().last().unwrap().row_count());
            }
        }
    }

    /// Updates the statistics, and returns the table as its readers see it.
    fn table(&mut self) -> Table {
        let name = self.schema.name.clone();
        let snapshot = match self.random.below(4) {
            0 => Snapshot::open(&self.disk, directory()).unwrap(),
            _ => self.writer().snapshot().unwrap(),
        };
        let table = snapshot.table(&name).unwrap();
        let (memtable, segments) = table.parts().split_last().unwrap();
        let seen = &mut self.seen;
        seen.segments_max = seen.segments_max.max(segments.len());
        seen.journal_rows_max = seen.journal_rows_max.max(memtable.row_count());
        let dead = table.parts().iter().map(|part| u64::from(part.dead_count())).sum();
        seen.dead_rows_max = seen.dead_rows_max.max(dead);
        seen.sealed = seen.sealed.max(segments.iter().map(|part| u64::from(part.row_count())).sum());
        assert_eq!(table.row_count(), self.twin.items.len() as u64);
        table
    }

    /// Runs one random query on one of the indexes.
    fn ask(&mut self, table: &Table) {
        self.seen.operations += 1;
        match self.random.below(100) {
            0..35 => self.get_by_number(table),
            35..55 => self.get_by_id(table),
            55..70 => self.find_by_group(table),
            70..80 => self.find_by_size(table),
            80..87 => self.range_of_numbers(table),
            87..94 => self.range_of_groups(table),
            _ => self.range_of_sizes(table),
        }
    }

    fn count(&mut self, found: usize) {
        let counter = if found > 0 { &mut self.seen.found } else { &mut self.seen.not_found };
        *counter += 1;
    }

    fn get_by_number(&mut self, table: &Table) {
        let number = narrow(self.random.below(NUMBERS));
        let found = table.get(PRIMARY, &[Value::U32(number)]).unwrap();
        let found = found.map(|row| item_at(table, row));
        assert_eq!(found.as_ref(), self.twin.items.get(&number), "{number}");
        self.count(usize::from(found.is_some()));
    }

    fn get_by_id(&mut self, table: &Table) {
        let from = narrow(self.random.below(NUMBERS));
        let known = self.twin.items.range(from..).next().map(|(_, item)| item.id);
        // A key with one flipped bit is another key.
        let mut id = known.unwrap_or([7; 32]);
        id[31] ^= u8::from(self.random.per_mille(300));
        let found = table.get(BY_ID, &[Value::Id(&id)]).unwrap().map(|row| number_at(table, row));
        assert_eq!(found, self.twin.by_id.get(&id).copied());
        self.count(usize::from(found.is_some()));
    }

    fn find_by_group(&mut self, table: &Table) {
        let from = narrow(self.random.below(NUMBERS));
        let known = self.twin.items.range(from..).next().map(|(_, item)| (item.group, item.name.clone()));
        let (group, mut name) = known.unwrap_or_default();
        if self.random.per_mille(300) {
            name = name_of(self.random.below(NAMES));
        }
        let ids = table.find(BY_GROUP, &[Value::U16(group), Value::Bytes(&name)]).unwrap();
        let mut found: Vec<u32> = ids.into_iter().map(|row| number_at(table, row)).collect();
        found.sort_unstable();
        let wanted = self.twin.by_group.range((group, name.clone(), 0)..=(group, name, u32::MAX));
        assert!(wanted.map(|(_, _, number)| *number).eq(found.iter().copied()));
        self.count(found.len());
    }

    fn find_by_size(&mut self, table: &Table) {
        let size = i64::try_from(self.random.below(SIZES)).unwrap() - 2000;
        let ids = table.find(BY_SIZE, &[Value::I64(size)]).unwrap();
        let mut found: Vec<u32> = ids.into_iter().map(|row| number_at(table, row)).collect();
        found.sort_unstable();
        let wanted = self.twin.by_size.range((size, 0)..=(size, u32::MAX));
        assert!(wanted.map(|(_, number)| *number).eq(found.iter().copied()), "{size}");
        self.count(found.len());
    }

    /// Reads a range forwards or backwards, and returns `key` of each row in ascending order.
    fn range<K: Ord>(
        &mut self,
        (table, index): (&Table, &str),
        from: Bound<&[Value]>,
        to: Bound<&[Value]>,
        key: impl Fn(RowId) -> K,
    ) -> Vec<K> {
        let mut rows = table.range(index, from, to).unwrap();
        let mut found: Vec<K> = match self.random.below(3) {
            0 => rows.map(|row| key(row.unwrap())).collect(),
            1 => {
                let mut found: Vec<K> = rows.rev().map(|row| key(row.unwrap())).collect();
                found.reverse();
                found
            }
            _ => {
                // Alternates between both ends.
                let (mut front, mut back) = (Vec::new(), Vec::new());
                while let Some(row) = rows.next() {
                    front.push(key(row.unwrap()));
                    back.extend(rows.next_back().map(|row| key(row.unwrap())));
                }
                front.extend(back.into_iter().rev());
                front
            }
        };
        self.seen.range_rows += found.len() as u64;
        // The order of rows with equal keys is undefined.
        found.sort();
        found
    }

    /// Returns a range between two keys, with or without each of them.
    fn ends<'a>(&mut self, low: &'a [Value<'a>], high: &'a [Value<'a>]) -> Ends<'a> {
        let mut end =
            |key| if self.random.per_mille(500) { Bound::Included(key) } else { Bound::Excluded(key) };
        (end(low), end(high))
    }

    fn range_of_numbers(&mut self, table: &Table) {
        let low = narrow(self.random.below(NUMBERS));
        let high = low + narrow(self.random.below(40));
        let (low_key, high_key) = ([Value::U32(low)], [Value::U32(high)]);
        let (from, to) = self.ends(&low_key, &high_key);
        let found =
            self.range((table, PRIMARY), from, to, |row| (number_at(table, row), version_at(table, row)));
        let within = self.twin.items.range(low..=high).map(|(number, item)| (*number, item.version));
        let wanted = within.filter(|(number, _)| is_within(&(low, high), number, from, to));
        assert!(wanted.eq(found), "from {from:?} to {to:?}");
    }

    fn range_of_groups(&mut self, table: &Table) {
        let group = u16::try_from(self.random.below(GROUPS)).unwrap();
        let mut names = [name_of(self.random.below(NAMES)), name_of(self.random.below(NAMES))];
        names.sort();
        let [low, high] = &names;
        let low_key = [Value::U16(group), Value::Bytes(low)];
        let high_key = [Value::U16(group), Value::Bytes(high)];
        let (from, to) = self.ends(&low_key, &high_key);
        let name_at = |row| match table.value(3, row).unwrap() {
            Value::Bytes(name) => name.to_vec(),
            other => panic!("{other:?}"),
        };
        let found = self.range((table, BY_GROUP), from, to, |row| (name_at(row), number_at(table, row)));
        let of_group = self.twin.by_group.range((group, low.clone(), 0)..=(group, high.clone(), u32::MAX));
        let wanted = of_group.filter(|(_, name, _)| is_within(&(low, high), &name, from, to));
        assert!(wanted.map(|(_, name, number)| (name.clone(), *number)).eq(found), "from {from:?} to {to:?}");
        // The first value alone stands for all keys that begin with it.
        if self.random.per_mille(100) {
            let prefix = [Value::U16(group)];
            let (from, to) = (Bound::Included(&prefix[..]), Bound::Included(&prefix[..]));
            let found = self.range((table, BY_GROUP), from, to, |row| (name_at(row), number_at(table, row)));
            let wanted = self.twin.by_group.range((group, Vec::new(), 0)..(group + 1, Vec::new(), 0));
            assert!(wanted.map(|(_, name, number)| (name.clone(), *number)).eq(found), "group {group}");
        }
    }

    fn range_of_sizes(&mut self, table: &Table) {
        let low = i64::try_from(self.random.below(SIZES)).unwrap() - 2000;
        let high = low + i64::try_from(self.random.below(8)).unwrap();
        let (low_key, high_key) = ([Value::I64(low)], [Value::I64(high)]);
        let (from, to) = self.ends(&low_key, &high_key);
        let size_at = |row| match table.value(4, row).unwrap() {
            Value::I64(size) => size,
            other => panic!("{other:?}"),
        };
        let found = self.range((table, BY_SIZE), from, to, |row| (size_at(row), number_at(table, row)));
        let wanted = self.twin.by_size.range((low, 0)..=(high, u32::MAX)).copied();
        assert!(
            wanted.filter(|(size, _)| is_within(&(low, high), size, from, to)).eq(found),
            "{from:?} {to:?}"
        );
    }

    /// Compares all rows and indexes.
    fn check_all(&self, table: &Table) {
        let all = |index| table.range(index, Bound::Unbounded, Bound::Unbounded).unwrap();
        let numbers =
            all(PRIMARY).map(|row| row.unwrap()).map(|row| (number_at(table, row), item_at(table, row)));
        assert!(numbers.eq(self.twin.items.iter().map(|(number, item)| (*number, item.clone()))));
        for index in [BY_GROUP, BY_SIZE] {
            let mut backwards: Vec<u32> =
                all(index).rev().map(|row| number_at(table, row.unwrap())).collect();
            backwards.sort_unstable();
            assert!(backwards.iter().eq(self.twin.items.keys()), "{index}");
        }
    }
}

type Ends<'a> = (Bound<&'a [Value<'a>]>, Bound<&'a [Value<'a>]>);

/// Returns whether `value` is within the range.
fn is_within<T: PartialOrd>(
    (low, high): &(T, T),
    value: &T,
    from: Bound<&[Value]>,
    to: Bound<&[Value]>,
) -> bool {
    let is_behind = if matches!(from, Bound::Excluded(_)) { value > low } else { value >= low };
    is_behind && if matches!(to, Bound::Excluded(_)) { value < high } else { value <= high }
}

fn number_at(table: &Table, row: RowId) -> u32 {
    u32_at(table, 0, row)
}

fn version_at(table: &Table, row: RowId) -> u32 {
    u32_at(table, 5, row)
}

fn u32_at(table: &Table, column: usize, row: RowId) -> u32 {
    match table.value(column, row).unwrap() {
        Value::U32(number) => number,
        other => panic!("{other:?}"),
    }
}

fn item_at(table: &Table, row: RowId) -> Item {
    let value = |column| table.value(column, row).unwrap().to_owned();
    match [value(1), value(2), value(3), value(4)] {
        [OwnedValue::Id(id), OwnedValue::U16(group), OwnedValue::Bytes(name), OwnedValue::I64(size)] => {
            Item { id, group, name, size, version: version_at(table, row) }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_million_operations_end_as_on_maps() {
    let disk = shared(&SimDisk::new(1));
    let schema = schema();
    drop(Writer::create(&disk, directory(), &[Schema::clone(&schema)], options(JOURNAL_ROWS)).unwrap());
    let mut run = Run {
        disk,
        writer: None,
        schema,
        random: Random::new(26),
        twin: Twin::default(),
        version: 0,
        seen: Seen::default(),
    };
    for round in 0.. {
        run.change();
        let table = run.table();
        (0..ASKED).for_each(|_| run.ask(&table));
        if round % 200 == 0 {
            run.check_all(&table);
        }
        if run.seen.operations >= OPERATIONS {
            break;
        }
    }
    let table = run.table();
    run.check_all(&table);
    let snapshot = Snapshot::open(&run.disk, directory()).unwrap();
    assert_eq!(verify(&snapshot), []);
    let seen = &run.seen;
    assert!(seen.found > 500_000 && seen.not_found > 200_000 && seen.range_rows > 2_000_000, "{seen:?}");
    assert!(seen.merges > 50 && seen.replayed_rows > 20_000 && seen.segments_max > 8, "{seen:?}");
    assert!(seen.sealed > 10_000 && seen.dead_rows_max > 5_000 && seen.journal_rows_max > 1_000, "{seen:?}");
}
