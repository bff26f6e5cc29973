//! Tables of rows in sorted, sealed, mapped segments, with a short journal in front.
//!
//! Comes in: schemas, rows, keys. Goes out: rows that survived a crash. Must not know what the rows mean. The formats are in
//! docs/FORMAT.md.

mod column;
mod cursor;
mod dead;
mod error;
pub mod format;
mod journal;
pub mod limits;
mod manifest;
mod names;
mod payload;
mod policy;
mod rows;
mod schema;
mod sealed;
mod segment;
mod segment_write;
mod value;

pub use column::{BytesSlice, ColumnSlice, Offsets};
pub use error::{Damage, Error, Result};
pub use payload::PayloadReader;
pub use rows::Rows;
pub use schema::{Codec, Column, Index, IndexKind, Kind, Schema};
pub use sealed::{Sealed, SealedWriter};
pub use segment::Segment;
pub use segment_write::{Order, RowRef, SegmentWritten, Sorted, Source, sort_by_primary, write_segment};
pub use value::{OwnedValue, Value, compare_prefix, hash, hint, hint_last, in_range, normalise, order_i64};
