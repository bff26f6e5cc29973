//! Decodes the raw value of a header field to text: folds, raw 8-bit bytes, encoded words (RFC 2047).
//!
//! Input: bytes. Output: text, in two steps, because addresses must be parsed in between: `unfold` returns
//! text with the encoded words still encoded, and `decode_words` decodes these. `tidy` is the last step of
//! every value: it collapses white space and removes NULs. Does not know the meaning of a field.
//!
//! Encoded words are read as they are sent, not only as they should be: with raw spaces, commas and question
//! marks in them, without space around them, with characters split across two of them.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::bytes::{after, before};
use crate::decode::base64::decode_base64;
use crate::decode::charset;
use crate::decode::transfer::decode_q;
use crate::problem::{Problem, Problems};

/// Decodes the raw bytes of a value. If they are not UTF-8, the charset is guessed.
pub(crate) fn unfold<'a>(
    value: &'a [u8],
    fallback: Option<&'static Encoding>,
    problems: &mut Problems,
) -> Cow<'a, str> {
    let (text, is_guess) = charset::guess(value, fallback);
    if is_guess {
        problems.add(Problem::HeaderCharsetGuessed);
    }
    if memchr::memchr(0, value).is_some() {
        problems.add(Problem::NulBytes);
    }
    text
}

/// Decodes a whole value that is neither a list nor an address: a subject, a name.
pub(crate) fn decode_value(
    value: &[u8],
    fallback: Option<&'static Encoding>,
    problems: &mut Problems,
) -> String {
    let unfolded = unfold(value, fallback, problems);
    let decoded = decode_words(&unfolded, problems);
    tidy(&decoded)
}

/// Collapses every run of white space to one space, trims both ends, and removes NULs.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let is_space = |character: char| character.is_ascii_whitespace() || character == '\0';
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !tidy.is_empty() {
            tidy.push(' ');
        }
        tidy.push_str(word);
    }
    tidy
}

/// Decodes every encoded word. White space between two encoded words is not part of the text. A line end in
/// a word is a space, so that those of the result are where the field is folded.
pub(crate) fn decode_words<'a>(text: &'a str, problems: &mut Problems) -> Cow<'a, str> {
    if memchr::memmem::find(text.as_bytes(), b"=?").is_none() {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut run = Run::default();
    let mut rest = text;
    // Text after the last encoded word.
    let mut between = String::new();
    while let Some(start) = memchr::memmem::find(rest.as_bytes(), b"=?") {
        let (plain, from_word) = rest.split_at(start);
        between.push_str(plain);
        let Some((word, next)) = encoded_word(from_word) else {
            between.push_str("=?");
            rest = from_word.get(2..).unwrap_or_default();
            continue;
        };
        if !between.trim_ascii().is_empty() || (!between.is_empty() && run.is_empty()) {
            run.finish(&mut decoded, problems);
            decoded.push_str(&between);
        }
        between.clear();
        run.push(&word, &mut decoded, problems);
        rest = next;
    }
    run.finish(&mut decoded, problems);
    decoded.push_str(&between);
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Returns the length of the encoded word at the start of the text, or `None` if there is none.
pub(crate) fn encoded_word_length(text: &str) -> Option<usize> {
    let (_, rest) = encoded_word(text)?;
    Some(text.len().saturating_sub(rest.len()))
}

/// A parsed encoded word.
struct Word<'a> {
    charset: &'a str,
    is_base64: bool,
    data: &'a str,
}

/// Parses the encoded word at the start of the text, and returns the rest.
fn encoded_word(text: &str) -> Option<(Word<'_>, &str)> {
    /// Longer than any name of a charset, with a language after it.
    const CHARSET_BYTES_MAX: usize = 80;
    let inner = text.strip_prefix("=?")?;
    let name_length = memchr::memchr(b'?', before(inner.as_bytes(), CHARSET_BYTES_MAX))?;
    let (charset, rest) = inner.split_at_checked(name_length)?;
    if charset.is_empty() || charset.bytes().any(|byte| byte <= b' ' || byte == b'=') {
        return None;
    }
    let is_base64 = match rest.as_bytes() {
        [b'?', b'b' | b'B', b'?', ..] => true,
        [b'?', b'q' | b'Q', b'?', ..] => false,
        _ => return None,
    };
    let rest = rest.get(3..)?;
    let end = find_end(rest, is_base64)?;
    let (data, rest) = rest.split_at_checked(end)?;
    Some((Word { charset, is_base64, data }, rest.get(2..)?))
}

