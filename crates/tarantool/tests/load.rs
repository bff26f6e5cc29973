//! Snapshots loaded on all cores, compared with a slow twin that reads row after row; also with damage and
//! unusual rows.
//!
//! Input: snapshots of random rows by our writer. Output: failures. Uses only the public interface.

use crate::support::{Sequence, Watch};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Kind, Options, OwnedValue, PRIMARY, Rows, Snapshot, Value};
use tarantool::msgpack::{
    Reader, put_array_len, put_boolean, put_int, put_map_len, put_nil, put_str, put_uint,
};
use tarantool::space::{SPACE_INDEX, SPACE_SPACE};
use tarantool::table::SpaceTable;
use tarantool::{
    BlockPlace, Body, FileKind, FormatVersion, Header, LogWriter, Mode, OnDamage, PlanOptions, Recovered,
    Row, RowKind, SnapWriter, SnapshotFile, SnapshotRows, Unpacker, VClock, blocks, load_snapshot, plan,
    put_body, read_spaces, recover, rows,
};
use testkit::SimDisk;
use work::Silent;

pub(crate) const DIRECTORY: &str = "/tarantool";
/// A space of plain keys, one with keys of any type, one without keys, and one without a definition.
const PLAIN: u32 = 512;
const ANY: u32 = 513;
const KEYLESS: u32 = 514;
const UNKNOWN: u32 = 600;

pub(crate) fn space(id: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 7);
    put_uint(&mut out, u64::from(id));
    put_uint(&mut out, 1);
    put_str(&mut out, format!("space {id}").as_bytes());
    put_str(&mut out, b"memtx");
    put_uint(&mut out, 0);
    put_map_len(&mut out, 0);
    put_array_len(&mut out, 0);
    out
}

pub(crate) fn index(id: u32, iid: u64, kind: &str, parts: &[(u64, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 6);
    put_uint(&mut out, u64::from(id));
    put_uint(&mut out, iid);
    put_str(&mut out, format!("index {iid}").as_bytes());
    put_str(&mut out, kind.as_bytes());
    put_map_len(&mut out, 1);
    put_str(&mut out, b"unique");
    put_boolean(&mut out, true);
    put_array_len(&mut out, u32::try_from(parts.len()).unwrap());
    for (field, name) in parts {
        put_array_len(&mut out, 2);
        put_uint(&mut out, *field);
        put_str(&mut out, name.as_bytes());
    }
    out
}

/// Returns a tuple that fits any of the spaces: [number, signed number or nil, incompressible text, map].
fn tuple(sequence: &mut Sequence, number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let text: Vec<u8> = (0..sequence.next() % 100).map(|_| sequence.next().to_le_bytes()[0]).collect();
    put_array_len(&mut out, 4);
    put_uint(&mut out, number.wrapping_mul(0x9e37_79b9) % 100_000);
    put_int(&mut out, i64::try_from(sequence.next() % 1000).unwrap() - 500);
    put_str(&mut out, &text);
    put_map_len(&mut out, 1);
    put_str(&mut out, b"k");
    put_nil(&mut out);
    out
}

pub(crate) fn header(kind: FileKind) -> Header {
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: VClock::default(),
        previous: None,
    }
}

/// Writes one row of every kind and many of the usual kind. Returns the file.
fn write(row_count: u64, seed: u64) -> Vec<u8> {
    let disk = written(row_count, seed);
    disk.read(&Path::new(DIRECTORY).join(header(FileKind::Snapshot).file_name())).unwrap()
}

