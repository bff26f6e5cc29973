//! JSON whose strings are safe to print, and bytes as text in it.
//!
//! Characters that a terminal acts on are written as `\u` escapes, which changes nothing for a reader of
//! JSON.

use crate::sanitise::first_harmful;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Appends a value as compact JSON with harmful characters escaped. All keys of maps in it must be strings.
pub fn put(value: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer = Serializer::with_formatter(&mut *out, Harmless);
    value.serialize(&mut serializer).expect("writing to memory does not fail, and all keys are strings");
}

/// Writes compact JSON with harmful characters escaped.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, character)) = first_harmful(rest) {
            let (before, behind) = rest.split_at(at);
            write!(writer, "{before}\\u{:04x}", u32::from(character))?;
            rest = &behind[character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Returns bytes in base64 with padding (RFC 4648, section 4).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |place: usize| group.get(place).copied().map_or(0, u32::from);
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let is_there = place <= group.len();
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if is_there { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitise::is_harmful;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        put(&text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_comes_back_and_none_is_harmful() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            let json = written(&text);
            assert!(!json.contains(is_harmful), "{character:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn escapes_look_like_those_of_json() {
        assert_eq!(written("a\u{9b}1m\"\n\u{202e}"), "\"a\\u009b1m\\\"\\n\\u202e\"");
    }

    #[test]
    fn base64_is_that_of_the_specification() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
