//! Shared by the tests of the store: two tables, a twin made of maps, and comparisons with it.

use disk::{Disk, File, Lock, Map, Wait};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{
    Codec, Column, Index, IndexKind, Kind, Limits, Options, OwnedValue, PRIMARY, PayloadReader, Result,
    RowId, Rows, Schema, Snapshot, Table, Transaction, Value,
};
use testkit::SimDisk;

pub(crate) type Row = Vec<OwnedValue>;
pub(crate) type Key = Vec<OwnedValue>;

/// Where the store is on simulated disks.
pub(crate) const DIRECTORY: &str = "/data/store";
/// The tables' names, by their number.
pub(crate) const TABLES: [&str; 2] = ["items", "links"];
pub(crate) const BY_ID: &str = "by_id";
pub(crate) const BY_GROUP: &str = "by_group";
pub(crate) const BY_SIZE: &str = "by_size";
pub(crate) const BY_RIGHT: &str = "by_right";

/// A change, as the twin describes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// Each with the number of its table.
    pub(crate) puts: Vec<(usize, Row)>,
    pub(crate) deletes: Vec<(usize, Key)>,
    pub(crate) attachments: Vec<(String, Vec<u8>)>,
}

/// The store as maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Twin {
    pub(crate) tables: [BTreeMap<Key, Row>; 2],
    pub(crate) attachments: BTreeMap<String, Vec<u8>>,
}

pub(crate) fn directory() -> &'static Path {
    Path::new(DIRECTORY)
}

pub(crate) fn schemas() -> Vec<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, kind, unique, columns: &[u16]| Index {
        name: name.into(),
        kind,
        unique,
        columns: columns.to_vec(),
    };
    let items = Schema {
        name: TABLES[0].into(),
        columns: vec![
            column("number", Kind::U32),
            column("id", Kind::Id),
            column("group", Kind::U16),
            column("name", Kind::Bytes),
            column("size", Kind::I64),
            column("text", Kind::Payload(Codec::Zstd { level: 1, block_bytes: 512 })),
        ],
        primary: vec![0],
        indexes: vec![
            index(BY_ID, IndexKind::Hash, true, &[1]),
            index(BY_GROUP, IndexKind::Ordered, false, &[2, 3]),
            index(BY_SIZE, IndexKind::Ordered, false, &[4]),
        ],
    };
    let links = Schema {
        name: TABLES[1].into(),
        columns: vec![column("left", Kind::U64), column("right", Kind::Bytes), column("weight", Kind::U8)],
        primary: vec![0, 1],
        indexes: vec![index(BY_RIGHT, IndexKind::Hash, false, &[1])],
    };
    vec![items, links]
}

/// Returns an item. Equal numbers give equal keys; `version` changes everything else.
pub(crate) fn item(number: u32, version: u32) -> Row {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    id[28..].copy_from_slice(&version.to_be_bytes());
    let text = format!("text of {number} in version {version}, {}", "again and ".repeat(number as usize % 7));
    vec![
        OwnedValue::U32(number),
        OwnedValue::Id(id),
        OwnedValue::U16((version % 3) as u16),
        OwnedValue::Bytes(format!("name {}", number % 5).into_bytes()),
        OwnedValue::I64(i64::from(version) - 2),
        OwnedValue::Bytes(text.into_bytes()),
    ]
}

/// Returns a link. Equal ends give equal keys.
pub(crate) fn link(left: u64, right: &str, weight: u8) -> Row {
    vec![OwnedValue::U64(left), OwnedValue::Bytes(right.into()), OwnedValue::U8(weight)]
}

pub(crate) fn values(row: &[OwnedValue]) -> Vec<Value<'_>> {
    row.iter().map(OwnedValue::as_value).collect()
}

pub(crate) fn rows_of(table: usize, list: &[Row]) -> Rows {
    let mut rows = Rows::new(&Arc::new(schemas()[table].clone()));
    for row in list {
        rows.push(&values(row)).unwrap();
    }
    rows
}

/// Returns the primary key of a row.
pub(crate) fn key_of(table: usize, row: &Row) -> Key {
    columns_of(row, &schemas()[table].primary)
}

pub(crate) fn columns_of(row: &Row, columns: &[u16]) -> Key {
    columns.iter().map(|&column| row[usize::from(column)].clone()).collect()
}

impl Change {
    pub(crate) fn put(mut self, table: usize, row: Row) -> Change {
        self.puts.push((table, row));
        self
    }