/// Writes such a snapshot to a disk.
pub(crate) fn written(row_count: u64, seed: u64) -> Arc<dyn disk::Disk> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    let mut writer =
        SnapWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Snapshot), 1e9).unwrap();
    for id in [PLAIN, ANY, KEYLESS] {
        writer.insert(SPACE_SPACE, 0, &space(id)).unwrap();
    }
    for index in [
        index(PLAIN, 0, "tree", &[(0, "unsigned")]),
        index(PLAIN, 1, "hash", &[(2, "string")]),
        index(ANY, 0, "tree", &[(1, "integer"), (0, "scalar")]),
    ] {
        writer.insert(SPACE_INDEX, 0, &index).unwrap();
    }
    let empty = Row {
        kind: RowKind::Raft,
        replica: 0,
        lsn: 0,
        timestamp: 0.0,
        group: 0,
        tsn: 0,
        is_commit: true,
        flags: 0,
        body: Body { bytes: &[0x80], ..Body::default() },
    };
    let mut sequence = Sequence(seed);
    for number in 0..row_count {
        let space =
            [PLAIN, PLAIN, ANY, KEYLESS, UNKNOWN][usize::try_from(number * 5 / row_count.max(1)).unwrap()];
        let tuple = tuple(&mut sequence, number);
        match number % 7 {
            5 => writer.insert(space, 1, &tuple).unwrap(),
            6 => {
                // Numbers in their shortest form, and an unknown key.
                let mut bytes = Vec::new();
                put_body(&mut bytes, &Body { space: Some(space), tuple: Some(&tuple), ..Body::default() });
                bytes[0] += 1;
                bytes.extend([0x7f, 0x01]);
                let kind = if number % 2 == 0 { RowKind::Replace } else { RowKind::Insert };
                writer.row(&Row { kind, body: Body { bytes: &bytes, ..Body::default() }, ..empty }).unwrap();
            }
            _ => writer.insert(space, 0, &tuple).unwrap(),
        }
        if number % 1000 == 999 {
            writer.row(&empty).unwrap();
        }
    }
    writer.finish().unwrap();
    disk
}

fn file<'a>(bytes: &'a [u8], blocks: &'a [BlockPlace]) -> SnapshotFile<'a> {
    SnapshotFile { path: Path::new("0.snap"), bytes, blocks }
}

fn places(bytes: &[u8]) -> Vec<BlockPlace> {
    blocks(Path::new("0.snap"), bytes, Header::parse(bytes).unwrap().1).unwrap()
}

fn tables(bytes: &[u8]) -> Vec<SpaceTable> {
    let spaces = read_spaces(file(bytes, &places(bytes)), OnDamage::Refuse).unwrap();
    spaces.ids().map(|id| SpaceTable::new(&spaces.get(id).unwrap().unwrap())).collect()
}

fn load(bytes: &[u8], on_damage: OnDamage) -> tarantool::Result<SnapshotRows> {
    load_snapshot(file(bytes, &places(bytes)), &tables(bytes), on_damage, 2, &Silent)
}

type Table = Vec<Vec<OwnedValue>>;

/// Reads block after block and row after row.
fn load_slowly(bytes: &[u8], left_out: &[usize]) -> (BTreeMap<usize, Table>, u64, u64) {
    let tables = tables(bytes);
    let mut found: BTreeMap<usize, Table> = BTreeMap::new();
    let (mut unknown, mut other) = (0, 0);
    let mut unpacker = Unpacker::default();
    let mut buffer = Vec::new();
    for (number, place) in places(bytes).iter().enumerate() {
        if left_out.contains(&number) {
            continue;
        }
        for row in rows(unpacker.unpack(bytes, place).unwrap()) {
            let row = row.unwrap();
            let (Some(space), Some(tuple)) = (row.body.space, row.body.tuple) else {
                other += 1;
                continue;
            };
            let Some(table) = tables.iter().position(|table| table.id == space) else {
                unknown += 1;
                continue;
            };
            let shape = &tables[table].shape;
            let mut values: Vec<OwnedValue> = Vec::new();
            shape
                .take_keys(&mut Reader::new(tuple), &mut buffer, |_, value: Value| {
                    values.push(value.to_owned());
                })
                .unwrap();
            let so_far = found.entry(table).or_default();
            if shape.arrival_column().is_some() {
                values.push(OwnedValue::U64(so_far.len() as u64));
            }
            values.push(OwnedValue::Bytes(tuple.to_vec()));
            so_far.push(values);
        }
    }
    (found, unknown, other)
}

fn list(batches: &[Rows]) -> Table {
    let of_batch = |rows: &Rows| -> Table {
        let columns = rows.schema().columns.len();
        (0..rows.len())
            .map(|row| (0..columns).map(|column| rows.value(column, row).to_owned()).collect())
            .collect()
    };
    batches.iter().flat_map(of_batch).collect()
}

fn compare(loaded: &SnapshotRows, (found, unknown, other): (BTreeMap<usize, Table>, u64, u64)) {
    assert!(loaded.batches.keys().eq(found.keys()));
    for (table, expected) in found {
        assert!(list(&loaded.batches[&table]) == expected, "table {table} of {} rows", expected.len());
    }
    assert_eq!(loaded.unknown.values().sum::<u64>(), unknown);
    assert_eq!(loaded.other.values().sum::<u64>(), other);
    assert!(loaded.other.keys().all(|&kind| kind == RowKind::Raft.number()));
}

