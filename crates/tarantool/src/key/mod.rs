//! Key parts as bytes that sort as Tarantool sorts the values.
//!
//! Input: a msgpack value and the type of its key part. Output: *normalised* bytes; comparing them byte by
//! byte gives the result of Tarantool's comparison. Nothing here knows where in a tuple the value is.
//!
//! | type | bytes |
//! |---|---|
//! | unsigned | 8, the highest first |
//! | integer | 8 as for a signed number, and 8 more after the largest of them |
//! | number, double, decimal | see `number.rs` |
//! | string, varbinary | unchanged |
//! | string with a collation | the sort key; see `collation.rs` |
//! | boolean | 0 or 1 |
//! | uuid | its 16 |
//! | datetime | seconds as a signed number, then nanoseconds |
//! | scalar | the number of the value's class, then the value |
//!
//! A part that may be nil has a 0 for nil, or a 1 and the value. A descending part has the bytes of an
//! ascending one, made such that none is the beginning of another, and then inverted. Some rules of Tarantool
//! 2.6 and later may surprise: nil comes first; NaN comes before all other numbers, even minus infinity; -0.0
//! equals 0; numbers of different kinds are compared exactly, so 2^53 + 1 as an integer is between two
//! neighbouring doubles. Where Tarantool has no consistent order, there is one here: Tarantool treats NaN as
//! equal to every number in an index of doubles, and compares decimals with doubles by 15 digits of the
//! double.

mod collation;
mod normalise;
mod number;
mod text;

pub use collation::{COLLATION_DATA, Collation, CollationDefinition};
pub(crate) use normalise::is_nil;
pub use normalise::{PartKind, PartType, normalise_missing, normalise_part};
pub(crate) use number::put_decimal;
pub use number::put_number;
pub use text::{normalise_text, value_of_text, values_of_text};
