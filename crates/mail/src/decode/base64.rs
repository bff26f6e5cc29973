//! Decodes base64 as it is found in mail: cut, damaged, concatenated, with footers after it.
//!
//! Input: encoded bytes, whole or in pieces. Output: decoded bytes, and whether the input was clean. Does not
//! depend on parts.
//!
//! Bytes outside the alphabet are skipped. Padding ends a block. If everything after it is base64, that is
//! decoded too; otherwise it is left out, as it is the footer that a mailing list added to an encoded text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::before;

/// The values of the base64 alphabet; `INVALID` for all other bytes.
static BASE64: [u8; 256] = base64_table();
const INVALID: u8 = 0xff;

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "runs when compiled, over constants: there are 64 values"
)]
const fn base64_table() -> [u8; 256] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut table = [INVALID; 256];
    let mut value = 0;
    while value < alphabet.len() {
        table[alphabet[value] as usize] = value as u8;
        value += 1;
    }
    table
}

fn base64_value(byte: u8) -> u8 {
    BASE64.get(usize::from(byte)).copied().unwrap_or(INVALID)
}

/// Appends the decoded bytes, and returns whether the input was clean.
pub(crate) fn decode_base64(bytes: &[u8], decoded: &mut Vec<u8>) -> bool {
    decoded.reserve(bytes.len().div_euclid(4).saturating_mul(3).saturating_add(3));
    let mut decoder = Base64Decoder::default();
    decoder.decode(bytes, &[], decoded);
    decoder.flush(decoded);
    !decoder.is_damaged
}

/// The state between two pieces of base64: the sextets of an incomplete group.
#[derive(Default)]
pub(crate) struct Base64Decoder {
    word: u32,
    count: u8,
    pub(crate) is_damaged: bool,
    is_footer_checked: bool,
    is_over: bool,
}

impl Base64Decoder {
    /// Decodes a piece. `following` is its continuation.
    pub(crate) fn decode(&mut self, piece: &[u8], following: &[u8], decoded: &mut Vec<u8>) {
        let mut rest = piece;
        while !self.is_over {
            rest = self.decode_groups(rest, decoded);
            let Some((&byte, next)) = rest.split_first() else { return };
            rest = next;
            match base64_value(byte) {
                INVALID if byte == b'=' => {
                    self.flush(decoded);
                    self.check_footer(rest, following);
                }
                INVALID => self.is_damaged |= !byte.is_ascii_whitespace(),
                value => self.push(value, decoded),
            }
        }
    }

    /// Decodes whole groups of four, and returns the rest from the first other byte on.
    fn decode_groups<'a>(&self, mut rest: &'a [u8], decoded: &mut Vec<u8>) -> &'a [u8] {
        if self.count != 0 {
            return rest;
        }
        while let [first, second, third, fourth, next @ ..] = rest {
            let values = [*first, *second, *third, *fourth].map(base64_value);
            let [first, second, third, fourth] = values.map(u32::from);
            if first | second | third | fourth > 63 {
                break;
            }
            let [_, bytes @ ..] = (first << 18 | second << 12 | third << 6 | fourth).to_be_bytes();
            decoded.extend_from_slice(&bytes);
            rest = next;
        }
        rest
    }

    fn push(&mut self, value: u8, decoded: &mut Vec<u8>) {
        self.word = self.word << 6 | u32::from(value);
        self.count = self.count.saturating_add(1);
        if self.count == 4 {
            self.flush(decoded);
        }
    }

    /// Appends the complete bytes of a group, and starts a new one.
    pub(crate) fn flush(&mut self, decoded: &mut Vec<u8>) {
        let bits = match self.count {
            2 => self.word << 12,
            3 => self.word << 6,
            _ => self.word,
        };
        let [_, bytes @ ..] = bits.to_be_bytes();
        decoded.extend_from_slice(before(&bytes, usize::from(self.count.saturating_sub(1))));
        self.word = 0;
        self.count = 0;
    }

    /// Stops at the first padding if anything but base64 follows it.
    fn check_footer(&mut self, rest: &[u8], following: &[u8]) {
        if !self.is_footer_checked {
            self.is_footer_checked = true;
            self.is_over = rest.iter().chain(following).any(|&byte| !is_base64_text(byte));
            self.is_damaged |= self.is_over;
        }
    }
}

fn is_base64_text(byte: u8) -> bool {
    base64_value(byte) != INVALID || byte == b'=' || byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> (String, bool) {
        let mut decoded = Vec::new();
        let is_clean = decode_base64(text.as_bytes(), &mut decoded);
        (String::from_utf8_lossy(&decoded).into_owned(), is_clean)
    }

    #[test]
    fn base64_is_decoded_as_far_as_it_goes() {
        for (text, expected, is_clean) in [
            ("", "", true),
            ("YQ==", "a", true),
            ("YWI=", "ab", true),
            ("YWJj", "abc", true),
            ("YW\r\nJj\n", "abc", true),
            ("YWI", "ab", true),
            ("YQ", "a", true),
            ("Y", "", true),
            ("YW*Jj", "abc", false),
            ("YQ==\nYg==\n", "ab", true),
            ("YQ==\n\n____\nA list: see http://x/\n", "a", false),
        ] {
            assert_eq!(show(text), (expected.to_owned(), is_clean), "{text:?}");
        }
    }
}
