//! Keys that occur twice in a snapshot: strict mode refuses them, and in salvage mode the later row counts.
//! If a log deletes such a key, no row remains.
//!
//! Input: snapshots and logs by our writers. Output: failures. Uses only the public interface.

use crate::load::{DIRECTORY, header, index, log, recovered, space};
use crate::support::tuple;
use std::path::Path;
use std::sync::Arc;
use store::{Options, PRIMARY, Snapshot, Value};
use tarantool::space::{SPACE_INDEX, SPACE_SPACE};
use tarantool::{Body, FileKind, LogWriter, Mode, Recovered, RowKind, SnapWriter};
use testkit::SimDisk;

const KINDS: [&str; 2] = ["tree", "hash"];

/// Writes a snapshot of space 512, whose tuples have a number and a text. Its first index is of this kind.
fn written(kind: &str, tuples: &[(u64, &str)]) -> Arc<dyn disk::Disk> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    let header = header(FileKind::Snapshot);
    let mut writer = SnapWriter::create(&disk, Path::new(DIRECTORY), &header, 1e9).unwrap();
    writer.insert(SPACE_SPACE, 0, &space(512)).unwrap();
    writer.insert(SPACE_INDEX, 0, &index(512, 0, kind, &[(0, "unsigned")])).unwrap();
    writer.insert(SPACE_INDEX, 0, &index(512, 1, "hash", &[(1, "string")])).unwrap();
    for (number, text) in tuples {
        writer.insert(512, 0, &tuple(*number, text)).unwrap();
    }
    writer.finish().unwrap();
    disk
}

/// A snapshot in which key 5 occurs three times and key 7 twice. Its rows begin with number 3.
fn twice(kind: &str) -> Arc<dyn disk::Disk> {
    let tuples = [(1, "a"), (5, "old"), (5, "older"), (7, "c"), (5, "new"), (6, "d"), (7, "e")];
    written(kind, &tuples)
}

/// Writes a log of rows that follow the snapshot.
fn write_log(disk: &Arc<dyn disk::Disk>, rows: &[(RowKind, u64, &str)]) {
    let mut writer = LogWriter::create(disk, Path::new(DIRECTORY), &header(FileKind::Log)).unwrap();
    for (lsn, (kind, number, text)) in (1..).zip(rows) {
        let (tuple, key) = (tuple(*number, text), [0x91, u8::try_from(*number).unwrap()]);
        let body = match kind {
            RowKind::Delete => Body { key: Some(&key), ..Body::default() },
            _ => Body { tuple: Some(&tuple), ..Body::default() },
        };
        log(&mut writer, lsn, *kind, body);
    }
    writer.finish().unwrap();
}

/// Returns the texts of the rows that count, by key: by a walk and by look-ups, in memory and in a store made
/// of them.
fn texts(recovered: &Recovered) -> Vec<(u64, String)> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    recovered.seal(&disk, Path::new("/store"), Options::default(), Vec::new()).unwrap();
    let sealed = Snapshot::open(&disk, Path::new("/store")).unwrap().table("space_512").unwrap();
    let loaded = &recovered.tables.iter().find(|table| table.table.id == 512).unwrap().rows;
    assert_eq!(sealed.row_count(), loaded.row_count());
    let mut texts = Vec::new();
    for row in loaded.rows() {
        let (Value::U64(key), Value::Bytes(text)) = (loaded.value(0, row), loaded.value(1, row)) else {
            panic!("a number and a text are expected");
        };
        assert_eq!(loaded.find(PRIMARY, &[Value::U64(key)]).unwrap(), [row]);
        let stored = sealed.get(PRIMARY, &[Value::U64(key)]).unwrap().unwrap();
        assert_eq!(sealed.value(1, stored).unwrap(), Value::Bytes(text));
        texts.push((key, String::from_utf8(text.to_vec()).unwrap()));
    }
    texts.sort();
    texts
}

fn expected(texts: &[(u64, &str)]) -> Vec<(u64, String)> {
    texts.iter().map(|(key, text)| (*key, (*text).to_owned())).collect()
}

const LOST: &str = "/tarantool/00000000000000000000.snap: 3 rows of space 512 have a primary key that a \
    later row has, too; lost: row 4 to 6";

#[test]
fn a_key_that_occurs_twice_is_refused_with_its_position() {
    for kind in KINDS {
        let disk = twice(kind);
        let refused = "/tarantool/00000000000000000000.snap: row 7, in the block at byte 83, has the primary \
            key of row 4 in space 512, where each key must be unique; Tarantool refuses such a file, too";
        assert_eq!(recovered(&disk, Mode::Strict).unwrap_err().to_string(), refused, "{kind}");
        write_log(&disk, &[(RowKind::Delete, 5, ""), (RowKind::Delete, 7, "")]);
        assert_eq!(recovered(&disk, Mode::Strict).unwrap_err().to_string(), refused, "{kind}");
    }
}

