//! A tiny segment, built section by section as docs/FORMAT.md describes it, so that tests can damage it in
//! ways that no writer would.
//!
//! Must not use the crate's writer of segments.

use crate::segment_support::path;
use std::sync::Arc;
use store::format::{
    FOOTER_BYTES, KIND_SEGMENT, SECTION_BLOB, SECTION_BLOCK_TABLE, SECTION_BLOCKS, SECTION_FIXED,
    SECTION_HASH_BUCKETS, SECTION_HASH_GROUPS, SECTION_OFFSETS_SMALL, SECTION_ORDER_HINTS,
    SECTION_ORDER_ROWS, SECTION_PACKED, SECTION_PACKED_TABLE, SEGMENT_VERSION, SEGMENT_VERSION_PLAIN,
};
use store::{Codec, Column, Index, IndexKind, Kind, Schema, SealedWriter, Segment, Value, hash_key};
use testkit::SimDisk;

/// A segment with two rows: (3, "ab", "x") and (5, "cdef", "yz").
pub(crate) struct HandMade {
    pub(crate) schema: Arc<Schema>,
    pub(crate) version: u32,
    pub(crate) row_count: u32,
    pub(crate) sections: Vec<Section>,
    /// The footer, from the section count on.
    pub(crate) footer_end: Vec<u8>,
}

pub(crate) struct Section {
    pub(crate) tag: u32,
    pub(crate) owner: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) detail: u64,
    /// Added to the section's start in the directory.
    pub(crate) shift: u64,
    /// The byte that fills the gap between this section and the next one.
    pub(crate) padding: u8,
}

fn schema() -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, kind| Index { name: name.into(), kind, unique: false, columns: vec![0] };
    Arc::new(Schema {
        name: "by_hand".into(),
        columns: vec![
            column("key", Kind::U8),
            column("bytes", Kind::Bytes),
            column("payload", Kind::Payload(Codec::Lz4 { block_bytes: 1000 })),
        ],
        primary: vec![0],
        indexes: vec![index("ordered", IndexKind::Ordered), index("hash", IndexKind::Hash)],
    })
}

/// Returns a bucket with the sample's keys in the order of their hashes.
fn bucket() -> Vec<u8> {
    let mut keys = [(3, 0_u32), (5, 1)].map(|(key, row)| (hash_key(&[Value::U8(key)]), row));
    keys.sort_unstable();
    let mut bucket = vec![0; 64];
    for (slot, (hash, row)) in keys.into_iter().enumerate() {
        bucket[slot] = u8::try_from(hash & 0xff).unwrap().max(1);
        bucket[16 + 4 * slot..][..4].copy_from_slice(&row.to_le_bytes());
    }
    bucket
}

/// Returns the little-endian bytes of numbers.
pub(crate) fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Returns a block table. Each entry is (start, first row, length).
pub(crate) fn block_table(entries: &[(u64, u32, u32)]) -> Vec<u8> {
    let bytes =
        |&(start, row, length): &(u64, u32, u32)| [&start.to_le_bytes()[..], &u32s(&[row, length])].concat();
    entries.iter().flat_map(bytes).collect()
}

impl HandMade {
    pub(crate) fn sample() -> HandMade {
        let hints = [3_u64 << 56, 5 << 56].map(u64::to_le_bytes).concat();
        // The lengths of both rows, then the rows, as LZ4: a token for 5 literals, then the literals.
        let block = [0x50, 1, 2, b'x', b'y', b'z'];
        let sections = [
            (SECTION_FIXED, 0, vec![3, 5], 0),
            (SECTION_BLOB, 1, b"abcdef".to_vec(), 0),
            (SECTION_OFFSETS_SMALL, 1, u32s(&[0, 2, 6]), 0),
            (SECTION_BLOCKS, 2, block.to_vec(), 0),
            (SECTION_BLOCK_TABLE, 2, block_table(&[(0, 0, 5), (6, 2, 0)]), 0),
            (SECTION_ORDER_ROWS, 0, u32s(&[0, 1]), 0),
            (SECTION_ORDER_HINTS, 0, hints, 0),
            (SECTION_HASH_BUCKETS, 1, bucket(), 1),
            (SECTION_HASH_GROUPS, 1, Vec::new(), 0),
        ];
        let section =
            |(tag, owner, bytes, detail)| Section { tag, owner, bytes, detail, shift: 0, padding: 0 };
        let sections: Vec<Section> = sections.map(section).into();
        let mut footer_end = vec![0; FOOTER_BYTES - 32];
        footer_end[0] = u8::try_from(sections.len()).unwrap();
        HandMade { schema: schema(), version: SEGMENT_VERSION_PLAIN, row_count: 2, sections, footer_end }
    }

    pub(crate) fn section(&mut self, tag: u32) -> &mut Section {
        self.sections.iter_mut().find(|section| section.tag == tag).unwrap()
    }

    pub(crate) fn replace(&mut self, tag: u32, new_tag: u32, bytes: &[u8]) {
        let section = self.section(tag);
        section.tag = new_tag;
        section.bytes = bytes.to_vec();
    }

    /// Packs the keys 3 and 5: one bit each, above 3 and without the zero at the end.
    pub(crate) fn pack_keys(&mut self) {
        self.version = SEGMENT_VERSION;
        // The lanes of row 0 and row 1 and two others, one word each. The section is twice as long as needed
        // for one bit, as the width is 2.
        let words = [0_u64, 1, 0, 0, 0, 0, 0, 0];
        self.replace(SECTION_FIXED, SECTION_PACKED, &words.map(u64::to_le_bytes).concat());
        let entry = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0];
        let table = Section {
            tag: SECTION_PACKED_TABLE,
            owner: 0,
            bytes: entry.to_vec(),
            detail: 0,
            shift: 0,
            padding: 0,
        };
        self.sections.insert(1, table);
        self.footer_end[0] += 1;
    }

    /// Writes the segment to [`path`] and opens it.
    pub(crate) fn open(&self, disk: &SimDisk) -> store::Result<Segment> {
        let mut writer = SealedWriter::create(disk, path(), KIND_SEGMENT).unwrap();
        let mut directory = Vec::new();
        for section in &self.sections {
            directory.extend_from_slice(&u32s(&[section.tag, section.owner]));
            let start = writer.position() + section.shift;
            for number in [start, section.bytes.len() as u64, section.detail] {
                directory.extend_from_slice(&number.to_le_bytes());
            }
            writer.write(&section.bytes).unwrap();
            while !writer.position().is_multiple_of(64) {
                writer.write(&[section.padding]).unwrap();
            }
        }
        let schema_start = writer.position();
        let schema_bytes = self.schema.encode();
        writer.write(&schema_bytes).unwrap();
        writer.align().unwrap();
        let directory_start = writer.position();
        writer.write(&directory).unwrap();
        writer.align().unwrap();
        writer.write(&u32s(&[self.version, self.row_count])).unwrap();
        for number in [schema_start, schema_bytes.len() as u64, directory_start] {
            writer.write(&number.to_le_bytes()).unwrap();
        }
        writer.write(&self.footer_end).unwrap();
        writer.finish().unwrap();
        Segment::open(disk, path(), &schema())
    }
}
