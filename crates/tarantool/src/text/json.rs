//! Values as JSON on one line.
//!
//! Nested values are kept on a list, without recursion: a tuple may be as deep as it is long. The list is
//! reused, so that usual tuples take no memory. docs/OUTPUT.md describes both styles.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::extension::Extension;
use crate::error::Damage;
use crate::msgpack::{Class, Number, Reader};
use ::printable::json::{self, base64};
use std::io::Write;

/// How values are written that JSON has no form for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStyle {
    /// As people and jq read them: decimals, UUIDs and times are strings.
    Readable,
    /// So that the same msgpack can be made of it: such a value is an object with one key, which begins with
    /// `$`.
    Exact,
}

/// An array or map whose end is not reached yet.
#[derive(Debug)]
struct Open {
    /// Values that are still to come, and one more.
    left: u64,
    form: Form,
    is_first: bool,
}

/// How an array or map is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Array,
    Object,
    /// A map with keys that an object cannot have: an array of pairs.
    Pairs,
    /// One of those pairs.
    Pair,
}

/// Writes values, one after the other. Keeps its memory.
#[derive(Debug)]
pub struct JsonWriter {
    style: JsonStyle,
    open: Vec<Open>,
}

impl JsonWriter {
    /// Returns a writer for this style.
    pub fn new(style: JsonStyle) -> JsonWriter {
        JsonWriter { style, open: Vec::new() }
    }

    /// Appends the next value.
    ///
    /// # Errors
    /// It is not msgpack. Something may have been appended.
    pub fn put(&mut self, reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), Damage> {
        self.open.clear();
        loop {
            if self.begins_pair() {
                out.push(b'[');
                self.open.push(Open { left: 3, form: Form::Pair, is_first: true });
                // The pair's own values come next.
                self.next(out);
            }
            let is_key =
                self.open.last().is_some_and(|open| open.form == Form::Object && open.left.is_multiple_of(2));
            match reader.peek()? {
                _ if is_key => put_key(reader, self.style, out)?,
                Class::Array => {
                    let left = u64::from(reader.array_len()?).saturating_add(1);
                    out.push(b'[');
                    self.open.push(Open { left, form: Form::Array, is_first: true });
                }
                Class::Map => self.open_map(reader, out)?,
                _ => put_scalar(reader, self.style, out)?,
            }
            if !self.next(out) {
                return Ok(());
            }
        }
    }

    fn open_map(&mut self, reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), Damage> {
        let is_object = self.style == JsonStyle::Readable || has_plain_keys(*reader)?;
        let count = u64::from(reader.map_len()?);
        let open = if is_object {
            out.push(b'{');
            Open { left: count.saturating_mul(2).saturating_add(1), form: Form::Object, is_first: true }
        } else {
            out.extend_from_slice(b"{\"$map\":[");
            Open { left: count.saturating_add(1), form: Form::Pairs, is_first: true }
        };
        self.open.push(open);
        Ok(())
    }

    /// Returns whether the next value is the key of a pair that has not begun.
    fn begins_pair(&self) -> bool {
        self.open.last().is_some_and(|open| open.form == Form::Pairs)
    }

    /// Continues after a value, or after the beginning of an array or map. Returns whether anything is left.
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        while let Some(last) = self.open.last_mut() {
            last.left = last.left.saturating_sub(1);
            if last.left > 0 {
                let is_value = last.form == Form::Object && !last.left.is_multiple_of(2);
                match (is_value, last.is_first) {
                    (true, _) => out.push(b':'),
                    (false, true) => {}
                    (false, false) => out.push(b','),
                }
                last.is_first = false;
                return true;
            }
            match last.form {
                Form::Array | Form::Pair => out.push(b']'),
                Form::Object => out.push(b'}'),
                Form::Pairs => out.extend_from_slice(b"]}"),
            }
            self.open.pop();
        }
        false
    }
}

