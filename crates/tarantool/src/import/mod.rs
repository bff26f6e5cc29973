//! Takes rows of other programs into a space: makes tuples of JSON and of text, and adds them to what was
//! recovered.
//!
//! Input: values as text, and the format of the space. Output: tuples that fit the format. Does not know
//! where the values come from, or what becomes of the tuples.

mod add;
mod definition;
mod field_type;
mod tuple;
mod value;

pub use add::{Addition, EachTuple, OnConflict, import};
pub use definition::NewSpace;
pub use tuple::TupleMaker;
