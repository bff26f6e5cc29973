//! Damaged segments: a cut and a flipped byte anywhere give an error or the same answers, never a wrong answer or a panic.
//!
//! Comes in: a small segment, cut or flipped. Goes out: failures. Must not know how a segment is laid out.
//!
//! Each flip is tried twice: as it is, where checksums find it; and with all checksums made to fit it, where only the checks
//! of each structure are left. Then a wrong value is no wonder; a panic, a hang or memory without bound would be.

use crate::segment_support::{
    any_row, check_answers, path, read_row, rows_of, schema, twin_of, values, write_sorted,
};
use disk::Disk;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::ops::Bound;
use store::format::{KIND_SEGMENT, SEALED_VERSION, TRAILER_BYTES, TRAILER_VERSION_OFFSET};
use store::{Error, IndexKind, PayloadReader, SealedWriter, Segment, Source, sort_by_primary, write_segment};
use testkit::SimDisk;

type Row = crate::segment_support::Row;

fn sample() -> (Vec<u8>, Vec<Row>) {
    let (disk, schema) = (SimDisk::new(1), schema());
    let tree = proptest::collection::vec(any_row(), 30).new_tree(&mut TestRunner::deterministic());
    let list = tree.unwrap().current();
    write_sorted(&disk, &schema, &[&rows_of(&schema, &list)]);
    (disk.read(path()).unwrap(), twin_of(&schema, &list))
}

fn open(bytes: &[u8]) -> store::Result<Segment> {
    let disk = SimDisk::new(1);
    disk.put(path(), bytes);
    Segment::open(&disk, path(), &schema())
}

/// Asks everything once and forgets the answers.
fn touch_everything(segment: &Segment, questions: &[Row]) {
    let schema = schema();
    let mut reader = PayloadReader::new();
    for row in 0..segment.row_count().min(100) {
        let _ = read_row(segment, row, &mut reader);
    }
    for column in 0..schema.columns.len() {
        let _ = segment.column(column);
    }
    let mut found = Vec::new();
    for row in questions {
        let key = crate::segment_support::key_of(row, &schema.primary);
        let _ = segment.primary_find(&values(&key));
        for (number, index) in schema.indexes.iter().enumerate() {
            let key = crate::segment_support::key_of(row, &index.columns);
            let _ = segment.find(number, &values(&key), &mut found);
            if index.kind == IndexKind::Ordered {
                let _ = segment.index_range(number, Bound::Included(&values(&key)), Bound::Unbounded);
            }
        }
    }
    let _ = segment.verify();
    let disk = SimDisk::new(2);
    if let Ok(sorted) = sort_by_primary(&schema, &[segment as &dyn Source], &|_| true) {
        let _ = write_segment(&disk, path(), &schema, &[segment], sorted.order());
    }
}

#[test]
fn a_cut_file_is_never_opened() {
    let (bytes, _) = sample();
    for length in (0..bytes.len()).step_by(13).chain([bytes.len() - 1]) {
        let refused = open(&bytes[..length]).unwrap_err();
        assert!(matches!(refused, Error::Corrupt { .. }), "cut at {length}: {refused}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(open(&longer).unwrap_err(), Error::Corrupt { .. }));
}

#[test]
fn a_flipped_byte_is_found() {
    let (bytes, twin) = sample();
    let mut answers = 0;
    for offset in (0..bytes.len()).step_by(7).chain(bytes.len() - TRAILER_BYTES..bytes.len()) {
        let mut flipped = bytes.clone();
        flipped[offset] ^= 1 << (offset % 8);
        let outcome = open(&flipped).and_then(|segment| {
            let damage = segment.verify();
            assert_eq!(damage.len(), 1, "byte {offset}: {damage:?}");
            check_answers(&segment, &twin, &twin[..3])
        });
        match outcome {
            Err(Error::Corrupt { .. }) => {}
            Err(other) => panic!("byte {offset}: {other}"),
            Ok(()) => answers += 1,
        }
    }
    // All of so small a file is one chunk or two: nothing can be answered from it.
    assert_eq!(answers, 0);
}

/// Frames damaged content anew, so that its checksums fit.
fn reframe(content: &[u8]) -> Vec<u8> {
    let disk = SimDisk::new(1);
    let mut writer = SealedWriter::create(&disk, path(), KIND_SEGMENT).unwrap();
    writer.write(content).unwrap();
    writer.finish().unwrap();
    disk.read(path()).unwrap()
}

#[test]
fn damage_behind_fitting_checksums_never_panics() {
    let (bytes, twin) = sample();
    let disk = SimDisk::new(1);
    disk.put(path(), &bytes);
    let sealed = store::Sealed::open(&disk, path(), KIND_SEGMENT).unwrap();
    let content = sealed.range(0..sealed.content_length()).unwrap();
    assert_eq!(reframe(content), bytes);
    for offset in (0..content.len()).step_by(13) {
        let mut flipped = content.to_vec();
        flipped[offset] ^= if offset % 2 == 0 { 1 << (offset % 8) } else { 0xff };
        if let Ok(segment) = open(&reframe(&flipped)) {
            touch_everything(&segment, &twin[..5]);
        }
    }
}

#[test]
fn verify_finds_what_checksums_cannot_say() {
    let (bytes, _) = sample();
    let disk = SimDisk::new(1);
    disk.put(path(), &bytes);
    let sealed = store::Sealed::open(&disk, path(), KIND_SEGMENT).unwrap();
    let content = sealed.range(0..sealed.content_length()).unwrap();
    let (mut found, mut tried) = (0, 0);
    for offset in (0..content.len()).step_by(11) {
        let mut flipped = content.to_vec();
        flipped[offset] ^= 0x10;
        tried += 1;
        found += u32::from(open(&reframe(&flipped)).map_or(true, |segment| !segment.verify().is_empty()));
    }
    // Values outside of keys are believed: nothing beside their checksum knows them.
    assert!(found * 10 > tried * 6, "{found} of {tried}");
}

#[test]
fn a_newer_version_is_said() {
    let (mut bytes, _) = sample();
    let trailer = bytes.len() - TRAILER_BYTES;
    let version = SEALED_VERSION + 1;
    bytes[trailer + TRAILER_VERSION_OFFSET..][..4].copy_from_slice(&version.to_le_bytes());
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[trailer..bytes.len() - 8]);
    let end = bytes.len();
    bytes[end - 8..].copy_from_slice(&checksum.to_le_bytes());
    let refused = open(&bytes).unwrap_err();
    assert!(matches!(refused, Error::Version { found, .. } if found == version), "{refused}");
    assert!(refused.to_string().contains("use a newer program"));
}
