//! Files of vinyl made for tests, also such as Tarantool never writes.
//!
//! Input: records and rows. Output: the bytes of files, with checksums that fit. Does not know what they
//! mean.

use crate::file::block::{END, PLAIN, checksum};
use crate::file::header::{FileKind, FormatVersion, Header};
use crate::file::row::{Body, Row, RowKind, put_body, put_row};
use crate::msgpack::{put_array_len, put_bin, put_map_len, put_uint};
use crate::vclock::VClock;

/// A page of a run.
#[derive(Clone, Debug, Default)]
pub struct MadePage {
    /// Its rows, one after the other.
    pub rows: Vec<u8>,
    /// How many rows there are, as the index says.
    pub row_count: u64,
    /// Its first key as msgpack, as the index says.
    pub first_key: Vec<u8>,
}

/// Returns a block that is not compressed.
pub fn block(payload: &[u8]) -> Vec<u8> {
    let number = |number: u32| [&[0xce][..], &number.to_be_bytes()].concat();
    let length = number(u32::try_from(payload.len()).unwrap_or(u32::MAX));
    [&PLAIN[..], &length, &number(0), &number(checksum(payload)), payload].concat()
}

/// Returns a file: header, blocks and end mark.
pub fn file(kind: FileKind, clock: &VClock, blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut header = Header::empty(kind, FormatVersion::V013);
    header.vclock = clock.clone();
    [header.text().as_bytes(), &blocks.concat(), &END].concat()
}

/// Returns a row.
pub fn row(kind: RowKind, lsn: i64, body: &Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_body(&mut bytes, body);
    raw_row(kind, lsn, &bytes)
}

/// Returns a row with the bytes of a body.
pub fn raw_row(kind: RowKind, lsn: i64, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let body = Body { bytes: body, ..Body::default() };
    let (replica, timestamp, group, flags) = (0, 0.0, 0, 0);
    put_row(&mut out, &Row { kind, replica, lsn, timestamp, group, tsn: lsn, is_commit: true, flags, body });
    out
}

/// Returns a row of vinyl's log: the number of its kind, its numbers by property, and its keys by property.
pub fn record(kind: u64, numbers: &[(u64, u64)], keys: &[(u64, &[u8])]) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 2);
    put_uint(&mut tuple, kind);
    put_map_len(&mut tuple, u32::try_from(numbers.len() + keys.len()).unwrap_or(0));
    for &(property, number) in numbers {
        put_uint(&mut tuple, property);
        put_uint(&mut tuple, number);
    }
    for (property, key) in keys {
        put_uint(&mut tuple, *property);
        tuple.extend_from_slice(key);
    }
    row(RowKind::Insert, 0, &Body { tuple: Some(&tuple), ..Body::default() })
}

/// Returns the two files of a run: that with the rows, and its index.
pub fn run(pages: &[MadePage]) -> (Vec<u8>, Vec<u8>) {
    let head = file(FileKind::Run, &VClock::default(), &[]).len() - END.len();
    let (mut blocks, mut at) = (Vec::new(), head);
    let mut index = raw_row(RowKind::Other(100), 0, &map(&[(5, pages.len() as u64)]));
    for page in pages {
        let mut payload = page.rows.clone();
        let mut offsets = Vec::new();
        put_map_len(&mut offsets, 1);
        put_uint(&mut offsets, 1);
        put_bin(&mut offsets, &vec![0; usize::try_from(page.row_count.min(1000)).unwrap_or(0) * 4]);
        payload.extend(raw_row(RowKind::Other(102), 0, &offsets));
        let page_block = block(&payload);
        let numbers = [(1, at as u64), (2, page_block.len() as u64), (4, page.row_count)];
        let mut info = map(&numbers);
        info[0] += 1;
        put_uint(&mut info, 5);
        info.extend_from_slice(&page.first_key);
        index.extend(raw_row(RowKind::Other(101), 0, &info));
        at += page_block.len();
        blocks.push(page_block);
    }
    let (none, index_block) = (VClock::default(), block(&index));
    (file(FileKind::Run, &none, &blocks), file(FileKind::RunIndex, &none, &[index_block]))
}

fn map(numbers: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_map_len(&mut out, u32::try_from(numbers.len()).unwrap_or(0));
    for &(key, number) in numbers {
        put_uint(&mut out, key);
        put_uint(&mut out, number);
    }
    out
}
