//! Spaces and their indexes, as the system spaces `_space` and `_index` define them.
//!
//! Input: tuples of these two, from a snapshot or a log. Output: the definition of a space at that time, and
//! which parts of it cannot be represented. Nothing here knows how rows are stored.
//!
//! Tuples of every version are read: `{field, type}` and `{field = .., type = ..}` as parts, options as a map
//! or as a list of numbers followed by the parts, flags as a map or as text.

mod collations;
mod definition;
pub mod entries;
mod formats;
mod parse;
mod spaces;
mod system;
pub mod table;
mod values;

pub use definition::{Engine, Field, Part, Space, SpaceIndex};
pub use formats::{Formats, SpaceFormat};
pub use spaces::{SPACE_COLLATION, SPACE_INDEX, SPACE_SPACE, SPACE_SYSTEM_MAX, SPACE_TRUNCATE, Spaces};
