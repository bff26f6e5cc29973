//! Decodes uuencoded content, as old mail has it: a line `begin 644 name`, lines of data, a line `end`.
//!
//! Input: encoded bytes in pieces. Output: decoded bytes, the name of the file, and whether the input was
//! clean. Damage never stops the decoding. Only contents that are handed out are decoded, not text that is
//! searched. Does not depend on parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before, cut};
use crate::limits::NAME_BYTES_MAX;

/// Bytes of a line that are kept. A line of data has 62.
const LINE_BYTES_MAX: usize = 1 << 10;

/// Where the decoder is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the line `begin`.
    #[default]
    Before,
    /// Among the lines of data.
    Inside,
    /// After the line `end`.
    After,
}

/// The state between two pieces.
#[derive(Debug, Default)]
pub(crate) struct Uudecoder {
    place: Place,
    /// The beginning of a line.
    line: Vec<u8>,
    name: String,
    is_damaged: bool,
}

/// Returns whether a transfer encoding of this name is that of uuencode.
pub(crate) fn is_uuencode(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    [&b"x-uuencode"[..], b"uuencode", b"x-uue", b"uue"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

impl Uudecoder {
    /// Decodes a piece.
    pub(crate) fn decode(&mut self, piece: &[u8], decoded: &mut Vec<u8>) {
        let mut rest = piece;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.keep(before(rest, end));
            self.line(decoded);
            rest = after(rest, end.saturating_add(1));
        }
        self.keep(rest);
    }

    /// Decodes what is left. Returns whether all was clean.
    pub(crate) fn end(&mut self, decoded: &mut Vec<u8>) -> bool {
        if !self.line.is_empty() {
            self.line(decoded);
        }
        self.place == Place::After && !self.is_damaged
    }

    /// Returns the name in the line `begin`, or an empty one.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(before(bytes, room));
    }

    /// Takes the line that is complete.
    fn line(&mut self, decoded: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        match self.place {
            Place::Before => {
                if let Some(name) = begin(line) {
                    self.name = cut(String::from_utf8_lossy(name).trim(), NAME_BYTES_MAX).to_owned();
                    self.place = Place::Inside;
                }
            }
            Place::Inside if line.trim_ascii_end() == b"end" => self.place = Place::After,
            Place::Inside => self.is_damaged |= !data(line, decoded),
            Place::After => {}
        }
    }
}

/// Returns the name in a line `begin MODE NAME`.
fn begin(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"begin ")?;
    let digits = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    matches!(digits, 3 | 4).then_some(())?;
    after(rest, digits).strip_prefix(b" ")
}

/// Appends the bytes of a line of data, and returns whether it was clean. A program may have taken away the
/// spaces at its end, which stand for zeros.
fn data(line: &[u8], decoded: &mut Vec<u8>) -> bool {
    let Some((&length, encoded)) = line.split_first() else { return true };
    let Some(length) = value(length) else { return false };
    let mut left = usize::from(length);
    let mut groups = encoded.chunks(4);
    let mut is_clean = true;
    while left > 0 {
        let mut word = 0_u32;
        let group = groups.next().unwrap_or_default();
        for index in 0..4 {
            let byte = group.get(index).copied().unwrap_or(b' ');
            is_clean &= value(byte).is_some();
            word = word << 6 | u32::from(value(byte).unwrap_or_default());
        }
        let [_, bytes @ ..] = word.to_be_bytes();
        decoded.extend_from_slice(before(&bytes, left));
        left = left.saturating_sub(3);
    }
    is_clean
}

/// Returns the six bits that a byte stands for.
fn value(byte: u8) -> Option<u8> {
    matches!(byte, b' '..=b'`').then(|| byte.wrapping_sub(b' ') & 0x3f)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes a text in pieces of so many bytes.
    fn decode(text: &str, step: usize) -> (String, String, bool) {
        let (mut decoder, mut decoded) = (Uudecoder::default(), Vec::new());
        text.as_bytes().chunks(step).for_each(|piece| decoder.decode(piece, &mut decoded));
        let is_clean = decoder.end(&mut decoded);
        (String::from_utf8_lossy(&decoded).into_owned(), decoder.name().to_owned(), is_clean)
    }

    #[test]
    fn a_file_is_decoded_with_its_name() {
        let text = "hello\nbegin 644 a b.txt\n#0V%T\n%:&5L;&\\ \n`\nend\nfooter\n";
        for step in [1, 2, 7, 100] {
            for text in [text.to_owned(), text.replace('\n', "\r\n"), text.trim_end().to_owned()] {
                assert_eq!(decode(&text, step), ("Cathello".into(), "a b.txt".into(), true), "{step}");
            }
        }
    }

    #[test]
    fn damage_is_told_and_costs_nothing_else() {
        for (text, expected) in [
            ("", ""),
            ("#0V%T\nend\n", ""),
            ("begin 644 x\n#0V%T\n", "Cat"),
            ("begin 644 x\n#0Vzz\n#0V%T\n`\nend\n", "C`\0Cat"),
            ("begin 644 x\n\u{7f}#0V%T\n`\nend\n", ""),
            ("begin 99 x\n#0V%T\n`\nend\n", ""),
        ] {
            let (decoded, _, is_clean) = decode(text, 3);
            assert_eq!((decoded.starts_with(expected), is_clean), (true, false), "{text:?}: {decoded:?}");
        }
        // Spaces at the end of a line were taken away.
        assert_eq!(decode("begin 644 x\n$0V%T\n`\nend\n", 9), ("Cat\0".into(), "x".into(), true));
        let long = format!("begin 644 {}\n`\nend\n", "x".repeat(1 << 20));
        assert!(decode(&long, 4096).1.len() <= NAME_BYTES_MAX);
    }

    #[test]
    fn the_encoding_is_known_by_name() {
        assert!(is_uuencode(b" X-UUencode ") && is_uuencode(b"uue"));
        assert!(!is_uuencode(b"base64") && !is_uuencode(b"x-yenc"));
    }
}
