//! Files of vinyl that this Tarantool does not write: by later versions, and with contradictions.
//!
//! Input: files made here. Output: failures. Does not depend on how files are read.

use crate::values::show;
use disk::Disk;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{PRIMARY, Value};
use tarantool::msgpack::{put_array_len, put_map_len, put_str, put_uint};
use tarantool::vinyl_made::{MadePage, block, file, record, row, run};
use tarantool::{
    Body, FileKind, FormatVersion, Header, Mode, PlanOptions, RowKind, SnapWriter, VClock, plan, recover,
};
use testkit::SimDisk;
use work::Silent;

const DIRECTORY: &str = "/t";

/// Returns a disk with a snapshot that has space 512 of vinyl, with the fields `id` and `n`, both numbers.
fn disk() -> SimDisk {
    let disk = SimDisk::new(1);
    disk.create_directory(&Path::new(DIRECTORY).join("512/0")).unwrap();
    let header = Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: String::new(),
        instance: [0; 16],
        vclock: VClock::parse("{1: 100}").unwrap(),
        previous: None,
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut snap = SnapWriter::create(&shared, Path::new(DIRECTORY), &header, 1.0).unwrap();
    let mut space = vec![0x97, 0xcd, 0x02, 0x00, 1];
    put_str(&mut space, b"v");
    put_str(&mut space, b"vinyl");
    space.extend([0, 0x80]);
    put_array_len(&mut space, 2);
    for name in ["id", "n"] {
        put_map_len(&mut space, 2);
        put_str(&mut space, b"name");
        put_str(&mut space, name.as_bytes());
        put_str(&mut space, b"type");
        put_str(&mut space, b"unsigned");
    }
    snap.insert(280, 0, &space).unwrap();
    let mut index = vec![0x96, 0xcd, 0x02, 0x00, 0];
    put_str(&mut index, b"pk");
    put_str(&mut index, b"tree");
    index.extend([0x80, 0x91, 0x92, 0]);
    put_str(&mut index, b"unsigned");
    snap.insert(288, 0, &index).unwrap();
    snap.finish().unwrap();
    disk
}

fn tuple(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, u32::try_from(values.len()).unwrap());
    values.iter().for_each(|&value| put_uint(&mut out, value));
    out
}

/// Returns the row that replaces a tuple.
fn replace(lsn: i64, values: &[u64]) -> Vec<u8> {
    row(RowKind::Replace, lsn, &Body { tuple: Some(&tuple(values)), ..Body::default() })
}

fn delete(lsn: i64, key: u64) -> Vec<u8> {
    row(RowKind::Delete, lsn, &Body { key: Some(&tuple(&[key])), ..Body::default() })
}

fn upsert(lsn: i64, values: &[u64], ops: &[u8]) -> Vec<u8> {
    row(RowKind::Upsert, lsn, &Body { tuple: Some(&tuple(values)), ops: Some(ops), ..Body::default() })
}

/// Returns a page of these rows, whose first key is `key`.
fn page(key: u64, rows: &[Vec<u8>]) -> MadePage {
    MadePage { rows: rows.concat(), row_count: rows.len() as u64, first_key: tuple(&[key]) }
}

fn put_run(disk: &SimDisk, id: u64, pages: &[MadePage]) {
    let (rows, index) = run(pages);
    disk.put(&path(id, "run"), &rows);
    disk.put(&path(id, "index"), &index);
}

fn path(id: u64, extension: &str) -> PathBuf {
    Path::new(DIRECTORY).join("512/0").join(format!("{id:020}.{extension}"))
}

/// Puts the log that describes one tree: runs, and ranges with their slices.
fn put_log(disk: &SimDisk, runs: &[u64], ranges: &[Range]) {
    let mut records = vec![record(0, &[(0, 1), (6, 512), (9, 90), (12, 5)], &[])];
    records.extend(runs.iter().map(|&run| record(5, &[(0, 1), (2, run), (9, 90)], &[])));
    let mut slice = 1000;
    for (range, (begin, end, slices)) in (100..).zip(ranges) {
        records.push(record(2, &[(0, 1), (1, range)], &[(3, &key(*begin)), (4, &key(*end))]));
        for (run, begin, end) in slices {
            slice += 1;
            let keys: [(u64, &[u8]); 2] = [(3, &key(*begin)), (4, &key(*end))];
            records.push(record(8, &[(1, range), (2, *run), (8, slice)], &keys));
        }
    }
    records.push(record(11, &[], &[]));
    put_records(disk, &records);
}

/// The limits of a range, and its slices: a run with limits.
type Range = (Option<u64>, Option<u64>, Vec<(u64, Option<u64>, Option<u64>)>);

fn key(key: Option<u64>) -> Vec<u8> {
    key.map_or_else(|| tuple(&[]), |key| tuple(&[key]))
}

fn put_records(disk: &SimDisk, records: &[Vec<u8>]) {
    let clock = VClock::parse("{1: 100}").unwrap();
    let path = Path::new(DIRECTORY).join("00000000000000000100.vylog");
    disk.put(&path, &file(FileKind::Vinyl, &clock, &[block(&records.concat())]));
}

