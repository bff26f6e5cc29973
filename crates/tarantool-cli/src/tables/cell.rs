//! A value of a tuple, as formats of tables have it.

use anyhow::{Result, anyhow};
use std::borrow::Cow;
use tarantool::Damage;
use tarantool::msgpack::{Class, Number, Reader};
use tarantool::text::{JsonStyle, JsonWriter};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// Nil, or a field that the tuple does not have.
    Nothing,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Whole(i128),
    /// A number with a point.
    Double(f64),
    /// Text.
    Text(&'a str),
    /// A decimal, a UUID, a time or an interval, as text.
    Words(String),
    /// Bytes that are no text.
    Bytes(&'a [u8]),
    /// An array, a map, or an unknown extension, as JSON.
    Json(String),
}

impl<'a> Cell<'a> {
    /// Reads the next value.
    ///
    /// # Errors
    /// It is not msgpack.
    pub(super) fn read(reader: &mut Reader<'a>, json: &mut JsonWriter) -> Result<Cell<'a>> {
        Cell::of(reader, json).map_err(|damage| anyhow!("a tuple is damaged: {}", damage.what))
    }

    /// Returns the value as text; nothing for nil. Bytes are in base64.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Cell::Nothing => return None,
            Cell::Boolean(value) => value.to_string().into(),
            Cell::Whole(number) => number.to_string().into(),
            Cell::Double(number) => format!("{number:?}").into(),
            Cell::Text(text) => (*text).into(),
            Cell::Words(text) | Cell::Json(text) => text.into(),
            Cell::Bytes(bytes) => printable::json::base64(bytes).into(),
        })
    }

    fn of(reader: &mut Reader<'a>, json: &mut JsonWriter) -> Result<Cell<'a>, Damage> {
        Ok(match reader.peek()? {
            Class::Nil => {
                reader.nil()?;
                Cell::Nothing
            }
            Class::Boolean => Cell::Boolean(reader.boolean()?),
            Class::Unsigned | Class::Signed | Class::Float | Class::Double => match reader.number()? {
                Number::Unsigned(number) => Cell::Whole(number.into()),
                Number::Signed(number) => Cell::Whole(number.into()),
                Number::Float(number) => Cell::Double(number.into()),
                Number::Double(number) => Cell::Double(number),
            },
            Class::String => {
                let bytes = reader.str()?;
                std::str::from_utf8(bytes).map_or(Cell::Bytes(bytes), Cell::Text)
            }
            Class::Binary => Cell::Bytes(reader.bin()?),
            Class::Extension | Class::Array | Class::Map | Class::Never => {
                let mut out = Vec::new();
                json.put(reader, &mut out)?;
                match serde_json::from_slice(&out) {
                    Ok(serde_json::Value::String(text)) => Cell::Words(text),
                    _ => Cell::Json(String::from_utf8_lossy(&out).into_owned()),
                }
            }
        })
    }
}

/// Returns what writes nested values.
pub(super) fn nested() -> JsonWriter {
    JsonWriter::new(JsonStyle::Readable)
}
