//! Turns values into normalised bytes, by the type of their key part. The documentation of `key` lists the
//! forms.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::collation::Collation;
use super::number::put_number;
use crate::msgpack::{Class, Reader, Result};
use store::Value;

/// The type of a key part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartType {
    /// Whole numbers from 0.
    Unsigned,
    /// Whole numbers.
    Integer,
    /// Numbers of any kind.
    Number,
    /// Numbers with a point.
    Double,
    /// Decimal numbers.
    Decimal,
    /// Text, by its bytes.
    String,
    /// Bytes.
    Varbinary,
    /// False, then true.
    Boolean,
    /// UUIDs, by their bytes.
    Uuid,
    /// Points in time.
    Datetime,
    /// Values of any of these types, by class.
    Scalar,
}

/// What decides how the values of a key part sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartKind {
    /// The type of its values.
    pub part_type: PartType,
    /// Whether a value may be nil or missing.
    pub is_nullable: bool,
    /// Whether the greatest value comes first, and nil last.
    pub is_descending: bool,
    /// The order of text; by its bytes if there is none.
    pub collation: Option<Collation>,
}

/// Returns whether the value of a key column is nil.
pub(crate) fn is_nil(value: Value, kind: &PartKind) -> bool {
    let mut nil = vec![NIL];
    if kind.is_descending {
        descend(&mut nil, 0);
    }
    kind.is_nullable && value == Value::Bytes(&nil)
}

/// Numbers of msgpack extensions.
const EXT_DECIMAL: i8 = 1;
const EXT_UUID: i8 = 2;
const EXT_DATETIME: i8 = 4;

/// The classes of scalars, in Tarantool's order. Class 0 is nil.
pub(super) const CLASS_BOOLEAN: u8 = 1;
pub(super) const CLASS_NUMBER: u8 = 2;
pub(super) const CLASS_STRING: u8 = 3;
const CLASS_BINARY: u8 = 4;
const CLASS_UUID: u8 = 5;
const CLASS_DATETIME: u8 = 6;

/// The byte before a part that may be nil.
pub(super) const NIL: u8 = 0;
pub(super) const VALUE: u8 = 1;

impl PartKind {
    /// Returns the kind of ascending parts of a type that are never nil and have no collation.
    pub fn plain(part_type: PartType) -> PartKind {
        PartKind { part_type, is_nullable: false, is_descending: false, collation: None }
    }

    /// Returns whether values are plain numbers, which the store keeps as numbers. It keeps all other values
    /// as normalised bytes.
    #[inline]
    pub fn is_plain_unsigned(&self) -> bool {
        self.part_type == PartType::Unsigned && !self.is_nullable && !self.is_descending
    }

    /// Returns whether the normalised bytes equal the value's own bytes.
    #[inline]
    pub fn is_plain_string(&self) -> bool {
        self.part_type == PartType::String
            && !self.is_nullable
            && !self.is_descending
            && self.collation.is_none()
    }
}

impl PartType {
    /// Returns the type with this name. Case does not matter, and old names are accepted. `None` if values of
    /// the type have no order here.
    pub fn named(name: &[u8]) -> Option<PartType> {
        let name = name.to_ascii_lowercase();
        Some(match name.as_slice() {
            b"unsigned" | b"uint" | b"num" | b"uint8" | b"uint16" | b"uint32" | b"uint64" => {
                PartType::Unsigned
            }
            b"integer" | b"int" | b"int8" | b"int16" | b"int32" | b"int64" => PartType::Integer,
            b"number" => PartType::Number,
            b"double" | b"float32" | b"float64" => PartType::Double,
            b"decimal" | b"decimal32" | b"decimal64" | b"decimal128" => PartType::Decimal,
            b"string" | b"str" => PartType::String,
            b"varbinary" => PartType::Varbinary,
            b"boolean" | b"bool" => PartType::Boolean,
            b"uuid" => PartType::Uuid,
            b"datetime" => PartType::Datetime,
            b"scalar" => PartType::Scalar,
            _ => return None,
        })
    }
}

/// Reads a value and appends its normalised bytes to `out`. After an error, `out` may have some of them.
///
/// # Errors
/// If the value is not of the type, or cut off.
#[inline]
pub fn normalise_part(reader: &mut Reader, kind: &PartKind, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    if kind.is_nullable && reader.peek()? == Class::Nil {
        out.push(NIL);
        reader.nil()?;
    } else {
        if kind.is_nullable {
            out.push(VALUE);
        }
        normalise_value(reader, kind.part_type, kind.collation.as_ref(), out)?;
    }
    if kind.is_descending {
        descend(out, start);
    }
    Ok(())
}

/// Appends the normalised bytes of a missing value, which counts as nil.
///
/// # Errors
/// If the part may not be nil. The error's position is that of `reader`.
pub fn normalise_missing(reader: &Reader, kind: &PartKind, out: &mut Vec<u8>) -> Result<()> {
    if !kind.is_nullable {
        return Err(reader.damage("a tuple lacks a field of a key"));
    }
    let start = out.len();
    out.push(NIL);
    if kind.is_descending {
        descend(out, start);
    }
    Ok(())
}

