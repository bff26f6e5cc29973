//! Decodes charsets that shift between ASCII and characters of two bytes.
//!
//! In: bytes. Out: text, with U+FFFD for damage; and whether bytes stop inside a shifted run, so that what
//! follows must be decoded together with them. encoding_rs has no hz-gb-2312 and no iso-2022-kr, because
//! browsers have none. This file must not know labels and mail.
//!
//! A pair of HZ is one of GB2312, and a pair of ISO-2022-KR one of KS X 1001, each without the high bits.
//! With the high bits set they are GBK and EUC-KR. Both charsets return to ASCII at the end of a line (RFC
//! 1843, RFC 1557).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use encoding_rs::{EUC_KR, Encoding, GBK, ISO_2022_JP};

use crate::bytes::{after, before};

const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;
const ESCAPE: u8 = 0x1b;

/// A charset in which a byte may mean one thing or another, by what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shifted {
    /// iso-2022-jp (RFC 1468).
    Iso2022Jp,
    /// iso-2022-kr (RFC 1557).
    Iso2022Kr,
    /// hz-gb-2312 (RFC 1843).
    Hz,
    /// utf-7 (RFC 2152).
    Utf7,
}

/// Says whether bytes stop before they are back in ASCII, so that what follows may go on where they stop.
pub(crate) fn is_open(charset: Shifted, bytes: &[u8]) -> bool {
    match charset {
        Shifted::Iso2022Jp => {
            let escape = memchr::memrchr(ESCAPE, bytes).map(|at| after(bytes, at.saturating_add(1)));
            escape.is_some_and(|rest| !matches!(rest, [b'(', b'B' | b'J', ..]))
        }
        Shifted::Iso2022Kr => {
            memchr::memrchr2(SHIFT_OUT, SHIFT_IN, bytes).is_some_and(|at| bytes.get(at) == Some(&SHIFT_OUT))
        }
        Shifted::Hz => {
            let (mut rest, mut is_open) = (bytes, false);
            while let Some((pair, next)) = hz_escape(rest) {
                is_open = pair == b'{' || (is_open && pair != b'}');
                rest = next;
            }
            is_open
        }
        Shifted::Utf7 => is_utf7_open(bytes),
    }
}

/// Goes to the next `~` and returns the byte that follows it, and what comes then.
fn hz_escape(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let at = memchr::memchr(b'~', bytes)?;
    let next = after(bytes, at.saturating_add(1));
    next.split_first().map(|(byte, next)| (*byte, next))
}

/// Says whether a run of base64 at the end lacks bits of its last character.
fn is_utf7_open(bytes: &[u8]) -> bool {
    let Some(start) = memchr::memrchr(b'+', bytes) else { return false };
    let run = after(bytes, start.saturating_add(1));
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'/';
    // 6 bits each; a character has 16, and up to 5 fill up the last sextet.
    run.iter().all(is_encoded) && run.len().saturating_mul(6).rem_euclid(16) > 5
}

/// Decodes iso-2022-jp, of which browsers refuse an escape that follows another at once; mail has these
/// wherever two encoded words or lines meet. Says whether there were errors.
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

/// Decodes hz-gb-2312: `~{` begins pairs, `~}` ends them, `~~` is a tilde, and `~` at the end of a line joins
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

/// Decodes iso-2022-kr: the escape `ESC $ ) C` names the charset, shift-out begins pairs, shift-in ends them.
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

/// Adds a byte, or where pairs are meant two bytes with their high bits on, and returns what follows. A line
/// end is back in ASCII; a byte that is no half of a pair stands for itself.
fn push_shifted<'a>(lifted: &mut Vec<u8>, is_shifted: &mut bool, (byte, next): (u8, &'a [u8])) -> &'a [u8] {
    *is_shifted &= byte != b'\n';
    let is_half = |byte: u8| matches!(byte, 0x21..=0x7e);
    match next.split_first() {
        Some((&second, next)) if *is_shifted && is_half(byte) && is_half(second) => {
            lifted.extend([byte | 0x80, second | 0x80]);
            next
        }
        // Half a character at the end, or before a line end.
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
            (Shifted::Iso2022Jp, &b"ascii"[..], false),
            (Shifted::Iso2022Jp, b"\x1b$BF|\x1b(B", false),
            (Shifted::Iso2022Jp, b"\x1b$BF|\x1b(J", false),
            (Shifted::Iso2022Jp, b"\x1b(B\x1b$BF", true),
            (Shifted::Iso2022Jp, b"\x1b", true),
            (Shifted::Iso2022Kr, b"\x0eGQ\x0f", false),
            (Shifted::Iso2022Kr, b"\x0f\x0eG", true),
            (Shifted::Iso2022Kr, b"", false),
            (Shifted::Hz, b"~{<:~}", false),
            (Shifted::Hz, b"~~{", false),
            (Shifted::Hz, b"~{<:~}~{<", true),
            (Shifted::Hz, b"~", false),
            (Shifted::Utf7, b"+ZeVnLIqe", false),
            (Shifted::Utf7, b"+ZeVn-x", false),
            (Shifted::Utf7, b"+ZeVnL", true),
            (Shifted::Utf7, b"a+", false),
        ] {
            assert_eq!(is_open(charset, bytes), expected, "{charset:?} {bytes:?}");
        }
    }
}