/// Returns whether every key of the map at the reader's position can be the key of an object, and no reader
/// takes it for one of ours.
fn has_plain_keys(mut reader: Reader) -> Result<bool, Damage> {
    for _ in 0..reader.map_len()? {
        let is_plain = reader.peek()? == Class::String
            && std::str::from_utf8(reader.str()?).is_ok_and(|key| !key.starts_with('$'));
        if !is_plain {
            return Ok(false);
        }
        reader.skip()?;
    }
    Ok(true)
}

/// Appends a key of a map: text as it is, anything else as the JSON of it, as text.
fn put_key(reader: &mut Reader, style: JsonStyle, out: &mut Vec<u8>) -> Result<(), Damage> {
    match reader.peek()? {
        Class::String => put_json_text(&String::from_utf8_lossy(reader.str()?), out),
        Class::Array | Class::Map => put_json_text(&base64(reader.skip()?), out),
        _ => {
            let mut scalar = Vec::new();
            put_scalar(reader, style, &mut scalar)?;
            let is_text = scalar.starts_with(b"\"");
            match is_text {
                true => out.extend_from_slice(&scalar),
                false => put_json_text(&String::from_utf8_lossy(&scalar), out),
            }
        }
    }
    Ok(())
}

fn put_scalar(reader: &mut Reader, style: JsonStyle, out: &mut Vec<u8>) -> Result<(), Damage> {
    match reader.peek()? {
        Class::Nil => {
            reader.nil()?;
            out.extend_from_slice(b"null");
        }
        Class::Boolean => out.extend_from_slice(if reader.boolean()? { b"true" } else { b"false" }),
        Class::Unsigned | Class::Signed | Class::Float | Class::Double => {
            put_number(reader.number()?, style, out);
        }
        Class::String => put_string(reader.str()?, style, out),
        Class::Binary => put_tagged("binary", reader.bin()?, style, out),
        Class::Extension => {
            let (number, bytes) = reader.ext()?;
            put_extension(&Extension::read(number, bytes), style, out);
        }
        Class::Array | Class::Map | Class::Never => {
            return Err(reader.damage("a byte is here that no value begins with"));
        }
    }
    Ok(())
}

/// Appends text as a string of JSON. Characters that a terminal acts on are escaped.
pub fn put_json_text(text: &str, out: &mut Vec<u8>) {
    // Nearly all text is plain, which is seen at once, many bytes at a time.
    if is_plain(text.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        json::put(&text, out);
    }
}

#[inline]
fn put_string(bytes: &[u8], style: JsonStyle, out: &mut Vec<u8>) {
    if is_plain(bytes) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => json::put(&text, out),
        Err(_) => put_tagged("string", bytes, style, out),
    }
}

/// Returns whether all bytes are of ASCII and stand for themselves in JSON and on a terminal.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    let special = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\') | (byte >= 0x7f);
    !bytes.iter().fold(false, |found, &byte| found | special(byte))
}

/// Appends bytes that are no text.
fn put_tagged(tag: &str, bytes: &[u8], style: JsonStyle, out: &mut Vec<u8>) {
    let text = base64(bytes);
    put(out, || match style {
        JsonStyle::Readable => format!("{{\"base64\":\"{text}\"}}"),
        JsonStyle::Exact => format!("{{\"${tag}\":\"{text}\"}}"),
    });
}

fn put_number(number: Number, style: JsonStyle, out: &mut Vec<u8>) {
    match number {
        Number::Unsigned(number) => put_whole(&number, out),
        Number::Signed(number) => put_whole(&number, out),
        Number::Float(number) if style == JsonStyle::Exact && number.is_finite() => {
            put(out, || format!("{{\"$float\":{number:?}}}"));
        }
        Number::Float(number) if style == JsonStyle::Exact => {
            put(out, || format!("{{\"$float\":\"{number}\"}}"));
        }
        Number::Float(number) => put_double(f64::from(number), style, out),
        Number::Double(number) => put_double(number, style, out),
    }
}

