//! Makes msgpack of values that are written as JSON or as text.
//!
//! Input: a value, and the type that its field has. Output: msgpack. Knows the objects that stand for values
//! that JSON has no form for (`--exact`). Whole numbers and decimals are taken from their digits.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::field_type::FieldType;
use crate::decimal::Decimal;
use crate::file::header::parse_uuid;
use crate::msgpack::{
    Number, Reader, put_array_len, put_bin, put_boolean, put_double, put_ext, put_float, put_int,
    put_map_len, put_nil, put_str, put_uint,
};
use crate::text::{put_datetime, put_interval};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Arrays and objects within each other.
const DEPTH_MAX: usize = 128;

/// What is wrong with a value.
pub(super) type Result<T> = std::result::Result<T, String>;

/// The pairs of an object, in their order. A key may be there twice.
pub(super) struct Pairs<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Pairs<'a>, D::Error> {
        struct OfPairs<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for OfPairs<'a> {
            type Value = Pairs<'a>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Pairs<'a>, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'a>, &'a RawValue>()? {
                    pairs.push((key.0, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(OfPairs(std::marker::PhantomData))
    }
}

/// A key of an object, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Appends the msgpack of a JSON value for a field of a type.
///
/// # Errors
/// What is expected instead.
pub(super) fn put_json(json: &str, field_type: FieldType, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    put_at(json.trim(), field_type, 0, out)?;
    if field_type == FieldType::Double
        && let Some(Ok(Number::Float(number))) = out.get(start..).map(|value| Reader::new(value).number())
    {
        // Tarantool takes no other floating-point numbers there.
        out.truncate(start);
        put_double(out, f64::from(number));
    }
    check_taken(json, field_type, out.get(start..))
}

/// Refuses a value that a field of the type does not take.
fn check_taken(text: &str, field_type: FieldType, value: Option<&[u8]>) -> Result<()> {
    let is_taken = value.is_some_and(|value| field_type.takes(Reader::new(value)));
    if is_taken { Ok(()) } else { Err(expected(field_type, text)) }
}

/// Appends the msgpack of a value of a text file, as `export` writes it, for a field of a type.
///
/// # Errors
/// What is expected instead.
pub(super) fn put_text(text: &str, field_type: FieldType, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    put_text_of(text, field_type, out)?;
    check_taken(text, field_type, out.get(start..))
}

fn put_text_of(text: &str, field_type: FieldType, out: &mut Vec<u8>) -> Result<()> {
    let wrong = || expected(field_type, text);
    match field_type {
        FieldType::Array | FieldType::Map | FieldType::Interval => put_json(text, field_type, out),
        FieldType::Any | FieldType::Scalar => {
            // Text that is not JSON stands for itself.
            match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => put_json(text, field_type, out),
                Err(_) => {
                    put_str(out, text.as_bytes());
                    Ok(())
                }
            }
        }
        FieldType::Boolean => {
            put_boolean(out, text.parse().map_err(|_| wrong())?);
            Ok(())
        }
        FieldType::Unsigned | FieldType::Integer | FieldType::Number | FieldType::Double => {
            if put_odd_number(text, field_type, out) {
                return Ok(());
            }
            if is_number(text) { put_number(text, field_type, out) } else { Err(wrong()) }
        }
        _ => put_string(text, field_type, out),
    }
}

/// Returns whether text is a number of JSON.
fn is_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter == '-' || letter.is_ascii_digit())
        && serde_json::from_str::<&RawValue>(text).is_ok()
}

