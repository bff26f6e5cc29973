//! Values as YAML, as `tarantoolctl cat` of Tarantool 2.6 prints them.
//!
//! Input: msgpack. Output: events for the emitter. Nested values are kept on a list, and have a limit.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::emitter::{Emitter, Role, Style, is_simple_key};
use super::extension::Extension;
use super::lua_table::order;
use super::number::{put_finite, put_whole, whole};
use super::printable::printable_text;
use super::{check_depth, reverse};
use crate::error::Damage;
use crate::msgpack::{Class, Number, Reader};
use ::printable::json::base64;

/// How maps came to be: the order of their keys depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Of a tuple's fields: a table grows with each key.
    Tuple,
    /// Of other parts of a row: a table is created for all keys.
    Body,
}

pub(crate) use super::lua_table::Key;

/// A pair of a row's header or body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) value: &'a [u8],
    pub(crate) growth: Growth,
}

/// Keys that a row's table is created for, and its header's.
const RECORD_SIZE: usize = 8;

/// Appends a row: its header, and its body if it has one, each as pairs in the order in which they are set.
///
/// # Errors
/// A value is not msgpack, or nested too deeply. Something may have been appended.
pub(crate) fn put_record(header: &[Part], body: Option<&[Part]>, out: &mut Vec<u8>) -> Result<(), Damage> {
    let mut emitter = Emitter::begin(out);
    emitter.begin_block_map();
    let names: &[&str] = if body.is_some() { &["HEADER", "BODY"] } else { &["HEADER"] };
    let keys: Vec<Key> = names.iter().map(|name| Key::Text(name.as_bytes())).collect();
    for number in order(&keys, RECORD_SIZE).unwrap_or_default() {
        let Some(name) = names.get(number) else { continue };
        emitter.block_key();
        emitter.scalar(name, Style::Plain, Role::Key);
        emitter.colon();
        match number {
            0 => put_table(header, RECORD_SIZE, &mut emitter)?,
            _ => put_table(body.unwrap_or_default(), 0, &mut emitter)?,
        }
    }
    emitter.end_block();
    emitter.end();
    Ok(())
}

/// Writes a table as a block. Tarantool takes one with a few numbers from 1 on as keys for an array.
fn put_table(parts: &[Part], size: usize, emitter: &mut Emitter) -> Result<(), Damage> {
    let keys: Vec<Key> = parts.iter().map(|part| part.key).collect();
    let order = order(&keys, size).unwrap_or_else(|| (0..parts.len()).collect());
    let parts: Vec<Part> = order.into_iter().filter_map(|number| parts.get(number).copied()).collect();
    if let Some(length) = array_length(&parts) {
        return put_array(&parts, length, emitter);
    }
    emitter.begin_block_map();
    for part in &parts {
        emitter.block_key();
        match part.key {
            Key::Text(name) => {
                emitter.scalar(&String::from_utf8_lossy(name), Style::Plain, Role::Key);
            }
            Key::Number(number) => {
                let mut text = Vec::new();
                put_double(number, &mut text);
                emitter.scalar(&String::from_utf8_lossy(&text), Style::Plain, Role::Key);
            }
            Key::Boolean(_) | Key::Other => {}
        }
        emitter.colon();
        put_value(part.value, part.growth, emitter)?;
    }
    emitter.end_block();
    Ok(())
}

/// Returns the length of the array that Tarantool takes a table for.
fn array_length(parts: &[Part]) -> Option<usize> {
    const SPARSE_RATIO: f64 = 2.0;
    const SPARSE_SAFE: f64 = 10.0;
    let mut max = 0.0_f64;
    for part in parts {
        let Key::Number(number) = part.key else { return None };
        if number < 1.0 || number.fract() != 0.0 {
            return None;
        }
        max = max.max(number);
    }
    let is_sparse = max > parts.len() as f64 * SPARSE_RATIO && max > SPARSE_SAFE;
    (!is_sparse).then(|| whole(max)).flatten()
}

