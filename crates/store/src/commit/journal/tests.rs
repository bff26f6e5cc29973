//! Tests of reading journals that are whole, cut, changed and torn, in both versions.

use super::record::encode_head;
use super::sectors::frame;
use super::{JournalContents, Kill, Record, TableChange, encode_empty, read};
use crate::commit::manifest::JournalIdentity;
use crate::error::{Error, Result};
use crate::format::{
    JOURNAL_HEAD_BYTES, JOURNAL_VERSION, JOURNAL_VERSION_WITHOUT_SECTORS, RECORD_PAYLOAD_OFFSET, SECTOR_BYTES,
};
use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX};
use crate::rows::in_memory::Rows;
use crate::schema::{Column, Kind, Schema};
use crate::value::Value;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const IDENTITY: JournalIdentity =
    JournalIdentity { version: JOURNAL_VERSION, manifest: 7, seed: 99, sequence: 40 };
const IDENTITY_1: JournalIdentity = JournalIdentity { version: JOURNAL_VERSION_WITHOUT_SECTORS, ..IDENTITY };

fn schema() -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    Arc::new(Schema {
        name: "t".into(),
        columns: vec![column("a", Kind::U32), column("b", Kind::Bytes)],
        primary: vec![0],
        indexes: Vec::new(),
    })
}

/// More rows take more sectors: the records with 1, 2 and 30 rows take 1, 1 and 2.
fn record(number: u32) -> Record {
    let mut rows = Rows::new(&schema());
    for row in 0..number {
        rows.push(&[Value::U32(row), Value::Bytes(b"some more bytes")]).unwrap();
    }
    let kills = vec![Kill { part: 0, rows: vec![1, number + 4] }, Kill { part: 3, rows: vec![2] }];
    Record {
        tables: vec![TableChange { table: 0, kills, rows }],
        attachments: [("text".to_owned(), number.to_le_bytes().as_slice().into())].into(),
    }
}

const NUMBERS: [u32; 3] = [1, 2, 30];

/// Returns a journal with three records, and where each begins.
fn sample() -> (Vec<u8>, [usize; 3]) {
    let mut bytes = encode_empty(&IDENTITY);
    let mut sequence = IDENTITY.sequence;
    let starts = NUMBERS.map(|number| {
        let start = bytes.len();
        sequence += 1;
        bytes.extend(record(number).encode(IDENTITY.seed, sequence, start as u64).unwrap());
        start
    });
    (bytes, starts)
}

/// The same in version 1.
fn sample_1() -> (Vec<u8>, [usize; 3]) {
    let mut bytes = encode_empty(&IDENTITY_1);
    let mut sequence = IDENTITY.sequence;
    let starts = NUMBERS.map(|number| {
        let start = bytes.len();
        sequence += 1;
        bytes.extend(record(number).encode_content(IDENTITY.seed, sequence).unwrap());
        start
    });
    (bytes, starts)
}

/// What was read.
#[derive(Debug)]
struct Found {
    records: Vec<Record>,
    valid_bytes: u64,
    torn_bytes: u64,
}

fn read_as(bytes: &[u8], identity: &JournalIdentity) -> Result<Found> {
    let mut records = Vec::new();
    let mut visit = |record: &Record| {
        records.push(record.clone());
        Ok(())
    };
    let contents = read(Path::new("/store/journal-7"), bytes, identity, &[schema()], &mut visit)?;
    let JournalContents { valid_bytes, torn_bytes, .. } = contents;
    Ok(Found { records, valid_bytes, torn_bytes })
}

fn read_bytes(bytes: &[u8]) -> Result<Found> {
    read_as(bytes, &IDENTITY)
}

#[test]
fn records_come_back() {
    for ((bytes, _), identity) in [(sample(), IDENTITY), (sample_1(), IDENTITY_1)] {
        let contents = read_as(&bytes, &identity).unwrap();
        assert_eq!((contents.valid_bytes, contents.torn_bytes), (bytes.len() as u64, 0));
        for (found, number) in contents.records.iter().zip(NUMBERS) {
            let expected = record(number);
            assert_eq!(found.attachments, expected.attachments);
            assert_eq!(found.tables[0].kills, expected.tables[0].kills);
            assert_eq!(found.tables[0].rows.len(), number);
            assert_eq!(found.row_count(), u64::from(number) + 3);
        }
        assert_eq!(contents.records.len(), 3);
    }
}

#[test]
fn small_records_take_a_sector_each() {
    let (bytes, starts) = sample();
    assert_eq!(starts, [512, 1024, 1536]);
    assert_eq!(bytes.len(), 5 * SECTOR_BYTES);
}