fn put_at(json: &str, field_type: FieldType, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(format!("arrays and objects within each other, deeper than {DEPTH_MAX}"));
    }
    let wrong = |_| expected(field_type, json);
    let deeper = depth.saturating_add(1);
    match json.as_bytes().first() {
        Some(b'n') => put_nil(out),
        Some(b't') => put_boolean(out, true),
        Some(b'f') => put_boolean(out, false),
        Some(b'"') => {
            let text: Cow<str> = serde_json::from_str(json).map_err(wrong)?;
            return put_string(&text, field_type, out);
        }
        Some(b'[') => {
            let values: Vec<&RawValue> = serde_json::from_str(json).map_err(wrong)?;
            put_array_len(out, length(values.len())?);
            for value in values {
                put_at(value.get(), FieldType::Any, deeper, out)?;
            }
        }
        Some(b'{') => {
            let Pairs(pairs) = serde_json::from_str(json).map_err(wrong)?;
            if let [(tag, value), rest @ ..] = pairs.as_slice()
                && let Some(tag) = tag.strip_prefix('$')
            {
                let done = put_tagged((tag, value.get()), rest, deeper, out);
                return done?.ok_or_else(|| format!("{} stands for no value", shown(json)));
            }
            put_map_len(out, length(pairs.len())?);
            for (key, value) in pairs {
                put_str(out, key.as_bytes());
                put_at(value.get(), FieldType::Any, deeper, out)?;
            }
        }
        _ => return put_number(json, field_type, out),
    }
    Ok(())
}

fn length(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| "an array or object is too long".to_owned())
}

/// Appends a number from its digits.
fn put_number(digits: &str, field_type: FieldType, out: &mut Vec<u8>) -> Result<()> {
    let wrong = || expected(field_type, digits);
    if field_type == FieldType::Decimal {
        let decimal = Decimal::of_text(digits).filter(Decimal::fits).ok_or_else(wrong)?;
        put_decimal(&decimal, out);
        return Ok(());
    }
    let is_whole = !digits.contains(['.', 'e', 'E']);
    if is_whole && field_type != FieldType::Double {
        if let Ok(number) = digits.parse::<u64>() {
            put_uint(out, number);
        } else {
            put_int(out, digits.parse::<i64>().map_err(|_| wrong())?);
        }
        return Ok(());
    }
    let number = digits.parse::<f64>().ok().filter(Finite::is_finite).ok_or_else(wrong)?;
    put_double(out, number);
    Ok(())
}

/// Appends text, or what the text of a field of this type stands for.
fn put_string(text: &str, field_type: FieldType, out: &mut Vec<u8>) -> Result<()> {
    let wrong = || expected(field_type, text);
    match field_type {
        FieldType::Number | FieldType::Double if put_odd_number(text, field_type, out) => {}
        FieldType::Decimal => put_number(text, field_type, out)?,
        FieldType::Uuid => put_ext(out, 2, &parse_uuid(text).ok_or_else(wrong)?),
        FieldType::Datetime => put_datetime(text, 0, out).ok_or_else(wrong)?,
        FieldType::Varbinary => put_bin(out, &STANDARD.decode(text).map_err(|_| wrong())?),
        // Tables have arrays and maps as JSON in a text.
        FieldType::Array | FieldType::Map if !text.trim_start().starts_with('"') => {
            put_json(text, field_type, out)?;
        }
        _ => put_str(out, text.as_bytes()),
    }
    Ok(())
}

/// Appends a number that has no digits. Returns whether `text` is one, and the type takes it.
fn put_odd_number(text: &str, field_type: FieldType, out: &mut Vec<u8>) -> bool {
    let number = match text {
        "inf" => f64::INFINITY,
        "-inf" => f64::NEG_INFINITY,
        "NaN" => f64::NAN,
        _ => return false,
    };
    let is_taken = matches!(field_type, FieldType::Number | FieldType::Double);
    if is_taken {
        put_double(out, number);
    }
    is_taken
}

fn put_decimal(decimal: &Decimal, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    decimal.pack(&mut bytes);
    put_ext(out, 1, &bytes);
}

