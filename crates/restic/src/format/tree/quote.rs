//! Quotes names as restic does, so that any bytes can be written as text.
//!
//! Writes what Go's `strconv.Quote` writes between its quotes, and reads what `strconv.Unquote` reads. JSON
//! quotes the result once more.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::printable::is_printable;
use std::fmt::Write;

/// Returns whether a name needs no quoting; nearly all do not.
pub(super) fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

/// Returns a name's quoted text.
pub(super) fn quote(name: &[u8]) -> String {
    let mut quoted = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            quote_character(character, &mut quoted);
        }
        for byte in chunk.invalid() {
            write!(quoted, "\\x{byte:02x}").expect("a string takes all that is written");
        }
    }
    quoted
}

fn quote_character(character: char, quoted: &mut String) {
    let short = match character {
        '"' | '\\' => character,
        _ if is_printable(character) => return quoted.push(character),
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        _ => {
            let number = u32::from(character);
            let written = match number {
                0..0x20 | 0x7f => write!(quoted, "\\x{number:02x}"),
                0..0x1_0000 => write!(quoted, "\\u{number:04x}"),
                _ => write!(quoted, "\\U{number:08x}"),
            };
            return written.expect("a string takes all that is written");
        }
    };
    quoted.push('\\');
    quoted.push(short);
}

/// Returns the name that a text is quoted from; `None` if it is from none.
pub(super) fn unquote(quoted: &str) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(quoted.len());
    let mut rest = quoted.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = match byte {
            b'"' | b'\n' => return None,
            b'\\' => unescape(behind, &mut name)?,
            _ => {
                name.push(byte);
                behind
            }
        };
    }
    Some(name)
}

/// Reads what follows a backslash and returns the rest.
fn unescape<'a>(text: &'a [u8], name: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (&letter, behind) = text.split_first()?;
    let byte = match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'"' => letter,
        b'x' => {
            let (number, behind) = digits(behind, 2, 16)?;
            name.push(u8::try_from(number).ok()?);
            return Some(behind);
        }
        b'u' => return unescape_character(behind, 4, name),
        b'U' => return unescape_character(behind, 8, name),
        b'0'..=b'7' => {
            let (number, behind) = digits(text, 3, 8)?;
            name.push(u8::try_from(number).ok()?);
            return Some(behind);
        }
        _ => return None,
    };
    name.push(byte);
    Some(behind)
}

fn unescape_character<'a>(text: &'a [u8], digit_count: usize, name: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (number, behind) = digits(text, digit_count, 16)?;
    let character = char::from_u32(number)?;
    name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(behind)
}

/// Reads a number with this many digits, eight at most, and returns the rest.
fn digits(text: &[u8], count: usize, base: u32) -> Option<(u32, &[u8])> {
    let (digits, behind) = text.split_at_checked(count)?;
    let number = digits.iter().try_fold(0u32, |number, &digit| {
        number.checked_mul(base)?.checked_add(char::from(digit).to_digit(base)?)
    })?;
    Some((number, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Random;

    /// Names and their texts by Go 1.26.
    const CASES: [(&[u8], &str); 12] = [
        (b"1699.M1P2.host,S=12:2,FS", "1699.M1P2.host,S=12:2,FS"),
        (b"say \"hi\" \\o/", "say \\\"hi\\\" \\\\o/"),
        (b"it's", "it's"),
        (b"\x07\x08\x0c\n\r\t\x0b", "\\a\\b\\f\\n\\r\\t\\v"),
        (b"\0\x1b\x7f", "\\x00\\x1b\\x7f"),
        ("é 日本 😀 e\u{301} \u{fffd}".as_bytes(), "é 日本 😀 e\u{301} \u{fffd}"),
        (
            "\u{80}\u{a0}\u{ad}\u{200b}\u{2028}\u{e000}\u{ffff}".as_bytes(),
            "\\u0080\\u00a0\\u00ad\\u200b\\u2028\\ue000\\uffff",
        ),
        ("\u{e0001}\u{10fffd}".as_bytes(), "\\U000e0001\\U0010fffd"),
        (b"\xff\xe9t\x80", "\\xff\\xe9t\\x80"),
        (b"\xe2\x82", "\\xe2\\x82"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        (b"", ""),
    ];

    #[test]
    fn names_as_go_quotes_them() {
        for (name, text) in CASES {
            assert_eq!((quote(name).as_str(), unquote(text).as_deref()), (text, Some(name)));
            assert!(!is_plain(name) || quote(name).as_bytes() == name, "{text}");
        }
        assert!(is_plain(CASES[0].0) && is_plain(b"it's <&>") && !is_plain(CASES[1].0) && !is_plain(b"\x7f"));
    }

    #[test]
    fn other_escapes_that_go_reads() {
        assert_eq!(unquote("\\101\\377\\u00e9\\U0001f600").unwrap(), b"A\xff\xc3\xa9\xf0\x9f\x98\x80");
        let no_names = [
            "\"",
            "a\\",
            "\\'",
            "\\x1",
            "\\xg0",
            "\\u12",
            "\\ud800",
            "\\U00110000",
            "\\08",
            "\\400",
            "\\q",
            "\n",
        ];
        for text in no_names {
            assert_eq!(unquote(text), None, "{text}");
        }
    }

    #[test]
    fn any_bytes_come_back() {
        let mut random = Random::new(7);
        for _ in 0..2_000 {
            let mut name = vec![0; random.index(20)];
            random.fill(&mut name);
            assert_eq!(unquote(&quote(&name)), Some(name));
        }
    }
}
