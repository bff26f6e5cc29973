//! Decodes folder names for display: mail servers encode non-ASCII names in modified UTF-7 (RFC 3501, 5.1.3).
//!
//! Input: the path of a folder as on disk. Output: text. Anything that is not valid modified UTF-7 stays as
//! it is. So does an encoding of ASCII or control characters, which servers never write: decoding therefore
//! never yields a slash, or a control character that a terminal would obey. Two paths may give the same text.
//! Does not depend on folders.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

/// Bits that each letter encodes.
const LETTER_BITS: u32 = 6;

/// Returns a folder's path for display. Bytes that are not UTF-8 become U+FFFD.
pub fn readable_folder(path: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(path);
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    let mut readable = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some((before, behind)) = rest.split_once('&') {
        readable.push_str(before);
        rest = behind;
        match behind.split_once('-').and_then(|(run, next)| Some((decode(run)?, next))) {
            Some((decoded, next)) => {
                readable.push_str(&decoded);
                rest = next;
            }
            None => readable.push('&'),
        }
    }
    readable.push_str(rest);
    Cow::Owned(readable)
}

/// Returns a folder's name as servers write it, in modified UTF-7: what [`readable_folder`] reads.
pub fn encoded_folder(name: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";
    let mut encoded = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| c.is_ascii() != first.is_ascii()).unwrap_or(rest.len());
        let (run, next) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = next;
        if first.is_ascii() {
            encoded.push_str(&run.replace('&', "&-"));
            continue;
        }
        encoded.push('&');
        let (mut bits, mut count) = (0_u32, 0_u32);
        let mut put = |bits: u32| {
            let letter = LETTERS.get((bits & 0x3f) as usize).copied().unwrap_or_default();
            encoded.push(char::from(letter));
        };
        for unit in run.encode_utf16() {
            bits = (bits << u16::BITS) | u32::from(unit);
            count = count.saturating_add(u16::BITS);
            while let Some(left) = count.checked_sub(LETTER_BITS) {
                put(bits >> left);
                count = left;
                bits &= !(u32::MAX << left);
            }
        }
        if count > 0 {
            put(bits << LETTER_BITS.saturating_sub(count));
        }
        encoded.push('-');
    }
    encoded
}

/// Decodes the letters between `&` and `-`; `None` if no server would have written them.
fn decode(run: &str) -> Option<String> {
    if run.is_empty() {
        return Some("&".to_owned());
    }
    let mut units = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for letter in run.bytes() {
        bits = (bits << LETTER_BITS) | value(letter)?;
        count = count.saturating_add(LETTER_BITS);
        if let Some(left) = count.checked_sub(u16::BITS) {
            units.push(u16::try_from((bits >> left) & u32::from(u16::MAX)).ok()?);
            count = left;
            bits &= !(u32::MAX << left);
        }
    }
    let is_whole = count < LETTER_BITS && bits == 0;
    let decoded = String::from_utf16(&units).ok().filter(|_| is_whole)?;
    decoded.chars().all(|c| !c.is_ascii() && !c.is_control()).then_some(decoded)
}

fn value(letter: u8) -> Option<u32> {
    let (first, from) = match letter {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => return Some(62),
        b',' => return Some(63),
        _ => return None,
    };
    Some(u32::from(letter.saturating_sub(first)).saturating_add(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_names_are_readable() {
        for (path, expected) in [
            ("Entw&APw-rfe", "Entwürfe"),
            ("~peter/mail/&U,BTFw-/&ZeVnLIqe-", "~peter/mail/台北/日本語"),
            ("&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-", "Отправленные"),
            (".Gel&APY-scht.a&-b", ".Gelöscht.a&b"),
            ("&2D3eAA-", "😀"),
            ("a&-&APw--b", "a&ü-b"),
            ("plain/name", "plain/name"),
            ("schön/&APw-", "schön/ü"),
            ("", ""),
        ] {
            assert_eq!(readable_folder(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn what_no_server_writes_stays() {
        for path in [
            "R&D",
            "AT&T-old",
            "Ernst&Young-2",
            "Ernst&Youngs-",
            "&",
            "a&APw",
            "&AP-",
            "&APx-",
            "&AP w-",
            "&AP/w-",
            "&2D0-",
            "&3gA-",
            // A slash, a letter, a line feed, an escape, a control beyond ASCII, nothing at all.
            "&AC8-",
            "&AGE-",
            "&AAo-",
            "&ABs-",
            "&AJs-",
            "&AAA-",
        ] {
            assert_eq!(readable_folder(path.as_bytes()), path);
        }
        assert_eq!(readable_folder(b"a\xff&APw-"), "a\u{fffd}ü");
    }

    /// Every name that a server may encode is decoded to itself.
    #[test]
    fn names_are_written_as_servers_do() {
        for name in ["Entw&APw-rfe", "&U,BTFw-/&ZeVnLIqe-", "&2D3eAA-", "a&-&APw--b", "plain/name", ""] {
            assert_eq!(encoded_folder(&readable_folder(name.as_bytes())), name);
        }
    }

    #[test]
    fn names_come_back_from_their_encoding() {
        for name in ["é", "日本", "😀a", "aé&日-本&", "ÿ\u{10ffff}", "x"] {
            assert_eq!(readable_folder(encoded_folder(name).as_bytes()), name);
        }
    }
}
