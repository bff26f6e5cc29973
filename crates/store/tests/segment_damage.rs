//! Damaged segments: a cut and a flipped byte anywhere give an error or the same answers, never a wrong
//! answer or a panic.
//!
//! Each flip is tested twice: alone, where a checksum finds it, and with all checksums corrected, where only
//! the checks of each structure are left. A wrong value is acceptable then; a panic, a hang or unlimited
//! memory is not.

use crate::segment_by_hand::{HandMade, Section, block_table, u32s};
use crate::segment_support::{
    FORMS, any_row, check_answers, path, read_row, rows_of, schema, twin_of, values, write_in, write_sorted,
};
use disk::Disk;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::ops::Bound;
use std::sync::Arc;
use store::format::{
    CHUNK_BYTES, KIND_SEGMENT, SEALED_VERSION, SECTION_BLOB, SECTION_BLOCK_TABLE, SECTION_BLOCKS,
    SECTION_FIXED, SECTION_HASH_BUCKETS, SECTION_HASH_GROUPS, SECTION_OFFSETS_SMALL, SECTION_ORDER_HINTS,
    SECTION_ORDER_ROWS, SECTION_PACKED, SECTION_PACKED_TABLE, TRAILER_BYTES, TRAILER_VERSION_OFFSET,
};
use store::{
    Column, ColumnSlice, Error, Form, Index, IndexKind, Kind, PayloadReader, Rows, Schema, SealedWriter,
    Segment, Source, Value, sort_by_primary, write_segment,
};
use testkit::{Random, SimDisk};

type Row = crate::segment_support::Row;

fn sample() -> (Vec<u8>, Vec<Row>) {
    sample_in(Form::Plain)
}

fn sample_in(form: Form) -> (Vec<u8>, Vec<Row>) {
    let (disk, schema) = (SimDisk::new(1), schema());
    let tree = proptest::collection::vec(any_row(), 30).new_tree(&mut TestRunner::deterministic());
    let list = tree.unwrap().current();
    write_in(form, &disk, &schema, &[&rows_of(&schema, &list)]);
    (disk.read(path()).unwrap(), twin_of(&schema, &list))
}

fn open(bytes: &[u8]) -> store::Result<Segment> {
    let disk = SimDisk::new(1);
    disk.put(path(), bytes);
    Segment::open(&disk, path(), &schema())
}

/// Runs every query once and ignores the answers.
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
        let _ = write_segment(&disk, path(), &schema, &[segment], (sorted.order(), Form::Plain));
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
    FORMS.into_iter().for_each(check_flips);
}

fn check_flips(form: Form) {
    let (bytes, twin) = sample_in(form);
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
    // So small a file is one or two chunks, so no query can be answered.
    assert_eq!(answers, 0);
}

/// Writes a new frame around damaged content, so that its checksums are right.
fn reframe(content: &[u8]) -> Vec<u8> {
    let disk = SimDisk::new(1);
    let mut writer = SealedWriter::create(&disk, path(), KIND_SEGMENT).unwrap();
    writer.write(content).unwrap();
    writer.finish().unwrap();
    disk.read(path()).unwrap()
}

#[test]
fn damage_under_correct_checksums_never_panics() {
    FORMS.into_iter().for_each(damage_under_correct_checksums);
}

