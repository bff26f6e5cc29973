//! Rows of single files, printed on one thread and on several, with damage anywhere.

use crate::support::{Sequence, raw_block, tuple};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use tarantool::cat::{
    Notice, Printer, RowFilter, RowForm, RowsFile, SpaceChoice, definitions_before, open_rows, summarise,
};
use tarantool::text::JsonStyle;
use tarantool::{Body, COMPRESSED, PLAIN, Row, RowKind, put_body, put_row};

const HEAD: &str = "XLOG\n0.13\nVersion: test\nVClock: {1: 0}\n\n";
const JSON: RowForm = RowForm::Json(JsonStyle::Readable);

fn row(kind: RowKind, lsn: i64, space: u32, tuple: &[u8]) -> Vec<u8> {
    let (mut bytes, mut out) = (Vec::new(), Vec::new());
    put_body(&mut bytes, &Body { space: Some(space), tuple: Some(tuple), ..Body::default() });
    let body = Body { bytes: &bytes, ..Body::default() };
    let timestamp = 1.5;
    let row = Row { kind, replica: 1, lsn, timestamp, group: 0, tsn: lsn, is_commit: true, flags: 0, body };
    put_row(&mut out, &row);
    out
}

/// The definition of space 600 with one field.
fn definition(field: &str) -> Vec<u8> {
    use tarantool::msgpack::{put_array_len, put_map_len, put_str, put_uint};
    let mut out = Vec::new();
    put_array_len(&mut out, 7);
    put_uint(&mut out, 600);
    put_uint(&mut out, 1);
    put_str(&mut out, b"s");
    put_str(&mut out, b"memtx");
    put_uint(&mut out, 0);
    put_map_len(&mut out, 0);
    put_array_len(&mut out, 1);
    put_map_len(&mut out, 1);
    put_str(&mut out, b"name");
    put_str(&mut out, field.as_bytes());
    out
}

/// A log of many blocks of all sizes. Every hundredth row names the field of the space anew. Returns the
/// bytes of each block, and the last LSN in it.
fn blocks() -> Vec<(Vec<u8>, i64)> {
    let mut random = Sequence(7);
    let mut lsn = 0;
    let mut blocks = Vec::new();
    for _ in 0..400 {
        let mut payload = Vec::new();
        for _ in 0..=random.next() % 30 {
            lsn += 1;
            payload.extend(match lsn % 100 {
                1 => row(RowKind::Replace, lsn, 280, &definition(&format!("f{lsn}"))),
                _ => row(RowKind::Replace, lsn, 600, &tuple(lsn.unsigned_abs(), "some text")),
            });
        }
        let magic = if random.next().is_multiple_of(2) { PLAIN } else { COMPRESSED };
        blocks.push((raw_block(magic, &payload), lsn));
    }
    blocks
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> RowsFile {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        open_rows(&disk::RealDisk, &path).unwrap()
    }
}

fn print(file: &RowsFile, form: RowForm, filter: RowFilter, thread_count: usize) -> (String, Vec<Notice>) {
    let (mut out, mut told) = (Vec::new(), Vec::new());
    let mut printer = Printer::new(form, filter, thread_count);
    let mut sink = |bytes: &[u8]| -> Result<(), Infallible> {
        out.extend_from_slice(bytes);
        Ok(())
    };
    let Ok(()) = printer.print(file, &mut sink, &mut |notice| told.push(notice));
    (String::from_utf8_lossy(&out).into_owned(), told)
}

fn lsns(printed: &str) -> Vec<i64> {
    let number = |line: &str| line.strip_prefix("{\"lsn\":")?.split(',').next()?.parse().ok();
    printed.lines().map(|line| number(line).unwrap()).collect()
}

fn everything() -> RowFilter {
    RowFilter { shows_system: true, ..RowFilter::default() }
}

#[test]
fn rows_come_in_order_with_the_names_of_their_time_on_any_number_of_threads() {
    let place = Place::new();
    let blocks = blocks();
    let bytes: Vec<u8> = blocks.iter().flat_map(|(block, _)| block.clone()).collect();
    let file = place.file("x", &[HEAD.as_bytes(), &bytes].concat());
    let last = blocks.last().unwrap().1;
    let (alone, told) = print(&file, JSON, everything(), 1);
    assert_eq!((lsns(&alone), told.len()), ((1..=last).collect(), 0));
    for line in alone.lines().filter(|line| line.contains("\"space_id\":600")) {
        let lsn = lsns(line)[0];
        let name = format!("\"tuple\":{{\"f{}\":{lsn},\"2\":\"some text\"}}", (lsn - 1) / 100 * 100 + 1);
        assert!(line.contains(&name), "{line}");
    }
    for thread_count in [2, 3, 8] {
        assert!(print(&file, JSON, everything(), thread_count).0 == alone, "{thread_count} threads");
    }
    // What a choice leaves out does not count as its own definition.
    let spaces = vec![SpaceChoice::parse("600")];
    let (chosen, _) = print(&file, JSON, RowFilter { spaces, ..RowFilter::default() }, 2);
    let expected: String =
        alone.split_inclusive('\n').filter(|line| line.contains("\"space_id\":600")).collect();
    assert!(chosen == expected);
}

