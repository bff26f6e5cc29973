//! Decodes transfer encodings, base64 and quoted-printable, and the Q encoding of encoded words.
//!
//! Input: encoded bytes. Output: decoded bytes, and whether the input was clean. Damage never stops the
//! decoding. Does not depend on charsets and parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use crate::bytes::{after, before};
use crate::decode::base64::{Base64Decoder, decode_base64};

/// The transfer encoding of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Transfer {
    /// 7bit, 8bit, binary, and unknown encodings.
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
}

/// Returns the encoding of that name, or `None` if it is unknown.
pub(crate) fn transfer(value: &[u8]) -> Option<Transfer> {
    let end = value.iter().position(|byte| matches!(byte, b';' | b'(')).unwrap_or(value.len());
    let name: Vec<u8> =
        before(value, end).iter().copied().filter(|byte| !b" \t\r\n\"-_".contains(byte)).collect();
    let is_one_of = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if is_one_of(&["base64"]) {
        Some(Transfer::Base64)
    } else if is_one_of(&["quotedprintable"]) {
        Some(Transfer::QuotedPrintable)
    } else if is_one_of(&["", "7bit", "8bit", "binary", "7bits", "8bits", "plain", "none"]) {
        Some(Transfer::Identity)
    } else {
        None
    }
}

/// Decodes content, and returns whether it was clean. Unencoded content is not copied.
pub(crate) fn decode(bytes: &[u8], transfer: Transfer) -> (Cow<'_, [u8]>, bool) {
    let mut decoded = Vec::new();
    let is_clean = match transfer {
        Transfer::Identity => return (Cow::Borrowed(bytes), true),
        Transfer::Base64 => decode_base64(bytes, &mut decoded),
        Transfer::QuotedPrintable => decode_quoted_printable(bytes, &mut decoded),
    };
    (Cow::Owned(decoded), is_clean)
}

/// Passes decoded content to `consume` in blocks, so that an attachment of many megabytes needs little
/// memory. Returns whether it was clean. `block` is a buffer.
pub(crate) fn decode_by_blocks(
    bytes: &[u8],
    transfer: Transfer,
    block: &mut Vec<u8>,
    mut consume: impl FnMut(&[u8]),
) -> bool {
    const BLOCK_BYTES: usize = 48 << 10;
    block.clear();
    match transfer {
        Transfer::Identity => {
            consume(bytes);
            true
        }
        Transfer::QuotedPrintable => {
            let is_clean = decode_quoted_printable(bytes, block);
            consume(block);
            is_clean
        }
        Transfer::Base64 => {
            let mut decoder = Base64Decoder::default();
            let mut rest = bytes;
            while !rest.is_empty() {
                let piece = before(rest, BLOCK_BYTES);
                rest = after(rest, BLOCK_BYTES);
                decoder.decode(piece, rest, block);
                if rest.is_empty() {
                    decoder.flush(block);
                }
                consume(block);
                block.clear();
            }
            !decoder.is_damaged
        }
    }
}

/// Appends the decoded bytes, and returns whether the input was clean. An `=` that encodes nothing is kept.
pub(crate) fn decode_quoted_printable(bytes: &[u8], decoded: &mut Vec<u8>) -> bool {
    decoded.reserve(bytes.len());
    let mut is_clean = true;
    let mut rest = bytes;
    while let Some(start) = memchr::memchr(b'=', rest) {
        decoded.extend_from_slice(before(rest, start));
        rest = after(rest, start.saturating_add(1));
        if let Some((byte, next)) = hexadecimal(rest) {
            decoded.push(byte);
            rest = next;
        } else if let Some(next) = soft_break(rest) {
            rest = next;
        } else {
            decoded.push(b'=');
            is_clean = false;
        }
    }
    decoded.extend_from_slice(rest);
    is_clean
}

/// Appends the decoded bytes of an encoded word in Q, and returns whether it was clean.
///
/// Like quoted-printable, but `_` is a space. It is split off before decoding, so that an encoded `=5F` stays
/// `_`.
pub(crate) fn decode_q(bytes: &[u8], decoded: &mut Vec<u8>) -> bool {
    let mut is_clean = true;
    for (number, piece) in bytes.split(|&byte| byte == b'_').enumerate() {
        if number > 0 {
            decoded.push(b' ');
        }
        is_clean &= decode_quoted_printable(piece, decoded);
    }
    is_clean
}

fn hexadecimal(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&[high, low], rest) = bytes.split_first_chunk()?;
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(high)? << 4 | digit(low)?, rest))
}

/// Returns the bytes after a soft line break: a line end, possibly after white space.
fn soft_break(bytes: &[u8]) -> Option<&[u8]> {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match after(bytes, blanks) {
        [] => Some(&[]),
        [b'\n', rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, transfer: Transfer) -> (String, bool) {
        let (decoded, is_clean) = decode(text.as_bytes(), transfer);
        (String::from_utf8_lossy(&decoded).into_owned(), is_clean)
    }

    #[test]
    fn quoted_printable_is_decoded_as_far_as_it_goes() {
        for (text, expected, is_clean) in [
            ("a=3Db", "a=b", true),
            ("caf=c3=A9", "café", true),
            ("a=\nb=\r\nc= \t\nd=", "abcd", true),
            ("1=2", "1=2", false),
            ("a==3D", "a==", false),
            ("=zz\nx", "=zz\nx", false),
        ] {
            assert_eq!(show(text, Transfer::QuotedPrintable), (expected.to_owned(), is_clean), "{text:?}");
        }
    }

    #[test]
    fn blocks_give_what_the_whole_gives() {
        let mut text = String::new();
        for number in 0..20_000_u32 {
            text.push_str(
                ["QUJD\r\n", "QU JD", "RA==", "QUI=\n", "\n\n"]
                    [(number.wrapping_mul(2_654_435_761) >> 29) as usize % 5],
            );
        }
        for footer in ["", "\nfooter: no base64\n"] {
            let text = [&text, footer].concat();
            for transfer in [Transfer::Identity, Transfer::QuotedPrintable, Transfer::Base64] {
                let (whole, whole_is_clean) = decode(text.as_bytes(), transfer);
                let mut joined = Vec::new();
                let is_clean = decode_by_blocks(text.as_bytes(), transfer, &mut Vec::new(), |block| {
                    joined.extend_from_slice(block);
                });
                assert!(joined == *whole && is_clean == whole_is_clean, "{transfer:?}");
            }
        }
    }

    #[test]
    fn q_has_spaces() {
        let mut decoded = Vec::new();
        assert!(decode_q(b"a_b=5Fc=20d", &mut decoded));
        assert_eq!(decoded, b"a b_c d");
    }

    #[test]
    fn encodings_are_known_by_name() {
        for (name, expected) in [
            ("base64", Some(Transfer::Base64)),
            ("BASE64 ", Some(Transfer::Base64)),
            ("\"base64\"", Some(Transfer::Base64)),
            ("Quoted-Printable (comment)", Some(Transfer::QuotedPrintable)),
            ("quoted printable", Some(Transfer::QuotedPrintable)),
            ("8bit;", Some(Transfer::Identity)),
            ("8 bit", Some(Transfer::Identity)),
            ("", Some(Transfer::Identity)),
            ("x-uuencode", None),
        ] {
            assert_eq!(transfer(name.as_bytes()), expected, "{name}");
        }
    }
}