fn damage_under_correct_checksums(form: Form) {
    let (bytes, twin) = sample_in(form);
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

/// The expected error text, and a way to damage the segment made by hand.
type Damaging = (&'static str, fn(&mut HandMade));

const REFUSED: [Damaging; 31] = [
    ("section 1 of 1 at byte 0 stands where", |made| made.section(SECTION_FIXED).owner = 1),
    ("section 4 of 1 at byte 128 stands where", |made| made.section(SECTION_BLOB).shift = 64),
    ("stands where section 1 of 0", |made| made.sections.swap(0, 1)),
    ("more sections than the schema asks for", |made| {
        made.sections.push(Section { tag: 1, owner: 9, bytes: vec![], detail: 0, shift: 0, padding: 0 });
        made.footer_end[0] += 1;
    }),
    ("section 11 of 1 is missing", |made| {
        made.sections.pop();
        made.footer_end[0] -= 1;
    }),
    ("do not follow one another", |made| made.footer_end[0] += 2),
    ("do not follow one another", |made| made.footer_end[7] = 0xff),
    ("reserved bytes are not zero", |made| made.footer_end[20] = 1),
    ("with 4294967295 rows", |made| made.row_count = u32::MAX),
    ("section 1 of 0 cannot have 2 bytes", |made| made.row_count = 3),
    ("section 1 of 0 cannot have 2 bytes and 7", |made| made.section(SECTION_FIXED).detail = 7),
    ("section 10 of 1 cannot have 63 bytes", |made| made.section(SECTION_HASH_BUCKETS).bytes.truncate(63)),
    ("0 of 1 buckets are homes", |made| made.section(SECTION_HASH_BUCKETS).detail = 0),
    ("2 of 1 buckets are homes", |made| made.section(SECTION_HASH_BUCKETS).detail = 2),
    ("cannot have 8 bytes", |made| made.section(SECTION_BLOCK_TABLE).bytes.truncate(8)),
    ("row 1 lies outside of its column", |made| made.section(SECTION_OFFSETS_SMALL).bytes = u32s(&[0, 2, 7])),
    ("row 0 lies outside of its column", |made| made.section(SECTION_OFFSETS_SMALL).bytes = u32s(&[3, 2, 6])),
    ("an index names row 2 of 2", |made| made.section(SECTION_ORDER_ROWS).bytes = u32s(&[0, 2])),
    ("an index names row 7 of 2", |made| made.section(SECTION_HASH_BUCKETS).bytes[16] = 7),
    ("value 0 is outside of a section of 0 bytes", |made| {
        made.section(SECTION_HASH_BUCKETS).bytes[19] = 0x80;
    }),
    ("value 2 is outside of a section of 8 bytes", |made| {
        // A group without an end mark.
        made.section(SECTION_HASH_BUCKETS).bytes[16..24].copy_from_slice(&u32s(&[1 << 31, 1 << 31]));
        made.section(SECTION_HASH_GROUPS).bytes = u32s(&[0, 0]);
    }),
    ("no block has row 0", |made| {
        made.section(SECTION_BLOCK_TABLE).bytes = block_table(&[(0, 1, 5), (6, 2, 0)]);
    }),
    ("no block has row 0", |made| {
        made.section(SECTION_BLOCK_TABLE).bytes = block_table(&[(0, 0, 5), (7, 2, 0)]);
    }),
    ("5 bytes were decompressed, not 6", |made| {
        made.section(SECTION_BLOCK_TABLE).bytes = block_table(&[(0, 0, 6), (6, 2, 0)]);
    }),
    ("the limit is", |made| {
        made.section(SECTION_BLOCK_TABLE).bytes = block_table(&[(0, 0, u32::MAX), (6, 2, 0)]);
    }),
    ("3 bytes for rows that have 4", |made| made.section(SECTION_BLOCKS).bytes[2] = 3),
    ("version 1 has no packed numbers", |made| {
        made.pack_keys();
        made.version = 1;
    }),
    ("section 12 of 0 cannot have 63 bytes", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED).bytes.truncate(63);
    }),
    ("section 13 of 0 cannot have 32 bytes", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED_TABLE).bytes.extend([0; 16]);
    }),
    ("block 0 of packed numbers has no such form", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED_TABLE).bytes[12] = 65;
    }),
    ("value 8 is outside of a section of 64 bytes", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED_TABLE).bytes[8] = 2;
    }),
];

