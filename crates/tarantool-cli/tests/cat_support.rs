//! A directory with a snapshot and a log of letters, for tests of `pneu-tarantool cat`.
//!
//! Output: files, and what is printed of them. Does not know what is tested.

use crate::support::Home;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tarantool::msgpack::{put_array_len, put_ext, put_map_len, put_nil, put_str, put_uint};
use tarantool::{
    Body, FileKind, FormatVersion, Header, LogWriter, Row, RowKind, SnapWriter, VClock, put_body,
};

pub(crate) const SNAP: &str = "00000000000000000004.snap";
pub(crate) const LOG: &str = "00000000000000000004.xlog";
pub(crate) const NEXT_LOG: &str = "00000000000000000012.xlog";

pub(crate) fn header(kind: FileKind, lsn: i64, previous: Option<i64>) -> Header {
    let clock = |lsn| {
        let mut vclock = VClock::default();
        vclock.set(1, lsn);
        vclock
    };
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: clock(lsn),
        previous: previous.map(clock),
    }
}

/// A tuple of `_space` that names the fields of space 512.
pub(crate) fn definition(fields: &[&str]) -> Vec<u8> {
    let mut space = Vec::new();
    put_array_len(&mut space, 7);
    put_uint(&mut space, 512);
    put_uint(&mut space, 1);
    put_str(&mut space, b"letters");
    put_str(&mut space, b"memtx");
    put_uint(&mut space, 0);
    put_map_len(&mut space, 0);
    put_array_len(&mut space, u32::try_from(fields.len()).unwrap());
    for field in fields {
        put_map_len(&mut space, 1);
        put_str(&mut space, b"name");
        put_str(&mut space, field.as_bytes());
    }
    space
}

pub(crate) fn letter(number: u64, town: &str) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 3);
    put_uint(&mut tuple, number);
    put_str(&mut tuple, town.as_bytes());
    // 1.50
    put_ext(&mut tuple, 1, &[2, 0x15, 0x0c]);
    tuple
}

pub(crate) fn key(number: u64) -> Vec<u8> {
    let mut key = Vec::new();
    put_array_len(&mut key, 1);
    put_uint(&mut key, number);
    key
}

pub(crate) fn operations() -> Vec<u8> {
    let mut operations = Vec::new();
    put_array_len(&mut operations, 1);
    put_array_len(&mut operations, 3);
    put_str(&mut operations, b"=");
    put_uint(&mut operations, 1);
    put_nil(&mut operations);
    operations
}

/// A row by its body. The time is its LSN.
pub(crate) fn row(kind: RowKind, lsn: i64, bytes: &[u8]) -> Row<'_> {
    let body = Body { bytes, ..Body::default() };
    let timestamp = lsn as f64;
    Row { kind, replica: 1, lsn, timestamp, group: 0, tsn: lsn, is_commit: true, flags: 0, body }
}

pub(crate) fn body(body: &Body) -> Vec<u8> {
    let mut out = Vec::new();
    put_body(&mut out, body);
    out
}

pub(crate) fn write(log: &mut LogWriter, kind: RowKind, lsn: i64, fields: &Body) {
    let bytes = body(&Body { space: Some(512), ..*fields });
    log.row(&row(kind, lsn, &bytes)).unwrap();
    log.sync().unwrap();
}

pub(crate) fn disk() -> Arc<dyn disk::Disk> {
    Arc::new(disk::RealDisk)
}

/// A home with a directory `shop`: a snapshot with two letters, and a log with a row of each kind, each in a
/// block of its own. The fourth row changes the names of the fields.
pub(crate) fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let directory = home.path().join("shop");
    fs::create_dir(&directory).unwrap();
    let mut snap =
        SnapWriter::create(&disk(), &directory, &header(FileKind::Snapshot, 4, None), 1.5).unwrap();
    snap.insert(280, 0, &definition(&["number", "town"])).unwrap();
    for (number, town) in [(1, "Paris"), (2, "Lyon")] {
        snap.insert(512, 0, &letter(number, town)).unwrap();
    }
    snap.finish().unwrap();
    let mut log = LogWriter::create(&disk(), &directory, &header(FileKind::Log, 4, None)).unwrap();
    let (tuple, operations) = (letter(3, "it's"), operations());
    write(&mut log, RowKind::Insert, 5, &Body { tuple: Some(&tuple), ..Body::default() });
    write(
        &mut log,
        RowKind::Update,
        6,
        &Body { key: Some(&key(1)), tuple: Some(&operations), ..Body::default() },
    );
    write(&mut log, RowKind::Delete, 7, &Body { key: Some(&key(2)), ..Body::default() });
    let renamed = body(&Body {
        space: Some(280),
        tuple: Some(&definition(&["id", "place", "price"])),
        ..Body::default()
    });
    log.row(&row(RowKind::Replace, 8, &renamed)).unwrap();
    let tuple = letter(4, "Nice");
    write(
        &mut log,
        RowKind::Upsert,
        9,
        &Body { tuple: Some(&tuple), ops: Some(&operations), ..Body::default() },
    );
    log.row(&row(RowKind::Nop, 10, &[])).unwrap();
    // A transaction of two rows, which waits for replicas.
    let bytes = body(&Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
    let first = Row { is_commit: false, flags: 2, ..row(RowKind::Replace, 11, &bytes) };
    log.row(&first).unwrap();
    log.row(&Row { tsn: 11, flags: 2, ..row(RowKind::Replace, 12, &bytes) }).unwrap();
    log.finish().unwrap();
    (home, directory)
}

pub(crate) const ALL: &str = r#"{"lsn":5,"replica":1,"time":5.0,"type":"insert","space_id":512,"space":"letters","tuple":{"number":3,"town":"it's","3":"1.50"}}
{"lsn":6,"replica":1,"time":6.0,"type":"update","space_id":512,"space":"letters","key":[1],"ops":[["=",1,null]]}
{"lsn":7,"replica":1,"time":7.0,"type":"delete","space_id":512,"space":"letters","key":[2]}
{"lsn":9,"replica":1,"time":9.0,"type":"upsert","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"},"ops":[["=",1,null]]}
{"lsn":10,"replica":1,"time":10.0,"type":"nop"}
{"lsn":11,"replica":1,"time":11.0,"tsn":11,"wait_sync":true,"type":"replace","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"}}
{"lsn":12,"replica":1,"time":12.0,"tsn":11,"commit":true,"wait_sync":true,"type":"replace","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"}}
"#;

pub(crate) fn log_path() -> String {
    format!("shop/{LOG}")
}

pub(crate) fn lsns(printed: &str) -> Vec<i64> {
    let lsn = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["lsn"].as_i64().unwrap();
    printed.lines().map(lsn).collect()
}
