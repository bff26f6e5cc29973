//! Parses file names in parameters: in pieces, with a charset of their own (RFC 2231), or as encoded words.
//!
//! Input: one line of a field's parameters. Output: the name. mail-parser parses all other parameters. It
//! decodes each piece and each encoded word alone, and all pieces but the first as UTF-8, so it loses a
//! character split between two of them. Does not know what the name is for.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before};
use crate::decode::charset;
use crate::problem::Problems;

/// Pieces of one value that are read.
const PIECE_COUNT_MAX: usize = 256;

/// Returns the joined value of `parameter*`, `parameter*0*`, `parameter*0` and the pieces that follow;
/// without any, the value of `parameter` if it contains encoded words, which stay encoded.
pub(crate) fn read_file_name(line: &[u8], parameter: &str, problems: &mut Problems) -> Option<String> {
    let mut pieces: Vec<(u32, bool, Vec<u8>)> = Vec::new();
    let mut plain = None;
    for (key, value) in parameters(line) {
        if plain.is_none()
            && key.eq_ignore_ascii_case(parameter.as_bytes())
            && memchr::memmem::find(&value, b"=?").is_some()
        {
            plain = Some(String::from_utf8_lossy(&value).into_owned());
            continue;
        }
        let Some((number, is_encoded)) = piece_of(key, parameter) else { continue };
        if pieces.len() < PIECE_COUNT_MAX && !pieces.iter().any(|(known, ..)| *known == number) {
            pieces.push((number, is_encoded, value));
        }
    }
    if pieces.is_empty() {
        return plain;
    }
    pieces.sort_unstable_by_key(|(number, ..)| *number);
    let mut label = None;
    let mut bytes = Vec::new();
    for (index, (_, is_encoded, value)) in pieces.iter().enumerate() {
        let mut value = value.as_slice();
        if index == 0
            && *is_encoded
            && let Some((name, rest)) = charset_of(value)
        {
            (label, value) = (Some(String::from_utf8_lossy(name).into_owned()), rest);
        }
        if *is_encoded { decode_percent(value, &mut bytes) } else { bytes.extend_from_slice(value) }
    }
    Some(charset::decode(&bytes, label.as_deref(), None, problems).into_owned())
}

/// Returns the number of the piece that a key names, and whether the piece is encoded.
fn piece_of(key: &[u8], parameter: &str) -> Option<(u32, bool)> {
    let (name, rest) = key.split_at_checked(parameter.len())?;
    if !name.eq_ignore_ascii_case(parameter.as_bytes()) {
        return None;
    }
    let rest = std::str::from_utf8(rest.strip_prefix(b"*")?).ok()?;
    if rest.is_empty() {
        return Some((0, true));
    }
    let digits = rest.strip_suffix('*').unwrap_or(rest);
    Some((digits.parse().ok()?, digits.len() < rest.len()))
}

/// Splits `charset'language'` from a value.
fn charset_of(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut quotes = memchr::memchr_iter(b'\'', value);
    let (first, second) = (quotes.next()?, quotes.next()?);
    Some((before(value, first), after(value, second.saturating_add(1))))
}

fn decode_percent(mut rest: &[u8], decoded: &mut Vec<u8>) {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    while let Some((&byte, next)) = rest.split_first() {
        let pair = next.split_first_chunk().map(|(&[high, low], next)| (digit(high), digit(low), next));
        match (byte, pair) {
            (b'%', Some((Some(high), Some(low), next))) => {
                decoded.push(high << 4 | low);
                rest = next;
            }
            _ => {
                decoded.push(byte);
                rest = next;
            }
        }
    }
}

/// Returns keys and values of `..; key=value; key="value"`, without quotation marks.
fn parameters(line: &[u8]) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
    let mut rest = after(line, memchr::memchr(b';', line).unwrap_or(line.len()));
    std::iter::from_fn(move || {
        loop {
            rest = rest.strip_prefix(b";")?.trim_ascii_start();
            let key_length = rest.iter().take_while(|byte| !b"=;".contains(byte)).count();
            let key = before(rest, key_length).trim_ascii();
            rest = after(rest, key_length);
            let Some(from_value) = rest.strip_prefix(b"=") else { continue };
            let (value, next) = read_value(from_value.trim_ascii_start());
            rest = after(next, memchr::memchr(b';', next).unwrap_or(next.len()));
            return Some((key, value));
        }
    })
}

/// Parses the value at the start of the bytes, and returns the rest.
fn read_value(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let Some(mut rest) = bytes.strip_prefix(b"\"") else {
        let (value, rest) = bytes.split_at(memchr::memchr(b';', bytes).unwrap_or(bytes.len()));
        return (value.trim_ascii().to_vec(), rest);
    };
    let mut value = Vec::new();
    while let Some((&byte, next)) = rest.split_first() {
        rest = next;
        match (byte, next.split_first()) {
            (b'"', _) => break,
            (b'\\', Some((&escaped, next))) => {
                value.push(escaped);
                rest = next;
            }
            _ => value.push(byte),
        }
    }
    (value, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(line: &str) -> Option<String> {
        read_file_name(line.as_bytes(), "name", &mut Problems::default())
    }

    #[test]
    fn pieces_are_put_together_before_they_are_decoded() {
        for (line, expected) in [
            ("a/b; name*=utf-8''caf%C3%A9.txt", "café.txt"),
            ("a/b; NAME*0*=utf-8'fr'caf%C3; x=y; Name*1*=%A9.txt", "café.txt"),
            ("a/b; name*1*=%A9; name*0*=utf-8''%C3", "é"),
            ("a/b; name*0*=shift_jis''%93; name*1*=%FA", "日"),
            ("a/b; name*0=\"one; \\\"\"; name*1=two ", "one; \"two"),
            ("a/b; name*0*=iso-8859-1''%FC; name*1=\"%41\"", "ü%41"),
            ("a/b; name*=%zz%4", "%zz%4"),
            ("a/b; name*=caf%C3%A9", "café"),
            ("a/b; name*0=a; name*0=b; name*10=d; name*9=c", "acd"),
            ("a/b; name*=\"unclosed", "unclosed"),
            ("a/b; name==?utf-8?q?x?=; name*=y", "y"),
            ("a/b; Name=\"=?utf-8?q?x?= =?utf-8?q?y?=\"; x=y", "=?utf-8?q?x?= =?utf-8?q?y?="),
        ] {
            assert_eq!(show(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_parameters_are_left_alone() {
        for line in
            ["", "a/b", "a/b; name=x", "a/b; filename*=x", "a/b; name*x=y", "a/b; name*", "a/b; n\u{e9}"]
        {
            assert_eq!(show(line), None, "{line}");
        }
        let many: String = (0..PIECE_COUNT_MAX + 5).map(|number| format!("; name*{number}=x")).collect();
        assert_eq!(show(&many).map(|name| name.len()), Some(PIECE_COUNT_MAX));
    }
}
