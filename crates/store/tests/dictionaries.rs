//! Which dictionary compresses a segment's payloads: its own, or that of a segment with at least as many
//! rows.

use crate::support::{directory, options, shared, values};
use disk::Disk;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::format::{
    ENTRY_BYTES, ENTRY_LENGTH_OFFSET, FOOTER_BYTES, FOOTER_DIRECTORY_OFFSET, SECTION_DICTIONARY,
    TRAILER_BYTES, TRAILER_CONTENT_LENGTH_OFFSET,
};
use store::{
    Codec, Column, Kind, OwnedValue, PRIMARY, PayloadReader, Rows, Schema, Snapshot, Transaction, Value,
    Writer,
};
use testkit::SimDisk;

/// The first bytes of a dictionary.
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
/// As many bytes as distinguish dictionaries: number and tables.
const TOLD_BYTES: usize = 128;

/// Bytes of a block: rows compressed on their own, and blocks of a few rows.
const BLOCK_BYTES: [u32; 2] = [0, 400];

fn schema(block_bytes: u32) -> Schema {
    let text = Codec::ZstdDictionary { level: 3, dictionary_bytes: 1024, block_bytes };
    let column = |name: &str, kind| Column { name: name.into(), kind };
    Schema {
        name: "sentences".into(),
        columns: vec![column("number", Kind::U32), column("text", Kind::Payload(text))],
        primary: vec![0],
        indexes: Vec::new(),
    }
}

/// Sentences from a few words. Each `kind` has its own words.
fn sentence(number: u32, kind: u32) -> Vec<u8> {
    let word = |place: u32| {
        let chosen = number.wrapping_mul(2_654_435_761).rotate_left(place * 5) % 24;
        format!("word-{kind}-{chosen}-{}", chosen * chosen * 977)
    };
    (0..6).map(word).collect::<Vec<_>>().join(" ").into_bytes()
}

/// Adds sentences as a new segment.
fn add(disk: &SimDisk, block_bytes: u32, numbers: Range<u32>, kind: u32) {
    let schema = schema(block_bytes);
    let mut writer =
        Writer::open_or_create(&shared(disk), directory(), std::slice::from_ref(&schema), options(1))
            .unwrap();
    let mut rows = Rows::new(&Arc::new(schema));
    for number in numbers {
        let row = [OwnedValue::U32(number), OwnedValue::Bytes(sentence(number, kind))];
        rows.push(&values(&row)).unwrap();
    }
    let mut transaction = Transaction::new();
    transaction.put(rows);
    writer.commit(transaction).unwrap();
}

/// Returns the segment files that are not in `before`.
fn new_files(disk: &SimDisk, before: &[PathBuf]) -> Vec<PathBuf> {
    let is_new = |path: &PathBuf| path.extension().is_some_and(|end| end == "seg") && !before.contains(path);
    disk.files().into_iter().filter(is_new).collect()
}

/// Adds sentences, and returns the file that contains them.
fn added(disk: &SimDisk, block_bytes: u32, numbers: Range<u32>, kind: u32) -> PathBuf {
    let before = disk.files();
    add(disk, block_bytes, numbers, kind);
    let [file] = &new_files(disk, &before)[..] else { panic!("not one new segment") };
    file.clone()
}

/// Returns where a segment's dictionary begins.
fn dictionary_at(disk: &SimDisk, file: &Path) -> usize {
    let bytes = disk.read(file).unwrap();
    bytes.windows(4).position(|window| window == DICTIONARY_MAGIC).unwrap()
}

fn dictionary(disk: &SimDisk, file: &Path) -> Vec<u8> {
    let at = dictionary_at(disk, file);
    disk.read(file).unwrap()[at..at + TOLD_BYTES].to_vec()
}