/// Finds the `?=` that ends the data.
///
/// In Q, a raw question mark before an encoded byte looks the same, as in `Why?=20Not?=`. So a `?=` is
/// skipped if two hexadecimal digits follow it and another `?=` comes before any white space or another
/// encoded word.
fn find_end(data: &str, is_base64: bool) -> Option<usize> {
    /// Far longer than the 75 bytes allowed, since whole subjects are sent as one word. It bounds the search.
    const DATA_BYTES_MAX: usize = 8 << 10;
    let bytes = before(data.as_bytes(), DATA_BYTES_MAX);
    let mut end = memchr::memmem::find(bytes, b"?=")?;
    if is_base64 {
        return Some(end);
    }
    loop {
        let following = after(bytes, end.saturating_add(2));
        let word = before(following, memchr::memchr2(b' ', b'\n', following).unwrap_or(following.len()));
        let word = before(word, memchr::memmem::find(word, b"=?").unwrap_or(word.len()));
        let is_encoded_byte = word.len() > 2 && before(word, 2).iter().all(u8::is_ascii_hexdigit);
        match memchr::memmem::find(word, b"?=") {
            Some(next) if is_encoded_byte => end = end.saturating_add(2).saturating_add(next),
            _ => return Some(end),
        }
    }
}

/// Adjacent encoded words of one charset. Their bytes are decoded together, since a character may be split
/// across two. A word in a stateful charset stands alone if the one before it ends in ASCII, as each should.
#[derive(Default)]
struct Run {
    charset: String,
    bytes: Vec<u8>,
    has_words: bool,
}

impl Run {
    fn is_empty(&self) -> bool {
        !self.has_words
    }

    /// Returns whether the next word, in a charset of that label, cannot continue a character of this run.
    fn is_complete(&self, label: &str) -> bool {
        /// Longer than any subject. Each word scans the whole run before it.
        const OPEN_BYTES_MAX: usize = 2 << 10;
        let is_complete = || match charset::is_open(&self.bytes, label) {
            None => false,
            Some(is_open) => !is_open || self.bytes.len() > OPEN_BYTES_MAX,
        };
        !charset::is_same(&self.charset, label) || is_complete()
    }

    fn push(&mut self, word: &Word<'_>, decoded: &mut String, problems: &mut Problems) {
        if self.has_words && self.is_complete(word.charset) {
            self.finish(decoded, problems);
        }
        let is_raw = |character: char| !character.is_ascii();
        let mut rest = word.data;
        while let Some(start) = rest.find(is_raw) {
            // Raw 8-bit bytes in an encoded word; `unfold` has decoded them.
            let (encoded, from_raw) = rest.split_at_checked(start).unwrap_or((rest, ""));
            let end = from_raw.find(|character: char| character.is_ascii()).unwrap_or(from_raw.len());
            let (raw, next) = from_raw.split_at_checked(end).unwrap_or((from_raw, ""));
            self.add(word, encoded, problems);
            self.finish(decoded, problems);
            decoded.push_str(raw);
            rest = next;
        }
        self.add(word, rest, problems);
    }

    fn add(&mut self, word: &Word<'_>, data: &str, problems: &mut Problems) {
        word.charset.clone_into(&mut self.charset);
        self.has_words = true;
        let is_clean = if word.is_base64 {
            decode_base64(data.as_bytes(), &mut self.bytes)
        } else {
            decode_q(data.as_bytes(), &mut self.bytes)
        };
        if !is_clean {
            problems.add(Problem::TransferDamaged);
        }
    }

    fn finish(&mut self, decoded: &mut String, problems: &mut Problems) {
        let is_line_end = |character| matches!(character, '\r' | '\n');
        let text = charset::decode(&self.bytes, Some(&self.charset), None, problems);
        if text.contains(is_line_end) {
            decoded.push_str(&text.replace(is_line_end, " "));
        } else {
            decoded.push_str(&text);
        }
        self.bytes.clear();
        self.charset.clear();
        self.has_words = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: &str) -> String {
        decode_value(value.as_bytes(), None, &mut Problems::default())
    }

