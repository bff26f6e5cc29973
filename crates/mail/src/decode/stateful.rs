//! Decodes stateful charsets, which switch between ASCII and characters of two bytes.
//!
//! Input: bytes. Output: text, with U+FFFD for damage; and whether the bytes end inside a shifted run, so
//! that the bytes after them must be decoded together with them. encoding_rs has neither hz-gb-2312 nor
//! iso-2022-kr, because browsers do not support them. Does not depend on labels and mail.
//!
//! A pair of bytes in HZ is a character of GB2312, and one in ISO-2022-KR a character of KS X 1001, each
//! without the high bits. With the high bits set they are GBK and EUC-KR. Both charsets return to ASCII at
//! the end of a line (RFC 1843, RFC 1557).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use encoding_rs::{EUC_KR, Encoding, GBK, ISO_2022_JP};

use crate::bytes::{after, before};

const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;
const ESCAPE: u8 = 0x1b;

/// A charset in which the meaning of a byte depends on the bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatefulCharset {
    /// iso-2022-jp (RFC 1468).
    Iso2022Jp,
    /// iso-2022-kr (RFC 1557).
    Iso2022Kr,
    /// hz-gb-2312 (RFC 1843).
    Hz,
    /// utf-7 (RFC 2152).
    Utf7,
}

/// Returns whether the bytes end before they are back in ASCII, so that the next ones may continue them.
pub(crate) fn is_open(charset: StatefulCharset, bytes: &[u8]) -> bool {
    match charset {
        StatefulCharset::Iso2022Jp => {
            let escape = memchr::memrchr(ESCAPE, bytes).map(|at| after(bytes, at.saturating_add(1)));
            escape.is_some_and(|rest| !matches!(rest, [b'(', b'B' | b'J', ..]))
        }
        StatefulCharset::Iso2022Kr => {
            memchr::memrchr2(SHIFT_OUT, SHIFT_IN, bytes).is_some_and(|at| bytes.get(at) == Some(&SHIFT_OUT))
        }
        StatefulCharset::Hz => {
            let (mut rest, mut is_open) = (bytes, false);
            while let Some((pair, next)) = hz_escape(rest) {
                is_open = pair == b'{' || (is_open && pair != b'}');
                rest = next;
            }
            is_open
        }
        StatefulCharset::Utf7 => is_utf7_open(bytes),
    }
}

/// Finds the next `~`, and returns the byte after it and the rest.
fn hz_escape(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let at = memchr::memchr(b'~', bytes)?;
    let next = after(bytes, at.saturating_add(1));
    next.split_first().map(|(byte, next)| (*byte, next))
}

/// Returns whether a run of base64 at the end lacks bits of its last character.
fn is_utf7_open(bytes: &[u8]) -> bool {
    let Some(start) = memchr::memrchr(b'+', bytes) else { return false };
    let run = after(bytes, start.saturating_add(1));
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'/';
    // Each letter has 6 bits and a character 16; up to 5 bits pad the last sextet.
    run.iter().all(is_encoded) && run.len().saturating_mul(6).rem_euclid(16) > 5
}

/// Decodes iso-2022-jp, and returns whether there were errors. Browsers refuse an escape directly after
/// another one; mail has these wherever two encoded words or lines meet, so the first is dropped.
pub(crate) fn decode_iso_2022_jp(bytes: &[u8]) -> (String, bool) {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, next)) = rest.split_first() {
        if matches!(rest, [ESCAPE, b'(' | b'$', _, ESCAPE, ..]) {
            rest = rest.get(3..).unwrap_or_default();
        } else {
            kept.push(byte);
            rest = next;
        }
    }
    let (text, has_errors) = ISO_2022_JP.decode_without_bom_handling(&kept);
    (text.into_owned(), has_errors)
}

/// Decodes hz-gb-2312: `~{` starts pairs, `~}` ends them, `~~` is a tilde, and `~` at the end of a line joins
/// two lines.
pub(crate) fn decode_hz(bytes: &[u8]) -> String {
    let mut lifted = Vec::with_capacity(bytes.len());
    let mut is_shifted = false;
    let mut rest = bytes;
    while let Some((&byte, next)) = rest.split_first() {
        rest = next;
        match (byte, next.first()) {
            (b'~', Some(b'{')) if !is_shifted => is_shifted = true,
            (b'~', Some(b'}')) if is_shifted => is_shifted = false,
            (b'~', Some(b'~')) if !is_shifted => lifted.push(b'~'),
            (b'~', Some(b'\n')) if !is_shifted => {}
            _ => {
                rest = push_shifted(&mut lifted, &mut is_shifted, (byte, next));
                continue;
            }
        }
        rest = after(rest, 1);
    }
    decode(GBK, &lifted)
}

