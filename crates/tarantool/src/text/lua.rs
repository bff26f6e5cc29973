//! Values as Lua, as `tarantoolctl cat` of Tarantool 2.6 prints them.
//!
//! Input: msgpack. Output: text. Strings are written as escapes, arrays as tables with numbered keys. Nested
//! values are kept on a list, and have a limit.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::extension::Extension;
use super::lua_table::NUMBER_MAX;
use super::number::{put_finite, put_whole};
use super::yaml::{Growth, pairs};
use super::{check_depth, reverse};
use crate::error::Damage;
use crate::msgpack::{Class, Number, Reader};
use ::printable::json::base64;
use std::io::Write;

/// What is to be written next.
enum Step<'a> {
    Value(&'a [u8]),
    /// A value with its number; the first or another.
    Numbered(u32, &'a [u8]),
    /// A pair; the first or another.
    Pair(&'a [u8], &'a [u8], bool),
    Text(&'static [u8]),
    End,
}

/// Appends a value.
///
/// # Errors
/// It is not msgpack, or nested too deeply. Something may have been appended.
pub(crate) fn put_value(value: &[u8], growth: Growth, out: &mut Vec<u8>) -> Result<(), Damage> {
    let mut steps = vec![Step::Value(value)];
    let mut depth = 0_usize;
    while let Some(step) = steps.pop() {
        let value = match step {
            Step::Value(value) => value,
            Step::Text(text) => {
                out.extend_from_slice(text);
                continue;
            }
            Step::End => {
                out.push(b'}');
                depth = depth.saturating_sub(1);
                continue;
            }
            Step::Numbered(number, value) => {
                let comma = if number == 1 { "" } else { ", " };
                write!(out, "{comma}[{number}] = ").expect("a vector takes all bytes");
                value
            }
            Step::Pair(key, value, is_first) => {
                out.extend_from_slice(if is_first { b"[" } else { b", [" });
                steps.push(Step::Value(value));
                steps.push(Step::Text(b"] = "));
                key
            }
        };
        let mut reader = Reader::new(value);
        match reader.peek()? {
            Class::Array => {
                let count = reader.array_len()?;
                out.push(b'{');
                steps.push(Step::End);
                let begin = steps.len();
                for number in 1..=count {
                    steps.push(Step::Numbered(number, reader.skip()?));
                }
                reverse(&mut steps, begin);
                depth = depth.saturating_add(1);
            }
            Class::Map => {
                out.push(b'{');
                steps.push(Step::End);
                let begin = steps.len();
                for (number, (key, value)) in pairs(&mut reader, growth)?.into_iter().enumerate() {
                    steps.push(Step::Pair(key, value, number == 0));
                }
                reverse(&mut steps, begin);
                depth = depth.saturating_add(1);
            }
            _ => put_scalar(&mut reader, out)?,
        }
        check_depth(depth)?;
    }
    Ok(())
}

fn put_scalar(reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), Damage> {
    match reader.peek()? {
        Class::Nil => {
            reader.nil()?;
            out.extend_from_slice(b"cdata<void *>: NULL");
        }
        Class::Boolean => out.extend_from_slice(if reader.boolean()? { b"true" } else { b"false" }),
        Class::Unsigned | Class::Signed | Class::Float | Class::Double => put_number(reader.number()?, out),
        Class::String => put_string(reader.str()?, out),
        Class::Binary => put_string(reader.bin()?, out),
        Class::Extension => {
            let (number, bytes) = reader.ext()?;
            if !Extension::read(number, bytes).put_words(out) {
                write!(out, "ext<{number}>: {}", base64(bytes)).expect("a vector takes all bytes");
            }
        }
        Class::Array | Class::Map | Class::Never => {
            return Err(reader.damage("a byte is here that no value begins with"));
        }
    }
    Ok(())
}

fn put_string(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
    out.push(b'\'');
    for byte in bytes {
        out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 0xf)]);
    }
    out.push(b'\'');
}

/// Appends a number. Whole numbers that Lua's own numbers may not hold are objects there, with a suffix.
fn put_number(number: Number, out: &mut Vec<u8>) {
    let range = -NUMBER_MAX..=NUMBER_MAX;
    match number {
        Number::Unsigned(number) => {
            put_whole(i128::from(number), out);
            if !i64::try_from(number).is_ok_and(|number| range.contains(&number)) {
                out.extend_from_slice(b"ULL");
            }
        }
        Number::Signed(number) => {
            put_whole(i128::from(number), out);
            if !range.contains(&number) {
                out.extend_from_slice(b"LL");
            }
        }
        Number::Float(number) => put_double(f64::from(number), out),
        Number::Double(number) => put_double(number, out),
    }
}

fn put_double(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        out.extend_from_slice(b"nan");
    } else if number.is_infinite() {
        out.extend_from_slice(if number > 0.0 { b"inf" } else { b"-inf" });
    } else {
        put_finite(number, out);
    }
}
