//! Questions about the tuples of a space: which keys, which conditions, which fields.
//!
//! Input: words that a user types, the definition of a space, its table in a store. Output: rows in the order
//! of an index, and tuples as JSON. Nothing here knows where the store came from.
//!
//! - [`KeyConditions`] become a [`Selection`] of the keys of an index.
//! - An [`Expression`] says for each tuple whether it fits.
//! - A [`TupleWriter`] writes tuples whole, or some of their fields.

mod expression;
mod fields;
mod selection;
mod tuple_writer;

pub use expression::{DEPTH_MAX, EXPRESSION_BYTES_MAX, Expression, ExpressionError};
pub use fields::{FieldPath, field_list};
pub use selection::{Direction, KeyConditions, OpenIndex, Selection};
pub use tuple_writer::{TupleForm, TupleWriter};