#[test]
fn each_structure_is_checked_besides_its_checksum() {
    for (number, (expected, damage)) in REFUSED.into_iter().enumerate() {
        let (disk, mut made) = (SimDisk::new(1), HandMade::sample());
        damage(&mut made);
        let said = match made.open(&disk) {
            Err(error) => vec![error],
            Ok(segment) => ask_all(&segment),
        };
        let said: Vec<String> = said.iter().map(ToString::to_string).collect();
        let is_said = said.iter().any(|message| message.contains(expected));
        assert!(is_said, "{number}: {said:?} should say {expected}");
        assert!(
            said.iter().all(|message| message.starts_with("/table.segment is damaged at byte ")),
            "{said:?}"
        );
    }
}

/// Runs every query on the segment made by hand, and returns all errors.
fn ask_all(segment: &Segment) -> Vec<Error> {
    let mut reader = PayloadReader::new();
    let mut found = Vec::new();
    let mut errors = Vec::new();
    for row in 0..2 {
        errors.extend(segment.value(0, row).err());
        errors.extend(segment.bytes(1, row).err());
        errors.extend(segment.payload(2, row, &mut reader).err());
        errors.extend(segment.rows_at(0, row..row + 1).err());
    }
    for key in [3, 5] {
        errors.extend(segment.find(0, &[Value::U8(key)], &mut found).err());
        errors.extend(segment.find(1, &[Value::U8(key)], &mut found).err());
    }
    errors
}

/// Damage that only a full verification finds.
const UNNOTICED: [Damaging; 18] = [
    ("padding is not zero", |made| made.section(SECTION_BLOB).padding = 1),
    ("row 1 does not come after row 0", |made| made.section(SECTION_FIXED).bytes = vec![5, 3]),
    ("row 1 does not come after row 0", |made| made.section(SECTION_FIXED).bytes = vec![5, 5]),
    ("places run from 1 to 6 in 6 bytes", |made| made.section(SECTION_OFFSETS_SMALL).bytes[0] = 1),
    ("places run from 0 to 5 in 6 bytes", |made| made.section(SECTION_OFFSETS_SMALL).bytes[8] = 5),
    ("the blocks do not follow one another", |made| {
        made.section(SECTION_BLOCKS).bytes.push(0);
    }),
    ("row 1 is in an index twice", |made| made.section(SECTION_ORDER_ROWS).bytes = u32s(&[1, 1])),
    ("position 1 of index ordered is out of order", |made| {
        made.section(SECTION_ORDER_ROWS).bytes = u32s(&[1, 0]);
        made.section(SECTION_ORDER_HINTS).bytes.rotate_left(8);
    }),
    ("the hint at position 1 of index ordered is wrong", |made| {
        made.section(SECTION_ORDER_HINTS).bytes[15] = 6;
    }),
    ("an index has 1 rows of 2", |made| made.section(SECTION_HASH_BUCKETS).bytes[1] = 0),
    ("is not found by its key in index hash", |made| made.section(SECTION_HASH_BUCKETS).bytes[0] ^= 0x40),
    ("is not found by its key in index hash", |made| {
        // The row is in a later bucket, and no overflow bit leads there.
        let bucket = made.section(SECTION_HASH_BUCKETS);
        let later = bucket.bytes.clone();
        bucket.bytes.fill(0);
        bucket.bytes.extend(later);
    }),
    ("groups of rows that no slot names", |made| {
        made.section(SECTION_HASH_BUCKETS).bytes[1] = 0;
        let alone = made.section(SECTION_HASH_BUCKETS).bytes[16];
        made.section(SECTION_HASH_GROUPS).bytes = u32s(&[u32::from(1 - alone) | 1 << 31]);
    }),
    ("is not found by its key in index hash", |made| {
        // One key's group contains both rows.
        made.section(SECTION_HASH_BUCKETS).bytes[1] = 0;
        made.section(SECTION_HASH_BUCKETS).bytes[16..20].copy_from_slice(&u32s(&[1 << 31]));
        made.section(SECTION_HASH_GROUPS).bytes = u32s(&[0, 1 | 1 << 31]);
    }),
    ("block 0 of packed numbers does not follow the one before", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED).bytes.rotate_right(32);
        made.section(SECTION_PACKED).bytes.extend([0; 32]);
        made.section(SECTION_PACKED_TABLE).bytes[8] = 1;
    }),
    ("packed blocks do not fill their section", |made| {
        made.pack_keys();
        made.section(SECTION_PACKED).bytes.extend([0; 32]);
    }),
    ("block 0 of packed numbers has numbers that no column has", |made| {
        // A row after the last one.
        made.pack_keys();
        made.section(SECTION_PACKED).bytes[16] = 1;
    }),
    ("block 0 of packed numbers has numbers that no column has", |made| {
        // The same lowest bits, and more.
        made.pack_keys();
        made.section(SECTION_PACKED_TABLE).bytes[1] = 1;
    }),
];

