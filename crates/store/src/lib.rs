//! Tables of rows in sorted, sealed, mapped segments, with a short journal in front.
//!
//! Comes in: schemas, rows, keys. Goes out: rows that survived a crash. Must not know what the rows mean. The formats are in
//! docs/FORMAT.md.

mod codec;
mod column;
mod column_write;
mod cursor;
mod dead;
mod error;
pub mod format;
mod hash_index;
mod heap;
mod iterate;
mod journal;
mod keys;
pub mod limits;
mod load;
mod lookup;
mod manifest;
mod memtable;
mod merge;
mod names;
mod open;
mod options;
mod ordered_index;
mod part;
mod partition;
mod payload;
mod payload_write;
mod policy;
mod publish;
mod radix;
mod resolve;
mod rows;
mod schema;
mod sealed;
mod segment;
mod segment_find;
mod segment_layout;
mod segment_verify;
mod segment_write;
mod snapshot;
mod table;
mod transaction;
mod value;
mod verify;
mod writer;

pub use column::{BytesSlice, ColumnSlice, Offsets};
pub use error::{Damage, Error, Result};
pub use iterate::RowIter;
pub use merge::{MergeOptions, MergeReport, merge, merge_all};
pub use options::{Limits, Options};
pub use part::Part;
pub use payload::PayloadReader;
pub use rows::Rows;
pub use schema::{Codec, Column, Index, IndexKind, Kind, Schema};
pub use sealed::{Sealed, SealedWriter};
pub use segment::Segment;
pub use segment_write::{Order, RowRef, SegmentWritten, Sorted, Source, sort_by_primary, write_segment};
pub use snapshot::{Snapshot, Version};
pub use table::{PRIMARY, RowId, Table};
pub use transaction::Transaction;
pub use value::{
    OwnedValue, Value, compare_prefix, hash, hash_key, hint, hint_last, hint_of, in_range, normalise,
    order_i64,
};
pub use verify::{FileDamage, verify};
pub use writer::Writer;