/// Returns the tuples of the space and what is lost, or an error.
fn read(disk: &SimDisk, mode: Mode) -> Result<(Vec<String>, Vec<String>), String> {
    let options = PlanOptions { mode, ..PlanOptions::default() };
    let plan = plan(disk, Path::new(DIRECTORY), &options).map_err(|error| error.to_string())?;
    let recovered = recover(&plan, mode, 2, &Silent).map_err(|error| error.to_string())?;
    let table = recovered.tables.iter().find(|table| table.table.id == 512).unwrap();
    let column = table.table.shape.tuple_column();
    let tuples = table.rows.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap();
    let shown = |row| match table.rows.value(column, row) {
        Value::Bytes(tuple) => show(tuple),
        other => panic!("{other:?}"),
    };
    Ok((tuples.map(shown).collect(), recovered.left_out))
}

#[track_caller]
fn found(disk: &SimDisk, tuples: &[&str]) {
    let (found, lost) = read(disk, Mode::Strict).unwrap();
    assert_eq!((found, lost), (tuples.iter().map(ToString::to_string).collect(), Vec::new()));
}

#[track_caller]
fn refused(disk: &SimDisk, what: &str) {
    let error = read(disk, Mode::Strict).unwrap_err();
    assert!(error.contains(what), "{error}");
    let (_, lost) = read(disk, Mode::Salvage).unwrap();
    assert!(!lost.is_empty(), "salvage tells what is lost");
}

/// The whole key space in one range with a slice of each run.
fn one_range(runs: &[u64]) -> Vec<Range> {
    vec![(None, None, runs.iter().map(|&run| (run, None, None)).collect())]
}

/// The operation `{code, field, number}`.
fn op(code: &[u8], field: u64, number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 3);
    put_str(&mut out, code);
    put_uint(&mut out, field);
    put_uint(&mut out, number);
    out
}

fn array(items: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, u32::try_from(items.len()).unwrap());
    items.iter().for_each(|item| out.extend_from_slice(item));
    out
}

#[test]
fn the_newest_row_of_a_key_counts() {
    let disk = disk();
    put_run(
        &disk,
        7,
        &[page(1, &[replace(10, &[1, 1]), replace(11, &[2, 1])]), page(3, &[replace(12, &[3, 1])])],
    );
    put_run(
        &disk,
        8,
        &[page(1, &[delete(30, 1), replace(29, &[1, 2]), replace(20, &[2, 2]), replace(21, &[4, 2])])],
    );
    put_log(&disk, &[7, 8], &one_range(&[7, 8]));
    found(&disk, &["[2, 2]", "[3, 1]", "[4, 2]"]);
}

/// The form of Tarantool 2.6.1 and later: the operations of each upsert are a list of their own.
#[test]
fn grouped_upserts_skip_the_first_group_on_nothing_and_groups_that_do_not_fit() {
    let disk = disk();
    let plus = |number| array(&[op(b"+", 1, number)]);
    let to_text = array(&[array(&[array(&[vec![0xa1, b'='], vec![1], vec![0xa1, b'x']])])]);
    let new_key = array(&[op(b"=", 0, 99)]);
    let several = array(&[plus(1), plus(10), new_key, plus(100)]);
    put_run(&disk, 7, &[page(1, &[replace(10, &[1, 5]), replace(10, &[3, 5])])]);
    put_run(
        &disk,
        8,
        &[page(
            1,
            &[
                upsert(40, &[1, 0], &several),
                upsert(40, &[2, 0], &several),
                upsert(41, &[3, 0], &to_text),
                upsert(40, &[3, 0], &array(&[plus(1)])),
            ],
        )],
    );
    put_log(&disk, &[7, 8], &one_range(&[7, 8]));
    found(&disk, &["[1, 116]", "[2, 110]", "[3, 6]"]);
}

#[test]
fn a_slice_limits_a_run_to_its_keys() {
    let disk = disk();
    let rows: Vec<Vec<u8>> = (1..=9).map(|number| replace(10, &[number, 1])).collect();
    put_run(&disk, 7, &[page(1, &rows[..4]), page(5, &rows[4..])]);
    let newer: Vec<Vec<u8>> = (1..=9).map(|number| replace(20, &[number, 2])).collect();
    put_run(&disk, 8, &[page(1, &newer)]);
    let ranges: Vec<Range> = vec![
        (Some(6), None, vec![(7, Some(6), None)]),
        (None, Some(6), vec![(7, None, Some(6)), (8, Some(3), Some(5))]),
    ];
    put_log(&disk, &[7, 8], &ranges);
    found(&disk, &["[1, 1]", "[2, 1]", "[3, 2]", "[4, 2]", "[5, 1]", "[6, 1]", "[7, 1]", "[8, 1]", "[9, 1]"]);
    // Parts of a run may be side by side, and never overlap.
    put_log(&disk, &[7], &[(None, None, vec![(7, Some(6), None), (7, None, Some(6))])]);
    assert_eq!(read(&disk, Mode::Strict).unwrap().0.len(), 9);
    put_log(&disk, &[7], &[(None, None, vec![(7, Some(5), None), (7, None, Some(6))])]);
    refused(&disk, "a range has a part of a run twice");
    put_log(&disk, &[7], &[(None, Some(6), vec![]), (Some(7), None, vec![])]);
    refused(&disk, "no range of its tree has some keys");
    put_log(&disk, &[7], &[(None, Some(6), vec![]), (Some(5), None, vec![])]);
    refused(&disk, "two ranges of its tree have the same keys");
    put_log(&disk, &[7], &[(None, Some(6), vec![])]);
    refused(&disk, "no range of its tree has the last keys");
    put_log(&disk, &[7], &[]);
    refused(&disk, "its tree has no range");
}

