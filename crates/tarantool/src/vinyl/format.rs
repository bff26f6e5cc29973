//! Whether a tuple has the fields that the format of its space asks for.
//!
//! Input: a space and a tuple. Output: whether it fits. Vinyl does not read a tuple before it accepts an
//! upsert for it, so it finds out when it reads the upsert whether the result fits, and ignores it if not.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::msgpack::{Class, Reader, Result};
use crate::space::{Field, Space};

/// Numbers of msgpack extensions.
const EXT_DECIMAL: i8 = 1;
const EXT_UUID: i8 = 2;
const EXT_DATETIME: i8 = 4;
const EXT_INTERVAL: i8 = 6;

/// Returns whether a tuple fits the format of a space.
pub(crate) fn fits(space: &Space, tuple: &[u8]) -> bool {
    fits_fields(&space.fields, tuple).unwrap_or(false)
}

fn fits_fields(fields: &[Field], tuple: &[u8]) -> Result<bool> {
    let mut reader = Reader::new(tuple);
    let count = reader.array_len()? as usize;
    for (number, field) in fields.iter().enumerate() {
        if number >= count {
            return Ok(fields.iter().skip(number).all(|field| field.is_nullable));
        }
        let is_nil = reader.peek()? == Class::Nil;
        let is_right = match is_nil {
            true => field.is_nullable || is_any(&field.type_name),
            false => is_of_type(reader, &field.type_name)?,
        };
        if !is_right {
            return Ok(false);
        }
        reader.skip()?;
    }
    Ok(true)
}

fn is_any(type_name: &[u8]) -> bool {
    type_name.is_empty() || type_name == b"*" || type_name.eq_ignore_ascii_case(b"any")
}

/// Returns whether the value at the reader is of a type. An unknown type fits.
fn is_of_type(reader: Reader, type_name: &[u8]) -> Result<bool> {
    let class = reader.peek()?;
    let is_whole = matches!(class, Class::Unsigned | Class::Signed);
    let is_point = matches!(class, Class::Float | Class::Double);
    let ext = match class {
        Class::Extension => Some(Reader::ext(&mut reader.clone())?.0),
        _ => None,
    };
    let is_number = is_whole || is_point || ext == Some(EXT_DECIMAL);
    Ok(match type_name.to_ascii_lowercase().as_slice() {
        b"unsigned" | b"uint" | b"num" => class == Class::Unsigned,
        b"integer" | b"int" => is_whole,
        b"number" => is_number,
        b"double" => class == Class::Double,
        b"decimal" => ext == Some(EXT_DECIMAL),
        b"string" | b"str" => class == Class::String,
        b"varbinary" => class == Class::Binary,
        b"boolean" | b"bool" => class == Class::Boolean,
        b"uuid" => ext == Some(EXT_UUID),
        b"datetime" => ext == Some(EXT_DATETIME),
        b"interval" => ext == Some(EXT_INTERVAL),
        b"array" => class == Class::Array,
        b"map" => class == Class::Map,
        b"scalar" => {
            is_number
                || matches!(class, Class::String | Class::Binary | Class::Boolean)
                || matches!(ext, Some(EXT_UUID | EXT_DATETIME))
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_fits_if_each_field_is_of_its_type() {
        let field = |type_name: &str, is_nullable| Field {
            name: Vec::new(),
            type_name: type_name.as_bytes().to_vec(),
            is_nullable,
        };
        let fields = vec![field("unsigned", false), field("string", true), field("any", false)];
        let space = Space { fields, ..Space::default() };
        let cases: [(&[u8], bool); 9] = [
            (&[0x93, 1, 0xa1, b'a', 0xc3], true),
            (&[0x91, 1], false),
            (&[0x92, 1, 0xc0], false),
            (&[0x94, 1, 0xc0, 0xc0, 5], true),
            (&[0x90], false),
            (&[0x93, 0xff, 0xc0, 1], false),
            (&[0x93, 0xc0, 0xc0, 1], false),
            (&[0x93, 1, 2, 1], false),
            (&[0x93, 1, 0xa1], false),
        ];
        for (tuple, expected) in cases {
            assert_eq!(fits(&space, tuple), expected, "{tuple:x?}");
        }
    }
}
