//! Values of tuples as text: JSON, YAML and Lua, and the words for decimals, UUIDs, times and intervals.
//!
//! Input: msgpack. Output: bytes that are appended to a buffer. Does not know rows or spaces.
//!
//! - [`JsonWriter`] writes JSON, to be read or to be read back.
//! - `yaml` and `lua` write what `tarantoolctl cat` prints, byte for byte. Both need `lua_table`: the order
//!   in which Lua passes through a map is that of its hash table.
//! - `extension` has the words for values that msgpack has no type for.

mod civil;
mod emitter;
mod extension;
mod json;
pub(crate) mod lua;
mod lua_table;
mod number;
mod printable;
mod tuple;
pub(crate) mod yaml;

use crate::error::Damage;
pub(crate) use civil::exact_time_of_text;
pub use civil::{seconds_of_text, time_of_seconds};
pub(crate) use extension::{put_datetime, put_interval};
pub use json::{JsonStyle, JsonWriter, put_json_text};
pub(crate) use json::{put_double, put_whole};
pub(crate) use tuple::{put_field_key, put_named_tuple};

/// Values nested deeper than this cannot be printed as YAML or Lua.
pub const DEPTH_MAX: usize = 512;

/// Fails if a value is nested too deeply.
fn check_depth(depth: usize) -> Result<(), Damage> {
    if depth > DEPTH_MAX {
        return Err(Damage::new(0, "a value is nested deeper than 512 levels"));
    }
    Ok(())
}

/// Turns round the steps from `begin` on: the last one is taken first.
fn reverse<T>(steps: &mut [T], begin: usize) {
    if let Some(new) = steps.get_mut(begin..) {
        new.reverse();
    }
}