#[test]
fn rows_loaded_on_all_cores_are_those_read_one_by_one() {
    for (row_count, seed) in [(0, 1), (1, 2), (700, 3), (90_000, 4)] {
        let bytes = write(row_count, seed);
        let done = AtomicU64::new(0);
        let places = places(&bytes);
        let progress = Watch(|count| {
            done.fetch_add(count, Ordering::Relaxed);
        });
        let loaded =
            load_snapshot(file(&bytes, &places), &tables(&bytes), OnDamage::Refuse, 2, &progress).unwrap();
        compare(&loaded, load_slowly(&bytes, &[]));
        assert_eq!(loaded.lost, []);
        assert_eq!(done.into_inner(), places.iter().map(|place| place.payload.len() as u64).sum::<u64>());
        assert!(row_count < 90_000 || loaded.batches.values().any(|batches| batches.len() > 1));
    }
}

#[test]
fn spaces_are_read_from_the_beginning_of_the_file() {
    let tables = tables(&write(50, 1));
    let kinds = |id: u32| -> Vec<Kind> {
        let table = tables.iter().find(|table| table.id == id).unwrap();
        table.schema.columns.iter().map(|column| column.kind).collect()
    };
    assert_eq!(kinds(PLAIN), [Kind::U64, Kind::Bytes, Kind::Bytes]);
    assert_eq!(kinds(ANY), [Kind::Bytes, Kind::Bytes, Kind::Bytes]);
    assert_eq!(kinds(KEYLESS), [Kind::U64, Kind::Bytes]);
    assert!(tables.iter().all(|table| table.id != UNKNOWN));
}

#[test]
fn a_damaged_block_is_refused_or_left_out_alone() {
    let mut bytes = write(30_000, 5);
    let places = places(&bytes);
    let damaged = [3, places.len() - 2];
    for &number in &damaged {
        bytes[places[number].payload.start + 9] ^= 0x10;
    }
    let error = load(&bytes, OnDamage::Refuse).unwrap_err().to_string();
    let offset = places[3].offset;
    assert_eq!(error, format!("0.snap is damaged at byte {offset}: a block's checksum does not fit"));
    let loaded = load(&bytes, OnDamage::LeaveOut).unwrap();
    let lost: Vec<&BlockPlace> = loaded.lost.iter().map(|(place, _)| place).collect();
    assert_eq!(lost, damaged.map(|number| &places[number]));
    compare(&loaded, load_slowly(&bytes, &damaged));
}

/// The checksum of the block is right, but one tuple lacks its key. No row of the block is loaded.
#[test]
fn no_row_of_a_block_with_a_broken_row_is_taken() {
    let good = write(20, 6);
    let header = Header::parse(&good).unwrap().1;
    let mut payload = Unpacker::default().unpack(&good, &places(&good)[0]).unwrap().to_vec();
    let whole = crate::support::raw_block(tarantool::PLAIN, &payload);
    let mut broken = Vec::new();
    put_body(&mut broken, &Body { space: Some(PLAIN), tuple: Some(&[0x91, 0xa1, b'x']), ..Body::default() });
    payload.extend([0x81, 0x00, 0x02]);
    payload.extend(broken);
    let broken = crate::support::raw_block(tarantool::PLAIN, &payload);
    let bytes = [&good[..header], &whole, &broken, &whole, &tarantool::END].concat();
    let error = load(&bytes, OnDamage::Refuse).unwrap_err().to_string();
    let offset = header + whole.len();
    assert_eq!(error, format!("0.snap is damaged at byte {offset}: a number without a sign is expected"));
    let loaded = load(&bytes, OnDamage::LeaveOut).unwrap();
    assert_eq!(loaded.lost.len(), 1);
    compare(&loaded, load_slowly(&bytes, &[1]));
}

pub(crate) fn recovered(disk: &Arc<dyn disk::Disk>, mode: Mode) -> tarantool::Result<Recovered> {
    let options = PlanOptions { mode, ..PlanOptions::default() };
    let plan = plan(&**disk, Path::new(DIRECTORY), &options).unwrap();
    recover(&plan, mode, 2, &Silent)
}