/// Appends a number. JSON has no infinity and nothing that is not a number: those are text.
pub(crate) fn put_double(number: f64, style: JsonStyle, out: &mut Vec<u8>) {
    if number.is_finite() {
        serde_json::to_writer(out, &number).expect("a vector takes all bytes");
    } else if style == JsonStyle::Exact {
        put(out, || format!("{{\"$double\":\"{number}\"}}"));
    } else {
        put(out, || format!("\"{number}\""));
    }
}

/// Appends a whole number.
pub(crate) fn put_whole(number: &impl serde::Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, number).expect("a vector takes all bytes");
}

fn put_extension(value: &Extension, style: JsonStyle, out: &mut Vec<u8>) {
    if let Extension::Other(number, bytes) = value {
        let text = base64(bytes);
        return put(out, || match style {
            JsonStyle::Readable => format!("{{\"ext\":{number},\"base64\":\"{text}\"}}"),
            JsonStyle::Exact => format!("{{\"$ext\":[{number},\"{text}\"]}}"),
        });
    }
    let tag = match (style, value) {
        (JsonStyle::Readable, _) => None,
        (_, Extension::Decimal(_)) => Some("decimal"),
        (_, Extension::Uuid(_)) => Some("uuid"),
        (_, Extension::Datetime(_)) => Some("datetime"),
        (_, Extension::Interval(_) | Extension::Other(..)) => Some("interval"),
    };
    let Some(tag) = tag else {
        out.push(b'"');
        value.put_words(out);
        out.push(b'"');
        return;
    };
    put(out, || format!("{{\"${tag}\":"));
    match value {
        Extension::Decimal(decimal) => put(out, || format!("\"{}\"", decimal.exact())),
        Extension::Interval(interval) => {
            let mut parts: Vec<String> =
                interval.parts().map(|(unit, value)| format!("\"{unit}\":{value}")).collect();
            parts.extend(interval.adjust().map(|adjust| format!("\"adjust\":\"{adjust}\"")));
            put(out, || format!("{{{}}}", parts.join(",")));
        }
        other => {
            out.push(b'"');
            other.put_words(out);
            out.push(b'"');
        }
    }
    if let Extension::Datetime(datetime) = value
        && datetime.zone != 0
    {
        put(out, || format!(",\"zone\":{}", datetime.zone));
    }
    out.push(b'}');
}

fn put(out: &mut Vec<u8>, text: impl FnOnce() -> String) {
    out.write_all(text().as_bytes()).expect("a vector takes all bytes");
}

#[cfg(test)]
mod tests {
    use super::{JsonStyle, JsonWriter};
    use crate::msgpack::*;

