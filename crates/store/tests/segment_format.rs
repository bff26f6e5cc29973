//! The segment's format: bytes are where docs/FORMAT.md says, and files of all versions still open.
//!
//! Reads the bytes without the crate's readers.
//!
//! `UPDATE=1` rewrites the file of the newest version. Files of older versions never change.

use crate::segment_by_hand::HandMade;
use crate::segment_support::{Row, check_answers, path, rows_of, schema, twin_of, write_in, write_sorted};
use disk::Disk;
use std::path::PathBuf;
use std::sync::Arc;
use store::format::{
    BLOCK_ENTRY_BYTES, BLOCK_FIRST_ROW_OFFSET, BUCKET_BYTES, CHUNK_BYTES, ENTRY_BYTES, ENTRY_DETAIL_OFFSET,
    ENTRY_LENGTH_OFFSET, ENTRY_OWNER_OFFSET, ENTRY_SECTION_OFFSET, ENTRY_START_OFFSET, FOOTER_BYTES,
    FOOTER_DIRECTORY_OFFSET, FOOTER_ROW_COUNT_OFFSET, FOOTER_SCHEMA_LENGTH_OFFSET, FOOTER_SCHEMA_OFFSET,
    FOOTER_SECTION_COUNT_OFFSET, FOOTER_VERSION_OFFSET, KIND_SEGMENT, SEALED_MAGIC, SEALED_VERSION,
    SECTION_BLOCK_TABLE, SECTION_FIXED, SECTION_HASH_BUCKETS, SECTION_OFFSETS_LARGE, SECTION_OFFSETS_SMALL,
    SECTION_ORDER_ROWS, SECTION_PACKED, SECTION_PACKED_TABLE, SEGMENT_VERSION, SEGMENT_VERSION_PLAIN,
    TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET, TRAILER_CONTENT_LENGTH_OFFSET, TRAILER_KIND_OFFSET,
    TRAILER_MAGIC_OFFSET, TRAILER_NAME_OFFSET, TRAILER_TABLE_CHECKSUM_OFFSET, TRAILER_VERSION_OFFSET,
};
use store::{Codec, Column, Form, Kind, OwnedValue, Schema, Segment, Value};
use testkit::SimDisk;
use xxhash_rust::xxh3::xxh3_64;

/// The rows of the files in `testdata/format`. They must never change.
fn golden_rows() -> Vec<Row> {
    let text = |number: u32| OwnedValue::Bytes("word ".repeat(number as usize % 9).into_bytes());
    (0..50_u32)
        .map(|n| {
            let byte = u8::try_from(n * 37 % 256).unwrap();
            let mut row = vec![
                OwnedValue::U32(n * 7 % 50),
                OwnedValue::Bytes(vec![byte; n as usize % 5]),
                OwnedValue::I64(i64::from(n % 10) - 5),
                OwnedValue::Id([byte; 32]),
                OwnedValue::U8(byte % 4),
                OwnedValue::U16(u16::from(byte) * 257),
                OwnedValue::U64(u64::from(n) << 40),
            ];
            row.extend((0..7).map(|column| text(n + column)));
            row
        })
        .collect()
}

/// Directories with a file of each pair of versions, of segments and of sealed files, the newest last, and
/// how many columns of the schema they have: codecs were added without a new version.
const GOLDEN: [(&str, usize); 4] =
    [("v1", 13), ("sealed-v3", 13), ("dictionary-blocks", 14), ("segment-v2", 14)];

fn golden_path(directory: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format");
    root.join(directory).join("all_kinds.seg")
}

