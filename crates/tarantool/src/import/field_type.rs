//! The types of fields in a space's format, and which values they take.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::msgpack::{Class, Reader};

/// Numbers of msgpack extensions.
const EXT_DECIMAL: i8 = 1;
const EXT_UUID: i8 = 2;
const EXT_DATETIME: i8 = 4;
const EXT_INTERVAL: i8 = 6;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    Any,
    Unsigned,
    Integer,
    Number,
    Double,
    Decimal,
    String,
    Varbinary,
    Boolean,
    Uuid,
    Datetime,
    Interval,
    Scalar,
    Array,
    Map,
}

/// The names in formats, for each type the usual one first. A field without a type takes anything.
const NAMES: [(&str, FieldType); 22] = [
    ("", FieldType::Any),
    ("any", FieldType::Any),
    ("*", FieldType::Any),
    ("unsigned", FieldType::Unsigned),
    ("uint", FieldType::Unsigned),
    ("num", FieldType::Unsigned),
    ("integer", FieldType::Integer),
    ("int", FieldType::Integer),
    ("number", FieldType::Number),
    ("double", FieldType::Double),
    ("decimal", FieldType::Decimal),
    ("string", FieldType::String),
    ("str", FieldType::String),
    ("varbinary", FieldType::Varbinary),
    ("boolean", FieldType::Boolean),
    ("bool", FieldType::Boolean),
    ("uuid", FieldType::Uuid),
    ("datetime", FieldType::Datetime),
    ("interval", FieldType::Interval),
    ("scalar", FieldType::Scalar),
    ("array", FieldType::Array),
    ("map", FieldType::Map),
];

impl FieldType {
    /// Returns the type of this name.
    pub(super) fn named(name: &[u8]) -> Option<FieldType> {
        let is_it = |(known, _): &&(&str, FieldType)| name.eq_ignore_ascii_case(known.as_bytes());
        NAMES.iter().find(is_it).map(|(_, field_type)| *field_type)
    }

    /// Returns the name that Tarantool has for it in all versions that have the type.
    pub(super) fn name(self) -> &'static str {
        let is_it = |(name, field_type): &&(&'static str, FieldType)| *field_type == self && !name.is_empty();
        NAMES.iter().find(is_it).map_or("any", |(name, _)| name)
    }

    /// Returns what is expected of a value, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            FieldType::Any => "a value",
            FieldType::Unsigned => "a whole number from 0 to 2^64 - 1",
            FieldType::Integer => "a whole number from -2^63 to 2^64 - 1",
            FieldType::Number | FieldType::Double => "a number",
            FieldType::Decimal => "a decimal number of at most 38 digits",
            FieldType::String => "text",
            FieldType::Varbinary => "base64",
            FieldType::Boolean => "true or false",
            FieldType::Uuid => "a UUID",
            FieldType::Datetime => "a time such as 2024-03-01T12:30:00Z",
            FieldType::Interval => "an interval as --exact writes it",
            FieldType::Scalar => "text, a number, true or false",
            FieldType::Array => "an array",
            FieldType::Map => "an object",
        }
    }

    /// Returns whether a field of the type takes the value at the reader's position, which is not nil.
    pub(super) fn takes(self, mut reader: Reader) -> bool {
        let Ok(class) = reader.peek() else { return false };
        let extension = match class {
            Class::Extension => reader.ext().ok().map(|(number, _)| number),
            _ => None,
        };
        let is_number = matches!(class, Class::Unsigned | Class::Signed | Class::Float | Class::Double)
            || extension == Some(EXT_DECIMAL);
        match self {
            FieldType::Any => true,
            FieldType::Unsigned => class == Class::Unsigned,
            FieldType::Integer => matches!(class, Class::Unsigned | Class::Signed),
            FieldType::Number => is_number,
            FieldType::Double => class == Class::Double,
            FieldType::Decimal => extension == Some(EXT_DECIMAL),
            FieldType::String => class == Class::String,
            FieldType::Varbinary => class == Class::Binary,
            FieldType::Boolean => class == Class::Boolean,
            FieldType::Uuid => extension == Some(EXT_UUID),
            FieldType::Datetime => extension == Some(EXT_DATETIME),
            FieldType::Interval => extension == Some(EXT_INTERVAL),
            FieldType::Scalar => match extension {
                Some(number) => [EXT_DECIMAL, EXT_UUID, EXT_DATETIME].contains(&number),
                None => is_number || matches!(class, Class::String | Class::Binary | Class::Boolean),
            },
            FieldType::Array => class == Class::Array,
            FieldType::Map => class == Class::Map,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgpack::{put_double, put_ext, put_str, put_uint};

    #[test]
    fn types_take_what_tarantool_takes() {
        let value = |put: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            put(&mut out);
            out
        };
        let values = [
            value(&|out| put_uint(out, 7)),
            vec![0xff],
            value(&|out| put_double(out, 0.5)),
            value(&|out| put_str(out, b"a")),
            value(&|out| put_ext(out, 1, &[0, 0x1c])),
            value(&|out| put_ext(out, 6, &[0])),
            vec![0x90],
            vec![0x80],
            vec![0xc3],
        ];
        for (name, taken) in [
            ("", "111111111"),
            ("unsigned", "100000000"),
            ("INTEGER", "110000000"),
            ("number", "111010000"),
            ("double", "001000000"),
            ("decimal", "000010000"),
            ("str", "000100000"),
            ("scalar", "111110001"),
            ("interval", "000001000"),
            ("array", "000000100"),
            ("map", "000000010"),
            ("boolean", "000000001"),
        ] {
            let field_type = FieldType::named(name.as_bytes()).unwrap();
            let does: String = values
                .iter()
                .map(|value| if field_type.takes(Reader::new(value)) { '1' } else { '0' })
                .collect();
            assert_eq!(does, taken, "{name}");
        }
        assert_eq!(FieldType::named(b"int8"), None);
    }
}