/// Appends a row to a log. The space is the one of plain keys, unless another is named.
pub(crate) fn log(writer: &mut LogWriter, lsn: i64, kind: RowKind, body: Body) {
    let mut bytes = Vec::new();
    put_body(&mut bytes, &Body { space: body.space.or(Some(PLAIN)), ..body });
    let body = Body { bytes: &bytes, ..Body::default() };
    let row =
        Row { kind, replica: 1, lsn, timestamp: 1e9, group: 0, tsn: lsn, is_commit: true, flags: 0, body };
    writer.row(&row).unwrap();
}

#[test]
fn logs_change_the_rows_of_the_snapshot() {
    let disk = written(700, 9);
    let before = recovered(&disk, Mode::Strict).unwrap();
    let texts = |recovered: &Recovered| -> BTreeMap<u64, Vec<u8>> {
        let table = recovered.tables.iter().find(|table| table.table.id == PLAIN).unwrap();
        let rows = table.rows.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap();
        rows.map(|row| match (table.rows.value(0, row), table.rows.value(1, row)) {
            (Value::U64(key), Value::Bytes(text)) => (key, text.to_vec()),
            other => panic!("{other:?}"),
        })
        .collect()
    };
    let mut expected = texts(&before);
    let keys: Vec<u64> = expected.keys().copied().collect();
    let mut writer = LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log)).unwrap();
    let mut lsn = 0;
    for (number, &key) in keys.iter().enumerate() {
        lsn += 1;
        if number % 3 == 0 {
            let key_bytes = [&[0x91][..], &[0xce], &u32::try_from(key).unwrap().to_be_bytes()].concat();
            log(&mut writer, lsn, RowKind::Delete, Body { key: Some(&key_bytes), ..Body::default() });
            expected.remove(&key);
            continue;
        }
        let (mut tuple, key) = (Vec::new(), if number % 3 == 1 { key } else { key + 1_000_000 });
        put_array_len(&mut tuple, 3);
        put_uint(&mut tuple, key);
        put_nil(&mut tuple);
        put_str(&mut tuple, format!("text {number}").as_bytes());
        log(&mut writer, lsn, RowKind::Replace, Body { tuple: Some(&tuple), ..Body::default() });
        expected.insert(key, format!("text {number}").into_bytes());
    }
    writer.sync().unwrap();
    let after = recovered(&disk, Mode::Strict).unwrap();
    assert_eq!(texts(&after), expected);
    assert!(after.check().unwrap() > 0);
    assert_eq!(after.vclock.signature(), lsn);
    // A tuple without its key cannot be applied.
    log(&mut writer, lsn + 1, RowKind::Insert, Body { tuple: Some(&[0x90]), ..Body::default() });
    writer.finish().unwrap();
    let error = recovered(&disk, Mode::Strict).unwrap_err().to_string();
    assert!(error.ends_with(&format!("row {}: a tuple lacks a field of a key", lsn + 1)), "{error}");
    let salvaged = recovered(&disk, Mode::Salvage).unwrap();
    assert_eq!(texts(&salvaged), expected);
    assert_eq!(salvaged.rejected.iter().map(|rejected_row| rejected_row.lsn).collect::<Vec<_>>(), [lsn + 1]);
}

/// Rows of a second replica are missing. This shows only after the first log was applied.
#[test]
fn a_gap_in_one_of_several_replicas_is_refused() {
    let disk = written(50, 10);
    let mut writer = LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log)).unwrap();
    for lsn in [1, 2] {
        let tuple = [0x93, 0xcd, 0xff, u8::try_from(lsn).unwrap(), 0xc0, 0xa1, b'x'];
        log(&mut writer, lsn, RowKind::Replace, Body { tuple: Some(&tuple), ..Body::default() });
    }
    writer.finish().unwrap();
    let mut second = header(FileKind::Log);
    second.vclock.set(1, 2);
    second.vclock.set(2, 5);
    LogWriter::create(&disk, Path::new(DIRECTORY), &second).unwrap().finish().unwrap();
    let error = recovered(&disk, Mode::Strict).unwrap_err().to_string();
    assert!(error.contains("the first ends at {1: 2}, the second begins at {1: 2, 2: 5}"), "{error}");
    recovered(&disk, Mode::Salvage).unwrap();
}