    pub(crate) fn delete(mut self, table: usize, key: Key) -> Change {
        self.deletes.push((table, key));
        self
    }

    pub(crate) fn attach(mut self, name: &str, bytes: &[u8]) -> Change {
        self.attachments.push((name.to_owned(), bytes.to_vec()));
        self
    }

    /// Returns the transaction: one batch for each run of rows of the same table.
    pub(crate) fn transaction(&self) -> Transaction {
        let mut transaction = Transaction::new();
        for run in self.puts.chunk_by(|(left, _), (right, _)| left == right) {
            let list: Vec<Row> = run.iter().map(|(_, row)| row.clone()).collect();
            transaction.put(rows_of(run[0].0, &list));
        }
        for (table, key) in &self.deletes {
            transaction.delete(TABLES[*table], &values(key));
        }
        for (name, bytes) in &self.attachments {
            transaction.attach(name, bytes.clone());
        }
        transaction
    }
}

impl Twin {
    pub(crate) fn apply(&mut self, change: &Change) {
        for (table, key) in &change.deletes {
            self.tables[*table].remove(key);
        }
        for (table, row) in &change.puts {
            self.tables[*table].insert(key_of(*table, row), row.clone());
        }
        for (name, bytes) in &change.attachments {
            self.attachments.insert(name.clone(), bytes.clone());
        }
    }

    pub(crate) fn after(&self, change: &Change) -> Twin {
        let mut twin = self.clone();
        twin.apply(change);
        twin
    }
}

pub(crate) fn shared(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// Options with a journal limit of `journal_rows`.
pub(crate) fn options(journal_rows: u32) -> Options {
    let limits = Limits { journal_rows, ..Limits::default() };
    Options { holder: "test".into(), wait: Wait::Refuse, seed: 7, limits, ..Options::default() }
}

fn row_at(table: &Table, row: RowId, reader: &mut PayloadReader) -> Result<Row> {
    let part = table.part(row);
    let columns = table.schema().columns.iter().enumerate();
    columns
        .map(|(number, column)| {
            Ok(match column.kind {
                Kind::Payload(_) => OwnedValue::Bytes(part.payload(number, row.row, reader)?.to_vec()),
                _ => part.value(number, row.row)?.to_owned(),
            })
        })
        .collect()
}

pub(crate) fn read_rows(table: &Table, ids: impl Iterator<Item = Result<RowId>>) -> Result<Vec<Row>> {
    let mut reader = PayloadReader::new();
    ids.map(|id| row_at(table, id?, &mut reader)).collect()
}

/// Reads all rows of a snapshot by primary key, and the attachments with these names.
pub(crate) fn read_all(snapshot: &Snapshot, attachments: &[&str]) -> Result<Twin> {
    let mut twin = Twin::default();
    for (number, name) in TABLES.iter().enumerate() {
        let table = snapshot.table(name)?;
        for row in read_rows(&table, table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)?)? {
            let replaced = twin.tables[number].insert(key_of(number, &row), row);
            assert_eq!(replaced, None, "a primary key comes once");
        }
    }
    for &name in attachments {
        twin.attachments.extend(snapshot.attachment(name).map(|bytes| (name.to_owned(), bytes.to_vec())));
    }
    Ok(twin)
}

/// Runs every kind of query on a snapshot, and compares the answers with the twin.
///
/// # Errors
/// Damage. A wrong answer panics.
pub(crate) fn check(snapshot: &Snapshot, twin: &Twin) -> Result<()> {
    for (name, bytes) in &twin.attachments {
        assert_eq!(snapshot.attachment(name), Some(bytes.as_slice()), "attachment {name}");
    }
    for (number, schema) in schemas().iter().enumerate() {
        let table = snapshot.table(&schema.name)?;
        let rows: Vec<&Row> = twin.tables[number].values().collect();
        assert_eq!(table.row_count(), rows.len() as u64, "rows of {}", schema.name);
        check_order(&table, PRIMARY, &schema.primary, &rows)?;
        for row in &rows {
            let key = key_of(number, row);
            let found = table.get(PRIMARY, &values(&key))?.expect("each row is found by its key");
            assert_eq!(&&row_at(&table, found, &mut PayloadReader::new())?, row);
        }
        for index in &schema.indexes {
            if index.kind == IndexKind::Ordered {
                check_order(&table, &index.name, &index.columns, &rows)?;
            }
            check_find(&table, index, &rows)?;
        }
        check_primary_prefixes(&table, &schema.primary, &rows)?;
        check_numbers(&table, &schema.primary, &rows)?;
    }
    Ok(())
}

