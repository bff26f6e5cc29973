//! A tuple as JSON: an object if its fields have names, else an array.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::json::{JsonWriter, put_whole};
use crate::error::Damage;
use crate::msgpack::{Class, Reader};

/// Appends the tuple at the reader's position. `keys` are the names of its first fields as keys of an object,
/// with their colons; without any it is an array. Further fields have their numbers, from 1, as keys.
pub(crate) fn put_named_tuple(
    values: &mut JsonWriter,
    reader: &mut Reader,
    keys: &[Vec<u8>],
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    if keys.is_empty() || reader.peek()? != Class::Array {
        return values.put(reader, out);
    }
    let count = reader.array_len()?;
    out.push(b'{');
    for number in 0..count {
        if number > 0 {
            out.push(b',');
        }
        put_field_key(keys, number, out);
        values.put(reader, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends the key of a field, with its colon. `number` counts from 0.
pub(crate) fn put_field_key(keys: &[Vec<u8>], number: u32, out: &mut Vec<u8>) {
    match keys.get(number as usize) {
        Some(key) => out.extend_from_slice(key),
        None => {
            out.push(b'"');
            put_whole(&u64::from(number).saturating_add(1), out);
            out.extend_from_slice(b"\":");
        }
    }
}