#[test]
fn recovered_rows_answer_and_can_be_sealed() {
    let bytes = write(3000, 8);
    let recovered = recovered(&written(3000, 8), Mode::Strict).unwrap();
    let (slowly, unknown, _) = load_slowly(&bytes, &[]);
    assert!(unknown > 0);
    let told = format!("{unknown} rows of space {UNKNOWN}, which is not defined");
    assert_eq!(recovered.left_out, [told]);
    // Two indexes, one, none; and one each for _space and _index.
    assert_eq!(recovered.check().unwrap(), 2 + 1 + 1 + 1);
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    let directory = Path::new("/store");
    let note = vec![("note".to_owned(), b"here".to_vec())];
    recovered.seal(&disk, directory, Options::default(), note).unwrap();
    let again = recovered.seal(&disk, directory, Options::default(), Vec::new()).unwrap_err();
    assert!(again.to_string().ends_with("it has rows already; load into a new store"), "{again}");
    let snapshot = Snapshot::open(&disk, directory).unwrap();
    assert_eq!(snapshot.attachment("note"), Some(&b"here"[..]));
    let tables = tables(&bytes);
    for (number, rows) in slowly {
        let table = snapshot.table(&tables[number].schema.name).unwrap();
        let primary = &table.schema().primary;
        let key = |row: &Vec<OwnedValue>| -> Vec<OwnedValue> {
            primary.iter().map(|&column| row[usize::from(column)].clone()).collect()
        };
        // The last row of each key is kept.
        let expected: BTreeMap<_, _> = rows.into_iter().map(|row| (key(&row), row)).collect();
        let all = table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap();
        let columns = table.schema().columns.len();
        let found: Table = all
            .map(|row| row.unwrap())
            .map(|row| (0..columns).map(|column| table.value(column, row).unwrap().to_owned()).collect())
            .collect();
        assert!(found.into_iter().eq(expected.into_values()), "{}", table.schema().name);
    }
}

#[test]
fn a_file_without_end_mark_or_with_a_torn_block_is_refused() {
    let bytes = write(500, 7);
    let header = Header::parse(&bytes).unwrap().1;
    let refused = |bytes: &[u8]| blocks(Path::new("0.snap"), bytes, header).unwrap_err().to_string();
    let cut = bytes.len() - 4;
    assert_eq!(
        refused(&bytes[..cut]),
        format!("0.snap is damaged at byte {cut}: the file ends without the end mark")
    );
    assert!(refused(&bytes[..cut - 1]).ends_with("a block is cut off"));
    assert!(refused(&[&bytes[..], &[0]].concat()).ends_with("data follows the end mark"));
}

/// Rows of very many spaces and kinds without a definition are counted in little memory.
#[test]
fn very_many_unknown_kinds_are_counted_together() {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    let mut writer =
        SnapWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Snapshot), 1e9).unwrap();
    for id in 1000..3000 {
        writer.insert(id, 0, &[0x90]).unwrap();
    }
    let row = Row {
        kind: RowKind::Nop,
        replica: 0,
        lsn: 0,
        timestamp: 0.0,
        group: 0,
        tsn: 0,
        is_commit: true,
        flags: 0,
        body: Body { bytes: &[0x80], ..Body::default() },
    };
    writer.row(&Row { body: Body::default(), ..row }).unwrap();
    for kind in [RowKind::Raft, RowKind::Promote, RowKind::Delete] {
        writer.row(&Row { kind, ..row }).unwrap();
    }
    (1000..1300).for_each(|kind| writer.row(&Row { kind: RowKind::Other(kind), ..row }).unwrap());
    writer.finish().unwrap();
    let recovered = recovered(&disk, Mode::Strict).unwrap();
    let elections = "2 rows tell of elections (terms, votes, leaders) and are not kept: what is exported \
        begins without, as a new instance does";
    assert_eq!(recovered.remarks, [elections]);
    let said = |line: &str| recovered.left_out.iter().filter(|said| *said == line).count();
    assert_eq!(recovered.left_out.len(), 1001 + 97 + 1);
    assert_eq!(said("1000 rows of many more spaces that are not defined"), 1);
    assert_eq!(said("1 row of space 1999, which is not defined"), 1);
    assert_eq!(said("1 row of kind 5, which hold no tuple"), 1);
    assert_eq!(said("204 rows of many more kinds, which hold no tuple"), 1);
}