fn assert_holds(disk: &SimDisk, file_numbers: Range<u32>, kind: u32) {
    let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
    let table = snapshot.table("sentences").unwrap();
    let mut reader = PayloadReader::new();
    for number in file_numbers {
        let row = table.get(PRIMARY, &[Value::U32(number)]).unwrap().unwrap();
        let text = table.part(row).payload(1, row.row, &mut reader).unwrap();
        assert_eq!(text, sentence(number, kind), "{number}");
    }
}

#[test]
fn a_small_segment_takes_the_dictionary_of_a_larger_one() {
    for block_bytes in BLOCK_BYTES {
        let disk = SimDisk::new(1);
        let large = added(&disk, block_bytes, 0..2000, 1);
        let small = added(&disk, block_bytes, 2000..2100, 2);
        assert_eq!(dictionary(&disk, &small), dictionary(&disk, &large));
        assert_holds(&disk, 0..2000, 1);
        assert_holds(&disk, 2000..2100, 2);
    }
}

/// Returns how long a segment's dictionary is, from its directory.
fn dictionary_length(disk: &SimDisk, file: &Path) -> u64 {
    let bytes = disk.read(file).unwrap();
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let content = number(bytes.len() - TRAILER_BYTES + TRAILER_CONTENT_LENGTH_OFFSET);
    let footer = usize::try_from(content).unwrap() - FOOTER_BYTES;
    let directory = usize::try_from(number(footer + FOOTER_DIRECTORY_OFFSET)).unwrap();
    let mut entries = bytes[directory..footer].chunks_exact(ENTRY_BYTES);
    let found = entries.position(|entry| entry[..4] == SECTION_DICTIONARY.to_le_bytes()).unwrap();
    number(directory + found * ENTRY_BYTES + ENTRY_LENGTH_OFFSET)
}

#[test]
fn a_dictionary_of_few_rows_is_small() {
    for block_bytes in BLOCK_BYTES {
        let disk = SimDisk::new(1);
        let few = added(&disk, block_bytes, 0..90, 1);
        let many = added(&disk, block_bytes, 100..1100, 1);
        let sample_bytes: usize = (0..90).map(|number| sentence(number, 1).len()).sum();
        let (few, many) = (dictionary_length(&disk, &few), dictionary_length(&disk, &many));
        assert!((1..=sample_bytes as u64 / 16).contains(&few), "{few} of {sample_bytes}");
        assert!(few < 700 && (700..=1024).contains(&many), "{few} {many}");
        assert_holds(&disk, 0..90, 1);
    }
}

#[test]
fn the_largest_segment_makes_its_own_dictionary() {
    for block_bytes in BLOCK_BYTES {
        let disk = SimDisk::new(1);
        let small = added(&disk, block_bytes, 0..500, 1);
        let large = added(&disk, block_bytes, 500..1500, 2);
        assert_ne!(dictionary(&disk, &small), dictionary(&disk, &large));
        assert_holds(&disk, 500..1500, 2);
    }
}

#[test]
fn a_segment_of_16385_rows_makes_its_own_dictionary() {
    for block_bytes in BLOCK_BYTES {
        let disk = SimDisk::new(1);
        let first = added(&disk, block_bytes, 0..16_385, 1);
        let second = added(&disk, block_bytes, 20_000..36_385, 2);
        assert_ne!(dictionary(&disk, &first), dictionary(&disk, &second));
        let third = added(&disk, block_bytes, 40_000..56_384, 3);
        assert!([first, second].iter().any(|lender| dictionary(&disk, lender) == dictionary(&disk, &third)));
    }
}

#[test]
fn a_damaged_dictionary_is_not_reused() {
    for block_bytes in BLOCK_BYTES {
        let disk = SimDisk::new(1);
        let large = added(&disk, block_bytes, 1000..65_000, 1);
        // Far from the bytes that opening the file reads.
        disk.flip(&large, dictionary_at(&disk, &large) + TOLD_BYTES / 2);
        let small = added(&disk, block_bytes, 0..500, 2);
        assert_ne!(dictionary(&disk, &small), dictionary(&disk, &large));
        assert_holds(&disk, 0..500, 2);
    }
}
