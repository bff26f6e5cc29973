//! Tables of rows in sorted, sealed, mapped segments, with a short journal in front.
//!
//! Comes in: schemas, rows, keys. Goes out: rows that survived a crash. Must not know what the rows mean. The formats are in
//! docs/FORMAT.md.

mod column;
mod cursor;
mod error;
pub mod limits;
mod rows;
mod schema;
mod value;

pub use column::{BytesSlice, ColumnSlice, Offsets};
pub use error::{Damage, Error, Result};
pub use rows::Rows;
pub use schema::{Codec, Column, Index, IndexKind, Kind, Schema};
pub use value::{OwnedValue, Value, compare_prefix, hash, hint, hint_last, in_range, normalise, order_i64};