#[test]
fn what_an_index_claims_is_checked() {
    let disk = disk();
    put_log(&disk, &[7], &one_range(&[7]));
    let rows = [replace(10, &[1, 1]), replace(11, &[2, 1])];
    let good = page(1, &rows);
    for (pages, what) in [
        (vec![MadePage { row_count: 3, ..good.clone() }], "another number of rows than its index says"),
        (
            vec![MadePage { row_count: u64::MAX, ..good.clone() }],
            "another number of rows than its index says",
        ),
        (vec![MadePage { first_key: tuple(&[0]), ..good.clone() }], "begins with another key"),
        (vec![MadePage { first_key: tuple(&[1, 2]), ..good.clone() }], "a key has more parts"),
        (vec![MadePage { first_key: tuple(&[]), ..good.clone() }], "a key has fewer parts"),
        (vec![good.clone(), page(1, &[replace(9, &[1, 0])])], "the rows of a run are not in order"),
        (vec![page(3, &[replace(9, &[3, 0])]), good.clone()], "the pages of a run are not in order"),
        (vec![page(1, &[replace(9, &[1, 0]), replace(12, &[1, 5])])], "the rows of a run are not in order"),
        (vec![page(1, &[row(RowKind::Nop, 9, &Body::default())])], "a run has a row of an unexpected kind"),
    ] {
        put_run(&disk, 7, &pages);
        let error = read(&disk, Mode::Strict).unwrap_err();
        assert!(error.contains(what), "{what}: {error}");
        read(&disk, Mode::Salvage).unwrap();
    }
    put_run(&disk, 7, &[good]);
    found(&disk, &["[1, 1]", "[2, 1]"]);
}

#[test]
fn a_log_that_contradicts_itself_is_refused_or_told() {
    let disk = disk();
    put_run(&disk, 7, &[page(1, &[replace(10, &[1, 1])])]);
    let create = || record(0, &[(0, 1), (6, 512), (9, 90), (12, 5)], &[]);
    let (run, range) = (record(5, &[(0, 1), (2, 7)], &[]), record(2, &[(0, 1), (1, 100)], &[]));
    let slice = record(8, &[(1, 100), (2, 7), (8, 1000)], &[]);
    let end = || record(11, &[], &[]);
    let whole = [create(), run, range, slice, end()];
    put_records(&disk, &whole);
    found(&disk, &["[1, 1]"]);
    let with = |more: Vec<u8>| {
        let mut records = whole.to_vec();
        records.push(more);
        put_records(&disk, &records);
    };
    for (more, what) in [
        (create(), "creates a tree twice"),
        (record(1, &[(0, 2)], &[]), "names a tree that does not exist"),
        (record(2, &[(0, 1), (1, 100)], &[]), "inserts a range twice"),
        (record(3, &[(1, 100)], &[]), "deletes a range that has slices"),
        (record(4, &[(0, 1), (2, 7)], &[]), "prepares a run twice"),
        (record(8, &[(1, 100), (2, 8), (8, 1001)], &[]), "names a run that does not exist"),
        (
            [
                record(0, &[(0, 9), (6, 513), (12, 6)], &[]),
                record(5, &[(0, 9), (2, 77)], &[]),
                record(8, &[(1, 100), (2, 77), (8, 1001)], &[]),
            ]
            .concat(),
            "has a run of another index in a range",
        ),
        (record(9, &[(8, 1001)], &[]), "names a slice that does not exist"),
        (record(14, &[(0, 1)], &[]), "forgets a tree that has ranges or runs"),
        (record(0, &[(0, 3), (6, 512), (12, 6)], &[]), "creates two trees for an index"),
    ] {
        with(more);
        refused(&disk, what);
        assert_eq!(read(&disk, Mode::Salvage).unwrap().0, ["[1, 1]"], "{what}");
    }
    // A change of the index that failed leaves nothing; one that was prepared waits for a row of a log.
    with(record(15, &[(0, 3), (6, 512)], &[]));
    found(&disk, &["[1, 1]"]);
    // The instance began anew and made no snapshot since.
    let anew = [record(16, &[], &[]), record(0, &[(0, 4), (6, 512), (12, 50)], &[])];
    with(anew.concat());
    found(&disk, &["[1, 1]"]);
}
