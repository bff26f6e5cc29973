//! Makes directories of Tarantool's files with spaces that have names for their fields.
//!
//! Takes definitions and values, writes snapshots and logs by our writers. It does not know what is tested.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarantool::msgpack::{
    put_array_len, put_boolean, put_double, put_int, put_map_len, put_nil, put_str, put_uint,
};
use tarantool::{
    Body, FileKind, FormatVersion, Header, LogWriter, Row, RowKind, SnapWriter, VClock, put_body,
};

/// A value of a tuple.
#[derive(Clone, Debug)]
pub(crate) enum V {
    N(i64),
    S(&'static str),
    D(f64),
    B(bool),
    Nil,
    /// msgpack as it is.
    Raw(&'static [u8]),
}

/// Name, kind, and the parts: a field and its type. After the type may stand `desc`, `nullable`, `exclude`
/// (for `exclude_null`), `collation=NUMBER` and `path=PATH`.
pub(crate) type MadeIndex = (&'static str, &'static str, &'static [(u64, &'static str)]);

/// A space.
pub(crate) struct Made {
    pub(crate) id: u32,
    pub(crate) name: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) fields: &'static [&'static str],
    pub(crate) indexes: &'static [MadeIndex],
    pub(crate) tuples: Vec<Vec<u8>>,
}

/// The space of most tests.
pub(crate) fn orders(tuples: Vec<Vec<u8>>) -> Made {
    Made {
        id: 512,
        name: "orders",
        engine: "memtx",
        fields: &["id", "customer", "price", "paid", "more"],
        indexes: &[
            ("pk", "tree", &[(0, "unsigned")]),
            ("by_customer", "tree", &[(1, "string"), (2, "number")]),
            ("by_hash", "hash", &[(1, "string"), (0, "unsigned")]),
        ],
        tuples,
    }
}

pub(crate) fn tuple(values: &[V]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, u32::try_from(values.len()).unwrap());
    for value in values {
        match value {
            V::N(number) => match u64::try_from(*number) {
                Ok(number) => put_uint(&mut out, number),
                Err(_) => put_int(&mut out, *number),
            },
            V::S(text) => put_str(&mut out, text.as_bytes()),
            V::D(number) => put_double(&mut out, *number),
            V::B(value) => put_boolean(&mut out, *value),
            V::Nil => put_nil(&mut out),
            V::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
    out
}

/// The orders of most tests.
pub(crate) fn some_orders() -> Vec<Vec<u8>> {
    vec![
        tuple(&[V::N(1), V::S("ana"), V::D(10.5), V::B(true), V::Raw(b"\x81\xa4town\xa5Paris")]),
        tuple(&[V::N(2), V::S("bob"), V::N(7), V::B(false)]),
        tuple(&[V::N(3), V::S("ana"), V::N(12), V::Nil, V::Raw(b"\x81\xa4town\xa4Lyon")]),
        tuple(&[V::N(5), V::S("cyd"), V::N(-3), V::B(true)]),
        tuple(&[V::N(8), V::S("bob \"b\""), V::D(0.1), V::B(false), V::Raw(b"\x92\x01\x02"), V::N(6)]),
    ]
}

fn header(kind: FileKind, lsn: i64) -> Header {
    let mut vclock = VClock::default();
    vclock.set(1, lsn);
    let version = FormatVersion::V013;
    let program = "test".to_owned();
    Header { kind, version, program, instance: [7; 16], vclock, previous: None }
}

fn disk() -> Arc<dyn disk::Disk> {
    Arc::new(disk::RealDisk)
}

/// Writes a snapshot into a directory, which is created.
pub(crate) fn snapshot(directory: &Path, lsn: i64, spaces: &[Made]) -> PathBuf {
    std::fs::create_dir_all(directory).unwrap();
    let mut snap = SnapWriter::create(&disk(), directory, &header(FileKind::Snapshot, lsn), 1.0).unwrap();
    spaces.iter().for_each(|space| snap.insert(280, 0, &definition(space)).unwrap());
    for space in spaces {
        for (number, index) in (0..).zip(space.indexes) {
            snap.insert(288, 0, &index_definition(space.id, number, *index)).unwrap();
        }
    }
    for space in spaces {
        space.tuples.iter().for_each(|tuple| snap.insert(space.id, 0, tuple).unwrap());
    }
    snap.finish().unwrap()
}

/// Writes a log with replaces, each a transaction of its own.
pub(crate) fn log(directory: &Path, lsn: i64, tuples: &[Vec<u8>]) -> PathBuf {
    let mut log = LogWriter::create(&disk(), directory, &header(FileKind::Log, lsn)).unwrap();
    for (lsn, tuple) in (lsn + 1..).zip(tuples) {
        let mut body = Vec::new();
        put_body(&mut body, &Body { space: Some(512), tuple: Some(tuple), ..Body::default() });
        let body = Body { bytes: &body, ..Body::default() };
        let row = Row {
            kind: RowKind::Replace,
            replica: 1,
            lsn,
            timestamp: 1.0,
            group: 0,
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body,
        };
        log.row(&row).unwrap();
    }
    log.finish().unwrap();
    directory.join(format!("{lsn:020}.xlog"))
}

fn definition(space: &Made) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 7);
    put_uint(&mut out, u64::from(space.id));
    put_uint(&mut out, 1);
    put_str(&mut out, space.name.as_bytes());
    put_str(&mut out, space.engine.as_bytes());
    put_uint(&mut out, 0);
    put_map_len(&mut out, 0);
    put_array_len(&mut out, u32::try_from(space.fields.len()).unwrap());
    for field in space.fields {
        put_map_len(&mut out, 1);
        put_str(&mut out, b"name");
        put_str(&mut out, field.as_bytes());
    }
    out
}

fn index_definition(id: u32, number: u64, (name, kind, parts): (&str, &str, &[(u64, &str)])) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 6);
    put_uint(&mut out, u64::from(id));
    put_uint(&mut out, number);
    put_str(&mut out, name.as_bytes());
    put_str(&mut out, kind.as_bytes());
    put_map_len(&mut out, 1);
    put_str(&mut out, b"unique");
    put_boolean(&mut out, number == 0);
    put_array_len(&mut out, u32::try_from(parts.len()).unwrap());
    for (field, part) in parts {
        put_part(&mut out, *field, part);
    }
    out
}

fn put_part(out: &mut Vec<u8>, field: u64, part: &str) {
    let words: Vec<&str> = part.split(' ').collect();
    let [type_name, options @ ..] = words.as_slice() else { unreachable!("a split has a part") };
    if options.is_empty() {
        put_array_len(out, 2);
        put_uint(out, field);
        return put_str(out, type_name.as_bytes());
    }
    put_map_len(out, u32::try_from(options.len()).unwrap() + 2);
    put_str(out, b"field");
    put_uint(out, field);
    put_str(out, b"type");
    put_str(out, type_name.as_bytes());
    for option in options {
        let (name, value) = match *option {
            "desc" => ("sort_order", "desc"),
            "nullable" => ("is_nullable", ""),
            "exclude" => ("exclude_null", ""),
            other => other.split_once('=').unwrap(),
        };
        put_str(out, name.as_bytes());
        match value.parse() {
            Ok(number) => put_uint(out, number),
            Err(_) if value.is_empty() => put_boolean(out, true),
            Err(_) => put_str(out, value.as_bytes()),
        }
    }
}