/// Compares the numbers that are the keys of live rows, if the keys are numbers.
fn check_numbers(table: &Table, primary: &[u16], rows: &[&Row]) -> Result<()> {
    let mut numbers = Vec::new();
    let mut all = table.parts().iter().map(|part| part.live_numbers(|range| numbers.extend(range)));
    if primary != [0] {
        assert!(all.all(|result| matches!(result, Err(store::Error::Schema { .. }))));
        return Ok(());
    }
    all.collect::<Result<()>>()?;
    numbers.sort_unstable();
    let expected = rows.iter().map(|row| match row[0] {
        OwnedValue::U32(number) => number,
        _ => unreachable!("the key of an item is a number"),
    });
    let expected: Vec<u32> = expected.collect();
    assert_eq!(numbers, expected);
    // Some numbers that are keys, and some that are not.
    let mut wanted: Vec<u32> = expected.iter().flat_map(|number| [*number, number ^ 1]).collect();
    wanted.sort_unstable();
    wanted.dedup();
    for wanted in wanted.chunks(wanted.len().div_ceil(2).max(1)) {
        let mut found = Vec::new();
        for part in table.parts() {
            let mut visit =
                |number, row| found.push((number, part.u32_at(0, row).unwrap(), part.is_dead(row)));
            part.find_numbers(wanted, &mut visit)?;
        }
        found.sort_unstable();
        let known = wanted.iter().filter(|number| expected.binary_search(number).is_ok());
        assert_eq!(found, known.map(|number| (*number, *number, false)).collect::<Vec<_>>());
    }
    Ok(())
}

/// Compares complete and partial walks in the order of some columns.
fn check_order(table: &Table, index: &str, columns: &[u16], rows: &[&Row]) -> Result<()> {
    let mut expected: Vec<&Row> = rows.to_vec();
    // The sort is stable: rows with equal values stay in order of primary key.
    expected.sort_by_key(|row| columns_of(row, columns));
    let all = || table.range(index, Bound::Unbounded, Bound::Unbounded);
    assert_eq!(read_rows(table, all()?)?.iter().collect::<Vec<_>>(), expected, "{index}, forwards");
    let mut backwards = read_rows(table, all()?.rev())?;
    backwards.reverse();
    assert_eq!(backwards.iter().collect::<Vec<_>>(), expected, "{index}, backwards");
    let (mut ids, mut front, mut back) = (all()?, Vec::new(), Vec::new());
    // Alternates unevenly between both ends. They must meet, and neither may return a row of the other.
    for turn in 0.. {
        let (id, side) = if turn % 3 == 0 { (ids.next_back(), &mut back) } else { (ids.next(), &mut front) };
        let Some(id) = id else { break };
        side.push(row_at(table, id?, &mut PayloadReader::new())?);
    }
    front.extend(back.into_iter().rev());
    assert_eq!(front.iter().collect::<Vec<_>>(), expected, "{index}, from both ends");
    check_ranges(table, index, columns, &expected)
}

/// Compares ranges between existing keys and their prefixes.
fn check_ranges(table: &Table, index: &str, columns: &[u16], expected: &[&Row]) -> Result<()> {
    let picks = [0, expected.len() / 3, expected.len() / 2, expected.len().saturating_sub(1)];
    for (&low, &high) in picks.iter().zip(picks.iter().skip(1).chain(&picks[..1])) {
        let (Some(low), Some(high)) = (expected.get(low), expected.get(high)) else { continue };
        for (low_length, high_length) in
            [(columns.len(), columns.len()), (1, columns.len()), (columns.len(), 1)]
        {
            let low = columns_of(low, &columns[..low_length]);
            let high = columns_of(high, &columns[..high_length]);
            let prefix = |row: &Row, end: &Key| columns_of(row, &columns[..end.len()]);
            let (low_values, high_values) = (values(&low), values(&high));
            let closed = table.range(index, Bound::Included(&low_values), Bound::Included(&high_values))?;
            let wanted = expected.iter().filter(|row| prefix(row, &low) >= low && prefix(row, &high) <= high);
            assert_eq!(
                read_rows(table, closed)?.iter().collect::<Vec<_>>(),
                wanted.copied().collect::<Vec<_>>(),
                "{index} from {low:?} to {high:?}"
            );
            let open = table.range(index, Bound::Excluded(&low_values), Bound::Excluded(&high_values))?;
            let wanted = expected.iter().filter(|row| prefix(row, &low) > low && prefix(row, &high) < high);
            assert_eq!(
                read_rows(table, open.rev())?.iter().rev().collect::<Vec<_>>(),
                wanted.copied().collect::<Vec<_>>(),
                "{index} between {low:?} and {high:?}"
            );
        }
    }
    Ok(())
}