#[test]
fn damage_anywhere_leaves_every_other_block() {
    let place = Place::new();
    let blocks = blocks();
    let mut random = Sequence(99);
    let mut holes = 0;
    for _ in 0..40 {
        let mut bytes = HEAD.as_bytes().to_vec();
        let mut expected = Vec::new();
        let mut first = 1;
        for (block, last) in &blocks {
            let begin = bytes.len();
            bytes.extend(block);
            if random.next().is_multiple_of(20) {
                let at = begin + usize::try_from(random.next()).unwrap() % block.len();
                bytes[at] ^= 1 << (random.next() % 8);
            } else {
                expected.extend(first..=*last);
            }
            first = last + 1;
        }
        let file = place.file("x", &bytes);
        let (alone, told) = print(&file, RowForm::Json(JsonStyle::Exact), everything(), 1);
        let (found, told_again) = print(&file, RowForm::Json(JsonStyle::Exact), everything(), 3);
        assert!(found == alone && told == told_again);
        // A changed head may still be a head: such a block is whole.
        let found = lsns(&found);
        assert!(expected.iter().all(|lsn| found.binary_search(lsn).is_ok()));
        assert!(found.is_sorted() && (found.len() == expected.len() || !told.is_empty()));
        for notice in &told {
            let Notice::Damage { bytes: range, .. } = notice else { panic!("{notice:?}") };
            assert!(range.start < range.end && range.end <= bytes.len() as u64);
        }
        holes += told.len();
        let summary = summarise(&file, 2);
        assert_eq!((summary.row_count, summary.damage), (found.len() as u64, told));
    }
    assert!(holes > 400, "{holes}");
}

/// A few stored bytes may become very much text, which no job holds at once.
#[test]
fn blocks_with_very_much_text_come_whole_and_in_order() {
    let place = Place::new();
    let text = "x".repeat(1 << 20);
    let mut bytes = HEAD.as_bytes().to_vec();
    for lsn in 1..=80 {
        bytes.extend(raw_block(COMPRESSED, &row(RowKind::Replace, lsn, 600, &tuple(1, &text))));
    }
    // A block that is written piece by piece.
    let rows: Vec<u8> = (81..=90).flat_map(|lsn| row(RowKind::Replace, lsn, 600, &tuple(1, &text))).collect();
    bytes.extend(raw_block(COMPRESSED, &rows));
    let file = place.file("x", &bytes);
    assert!(bytes.len() < 256 << 10, "all blocks are one job: {}", bytes.len());
    for thread_count in [1, 3] {
        let (found, told) = print(&file, JSON, everything(), thread_count);
        assert_eq!((lsns(&found), told.len()), ((1..=90).collect(), 0));
    }
}

#[test]
fn a_summary_counts_rows_and_gaps() {
    let place = Place::new();
    let mut bytes = HEAD.as_bytes().to_vec();
    let ten = |first: i64, space: u32| -> Vec<u8> {
        let rows = (first..first + 10).flat_map(|lsn| row(RowKind::Insert, lsn, space, &tuple(1, "x")));
        raw_block(COMPRESSED, &rows.collect::<Vec<u8>>())
    };
    for (first, space) in [(3, 600), (13, 601), (30, 600), (40, 602)] {
        bytes.extend(ten(first, space));
    }
    bytes.extend(tarantool::END);
    let file = place.file("x", &bytes);
    for thread_count in [1, 2, 7] {
        let summary = summarise(&file, thread_count);
        assert_eq!((summary.row_count, summary.block_count, summary.is_closed), (40, 4, true));
        let spaces: Vec<_> = summary.spaces.iter().map(|(id, rows)| (id.unwrap(), rows.row_count)).collect();
        assert_eq!(spaces, [(600, 20), (601, 10), (602, 10)]);
        let replica = &summary.replicas[&1];
        assert_eq!((replica.lsns, replica.gap_count), ((3, 49), 2));
        assert_eq!(replica.gaps, [(1, 2), (23, 29)]);
        assert!(summary.unpacked_bytes > summary.stored_bytes);
    }
}

#[test]
fn definitions_come_from_the_snapshot_and_the_logs_between() {
    let place = Place::new();
    let defines =
        |lsn: i64, field: &str| raw_block(PLAIN, &row(RowKind::Insert, lsn, 280, &definition(field)));
    let snap = format!("SNAP\n0.13\nVClock: {{1: {}}}\n\n", 5);
    let with_end = |parts: &[&[u8]]| [parts.concat(), tarantool::END.to_vec()].concat();
    place.file("00000000000000000005.snap", &with_end(&[snap.as_bytes(), &defines(0, "old")]));
    let log = |lsn: i64| format!("XLOG\n0.13\nVClock: {{1: {lsn}}}\n\n");
    place.file("00000000000000000005.xlog", &with_end(&[log(5).as_bytes(), &defines(6, "new")]));
    let name_at = |lsn: i64| {
        let file = place.file(&format!("{lsn:020}.xlog"), &with_end(&[log(lsn).as_bytes()]));
        let directory = place.0.path();
        let formats = definitions_before(&disk::RealDisk, &file, directory);
        formats.map(|formats| {
            formats.map(|formats| String::from_utf8(formats.get(600).unwrap().field_keys.concat()).unwrap())
        })
    };
    assert_eq!(name_at(6).unwrap().unwrap(), "\"new\":");
    assert!(name_at(4).unwrap().is_none(), "there is no snapshot before it");
    place.file("00000000000000000005.xlog", &with_end(&[log(5).as_bytes(), &[1, 2, 3], &defines(6, "new")]));
    let error = name_at(6).unwrap_err().to_string();
    assert!(error.contains("00000000000000000005.xlog is damaged at byte"), "{error}");
    assert!(open_rows(&disk::RealDisk, Path::new("/nowhere")).is_err());
}