#[test]
fn the_later_row_of_a_repeated_key_is_salvaged() {
    for kind in KINDS {
        let salvaged = recovered(&twice(kind), Mode::Salvage).unwrap();
        assert_eq!(salvaged.left_out, [LOST], "{kind}");
        assert_eq!(texts(&salvaged), expected(&[(1, "a"), (5, "new"), (6, "d"), (7, "e")]), "{kind}");
        salvaged.check().unwrap();
    }
}

#[test]
fn changes_to_a_repeated_key_uncover_no_row() {
    for kind in KINDS {
        let disk = twice(kind);
        let rows = [
            (RowKind::Delete, 5, ""),
            (RowKind::Replace, 7, "replaced"),
            (RowKind::Delete, 7, ""),
            (RowKind::Replace, 6, "last"),
        ];
        write_log(&disk, &rows);
        let salvaged = recovered(&disk, Mode::Salvage).unwrap();
        assert_eq!(salvaged.left_out, [LOST], "{kind}");
        assert_eq!(texts(&salvaged), expected(&[(1, "a"), (6, "last")]), "{kind}");
    }
}

/// An insert of a key that the snapshot has. Tarantool would have refused it. The load does not look for such
/// rows and finds them anyway.
#[test]
fn an_insert_over_a_row_of_the_snapshot_is_refused_and_uncovers_nothing() {
    for kind in KINDS {
        let disk = written(kind, &[(1, "a"), (2, "b")]);
        write_log(&disk, &[(RowKind::Insert, 2, "again"), (RowKind::Insert, 3, "c")]);
        let refused = "/tarantool/00000000000000000000.xlog: the logs up to this one insert 1 row into space \
            512 with a primary key that the snapshot has already; Tarantool refuses that, too";
        assert_eq!(recovered(&disk, Mode::Strict).unwrap_err().to_string(), refused, "{kind}");
        let salvaged = recovered(&disk, Mode::Salvage).unwrap();
        assert_eq!(texts(&salvaged), expected(&[(1, "a"), (2, "again"), (3, "c")]), "{kind}");
        let disk = written(kind, &[(1, "a"), (2, "b")]);
        write_log(&disk, &[(RowKind::Insert, 2, "again"), (RowKind::Delete, 2, "")]);
        assert_eq!(texts(&recovered(&disk, Mode::Strict).unwrap()), expected(&[(1, "a")]), "{kind}");
    }
}

/// Rows are counted across blocks, without the rows of lost blocks.
#[test]
fn rows_are_named_by_their_number_in_the_file() {
    let text = "x".repeat(1000);
    let keys = (0..400).map(|number| if number == 350 { 300 } else { number });
    let tuples: Vec<(u64, &str)> = keys.map(|key| (key, text.as_str())).collect();
    let disk = written("tree", &tuples);
    let error = recovered(&disk, Mode::Strict).unwrap_err().to_string();
    assert!(
        error.contains("row 353, in the block at byte ") && error.contains("key of row 303 in"),
        "{error}"
    );
    let path = Path::new(DIRECTORY).join(header(FileKind::Snapshot).file_name());
    let mut bytes = disk.read(&path).unwrap();
    let begin = tarantool::Header::parse(&bytes).unwrap().1;
    let second = match tarantool::read_head(&bytes, begin).unwrap() {
        tarantool::Step::Block(place) => place.payload.end,
        step => panic!("{step:?}"),
    };
    bytes[second + 40] ^= 1;
    disk.remove(&path).unwrap();
    disk::write_new(disk.as_ref(), &path, &bytes).unwrap();
    let salvaged = recovered(&disk, Mode::Salvage).unwrap();
    let [lost] = &salvaged.left_out[..] else { panic!("{:?}", salvaged.left_out) };
    assert!(lost.ends_with("1 row of space 512 has a primary key that a later row has, too; lost: row 303"));
}

/// If there are very many, only the first are named.
#[test]
fn only_the_first_of_very_many_are_named() {
    let tuples: Vec<(u64, &str)> = (0..1000).map(|number| (number / 2, "x")).collect();
    let salvaged = recovered(&written("tree", &tuples), Mode::Salvage).unwrap();
    let [lost] = &salvaged.left_out[..] else { panic!("{:?}", salvaged.left_out) };
    assert!(lost.contains(
        "500 rows of space 512 have a primary key that a later row has, too, of which the \
        first are named; lost: row 3, row 5, "
    ));
    assert!(lost.ends_with(", row 201") && salvaged.tables.iter().any(|table| table.rows.row_count() == 500));
}