#[test]
fn files_of_all_versions_still_open_and_answer() {
    let (disk, schema, rows) = (SimDisk::new(1), schema(), golden_rows());
    write_in(Form::Packed, &disk, &schema, &[&rows_of(&schema, &rows)]);
    let newest = golden_path(GOLDEN[GOLDEN.len() - 1].0);
    assert_eq!((SEGMENT_VERSION, SEALED_VERSION), (2, 3), "a new version has a directory of its own");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(newest.parent().unwrap()).unwrap();
        std::fs::write(&newest, disk.read(path()).unwrap()).unwrap();
    }
    for (version, column_count) in GOLDEN {
        let columns = schema.columns[..column_count].to_vec();
        let schema = Arc::new(Schema { columns, ..(*schema).clone() });
        let rows: Vec<Row> = rows.iter().map(|row| row[..column_count].to_vec()).collect();
        disk.put(path(), &std::fs::read(golden_path(version)).unwrap());
        let segment = Segment::open(&disk, path(), &schema).unwrap();
        assert!(segment.verify().is_empty(), "version {version}");
        check_answers(&segment, &twin_of(&schema, &rows), &rows[..5]).unwrap();
    }
}

fn number<const WIDTH: usize>(bytes: &[u8], offset: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..WIDTH].copy_from_slice(&bytes[offset..offset + WIDTH]);
    u64::from_le_bytes(wide)
}

fn place(bytes: &[u8], offset: usize) -> usize {
    usize::try_from(number::<8>(bytes, offset)).unwrap()
}

/// Checks the frame by the format page, and returns the content.
fn check_frame(file: &[u8]) -> &[u8] {
    let (before, trailer) = file.split_at(file.len() - TRAILER_BYTES);
    assert_eq!(&trailer[TRAILER_MAGIC_OFFSET..][..8], SEALED_MAGIC);
    assert_eq!(number::<4>(trailer, TRAILER_VERSION_OFFSET), u64::from(SEALED_VERSION));
    assert_eq!(number::<4>(trailer, TRAILER_KIND_OFFSET), u64::from(KIND_SEGMENT));
    let content_length = place(trailer, TRAILER_CONTENT_LENGTH_OFFSET);
    let table = &before[content_length.next_multiple_of(64)..];
    let content = &before[..content_length];
    let checksums: Vec<u64> = content.chunks(CHUNK_BYTES).map(xxh3_64).collect();
    assert_eq!(table.chunks(8).map(|entry| number::<8>(entry, 0)).collect::<Vec<u64>>(), checksums);
    assert_eq!(number::<8>(trailer, TRAILER_TABLE_CHECKSUM_OFFSET), xxh3_64(table));
    let name = path().file_name().unwrap().as_encoded_bytes();
    assert_eq!(number::<8>(trailer, TRAILER_NAME_OFFSET), xxh3_64(name));
    assert_eq!(number::<8>(trailer, TRAILER_CHECKSUM_OFFSET), xxh3_64(&trailer[..TRAILER_CHECKSUM_OFFSET]));
    content
}

#[test]
fn a_segment_has_the_documented_layout() {
    let (disk, schema, rows) = (SimDisk::new(1), schema(), golden_rows());
    write_sorted(&disk, &schema, &[&rows_of(&schema, &rows)]);
    let file = disk.read(path()).unwrap();
    let content = check_frame(&file);
    let footer = &content[content.len() - FOOTER_BYTES..];
    assert_eq!(number::<4>(footer, FOOTER_VERSION_OFFSET), u64::from(SEGMENT_VERSION_PLAIN));
    assert_eq!(number::<4>(footer, FOOTER_ROW_COUNT_OFFSET), 50);
    let schema_bytes =
        &content[place(footer, FOOTER_SCHEMA_OFFSET)..][..place(footer, FOOTER_SCHEMA_LENGTH_OFFSET)];
    assert_eq!(Schema::decode(schema_bytes).as_ref(), Ok(&*schema));
    let directory = &content[place(footer, FOOTER_DIRECTORY_OFFSET)..];
    let section_count = place(footer, FOOTER_SECTION_COUNT_OFFSET);
    let mut seen = Vec::new();
    for entry in directory.chunks_exact(ENTRY_BYTES).take(section_count) {
        let tag = u32::try_from(number::<4>(entry, ENTRY_SECTION_OFFSET)).unwrap();
        let owner = number::<4>(entry, ENTRY_OWNER_OFFSET);
        let section = &content[place(entry, ENTRY_START_OFFSET)..][..place(entry, ENTRY_LENGTH_OFFSET)];
        assert!(tag == SECTION_HASH_BUCKETS || number::<8>(entry, ENTRY_DETAIL_OFFSET) == 0);
        check_section(tag, owner, section);
        seen.push((tag, owner));
    }
    assert_eq!(seen.len(), section_count);
    assert_eq!(&seen[..4], [(1, 0), (4, 1), (2, 1), (1, 2)]);
    assert_eq!(&seen[seen.len() - 4..], [(8, 7), (9, 7), (8, 8), (9, 8)]);
}

