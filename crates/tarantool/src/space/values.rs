//! Reads the values that definitions consist of.
//!
//! Input: msgpack. Output: numbers, text and options. Does not know what they define.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::msgpack::{Class, Reader, Result};

/// Reads field `field` of a tuple as a number of 32 bits.
pub(super) fn number(tuple: &[u8], field: u64) -> Result<u32> {
    let mut reader = Reader::new(tuple);
    if u64::from(reader.array_len()?) <= field {
        return Err(reader.damage("a definition lacks its number"));
    }
    reader.skip_many(field)?;
    small(&mut reader)
}

/// Reads a number of 32 bits.
pub(super) fn small(reader: &mut Reader) -> Result<u32> {
    let damage = reader.damage("a definition's number is over 32 bits");
    u32::try_from(reader.uint()?).map_err(|_| damage)
}

/// Reads a value as true or not.
pub(super) fn is_true(value: &mut Reader) -> Result<bool> {
    Ok(value.peek()? == Class::Boolean && value.boolean()?)
}

/// Passes each pair of a map to `take`, with a reader of its own for the value.
pub(super) fn each_option<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(&'a [u8], &mut Reader<'a>) -> std::result::Result<(), Damage>,
) -> Result<()> {
    if reader.peek()? != Class::Map {
        reader.skip()?;
        return Ok(());
    }
    for _ in 0..reader.map_len()? {
        let key = if reader.peek()? == Class::String {
            reader.str()?
        } else {
            reader.skip()?;
            b""
        };
        let mut value = *reader;
        reader.skip()?;
        take(key, &mut value)?;
    }
    Ok(())
}

/// Returns text; what is not UTF-8 becomes U+FFFD.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