#[test]
fn verify_finds_damage_that_reads_do_not_notice() {
    for (number, (expected, damage)) in UNNOTICED.into_iter().enumerate() {
        let (disk, mut made) = (SimDisk::new(1), HandMade::sample());
        damage(&mut made);
        let said: Vec<String> = made.open(&disk).unwrap().verify().iter().map(ToString::to_string).collect();
        assert!(
            said.iter().any(|message| message.contains(expected)),
            "{number}: {said:?} should say {expected}"
        );
    }
}

/// A file of many chunks, one of them damaged: queries that read it fail, and all others answer right.
#[test]
fn a_damaged_chunk_never_gives_a_wrong_answer() {
    let schema = Arc::new(Schema {
        name: "ids".into(),
        columns: vec![
            Column { name: "id".into(), kind: Kind::Id },
            Column { name: "number".into(), kind: Kind::U32 },
        ],
        primary: vec![0],
        indexes: vec![
            Index { name: "id".into(), kind: IndexKind::Hash, unique: true, columns: vec![0] },
            Index { name: "number".into(), kind: IndexKind::Ordered, unique: true, columns: vec![1] },
        ],
    });
    let mut random = Random::new(5);
    let mut rows = Rows::new(&schema);
    for number in 0..12_000 {
        let mut id = [0; 32];
        random.fill(&mut id);
        rows.push(&[Value::Id(&id), Value::U32(number)]).unwrap();
    }
    let disk = SimDisk::new(1);
    let clean = write_sorted(&disk, &schema, &[&rows]);
    let bytes = disk.read(path()).unwrap();
    let ids = clean.ids(0, 0..12_000).unwrap();
    let numbers = clean.u32s(1, 0..12_000).unwrap();
    let chunk_count = bytes.len() / CHUNK_BYTES;
    assert!(chunk_count >= 8);
    for chunk in 0..chunk_count {
        let damaged = SimDisk::new(1);
        damaged.put(path(), &bytes);
        damaged.flip(path(), chunk * CHUNK_BYTES + 5_000);
        let segment = Segment::open(&damaged, path(), &schema).unwrap();
        let (mut found, mut errors) = (Vec::new(), 0);
        for row in (0..12_000_u32).step_by(7) {
            let (id, number) = (Value::Id(&ids[row as usize]), Value::U32(numbers[row as usize]));
            let by_key = segment.primary_find(&[id]);
            errors += u32::from(by_key.map(|found| assert_eq!(found, Some(row))).is_err());
            let value = segment.u32s(1, row..row + 1);
            errors += u32::from(value.map(|found| assert_eq!(found, &numbers[row as usize..][..1])).is_err());
            for (index, key) in [(0, id), (1, number)] {
                found.clear();
                let done = segment.find(index, &[key], &mut found);
                errors += u32::from(done.map(|()| assert_eq!(found, [row])).is_err());
            }
        }
        assert!(errors > 0, "chunk {chunk} was never met");
        found.clear();
        let mut pairs = Vec::new();
        let batch = segment.find_batch(0, &[ColumnSlice::Id(ids)], &mut pairs);
        assert!(batch.is_err() || pairs.iter().all(|&(number, row)| number == row) && pairs.len() == 12_000);
    }
}

#[test]
fn a_newer_version_is_reported() {
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