    fn json(style: JsonStyle, put: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut tuple = Vec::new();
        put(&mut tuple);
        let mut out = Vec::new();
        JsonWriter::new(style).put(&mut Reader::new(&tuple), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        text
    }

    fn every_kind(out: &mut Vec<u8>) {
        put_array_len(out, 19);
        put_uint(out, u64::MAX);
        put_int(out, -5);
        put_double(out, 1.5);
        put_double(out, 5.0);
        put_double(out, f64::NEG_INFINITY);
        put_float(out, 0.1);
        put_str(out, "ä\"\u{1b}".as_bytes());
        put_str(out, b"plain \"");
        put_str(out, b"\\\x7f");
        put_str(out, b"\xff");
        put_bin(out, b"abc");
        put_boolean(out, true);
        put_nil(out);
        put_ext(out, 2, &[0x11; 16]);
        put_ext(out, 1, &[0xfe, 0x12, 0x3c]);
        put_ext(out, 4, &1_709_296_200_i64.to_le_bytes());
        put_ext(out, 9, &[2, 3]);
        put_array_len(out, 0);
        put_map_len(out, 0);
    }

    #[test]
    fn every_kind_of_value_is_json() {
        assert_eq!(
            json(JsonStyle::Readable, every_kind),
            r#"[18446744073709551615,-5,1.5,5.0,"-inf",0.10000000149011612,"ä\"\u001b","#.to_owned()
                + r#""plain \"","\\\u007f",{"base64":"/w=="},"#
                + r#"{"base64":"YWJj"},true,null,"11111111-1111-1111-1111-111111111111","12300","#
                + r#""2024-03-01T12:30:00Z",{"ext":9,"base64":"AgM="},[],{}]"#
        );
    }

    #[test]
    fn the_exact_style_keeps_every_kind_apart() {
        assert_eq!(
            json(JsonStyle::Exact, every_kind),
            r#"[18446744073709551615,-5,1.5,5.0,{"$double":"-inf"},{"$float":0.1},"ä\"\u001b","#.to_owned()
                + r#""plain \"","\\\u007f",{"$string":"/w=="},{"$binary":"YWJj"},true,null,"#
                + r#"{"$uuid":"11111111-1111-1111-1111-111111111111"},{"$decimal":"123e2"},"#
                + r#"{"$datetime":"2024-03-01T12:30:00Z"},{"$ext":[9,"AgM="]},[],{}]"#
        );
        let interval = |out: &mut Vec<u8>| put_ext(out, 6, &[3, 0, 1, 4, 0xfd, 8, 2]);
        let exact = r#"{"$interval":{"years":1,"hours":-3,"adjust":"snap"}}"#;
        assert_eq!(json(JsonStyle::Exact, interval), exact);
        assert_eq!(json(JsonStyle::Readable, interval), r#""+1 years, -3 hours""#);
    }

    fn odd_maps(out: &mut Vec<u8>) {
        put_array_len(out, 3);
        put_map_len(out, 4);
        put_str(out, b"name");
        put_array_len(out, 2);
        put_uint(out, 1);
        put_map_len(out, 1);
        put_uint(out, 7);
        put_nil(out);
        put_uint(out, 5);
        put_uint(out, 6);
        put_nil(out);
        put_boolean(out, false);
        put_array_len(out, 1);
        put_uint(out, 1);
        put_uint(out, 2);
        put_uint(out, 9);
        put_map_len(out, 1);
        put_str(out, b"$uuid");
        put_uint(out, 1);
    }

    #[test]
    fn maps_have_keys_of_text() {
        let readable = r#"[{"name":[1,{"7":null}],"5":6,"null":false,"kQE=":2},9,{"$uuid":1}]"#;
        assert_eq!(json(JsonStyle::Readable, odd_maps), readable);
        let exact = r#"[{"$map":[["name",[1,{"$map":[[7,null]]}]],[5,6],[null,false],[[1],2]]},9,"#
            .to_owned()
            + r#"{"$map":[["$uuid",1]]}]"#;
        assert_eq!(json(JsonStyle::Exact, odd_maps), exact);
    }

    #[test]
    fn no_depth_is_too_deep_and_no_damage_panics() {
        let mut deep = vec![0x91; 200_000];
        deep.push(0x05);
        let mut out = Vec::new();
        let mut writer = JsonWriter::new(JsonStyle::Exact);
        writer.put(&mut Reader::new(&deep), &mut out).unwrap();
        assert_eq!((out.len(), out[200_000]), (400_001, b'5'));
        deep.pop();
        let damage = writer.put(&mut Reader::new(&deep), &mut Vec::new()).unwrap_err();
        assert_eq!((damage.offset, damage.what), (200_000, "a value is cut off"));
        // What an error left open is forgotten.
        let mut out = Vec::new();
        writer.put(&mut Reader::new(&[0x05]), &mut out).unwrap();
        assert_eq!(out, b"5");
        assert!(writer.put(&mut Reader::new(&[0x91, 0xc1]), &mut Vec::new()).is_err());
        assert!(writer.put(&mut Reader::new(&[0x81, 0x05]), &mut Vec::new()).is_err());
    }
}