fn check_section(tag: u32, owner: u64, section: &[u8]) {
    match (tag, owner) {
        // The first column is the most significant one of the primary key.
        (SECTION_FIXED, 0) => {
            let values: Vec<u64> = section.chunks(4).map(|value| number::<4>(value, 0)).collect();
            assert_eq!(values, (0..50).collect::<Vec<u64>>());
        }
        (SECTION_OFFSETS_SMALL, 1) => {
            assert_eq!((section.len(), number::<4>(section, 0)), (4 * 51, 0));
        }
        (SECTION_BLOCK_TABLE, _) => assert!(section.len().is_multiple_of(BLOCK_ENTRY_BYTES)),
        (SECTION_ORDER_ROWS, _) => assert_eq!(section.len(), 4 * 50),
        (SECTION_HASH_BUCKETS, 0) => {
            // 50 keys, 9 in each bucket.
            assert_eq!(section.len(), 6 * BUCKET_BYTES);
            let used = section
                .chunks(BUCKET_BYTES)
                .map(|bucket| bucket[..12].iter().filter(|&&tag| tag != 0).count());
            assert_eq!(used.sum::<usize>(), 50);
        }
        _ => {}
    }
}

#[test]
fn packed_numbers_have_the_documented_layout() {
    let schema = table_of(&[Kind::U64]);
    // 300 numbers, 5 apart, from 1000 on: 11 bits each in the first block, 8 in the second.
    let list: Vec<Row> = (0..300_u64).map(|n| vec![OwnedValue::U64(1000 + 5 * n)]).collect();
    let disk = SimDisk::new(1);
    write_in(Form::Packed, &disk, &schema, &[&rows_of(&schema, &list)]);
    let file = disk.read(path()).unwrap();
    let content = check_frame(&file);
    let footer = &content[content.len() - FOOTER_BYTES..];
    assert_eq!(number::<4>(footer, FOOTER_VERSION_OFFSET), u64::from(SEGMENT_VERSION));
    let directory = &content[place(footer, FOOTER_DIRECTORY_OFFSET)..];
    let mut sections = directory.chunks_exact(ENTRY_BYTES).take(2).map(|entry| {
        let tag = u32::try_from(number::<4>(entry, ENTRY_SECTION_OFFSET)).unwrap();
        (tag, &content[place(entry, ENTRY_START_OFFSET)..][..place(entry, ENTRY_LENGTH_OFFSET)])
    });
    let (blocks, table) = (sections.next().unwrap(), sections.next().unwrap());
    assert_eq!((blocks.0, blocks.1.len()), (SECTION_PACKED, (11 + 8) * 32));
    assert_eq!((table.0, table.1.len()), (SECTION_PACKED_TABLE, 2 * 16));
    let entries = [(1000_u64, 0_u32, 11_u8), (2280, 11, 8)];
    for (entry, (base, start, width)) in table.1.chunks(16).zip(entries) {
        let expected = [&base.to_le_bytes()[..], &start.to_le_bytes(), &[width, 0, 0, 0]].concat();
        assert_eq!(entry, expected);
    }
    // Row 26 is number 6 of lane 2: bits 66 to 76, in the lane's second word.
    let word = number::<8>(blocks.1, 32 + 2 * 8);
    assert_eq!((word >> 2) & 0x7ff, 5 * 26);
}

