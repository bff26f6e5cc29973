//! Decodes UTF-7 (RFC 2152), which some Microsoft mail servers used for their reports.
//!
//! Input: bytes. Output: text, with U+FFFD for damage. mail-parser's decoder is not used: it loses the
//! character after every encoded run that does not end in a hyphen, line ends among them. Does not depend on
//! mail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before};
use crate::decode::base64::decode_base64;

/// Decodes UTF-7. Bytes that are not ASCII are read as Latin-1.
pub(crate) fn decode_utf7(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(start) = memchr::memchr(b'+', rest) {
        text.extend(before(rest, start).iter().copied().map(char::from));
        rest = after(rest, start.saturating_add(1));
        let is_encoded = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let length = rest.iter().take_while(is_encoded).count();
        let run = before(rest, length);
        rest = after(rest, length);
        let is_closed = rest.first() == Some(&b'-');
        if run.is_empty() {
            text.push('+');
        } else {
            text.push_str(&decode_run(run));
        }
        if is_closed {
            rest = after(rest, 1);
        }
    }
    text.extend(rest.iter().copied().map(char::from));
    text
}

fn decode_run(run: &[u8]) -> String {
    let mut decoded = Vec::new();
    decode_base64(run, &mut decoded);
    // The padding bits of the last sextet may decode to one byte more.
    let whole = decoded.len().saturating_sub(decoded.len().rem_euclid(2));
    let (text, _) = encoding_rs::UTF_16BE.decode_without_bom_handling(before(&decoded, whole));
    text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf7_is_decoded() {
        for (encoded, expected) in [
            ("plain", "plain"),
            ("Hi Mom -+Jjo--!", "Hi Mom -☺-!"),
            ("+ZeVnLIqe", "日本語"),
            ("+ZeVnLIqe\nnext", "日本語\nnext"),
            ("1 +- 1", "1 + 1"),
            ("A+ImIDkQ.", "A≢Α."),
            ("+2D3eAA-", "😀"),
            ("+2D0- +A", "\u{fffd} "),
            ("", ""),
        ] {
            assert_eq!(decode_utf7(encoded.as_bytes()), expected, "{encoded}");
        }
    }
}