/// Turns the bytes from `start` on into bytes that sort the other way round: a zero gets a 255 after it, and
/// two zeros mark the end, so that no bytes are the beginning of others; then every bit is inverted.
pub(super) fn descend(out: &mut Vec<u8>, start: usize) {
    for byte in out.split_off(start) {
        out.push(!byte);
        if byte == 0 {
            out.push(0);
        }
    }
    out.extend_from_slice(&[0xff, 0xff]);
}

/// Appends text in the order of a collation, or by its bytes.
pub(super) fn put_text(text: &[u8], collation: Option<&Collation>, out: &mut Vec<u8>) {
    match collation {
        Some(collation) => collation.put_sort_key(text, out),
        None => out.extend_from_slice(text),
    }
}

fn normalise_value(
    reader: &mut Reader,
    part_type: PartType,
    collation: Option<&Collation>,
    out: &mut Vec<u8>,
) -> Result<()> {
    match part_type {
        PartType::Unsigned => out.extend_from_slice(&reader.uint()?.to_be_bytes()),
        PartType::Integer => put_integer(reader.int()?, out),
        PartType::Number | PartType::Double | PartType::Decimal => put_any_number(reader, out)?,
        PartType::String => put_text(reader.str()?, collation, out),
        PartType::Varbinary => out.extend_from_slice(reader.bin()?),
        PartType::Boolean => out.push(u8::from(reader.boolean()?)),
        PartType::Uuid => put_uuid(reader, out)?,
        PartType::Datetime => put_datetime(reader, out)?,
        PartType::Scalar => put_scalar(reader, collation, out)?,
    }
    Ok(())
}

/// 8 bytes hold a number that fits an `i64`. A larger one follows the largest `i64`.
pub(super) fn put_integer(number: i128, out: &mut Vec<u8>) {
    let low = i64::try_from(number).unwrap_or(i64::MAX);
    out.extend_from_slice(&store::order_i64(low).to_be_bytes());
    let beyond = u64::try_from(number.saturating_sub(i128::from(low))).unwrap_or(0);
    if beyond > 0 {
        out.extend_from_slice(&beyond.to_be_bytes());
    }
}

fn put_any_number(reader: &mut Reader, out: &mut Vec<u8>) -> Result<()> {
    if reader.peek()? == Class::Extension {
        let damage = reader.damage("a number is expected");
        let (EXT_DECIMAL, bytes) = reader.ext()? else { return Err(damage) };
        let decimal = crate::decimal::Decimal::unpack(bytes).ok_or(damage)?;
        super::number::put_decimal(&decimal, out);
        return Ok(());
    }
    put_number(reader.number()?, out);
    Ok(())
}

fn put_uuid(reader: &mut Reader, out: &mut Vec<u8>) -> Result<()> {
    let damage = reader.damage("a UUID is expected");
    match reader.ext()? {
        (EXT_UUID, bytes) if bytes.len() == 16 => out.extend_from_slice(bytes),
        _ => return Err(damage),
    }
    Ok(())
}

fn put_datetime(reader: &mut Reader, out: &mut Vec<u8>) -> Result<()> {
    let damage = reader.damage("a point in time is expected");
    let (EXT_DATETIME, bytes) = reader.ext()? else { return Err(damage) };
    let Some((seconds, rest)) = bytes.split_first_chunk::<8>() else { return Err(damage) };
    let nanoseconds = rest.first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    out.extend_from_slice(&store::order_i64(i64::from_le_bytes(*seconds)).to_be_bytes());
    out.extend_from_slice(&store::order_i64(i64::from(nanoseconds)).to_be_bytes());
    Ok(())
}

fn put_scalar(reader: &mut Reader, collation: Option<&Collation>, out: &mut Vec<u8>) -> Result<()> {
    let (class, part_type) = match reader.peek()? {
        Class::Boolean => (CLASS_BOOLEAN, PartType::Boolean),
        Class::Unsigned | Class::Signed | Class::Float | Class::Double => (CLASS_NUMBER, PartType::Number),
        Class::String => (CLASS_STRING, PartType::String),
        Class::Binary => (CLASS_BINARY, PartType::Varbinary),
        Class::Extension => match Reader::ext(&mut reader.clone())?.0 {
            EXT_DECIMAL => (CLASS_NUMBER, PartType::Decimal),
            EXT_UUID => (CLASS_UUID, PartType::Uuid),
            EXT_DATETIME => (CLASS_DATETIME, PartType::Datetime),
            _ => return Err(reader.damage("a scalar is expected")),
        },
        Class::Nil | Class::Array | Class::Map | Class::Never => {
            return Err(reader.damage("a scalar is expected"));
        }
    };
    out.push(class);
    normalise_value(reader, part_type, collation, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nil_is_known_in_both_directions() {
        for is_descending in [false, true] {
            let kind = PartKind { is_nullable: true, is_descending, ..PartKind::plain(PartType::String) };
            let (mut nil, mut text) = (Vec::new(), Vec::new());
            normalise_missing(&Reader::new(&[]), &kind, &mut nil).unwrap();
            normalise_part(&mut Reader::new(b"\xa0"), &kind, &mut text).unwrap();
            assert!(is_nil(Value::Bytes(&nil), &kind) && !is_nil(Value::Bytes(&text), &kind));
            let never = PartKind { is_nullable: false, ..kind };
            assert!(!is_nil(Value::Bytes(&nil), &never));
        }
    }
}