fn table_of(kinds: &[Kind]) -> Arc<Schema> {
    let column = |(number, &kind): (usize, &Kind)| Column { name: format!("c{number}"), kind };
    let columns = kinds.iter().enumerate().map(column).collect();
    Arc::new(Schema { name: "t".into(), columns, primary: vec![0], indexes: Vec::new() })
}

/// More rows than one batch holds. The ends of blocks must not depend on the ends of batches.
#[test]
fn a_block_ends_with_the_row_that_fills_it() {
    let schema = table_of(&[Kind::U32, Kind::Payload(Codec::Lz4 { block_bytes: 65_536 })]);
    let list: Vec<Row> =
        (0..90_000).map(|n| vec![OwnedValue::U32(n), OwnedValue::Bytes(vec![b'x'; 100])]).collect();
    let disk = SimDisk::new(1);
    write_sorted(&disk, &schema, &[&rows_of(&schema, &list)]);
    let file = disk.read(path()).unwrap();
    let content = check_frame(&file);
    let footer = &content[content.len() - FOOTER_BYTES..];
    let directory = &content[place(footer, FOOTER_DIRECTORY_OFFSET)..];
    let entry =
        directory.chunks(ENTRY_BYTES).find(|entry| number::<4>(entry, 0) == u64::from(SECTION_BLOCK_TABLE));
    let entry = entry.unwrap();
    let table = &content[place(entry, ENTRY_START_OFFSET)..][..place(entry, ENTRY_LENGTH_OFFSET)];
    let first_rows: Vec<u64> =
        table.chunks(BLOCK_ENTRY_BYTES).map(|entry| number::<4>(entry, BLOCK_FIRST_ROW_OFFSET)).collect();
    let (last, full) = first_rows.split_last().unwrap();
    let rows_per_block = 65_536_u64.div_ceil(104);
    assert!(full.iter().zip(0..).all(|(&first_row, block)| first_row == block * rows_per_block), "{full:?}");
    assert_eq!(*last, 90_000);
}

/// The layout of a column of 4 GiB or more, but small.
#[test]
fn large_offsets_are_read() {
    let (disk, mut made) = (SimDisk::new(1), HandMade::sample());
    made.replace(SECTION_OFFSETS_SMALL, SECTION_OFFSETS_LARGE, &[0_u64, 2, 6].map(u64::to_le_bytes).concat());
    let segment = made.open(&disk).unwrap();
    assert!(segment.verify().is_empty(), "{:?}", segment.verify());
    assert_eq!((segment.bytes(1, 0).unwrap(), segment.bytes(1, 1).unwrap()), (&b"ab"[..], &b"cdef"[..]));
    let column = segment.column(1).unwrap();
    assert_eq!(column.value(1), Some(Value::Bytes(b"cdef")));
    assert_eq!((column.len(), column.value(2)), (2, None));
    disk.remove(path()).unwrap();
    let again = write_sorted(&disk, segment.schema(), &[&segment]);
    assert_eq!(again.bytes(1, 1).unwrap(), b"cdef");
}

#[test]
fn a_segment_made_by_hand_equals_that_of_the_writer() {
    let (disk, made) = (SimDisk::new(1), HandMade::sample());
    let segment = made.open(&disk).unwrap();
    assert!(segment.verify().is_empty(), "{:?}", segment.verify());
    let by_hand = disk.read(path()).unwrap();
    disk.remove(path()).unwrap();
    let row = |key, bytes: &[u8], payload: &[u8]| {
        vec![OwnedValue::U8(key), OwnedValue::Bytes(bytes.to_vec()), OwnedValue::Bytes(payload.to_vec())]
    };
    let list = [row(5, b"cdef", b"yz"), row(3, b"ab", b"x")];
    write_sorted(&disk, segment.schema(), &[&rows_of(segment.schema(), &list)]);
    assert_eq!(disk.read(path()).unwrap(), by_hand);
}