/// Appends a value that has an object of its own in JSON, by its tag. Returns `None` if there is no such
/// tag, or the value does not fit it.
fn put_tagged(
    (tag, value): (&str, &str),
    rest: &[(Cow<'_, str>, &RawValue)],
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<Option<()>> {
    if !rest.is_empty() && tag != "datetime" {
        return Ok(None);
    }
    let text = || serde_json::from_str::<String>(value).ok();
    let bytes = || STANDARD.decode(text()?).ok();
    let done = match tag {
        "map" => return put_pairs(value, depth, out).map(Some),
        "interval" => put_interval(value, out),
        "float" => float(value).map(|number| put_float(out, number)),
        "double" => float(value).map(|number| put_double(out, number)),
        "string" => bytes().map(|bytes| put_str(out, &bytes)),
        "binary" => bytes().map(|bytes| put_bin(out, &bytes)),
        "decimal" => text()
            .and_then(|text| Decimal::of_text(&text).filter(Decimal::fits))
            .map(|decimal| put_decimal(&decimal, out)),
        "uuid" => text().and_then(|text| parse_uuid(&text)).map(|uuid| put_ext(out, 2, &uuid)),
        "datetime" => {
            let zone = match rest {
                [] => Some(0),
                [(key, zone)] if key == "zone" => zone.get().parse::<i16>().ok(),
                _ => None,
            };
            text().zip(zone).and_then(|(text, zone)| put_datetime(&text, zone, out))
        }
        "ext" => serde_json::from_str::<(i8, String)>(value)
            .ok()
            .and_then(|(number, text)| Some((number, STANDARD.decode(text).ok()?)))
            .map(|(number, bytes)| put_ext(out, number, &bytes)),
        _ => None,
    };
    Ok(done)
}

/// A floating-point number.
trait Finite {
    fn is_finite(&self) -> bool;
}

impl Finite for f32 {
    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }
}

impl Finite for f64 {
    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
}

/// Reads a number, or one that JSON has as text.
fn float<T: FromStr + Finite>(json: &str) -> Option<T> {
    match serde_json::from_str::<String>(json) {
        Ok(text) => ["inf", "-inf", "NaN"].contains(&text.as_str()).then(|| text.parse().ok())?,
        Err(_) => json.parse().ok().filter(|number: &T| number.is_finite()),
    }
}

/// Appends a map from an array of its pairs.
fn put_pairs(json: &str, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let pairs: Vec<(&RawValue, &RawValue)> =
        serde_json::from_str(json).map_err(|_| format!("{} has no pairs of a map", shown(json)))?;
    put_map_len(out, length(pairs.len())?);
    for (key, value) in pairs {
        put_at(key.get(), FieldType::Any, depth, out)?;
        put_at(value.get(), FieldType::Any, depth, out)?;
    }
    Ok(())
}

fn expected(field_type: FieldType, found: &str) -> String {
    format!("{} is expected, not {}", field_type.words(), shown(found))
}

/// Returns the beginning of a text.
fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{JsonStyle, JsonWriter};

    /// Returns a value as `--exact` writes what was made of it.
    fn exact(msgpack: &[u8]) -> String {
        let mut out = Vec::new();
        JsonWriter::new(JsonStyle::Exact).put(&mut Reader::new(msgpack), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn of_json(json: &str, name: &str) -> Result<String> {
        let mut out = Vec::new();
        put_json(json, FieldType::named(name.as_bytes()).unwrap(), &mut out).map(|()| exact(&out))
    }

    fn of_text(text: &str, name: &str) -> Result<String> {
        let mut out = Vec::new();
        put_text(text, FieldType::named(name.as_bytes()).unwrap(), &mut out).map(|()| exact(&out))
    }

    #[test]
    fn exact_values_come_back_as_they_were() {
        for json in [
            "null",
            "[18446744073709551615,-5,1.5,5.0,{\"$double\":\"-inf\"},{\"$float\":0.1},\"ä\\\"\"]",
            "{\"$string\":\"/w==\"}",
            "{\"$binary\":\"YWJj\"}",
            "{\"$uuid\":\"11111111-1111-1111-1111-111111111111\"}",
            "{\"$decimal\":\"123e2\"}",
            "{\"$decimal\":\"-0.0015\"}",
            "{\"$datetime\":\"2024-03-01T12:30:00Z\"}",
            "{\"$datetime\":\"2024-03-01T15:30:00.500000001+0300\"}",
            "{\"$datetime\":\"2024-03-01T15:30:00+0300\",\"zone\":7}",
            "{\"$interval\":{\"years\":1,\"hours\":-3,\"adjust\":\"snap\"}}",
            "{\"$interval\":{}}",
            "{\"$ext\":[9,\"AgM=\"]}",
            "{\"$map\":[[\"name\",[1,{\"$map\":[[7,null]]}]],[5,6],[null,false],[[1],2]]}",
            "{\"a\":{\"b\":[]},\"c\":true}",
        ] {
            assert_eq!(of_json(json, "any"), Ok(json.to_owned()));
        }
    }

    #[test]
    fn values_take_the_type_of_their_field() {
        for (json, name, expected) in [
            ("5", "double", "5.0"),
            ("{\"$float\":0.5}", "double", "0.5"),
            ("5", "decimal", "{\"$decimal\":\"5\"}"),
            ("0.10", "decimal", "{\"$decimal\":\"0.10\"}"),
            ("12345678901234567890.123", "decimal", "{\"$decimal\":\"12345678901234567890.123\"}"),
            ("\"1.50\"", "decimal", "{\"$decimal\":\"1.50\"}"),
            (
                "\"11111111-1111-1111-1111-111111111111\"",
                "uuid",
                "{\"$uuid\":\"11111111-1111-1111-1111-111111111111\"}",
            ),
            ("\"2024-03-01\"", "datetime", "{\"$datetime\":\"2024-03-01T00:00:00Z\"}"),
            ("\"YWJj\"", "varbinary", "{\"$binary\":\"YWJj\"}"),
            ("\"inf\"", "number", "{\"$double\":\"inf\"}"),
            ("\"inf\"", "string", "\"inf\""),
            ("\"[1]\"", "array", "[1]"),
            (" -9223372036854775808 ", "integer", "-9223372036854775808"),
        ] {
            assert_eq!(of_json(json, name), Ok(expected.to_owned()), "{json} for {name}");
        }
        for (text, name, expected) in [
            ("007", "string", "\"007\""),
            ("7", "any", "7"),
            ("007", "any", "\"007\""),
            ("{\"a\":1}", "map", "{\"a\":1}"),
            ("true", "boolean", "true"),
            ("-inf", "double", "{\"$double\":\"-inf\"}"),
            ("1e3", "decimal", "{\"$decimal\":\"1e3\"}"),
            ("", "string", "\"\""),
        ] {
            assert_eq!(of_text(text, name), Ok(expected.to_owned()), "{text} for {name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_a_sentence() {
        for (json, name) in [
            ("-1", "unsigned"),
            ("18446744073709551616", "any"),
            ("1.5", "integer"),
            ("1e999", "number"),
            ("\"a\"", "number"),
            ("5", "string"),
            ("true", "scalar2"),
            ("\"x\"", "uuid"),
            ("\"2024-13-01\"", "datetime"),
            ("\"*\"", "varbinary"),
            ("[1]", "map"),
            ("[1]", "scalar"),
            ("{\"$nothing\":1}", "any"),
            ("{\"$uuid\":1}", "any"),
            ("{\"$uuid\":\"x\",\"b\":2}", "any"),
            ("{\"$decimal\":\"1e9999999\"}", "any"),
            ("{\"$double\":1e999}", "any"),
            ("{\"$float\":1e300}", "any"),
        ] {
            let Some(field_type) = FieldType::named(name.as_bytes()) else { continue };
            let sentence = put_json(json, field_type, &mut Vec::new()).unwrap_err();
            assert!(sentence.contains(&shown(json.trim_matches('"'))), "{sentence}");
        }
        for (text, name) in [
            ("", "unsigned"),
            ("1,5", "number"),
            ("+1", "integer"),
            ("12345678901234567890123", "any"),
            ("65.5", "integer"),
            ("yes", "boolean"),
            ("{", "map"),
        ] {
            assert!(of_text(text, name).unwrap_err().contains("is expected, not"), "{text}");
        }
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        assert!(of_json(&deep, "any").unwrap_err().contains("deeper than"));
    }
}