fn check_find(table: &Table, index: &Index, rows: &[&Row]) -> Result<()> {
    for row in rows {
        let key = columns_of(row, &index.columns);
        let ids = table.find(&index.name, &values(&key))?;
        let mut found = read_rows(table, ids.into_iter().map(Ok))?;
        found.sort_unstable();
        let mut expected: Vec<&Row> =
            rows.iter().filter(|row| columns_of(row, &index.columns) == key).copied().collect();
        expected.sort_unstable();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{} of {key:?}", index.name);
        assert!(table.get(&index.name, &values(&key))?.is_some());
    }
    let absent: Key = index
        .columns
        .iter()
        .map(|&column| match table.schema().columns[usize::from(column)].kind {
            Kind::Id => OwnedValue::Id([0xee; 32]),
            Kind::U16 => OwnedValue::U16(9999),
            Kind::I64 => OwnedValue::I64(i64::MIN),
            _ => OwnedValue::Bytes(b"absent".to_vec()),
        })
        .collect();
    assert_eq!(table.get(&index.name, &values(&absent))?, None);
    Ok(())
}

fn check_primary_prefixes(table: &Table, primary: &[u16], rows: &[&Row]) -> Result<()> {
    for row in rows {
        let prefix = columns_of(row, &primary[..1]);
        let (mut count, mut reader) = (0, PayloadReader::new());
        for (number, part) in (0..).zip(table.parts()) {
            for row in part.primary_range(&values(&prefix))? {
                let row = row_at(table, RowId { part: number, row }, &mut reader)?;
                assert_eq!(columns_of(&row, &primary[..1]), prefix);
                count += 1;
            }
        }
        let expected = rows.iter().filter(|row| columns_of(row, &primary[..1]) == prefix).count();
        assert_eq!(count, expected, "rows that begin with {prefix:?}");
    }
    Ok(())
}

/// Changes the bytes of a file that was read.
type AfterRead = dyn Fn(&Path, Vec<u8>) -> Vec<u8> + Send + Sync;

/// A simulated disk that can change what a reader sees.
pub(crate) struct Meddled {
    pub(crate) disk: SimDisk,
    pub(crate) before_map: Box<dyn Fn() + Send + Sync>,
    pub(crate) after_read: Box<AfterRead>,
    pub(crate) before_lock: Box<dyn Fn(&Path) + Send + Sync>,
}

impl Meddled {
    pub(crate) fn new(disk: &SimDisk) -> Meddled {
        Meddled {
            disk: disk.clone(),
            before_map: Box::new(|| ()),
            after_read: Box::new(|_, bytes| bytes),
            before_lock: Box::new(|_| ()),
        }
    }
}

impl fmt::Debug for Meddled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disk.fmt(formatter)
    }
}

impl Disk for Meddled {
    fn map(&self, path: &Path) -> disk::Result<Map> {
        (self.before_map)();
        self.disk.map(path)
    }

    fn read(&self, path: &Path) -> disk::Result<Vec<u8>> {
        Ok((self.after_read)(path, self.disk.read(path)?))
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> disk::Result<Vec<u8>> {
        self.disk.read_range(path, offset, length_bytes)
    }

    fn size(&self, path: &Path) -> disk::Result<u64> {
        self.disk.size(path)
    }

    fn list(&self, directory: &Path) -> disk::Result<Vec<OsString>> {
        self.disk.list(directory)
    }

    fn create(&self, path: &Path) -> disk::Result<Box<dyn File>> {
        self.disk.create(path)
    }

    fn append(&self, path: &Path, length_bytes: u64) -> disk::Result<Box<dyn File>> {
        self.disk.append(path, length_bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> disk::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> disk::Result<()> {
        self.disk.remove(path)
    }

    fn create_directory(&self, directory: &Path) -> disk::Result<()> {
        self.disk.create_directory(directory)
    }

    fn sync_file(&self, path: &Path) -> disk::Result<()> {
        self.disk.sync_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> disk::Result<()> {
        self.disk.sync_directory(directory)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> disk::Result<Lock> {
        (self.before_lock)(path);
        self.disk.lock(path, holder, wait)
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> disk::Result<Lock> {
        (self.before_lock)(path);
        self.disk.share_lock(path, wait)
    }
}