#[test]
fn a_cut_gives_the_shorter_prefix_and_a_cut_head_is_damage() {
    for ((bytes, starts), identity, head) in
        [(sample(), IDENTITY, SECTOR_BYTES), (sample_1(), IDENTITY_1, JOURNAL_HEAD_BYTES)]
    {
        for length in 0..bytes.len() {
            let contents = read_as(&bytes[..length], &identity);
            if length < head {
                assert!(contents.unwrap_err().to_string().contains("/store/journal-7"), "cut at {length}");
                continue;
            }
            let contents = contents.unwrap();
            let ends = starts[1..].iter().filter(|&&end| end <= length).count();
            assert_eq!(contents.records.len(), ends, "cut at {length}");
            assert_eq!(contents.valid_bytes + contents.torn_bytes, length as u64);
        }
    }
}

#[test]
fn a_flipped_bit_is_damage_in_the_last_record_too() {
    let (bytes, starts) = sample();
    for offset in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[offset] ^= 1 << bit;
            let error = read_bytes(&damaged).unwrap_err().to_string();
            assert!(error.contains("/store/journal-7"), "{error}");
            if offset >= starts[2] {
                assert!(error.contains("commit 43 was written whole and is damaged"), "{error}");
            }
        }
    }
}

#[test]
fn in_version_1_a_flipped_bit_in_the_last_record_is_the_shorter_prefix() {
    let (bytes, starts) = sample_1();
    for offset in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[offset] ^= 1;
        match read_as(&damaged, &IDENTITY_1) {
            Ok(contents) => {
                assert!(offset >= starts[2], "byte {offset} must be seen");
                assert_eq!((contents.records.len(), contents.valid_bytes), (2, starts[2] as u64));
            }
            Err(error) => assert!(offset < starts[2], "{error}"),
        }
    }
}

/// The possible remains of the last record after a crash.
#[test]
fn any_of_its_sectors_may_be_left_of_a_record_that_was_not_synced() {
    let (bytes, starts) = sample();
    let sectors = (bytes.len() - starts[2]) / SECTOR_BYTES;
    for length in starts[2]..=bytes.len() {
        for kept in 0..1_usize << sectors {
            let mut torn = bytes[..length].to_vec();
            for number in (0..sectors).filter(|number| kept >> number & 1 == 0) {
                let start = starts[2] + number * SECTOR_BYTES;
                let end = (start + SECTOR_BYTES).min(length);
                torn.get_mut(start..end).into_iter().flatten().for_each(|byte| *byte = 0);
            }
            let contents = read_bytes(&torn).unwrap();
            let is_whole = torn == bytes;
            assert_eq!(contents.records.len(), 2 + usize::from(is_whole), "{length} bytes, sectors {kept:b}");
            assert_eq!(contents.torn_bytes, if is_whole { 0 } else { length - starts[2] } as u64);
        }
    }
}

#[test]
fn a_zeroed_record_before_another_is_damage() {
    let (bytes, starts) = sample();
    let mut zeroed = bytes.clone();
    zeroed[starts[1]..starts[2]].fill(0);
    let error = read_bytes(&zeroed).unwrap_err().to_string();
    assert!(error.contains("record 42 before it is damaged, and record 43 is there"), "{error}");
    // Only the second sector of the later record is left. It is beyond the end of the record before it.
    zeroed[starts[1]..starts[2]].copy_from_slice(&bytes[starts[1]..starts[2]]);
    let mut longer = bytes;
    longer.extend(record(30).encode(IDENTITY.seed, 44, longer.len() as u64).unwrap());
    longer[starts[2] + SECTOR_BYTES..starts[2] + 3 * SECTOR_BYTES].fill(0);
    let error = read_bytes(&longer).unwrap_err().to_string();
    assert!(error.contains("record 43 before it is damaged, and a later one is there"), "{error}");
}

#[test]
fn zeros_behind_the_last_record_are_a_torn_tail() {
    let (mut bytes, _) = sample();
    let valid_bytes = bytes.len() as u64;
    bytes.resize(bytes.len() + 1000, 0);
    let contents = read_bytes(&bytes).unwrap();
    assert_eq!((contents.records.len(), contents.valid_bytes, contents.torn_bytes), (3, valid_bytes, 1000));
}

#[test]
fn a_sector_in_the_place_of_another_is_damage() {
    let (bytes, starts) = sample();
    let mut swapped = bytes.clone();
    swapped[starts[0]..starts[2]].rotate_left(SECTOR_BYTES);
    assert!(read_bytes(&swapped).is_err());
    let mut twice = bytes;
    twice.copy_within(starts[0]..starts[1], starts[1]);
    assert!(read_bytes(&twice).is_err());
}

