//! Any log, runs and indexes of vinyl beside a snapshot are read or refused, never with a panic. What is read
//! in spite of damage has each key once, in order, and sound files give the same in both modes.
#![no_main]

use disk::Disk;
use libfuzzer_sys::fuzz_target;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use store::{OwnedValue, PRIMARY};
use tarantool::msgpack::{put_array_len, put_str, put_uint};
use tarantool::vinyl_made::{MadePage, block, file, record, row, run};
use tarantool::{
    Body, FileKind, FormatVersion, Header, Mode, PlanOptions, ReadPages, RowKind, SnapWriter, VClock, plan,
    recover,
};
use testkit::SimDisk;
use work::Silent;

const DIRECTORY: &str = "/t";

/// A statement: what it does, its key, its LSN, and a number.
type Statement = (u8, u8, u8, u8);
/// What the input makes: the statements of two runs, the limit between two ranges, bytes that follow the log,
/// and bytes that take the place of others in the first run and its index.
type Input<'a> = (Vec<Vec<Statement>>, Vec<Vec<Statement>>, u8, &'a [u8], (u16, &'a [u8]), (u16, &'a [u8]));

fuzz_target!(|input: Input| {
    let (first, second, middle, more, (at, bytes), (index_at, index_bytes)) = input;
    let disk = disk().fork();
    for (id, pages, at, bytes) in [(7, &first, at, bytes), (8, &second, index_at, index_bytes)] {
        let pages: Vec<MadePage> = pages.iter().take(8).map(|rows| page(rows)).collect();
        let (mut rows, mut index) = run(&pages);
        overwrite(if id == 7 { &mut rows } else { &mut index }, at, bytes);
        disk.put(&Path::new(DIRECTORY).join(format!("512/0/{id:020}.run")), &rows);
        disk.put(&Path::new(DIRECTORY).join(format!("512/0/{id:020}.index")), &index);
    }
    disk.put(&Path::new(DIRECTORY).join("00000000000000000100.vylog"), &log(middle, more));
    let strict = read(&disk, Mode::Strict);
    let salvaged = read(&disk, Mode::Salvage);
    if let Some((strict, _)) = strict {
        let (salvaged, lost) = salvaged.expect("what is sound can be salvaged");
        assert!(salvaged == strict && lost.is_empty(), "{lost:?}");
    }
});

/// Returns the keys of the space in order, and what is lost; `None` if the files are refused.
fn read(disk: &SimDisk, mode: Mode) -> Option<(Vec<OwnedValue>, Vec<String>)> {
    let options = PlanOptions { mode, ..PlanOptions::default() };
    let plan = plan(disk, Path::new(DIRECTORY), &options).ok()?;
    if let Some(vinyl) = &plan.vinyl {
        drop(vinyl.reports(disk, ReadPages::Yes));
    }
    let recovered = recover(&plan, mode, 1, &Silent).ok()?;
    let table = recovered.tables.iter().find(|table| table.table.id == 512)?;
    let rows = table.rows.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).expect("it has a primary key");
    let keys: Vec<OwnedValue> = rows.map(|row| table.rows.value(0, row).to_owned()).collect();
    let numbers: Vec<u64> =
        keys.iter().map(|key| if let OwnedValue::U64(number) = key { *number } else { 0 }).collect();
    assert!(numbers.is_sorted_by(|one, two| one < two), "a key is there twice: {numbers:?}");
    assert_eq!(keys.len() as u64, table.rows.row_count());
    Some((keys, recovered.left_out))
}

fn overwrite(file: &mut [u8], at: u16, bytes: &[u8]) {
    for (old, new) in file.iter_mut().skip(usize::from(at)).zip(bytes) {
        *old = *new;
    }
}

/// Returns a log with two ranges, with a slice of each run. `more` is a block of its own.
fn log(middle: u8, more: &[u8]) -> Vec<u8> {
    let (none, middle) = (tuple(&[]), tuple(&[u64::from(middle)]));
    let mut records = vec![record(0, &[(0, 1), (6, 512), (9, 90), (12, 5)], &[])];
    records.extend([7, 8].map(|id| record(5, &[(0, 1), (2, id), (9, 90)], &[])));
    for (range, (begin, end)) in (100..).zip([(&none, &middle), (&middle, &none)]) {
        records.push(record(2, &[(0, 1), (1, range)], &[(3, begin), (4, end)]));
        for run in [7, 8] {
            records.push(record(8, &[(1, range), (2, run), (8, range * 10 + run)], &[(3, begin), (4, end)]));
        }
    }
    records.push(record(11, &[], &[]));
    let mut blocks = vec![block(&records.concat())];
    blocks.extend((!more.is_empty()).then(|| block(more)));
    file(FileKind::Vinyl, &clock(), &blocks)
}

fn page(statements: &[Statement]) -> MadePage {
    let statements = &statements[..statements.len().min(64)];
    let first = statements.first().map_or(0, |(_, key, _, _)| u64::from(*key));
    let rows: Vec<u8> = statements.iter().flat_map(statement).collect();
    MadePage { rows, row_count: statements.len() as u64, first_key: tuple(&[first]) }
}

fn statement(&(kind, key, lsn, number): &Statement) -> Vec<u8> {
    let (whole, lsn) = (tuple(&[u64::from(key), u64::from(number)]), i64::from(lsn));
    match kind % 4 {
        0 => {
            let key = tuple(&[u64::from(key)]);
            row(RowKind::Delete, lsn, &Body { key: Some(&key), ..Body::default() })
        }
        1 => {
            let mut ops = vec![0x91, 0x91];
            put_array_len(&mut ops, 3);
            put_str(&mut ops, b"+");
            put_uint(&mut ops, 1);
            put_uint(&mut ops, u64::from(number));
            // As one list of operations, or as a list for each upsert.
            let ops = if kind & 4 == 0 { &ops[..] } else { &ops[1..] };
            row(RowKind::Upsert, lsn, &Body { tuple: Some(&whole), ops: Some(ops), ..Body::default() })
        }
        2 => row(RowKind::Insert, lsn, &Body { tuple: Some(&whole), ..Body::default() }),
        _ => row(RowKind::Replace, lsn, &Body { tuple: Some(&whole), ..Body::default() }),
    }
}

fn tuple(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, u32::try_from(values.len()).expect("there are few"));
    values.iter().for_each(|&value| put_uint(&mut out, value));
    out
}

fn clock() -> VClock {
    VClock::parse("{1: 100}").expect("it is one")
}

/// Returns a disk with a snapshot that has a space of vinyl.
fn disk() -> &'static SimDisk {
    static DISK: OnceLock<SimDisk> = OnceLock::new();
    DISK.get_or_init(|| {
        let disk = SimDisk::new(1);
        disk.create_directory(&Path::new(DIRECTORY).join("512/0")).expect("it is made");
        let header = Header {
            kind: FileKind::Snapshot,
            version: FormatVersion::V013,
            program: String::new(),
            instance: [0; 16],
            vclock: clock(),
            previous: None,
        };
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut snap = SnapWriter::create(&shared, Path::new(DIRECTORY), &header, 1.0).expect("a new file");
        // [512, 1, "v", "vinyl"], and [512, 0, "p", "tree", {}, [[0, "unsigned"]]].
        snap.insert(280, 0, b"\x94\xcd\x02\x00\x01\xa1v\xa5vinyl").expect("it is written");
        snap.insert(288, 0, b"\x96\xcd\x02\x00\x00\xa1p\xa4tree\x80\x91\x92\x00\xa8unsigned")
            .expect("it is written");
        snap.finish().expect("it is written");
        disk
    })
}