/// Decodes iso-2022-kr: the escape `ESC $ ) C` names the charset, shift-out starts pairs, shift-in ends them.
pub(crate) fn decode_iso_2022_kr(bytes: &[u8]) -> String {
    let mut lifted = Vec::with_capacity(bytes.len());
    let mut is_shifted = false;
    let mut rest = bytes;
    while let Some((&byte, next)) = rest.split_first() {
        rest = next;
        match byte {
            SHIFT_OUT => is_shifted = true,
            SHIFT_IN => is_shifted = false,
            ESCAPE if before(next, 3) == b"$)C" => rest = after(next, 3),
            _ => rest = push_shifted(&mut lifted, &mut is_shifted, (byte, next)),
        }
    }
    decode(EUC_KR, &lifted)
}

/// Adds a byte, or in a shifted run a pair with the high bits set, and returns the rest. A line end returns
/// to ASCII. A byte that cannot be half of a pair is added alone.
fn push_shifted<'a>(lifted: &mut Vec<u8>, is_shifted: &mut bool, (byte, next): (u8, &'a [u8])) -> &'a [u8] {
    *is_shifted &= byte != b'\n';
    let is_half = |byte: u8| matches!(byte, 0x21..=0x7e);
    match next.split_first() {
        Some((&second, next)) if *is_shifted && is_half(byte) && is_half(second) => {
            lifted.extend([byte | 0x80, second | 0x80]);
            next
        }
        // Half a character at the end of the text or of a line.
        _ if *is_shifted && is_half(byte) => {
            lifted.push(byte | 0x80);
            next
        }
        _ => {
            lifted.push(byte);
            next
        }
    }
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hz_is_decoded() {
        for (bytes, expected) in [
            (&b"plain ~~ tilde"[..], "plain ~ tilde"),
            (b"~{<:Ky2;S{#,NpJ)l6HK!#~}Bye.", "己所不欲，勿施於人。Bye."),
            (b"one ~\ntwo", "one two"),
            (b"~{<:\nplain", "己\nplain"),
            (b"~{<:", "己"),
            (b"~{<", "\u{fffd}"),
            (b"~{~}~", "~"),
            (b"\xbc\xba", "己"),
            (b"", ""),
        ] {
            assert_eq!(decode_hz(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn iso_2022_kr_is_decoded() {
        for (bytes, expected) in [
            (&b"\x1b$)C\x0eGQ1[\x0f text"[..], "한글 text"),
            (b"\x0eGQ1[\x0f", "한글"),
            (b"\x0eGQ\nplain", "한\nplain"),
            (b"\x0eGQ 1[", "한 글"),
            (b"\x0eG", "\u{fffd}"),
            (b"\x0f\x0e", ""),
        ] {
            assert_eq!(decode_iso_2022_kr(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_that_stop_in_the_middle_are_open() {
        for (charset, bytes, expected) in [
            (StatefulCharset::Iso2022Jp, &b"ascii"[..], false),
            (StatefulCharset::Iso2022Jp, b"\x1b$BF|\x1b(B", false),
            (StatefulCharset::Iso2022Jp, b"\x1b$BF|\x1b(J", false),
            (StatefulCharset::Iso2022Jp, b"\x1b(B\x1b$BF", true),
            (StatefulCharset::Iso2022Jp, b"\x1b", true),
            (StatefulCharset::Iso2022Kr, b"\x0eGQ\x0f", false),
            (StatefulCharset::Iso2022Kr, b"\x0f\x0eG", true),
            (StatefulCharset::Iso2022Kr, b"", false),
            (StatefulCharset::Hz, b"~{<:~}", false),
            (StatefulCharset::Hz, b"~~{", false),
            (StatefulCharset::Hz, b"~{<:~}~{<", true),
            (StatefulCharset::Hz, b"~", false),
            (StatefulCharset::Utf7, b"+ZeVnLIqe", false),
            (StatefulCharset::Utf7, b"+ZeVn-x", false),
            (StatefulCharset::Utf7, b"+ZeVnL", true),
            (StatefulCharset::Utf7, b"a+", false),
        ] {
            assert_eq!(is_open(charset, bytes), expected, "{charset:?} {bytes:?}");
        }
    }
}