fn put_array(parts: &[Part], length: usize, emitter: &mut Emitter) -> Result<(), Damage> {
    const NIL: [u8; 1] = [0xc0];
    if length == 0 {
        emitter.begin_flow(b'[');
        emitter.end_flow(b']');
        return Ok(());
    }
    emitter.begin_block_sequence();
    for number in 1..=length {
        emitter.block_item();
        let part = parts.iter().find(|part| part.key == Key::Number(number as f64));
        put_value(part.map_or(&NIL, |part| part.value), Growth::Body, emitter)?;
    }
    emitter.end_block();
    Ok(())
}

/// What is to be written next.
enum Step<'a> {
    Value(&'a [u8]),
    /// A value of a sequence; the first or another.
    Item(&'a [u8], bool),
    /// A pair of a map; the first or another.
    Pair(&'a [u8], &'a [u8], bool),
    /// The value after a key that is marked.
    Late(&'a [u8]),
    End(u8),
}

/// Writes a value in brackets, or as a scalar.
pub(super) fn put_value(value: &[u8], growth: Growth, emitter: &mut Emitter) -> Result<(), Damage> {
    let mut steps = vec![Step::Value(value)];
    let mut depth = 0_usize;
    while let Some(step) = steps.pop() {
        let value = match step {
            Step::Value(value) => value,
            Step::Item(value, is_first) => {
                emitter.flow_item(is_first);
                value
            }
            Step::Late(value) => {
                emitter.late_colon();
                value
            }
            Step::End(bracket) => {
                emitter.end_flow(bracket);
                depth = depth.saturating_sub(1);
                continue;
            }
            Step::Pair(key, value, is_first) => {
                emitter.flow_item(is_first);
                if put_simple_key(key, emitter)? {
                    emitter.colon();
                    value
                } else {
                    emitter.question();
                    steps.push(Step::Late(value));
                    key
                }
            }
        };
        let mut reader = Reader::new(value);
        match reader.peek()? {
            Class::Array => {
                let count = reader.array_len()?;
                emitter.begin_flow(b'[');
                steps.push(Step::End(b']'));
                let begin = steps.len();
                for number in 0..count {
                    steps.push(Step::Item(reader.skip()?, number == 0));
                }
                reverse(&mut steps, begin);
                depth = depth.saturating_add(1);
            }
            Class::Map => {
                emitter.begin_flow(b'{');
                steps.push(Step::End(b'}'));
                let begin = steps.len();
                for (number, (key, value)) in pairs(&mut reader, growth)?.into_iter().enumerate() {
                    steps.push(Step::Pair(key, value, number == 0));
                }
                reverse(&mut steps, begin);
                depth = depth.saturating_add(1);
            }
            _ => {
                let (text, style) = scalar(&mut reader)?;
                emitter.scalar(&text, in_flow(style, depth), Role::Value);
            }
        }
        check_depth(depth)?;
    }
    Ok(())
}

/// Text within brackets is quoted.
fn in_flow(kind: Kind, depth: usize) -> Style {
    match kind {
        Kind::Text if depth > 0 => Style::Single,
        Kind::Text | Kind::Word => Style::Plain,
        Kind::Quoted => Style::Single,
        Kind::Binary => Style::Binary,
    }
}

/// Writes a key if it needs no mark. Returns whether it was written.
fn put_simple_key(key: &[u8], emitter: &mut Emitter) -> Result<bool, Damage> {
    let mut reader = Reader::new(key);
    match reader.peek()? {
        Class::Array | Class::Map => Ok(false),
        _ => {
            let (text, kind) = scalar(&mut reader)?;
            let style = in_flow(kind, 1);
            let is_simple = is_simple_key(&text, style);
            if is_simple {
                emitter.scalar(&text, style, Role::Key);
            }
            Ok(is_simple)
        }
    }
}

/// A key and its value.
pub(super) type Pair<'a> = (&'a [u8], &'a [u8]);

/// Returns the keys and values of a map in the order in which Lua passes through them; in that of the file if
/// that depends on addresses.
pub(super) fn pairs<'a>(reader: &mut Reader<'a>, growth: Growth) -> Result<Vec<Pair<'a>>, Damage> {
    let count = reader.map_len()?;
    let mut pairs = Vec::new();
    for _ in 0..count {
        pairs.push((reader.skip()?, reader.skip()?));
    }
    let keys: Vec<Key> = pairs.iter().map(|(key, _)| Key::of(key)).collect();
    let size = if growth == Growth::Body { pairs.len() } else { 0 };
    Ok(match order(&keys, size) {
        Some(order) => order.into_iter().filter_map(|number| pairs.get(number).copied()).collect(),
        None => pairs,
    })
}

