//! msgpack as text, for tests that people read.
//!
//! Input: text like `[1, "a", {"x": 1.5, "y": 2.5f}, nil]`, or bytes. Output: bytes, or text. Does not depend
//! on their meaning.

use tarantool::msgpack::{self, Class, Number, Reader};

/// Writes text as msgpack. Numbers with a point have 64 bits, or 32 bits with a final f.
pub(crate) fn pack(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let rest = value(text, &mut out);
    assert!(rest.trim().is_empty(), "{rest} is too much");
    out
}

fn value<'a>(text: &'a str, out: &mut Vec<u8>) -> &'a str {
    let text = text.trim_start();
    match text.as_bytes()[0] {
        b'[' => list(&text[1..], ']', out),
        b'{' => list(&text[1..], '}', out),
        b'"' => {
            let (text, rest) = text[1..].split_once('"').unwrap();
            msgpack::put_str(out, text.as_bytes());
            rest
        }
        _ => {
            let end = text.find([',', ']', '}', ':', ' ']).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            match word {
                "nil" => msgpack::put_nil(out),
                "true" | "false" => msgpack::put_boolean(out, word == "true"),
                _ if word.ends_with('f') => msgpack::put_float(out, word[..word.len() - 1].parse().unwrap()),
                _ if word.contains('.') => msgpack::put_double(out, word.parse().unwrap()),
                _ => match word.parse() {
                    Ok(number) => msgpack::put_uint(out, number),
                    Err(_) => msgpack::put_int(out, word.parse().unwrap()),
                },
            }
            rest
        }
    }
}

fn list<'a>(mut text: &'a str, close: char, out: &mut Vec<u8>) -> &'a str {
    let (mut count, mut inside) = (0, Vec::new());
    loop {
        text = text.trim_start_matches([' ', ',']);
        if let Some(rest) = text.strip_prefix(close) {
            if close == ']' {
                msgpack::put_array_len(out, count);
            } else {
                msgpack::put_map_len(out, count);
            }
            out.extend_from_slice(&inside);
            return rest;
        }
        text = value(text, &mut inside);
        if close == '}' {
            text = value(text.trim_start().strip_prefix(':').unwrap(), &mut inside);
        }
        count += 1;
    }
}

/// Shows msgpack as text. The pairs of maps are in the order of their keys.
pub(crate) fn show(bytes: &[u8]) -> String {
    let mut reader = Reader::new(bytes);
    let mut out = String::new();
    while !reader.is_empty() {
        if !out.is_empty() {
            out += " ";
        }
        out += &show_value(&mut reader);
    }
    out
}

fn show_value(reader: &mut Reader) -> String {
    match reader.peek().unwrap() {
        Class::Nil => {
            reader.nil().unwrap();
            "nil".to_owned()
        }
        Class::Boolean => reader.boolean().unwrap().to_string(),
        Class::String => format!("\"{}\"", String::from_utf8_lossy(reader.str().unwrap())),
        Class::Binary => format!("bytes {:02x?}", reader.bin().unwrap()),
        Class::Extension => format!("extension {:02x?}", reader.ext().unwrap()),
        Class::Array => {
            let count = reader.array_len().unwrap();
            let items: Vec<String> = (0..count).map(|_| show_value(reader)).collect();
            format!("[{}]", items.join(", "))
        }
        Class::Map => {
            let count = reader.map_len().unwrap();
            let pair = |reader: &mut Reader| format!("{}: {}", show_value(reader), show_value(reader));
            let mut pairs: Vec<String> = (0..count).map(|_| pair(reader)).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(", "))
        }
        _ => match reader.number().unwrap() {
            Number::Unsigned(number) => number.to_string(),
            Number::Signed(number) => number.to_string(),
            Number::Float(number) => format!("{number:?}f"),
            Number::Double(number) => format!("{number:?}"),
        },
    }
}
