//! Blobs of one kind as columns, on their way into a table or kept in memory.
//!
//! Does not depend on how packs are numbered.

use super::tables::blob;
use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::blob::{BlobKind, PackedBlob};
use std::ops::Range;
use std::sync::Arc;
use store::{Rows, Schema, Value, Values};

/// Blobs of one kind, by column. All columns have one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) packs: Vec<u32>,
    pub(super) offsets: Vec<u32>,
    pub(super) ids: Vec<[u8; Id::BYTES]>,
    pub(super) lengths: Vec<u32>,
    pub(super) uncompressed_lengths: Vec<u32>,
}

/// One row, in the order of the columns: and so in the order of primary keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    pub(super) pack: u32,
    pub(super) offset: u32,
    pub(super) id: Id,
    pub(super) length: u32,
    pub(super) uncompressed_length: u32,
}

impl Row {
    /// Returns the row as values of its table.
    pub(super) fn values(&self) -> [Value<'_>; 5] {
        let mut values = [Value::U32(0); 5];
        values[blob::PACK] = Value::U32(self.pack);
        values[blob::OFFSET] = Value::U32(self.offset);
        values[blob::ID] = Value::Id(&self.id.0);
        values[blob::LENGTH] = Value::U32(self.length);
        values[blob::UNCOMPRESSED_LENGTH] = Value::U32(self.uncompressed_length);
        values
    }

    /// Returns the blob without its pack.
    pub(super) fn blob(&self, kind: BlobKind) -> PackedBlob {
        let Row { offset, id, length, uncompressed_length, .. } = *self;
        PackedBlob { kind, id, offset, length, uncompressed_length }
    }
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn push(&mut self, pack: u32, blob: &PackedBlob) {
        self.packs.push(pack);
        self.offsets.push(blob.offset);
        self.ids.push(blob.id.0);
        self.lengths.push(blob.length);
        self.uncompressed_lengths.push(blob.uncompressed_length);
    }

    /// Appends the rows of a batch for a table.
    pub(super) fn append(&mut self, rows: &Rows) {
        self.packs.extend_from_slice(rows.u32s(blob::PACK));
        self.offsets.extend_from_slice(rows.u32s(blob::OFFSET));
        self.ids.extend_from_slice(rows.ids(blob::ID));
        self.lengths.extend_from_slice(rows.u32s(blob::LENGTH));
        self.uncompressed_lengths.extend_from_slice(rows.u32s(blob::UNCOMPRESSED_LENGTH));
    }

    pub(super) fn reserve(&mut self, count: usize) {
        self.packs.reserve_exact(count);
        self.offsets.reserve_exact(count);
        self.ids.reserve_exact(count);
        self.lengths.reserve_exact(count);
        self.uncompressed_lengths.reserve_exact(count);
    }

    /// Frees memory that was reserved but not needed.
    pub(super) fn shrink(&mut self) {
        self.packs.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.uncompressed_lengths.shrink_to_fit();
    }

    /// Returns an existing row.
    pub(super) fn row(&self, index: usize) -> Row {
        Row {
            pack: self.packs[index],
            offset: self.offsets[index],
            id: Id(self.ids[index]),
            length: self.lengths[index],
            uncompressed_length: self.uncompressed_lengths[index],
        }
    }

    /// Returns whether some of these rows and some of those differ only in their pack.
    pub(super) fn same(&self, here: Range<usize>, other: &Columns, there: Range<usize>) -> bool {
        self.offsets[here.clone()] == other.offsets[there.clone()]
            && self.ids[here.clone()] == other.ids[there.clone()]
            && self.lengths[here.clone()] == other.lengths[there.clone()]
            && self.uncompressed_lengths[here] == other.uncompressed_lengths[there]
    }

    /// Keeps the rows for which `is_kept` is true.
    pub(super) fn keep(&mut self, is_kept: &[bool]) {
        fn keep<T>(values: &mut Vec<T>, is_kept: &[bool]) {
            let mut kept = is_kept.iter();
            values.retain(|_| kept.next().copied().unwrap_or(true));
        }
        keep(&mut self.packs, is_kept);
        keep(&mut self.offsets, is_kept);
        keep(&mut self.ids, is_kept);
        keep(&mut self.lengths, is_kept);
        keep(&mut self.uncompressed_lengths, is_kept);
    }

    /// Converts the rows to rows of a table.
    ///
    /// # Errors
    /// If there are more than a batch can hold.
    pub(super) fn into_rows(self, schema: &Arc<Schema>) -> Result<Rows> {
        let columns = vec![
            Values::U32(self.packs),
            Values::U32(self.offsets),
            Values::Id(self.ids),
            Values::U32(self.lengths),
            Values::U32(self.uncompressed_lengths),
        ];
        Ok(Rows::from_columns(schema, columns)?)
    }

    /// Returns how many bytes of memory the rows take.
    pub(super) fn memory_bytes(&self) -> usize {
        let numbers = [&self.packs, &self.offsets, &self.lengths, &self.uncompressed_lengths];
        numbers.map(|numbers| 4 * numbers.capacity()).iter().sum::<usize>() + Id::BYTES * self.ids.capacity()
    }
}