#[test]
fn another_journal_or_another_order_is_damage() {
    let (bytes, starts) = sample();
    for other in [
        JournalIdentity { manifest: 8, ..IDENTITY },
        JournalIdentity { seed: 98, ..IDENTITY },
        JournalIdentity { sequence: 41, ..IDENTITY },
        JournalIdentity { sequence: 39, ..IDENTITY },
        IDENTITY_1,
    ] {
        assert!(matches!(read_as(&bytes, &other), Err(Error::Corrupt { .. })), "{other:?}");
    }
    // The sectors are valid at this place, but belong to another record, written after a state without the
    // second one.
    let mut without_second = bytes[..starts[1]].to_vec();
    without_second.extend(record(30).encode(IDENTITY.seed, 43, starts[1] as u64).unwrap());
    assert!(read_bytes(&without_second).unwrap_err().to_string().contains("record 43 stands where 42"));
    // A sector that is whole and holds no record.
    let mut strange = bytes[..starts[1]].to_vec();
    strange.extend(frame(b"strange", 2, IDENTITY.seed));
    assert!(read_bytes(&strange).unwrap_err().to_string().contains("record 42 is expected here"));
}

#[test]
fn a_newer_version_is_said_as_such() {
    let (mut bytes, _) = sample();
    bytes[8] = 3;
    assert!(matches!(read_bytes(&bytes), Err(Error::Version { found: 3, newest: 2, .. })));
}

#[test]
fn changed_payloads_under_right_checksums_never_panic() {
    let good = record(3).encode_content(IDENTITY.seed, 41).unwrap();
    for offset in RECORD_PAYLOAD_OFFSET..good.len() {
        for value in [0, 1, 2, 0x7f, 0xff] {
            let mut payload = good[RECORD_PAYLOAD_OFFSET..].to_vec();
            payload[offset - RECORD_PAYLOAD_OFFSET] = value;
            let head = encode_head(IDENTITY.seed, 41, &payload);
            let framed = frame(&[&head[..], &payload].concat(), 1, IDENTITY.seed);
            let _ = read_bytes(&[encode_empty(&IDENTITY), framed].concat());
        }
    }
}

#[test]
fn what_no_writer_puts_under_right_checksums_is_damage() {
    let good = record(1).encode_content(IDENTITY.seed, 41).unwrap();
    let with = |content: &[u8]| {
        let framed = frame(content, 1, IDENTITY.seed);
        read_bytes(&[encode_empty(&IDENTITY), framed].concat()).unwrap_err().to_string()
    };
    let filled = [&good[..], &[0, 0, 1]].concat();
    assert!(with(&filled).contains("after record 41 its last sector is not zero"));
    let mut changed = good.clone();
    changed[RECORD_PAYLOAD_OFFSET] ^= 1;
    assert!(with(&changed).contains("the checksum of record 41 does not fit it"));
    // A length that reaches far beyond the end of the file is a torn record, and allocates no memory.
    let mut head = encode_head(IDENTITY.seed, 41, &[]).to_vec();
    head[4..8].copy_from_slice(&(u32::MAX - 7).to_le_bytes());
    let checksum = xxh3_64_with_seed(&head[..24], IDENTITY.seed);
    head[24..32].copy_from_slice(&checksum.to_le_bytes());
    let long = [encode_empty(&IDENTITY), frame(&head, 1, IDENTITY.seed)].concat();
    assert_eq!(read_bytes(&long).unwrap().torn_bytes, SECTOR_BYTES as u64);
}

#[test]
fn limits_are_kept_by_the_writer_and_the_reader() {
    let mut large = record(1);
    let most = usize::try_from(JOURNAL_BYTES_MAX).unwrap();
    large.attachments.insert("large".into(), vec![0; most - 16_000].into());
    // Its bytes would be valid; their sectors are not.
    assert!(matches!(large.encode(1, 1, 512), Err(Error::Limit { what: "bytes in a journal record", .. })));
    large.attachments.insert("large".into(), vec![0; most].into());
    assert!(matches!(large.encode(1, 1, 512), Err(Error::Limit { what: "bytes in a journal record", .. })));
    let many = record(JOURNAL_ROWS_MAX - 2).encode(IDENTITY.seed, 41, SECTOR_BYTES as u64).unwrap();
    let bytes = [encode_empty(&IDENTITY), many].concat();
    assert!(read_bytes(&bytes).unwrap_err().to_string().contains("4097 rows, the limit is 4096"));
    let mut long = sample().0;
    long.resize(most + 8, 0);
    assert!(read_bytes(&long).unwrap_err().to_string().contains("the limit is 1048576"));
}