    #[test]
    fn encoded_words_are_decoded() {
        for (value, expected) in [
            ("plain", "plain"),
            ("=?utf-8?q?caf=C3=A9?=", "café"),
            ("=?UTF-8?B?Y2Fmw6k=?= au lait", "café au lait"),
            ("a =?iso-8859-1?Q?=E4_b?= c", "a ä b c"),
            ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
            ("=?utf-8?q?a?=\r\n =?utf-8?q?b?=", "ab"),
            ("=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b"),
            ("=?utf-8?q?a?==?iso-8859-1?q?=E4?=", "aä"),
            ("x=?utf-8?q?a?=y", "xay"),
            ("=?utf-8?q??=", ""),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
    }

    #[test]
    fn encoded_words_are_decoded_as_they_are_sent() {
        for (value, expected) in [
            // A character split across two words, in both encodings.
            ("=?utf-8?q?=C3?= =?utf-8?q?=A9?=", "é"),
            ("=?utf-8?b?4pg=?= =?UTF-8?b?ug==?=", "☺"),
            ("=?utf-8?q?with raw spaces, and comma?=", "with raw spaces, and comma"),
            ("=?utf-8?q?Why?=20not?=", "Why? not"),
            ("=?utf-8*en?q?a?=", "a"),
            ("=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=", "日本"),
            (
                "=?iso-2022-jp?B?GyRCJS0lOCVIJWkhJiVVJWklQyU3JWUbKEIvGyRCJUsl?=
 =?iso-2022-jp?B?YyE8JXMbKEI=?=",
                "キジトラ・フラッシュ/ニャーン",
            ),
            // Both words go on in Japanese; the escape that ends it is missing, or comes twice.
            ("=?iso-2022-jp?B?GyRCRnw=?= =?ISO-2022-JP?Q?=4B=5C=1B=28B?=", "日本"),
            ("=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=", "日本"),
            ("=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?q?KEI?=", "日KEI"),
            ("=?utf-8*en?q?=C3?= =?UTF8*de?b?qQ==?=", "é"),
            ("=?gb18030?B?xOOBOQ==?= =?gb18030?B?7jk=?=", "你\u{3400}"),
            ("=?gb2312?Q?=C4?= =?gbk?Q?=E3?=", "你"),
            ("=?euc-jp?q?=C6?= =?euc-jp?q?=FC?=", "日"),
            ("=?shift_jis?q?=93?= =?shift_jis?b?+g==?=", "日"),
            ("=?big5?q?=A7?= =?big5?q?A?=", "你"),
            ("=?utf-7?Q?+ZeVnLIqe?= =?utf-7?Q?abc?=", "日本語abc"),
            ("=?utf-7?Q?+ZeVnL?= =?utf-7?Q?Iqe-?=", "日本語"),
            ("=?iso-2022-kr?B?GyQpQw5HUTE5Pm4P?=", "한국어"),
            ("=?iso-2022-kr?B?GyQpQw5H?= =?iso-2022-kr?B?UTE5Pm4P?=", "한국어"),
            ("=?hz-gb-2312?B?fntWUE5Efn0=?=", "中文"),
            ("=?hz-gb-2312?Q?~{VPN?= =?hz-gb-2312?Q?D~}!?=", "中文!"),
            ("=?x-unknown?q?=E4?=", "ä"),
            ("=?nonsense?q?=C3=A9?=", "é"),
            ("=?utf-8?q?=E4?=", "ä"),
            ("=?utf-8?b?Y2Fmw6k?=", "café"),
            ("=?utf-8?q?a?=be=?utf-8?q?c?=", "abec"),
            ("=?iso-8859-1?q?a=E4\u{fc}b=F6_?= c", "aäübö c"),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
    }

    #[test]
    fn what_only_looks_encoded_stays() {
        for value in [
            "=?",
            "=?utf-8?",
            "=?utf-8?q?",
            "=?utf-8?q?a",
            "=?utf-8?x?a?=",
            "=??q?a?=",
            "a =? b ?= c",
            "=?a b?q?c?=",
        ] {
            assert_eq!(show(value), value);
        }
    }

    #[test]
    fn values_are_tidied() {
        assert_eq!(show(" a\r\n\tb \0 c  d\t\x0c"), "a b c d");
        assert_eq!(show("=?utf-8?q?a=0Ab=00?="), "a b");
    }

    #[test]
    fn raw_bytes_are_guessed() {
        let mut problems = Problems::default();
        assert_eq!(decode_value(b"caf\xe9", None, &mut problems), "café");
        assert_eq!(decode_value(b"\xf0\xd2\xc9", charset::encoding("koi8-r"), &mut problems), "При");
        assert_eq!(problems.into_list(), [Problem::HeaderCharsetGuessed]);
        let mut problems = Problems::default();
        assert_eq!(decode_value("café".as_bytes(), None, &mut problems), "café");
        assert!(problems.into_list().is_empty());
    }
}
