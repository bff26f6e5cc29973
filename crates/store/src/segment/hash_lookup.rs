//! The positions of a segment's hash indexes, prepared for look-ups when the segment is opened.
//!
//! Input: a schema and a layout. Output: the sections of each hash index. Reads nothing.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::format::BUCKET_BYTES;
use crate::schema::{Index, Kind, Schema};
use crate::segment::layout::{ColumnLayout, IndexLayout, Layout, Section};

/// The positions of the parts of a hash index.
pub(crate) struct HashIndex {
    pub(crate) columns: Box<[u16]>,
    pub(crate) buckets: Section,
    pub(crate) bucket_count: u64,
    pub(crate) home_count: u64,
    pub(crate) groups: Section,
    /// The column that has the keys, if they are ids. Ids are by far the most frequent keys, and are compared
    /// directly.
    pub(crate) ids: Option<Section>,
}

impl HashIndex {
    /// Returns the hash indexes of a segment by their number; `None` for an ordered index.
    pub(crate) fn all_of(schema: &Schema, layout: &Layout) -> Box<[Option<HashIndex>]> {
        let of_index = |(index, place): (&Index, &IndexLayout)| {
            let IndexLayout::Hash { buckets, home_count, groups } = *place else { return None };
            let bucket_count = buckets.length.checked_div(BUCKET_BYTES as u64)?;
            let ids = match index.columns.as_slice() {
                [column] => id_section(schema, layout, usize::from(*column)),
                _ => None,
            };
            Some(HashIndex {
                columns: index.columns.as_slice().into(),
                buckets,
                bucket_count,
                home_count,
                groups,
                ids,
            })
        };
        schema.indexes.iter().zip(&layout.indexes).map(of_index).collect()
    }
}

/// Returns the section of a column if its values are ids.
fn id_section(schema: &Schema, layout: &Layout, column: usize) -> Option<Section> {
    match (schema.kind(column)?, layout.columns.get(column)?) {
        (Kind::Id, ColumnLayout::Ids(section)) => Some(*section),
        _ => None,
    }
}
