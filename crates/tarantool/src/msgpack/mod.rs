//! msgpack: reads values out of untrusted bytes, and writes them as short as possible.
//!
//! Input and output are bytes, numbers, slices and lengths; damage is a [`Damage`](crate::Damage) with its
//! position. Nothing here knows what the values mean.
//!
//! A [`Reader`] never panics and never recurses: it counts nested values, so no depth overflows the stack. It
//! accepts numbers of every width; only the shortest form is written.

mod read;
mod skip;
mod write;

pub use read::{Class, Number, Reader, Result};
pub use write::{
    put_array_len, put_bin, put_boolean, put_double, put_ext, put_float, put_int, put_map_len, put_nil,
    put_str, put_uint,
};