/// What a scalar is, for its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number, and other words that are never quoted.
    Word,
    Text,
    /// Text that would be read as something else.
    Quoted,
    Binary,
}

/// Returns the text of a scalar.
pub(super) fn scalar(reader: &mut Reader) -> Result<(String, Kind), Damage> {
    let mut out = Vec::new();
    let kind = match reader.peek()? {
        Class::Nil => {
            reader.nil()?;
            out.extend_from_slice(b"null");
            Kind::Word
        }
        Class::Boolean => {
            out.extend_from_slice(if reader.boolean()? { b"true" } else { b"false" });
            Kind::Word
        }
        Class::Unsigned | Class::Signed | Class::Float | Class::Double => {
            put_number(reader.number()?, &mut out);
            Kind::Word
        }
        Class::String => return Ok(text_or_bytes(reader.str()?)),
        Class::Binary => return Ok(text_or_bytes(reader.bin()?)),
        Class::Extension => {
            let (number, bytes) = reader.ext()?;
            if Extension::read(number, bytes).put_words(&mut out) {
                Kind::Word
            } else {
                return Ok((base64(bytes), Kind::Binary));
            }
        }
        Class::Array | Class::Map | Class::Never => {
            return Err(reader.damage("a byte is here that no value begins with"));
        }
    };
    Ok((String::from_utf8(out).unwrap_or_default(), kind))
}

fn text_or_bytes(bytes: &[u8]) -> (String, Kind) {
    let Some(text) = printable_text(bytes) else { return (base64(bytes), Kind::Binary) };
    let is_word = matches!(text, "~" | "null" | "false" | "no" | "true" | "yes");
    let is_number = || text.trim().parse::<f64>().is_ok();
    let kind = if is_word || is_number() { Kind::Quoted } else { Kind::Text };
    (text.to_owned(), kind)
}

/// Appends a number. Numbers with a point that are whole, and not too large, are written without it.
fn put_number(number: Number, out: &mut Vec<u8>) {
    let double = match number {
        Number::Unsigned(number) => return put_whole(i128::from(number), out),
        Number::Signed(number) => return put_whole(i128::from(number), out),
        Number::Float(number) => f64::from(number),
        Number::Double(number) => number,
    };
    put_double(double, out);
}

/// Appends a number as Tarantool's YAML has it.
pub(super) fn put_double(number: f64, out: &mut Vec<u8>) {
    const WHOLE_MIN: f64 = -9_223_372_036_854_775_808.0;
    const WHOLE_END: f64 = 18_446_744_073_709_551_616.0;
    if number.is_nan() {
        out.extend_from_slice(if number.is_sign_negative() { b"-nan" } else { b"nan" });
    } else if number.is_infinite() {
        out.extend_from_slice(if number > 0.0 { b"inf" } else { b"-inf" });
    } else if let Some(number) = whole(number).filter(|_| (WHOLE_MIN..WHOLE_END).contains(&number)) {
        put_whole(number, out);
    } else {
        put_finite(number, out);
    }
}
