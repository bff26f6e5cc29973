//! Decodes bytes in a named, wrongly named or unnamed charset.
//!
//! Input: bytes and the label of their charset. Output: text, as readable as possible; guesses are added to
//! the problems. Does not depend on headers and parts.
//!
//! Labels are those of the WHATWG (encoding_rs), which reads gb2312 as gbk and iso-8859-1 as windows-1252, as
//! mail needs it. After them comes mail-parser's table, which adds cp850 and aliases.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;

use crate::decode::stateful::{self, StatefulCharset, decode_hz, decode_iso_2022_jp, decode_iso_2022_kr};
use crate::decode::utf7::decode_utf7;
use crate::problem::{Problem, Problems};

/// The charset that a label names.
#[derive(Clone, Copy)]
enum Charset {
    /// No label, or no more than ASCII.
    Unnamed,
    Known(&'static Encoding),
    /// A stateful charset that encoding_rs does not know.
    Stateful(StatefulCharset, fn(&[u8]) -> String),
    Table(fn(&[u8]) -> String),
    Unknown,
}

/// Returns the encoding that a label names, if it can serve as the fallback for bytes without a label.
pub(crate) fn encoding(label: &str) -> Option<&'static Encoding> {
    match find(label) {
        Charset::Known(encoding) if encoding != UTF_8 => Some(encoding),
        _ => None,
    }
}

/// Returns whether two labels name the same charset, so that bytes of both may be decoded together.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let is_same_encoding = || match (find(one), find(other)) {
        (Charset::Known(one), Charset::Known(other)) => one == other,
        (Charset::Stateful(one, _), Charset::Stateful(other, _)) => one == other,
        _ => false,
    };
    bare(one).eq_ignore_ascii_case(bare(other)) || is_same_encoding()
}

/// Returns whether bytes in a stateful charset end before they are back in ASCII, so that the next ones may
/// continue them. `None` for other charsets.
pub(crate) fn is_open(bytes: &[u8], label: &str) -> Option<bool> {
    match find(label) {
        Charset::Known(encoding) if encoding == ISO_2022_JP => {
            Some(stateful::is_open(StatefulCharset::Iso2022Jp, bytes))
        }
        Charset::Stateful(charset, _) => Some(stateful::is_open(charset, bytes)),
        _ => None,
    }
}

/// Decodes bytes in the charset that the label names.
///
/// `fallback` is the encoding tried for unlabelled bytes that are not UTF-8. Without it, windows-1252 is.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    label: Option<&str>,
    fallback: Option<&'static Encoding>,
    problems: &mut Problems,
) -> Cow<'a, str> {
    let label = label.unwrap_or_default();
    match find(label) {
        Charset::Unnamed => {
            let (text, is_guess) = guess(bytes, fallback);
            if is_guess {
                problems.add(Problem::CharsetUnsaid);
            }
            text
        }
        Charset::Known(encoding) => decode_known(bytes, encoding, label, problems),
        Charset::Stateful(_, decoder) => {
            let text = decoder(bytes);
            if text.contains(char::REPLACEMENT_CHARACTER) {
                problems.add(Problem::CharsetWrong(label.into()));
            }
            Cow::Owned(text)
        }
        Charset::Table(decoder) => Cow::Owned(decoder(bytes)),
        Charset::Unknown => {
            problems.add(Problem::CharsetUnknown(label.into()));
            guess(bytes, fallback).0
        }
    }
}

/// Decodes bytes without a label: iso-2022-kr and iso-2022-jp by their escapes, then UTF-8 if it is valid,
/// then the fallback, and last windows-1252, which has a character for every byte. Returns whether it is a
/// guess: neither ASCII nor UTF-8.
pub(crate) fn guess<'a>(bytes: &'a [u8], fallback: Option<&'static Encoding>) -> (Cow<'a, str>, bool) {
    if memchr::memmem::find(bytes, b"\x1b$").is_some() {
        if memchr::memmem::find(bytes, b"\x1b$)C").is_some() && bytes.is_ascii() {
            return (Cow::Owned(decode_iso_2022_kr(bytes)), true);
        }
        let (text, has_errors) = decode_iso_2022_jp(bytes);
        if !has_errors {
            return (Cow::Owned(text), true);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)), false);
    }
    if let Some(encoding) = fallback.filter(|encoding| encoding.is_ascii_compatible()) {
        let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
        if !has_errors {
            return (text, true);
        }
    }
    (salvage_utf8(bytes), true)
}

/// Returns a key of everything besides the bytes that decides how they decode. Two labels have the same key
/// only if any text of these bytes decodes to the same. Empty for ASCII in any charset that contains it.
pub(crate) fn decoding_key(
    bytes: &[u8],
    label: Option<&str>,
    fallback: Option<&'static Encoding>,
) -> Cow<'static, str> {
    // An escape may start other characters.
    let is_plain = bytes.is_ascii() && memchr::memchr(0x1b, bytes).is_none();
    let label = label.unwrap_or_default();
    let guessed = fallback.map_or("", Encoding::name);
    match find(label) {
        Charset::Unnamed | Charset::Unknown if is_plain => Cow::Borrowed(""),
        Charset::Known(encoding) if is_plain && encoding.is_ascii_compatible() => Cow::Borrowed(""),
        Charset::Known(encoding) => Cow::Borrowed(encoding.name()),
        Charset::Unnamed => Cow::Owned(format!("?{guessed}")),
        Charset::Table(_) | Charset::Stateful(..) | Charset::Unknown => {
            Cow::Owned(format!("{}?{guessed}", label.trim().to_ascii_lowercase()))
        }
    }
}

/// Returns a label without quotation marks, and without the language that RFC 2231 allows after it:
/// `utf-8*en`.
fn bare(label: &str) -> &str {
    let label = label.split('*').next().unwrap_or_default().trim_matches(['"', '\'', ' ', '\t']);
    label.strip_prefix("charset=").unwrap_or(label).trim_matches('"')
}

fn find(label: &str) -> Charset {
    let label = bare(label);
    let is_one_of = |labels: &[&str]| labels.iter().any(|known| label.eq_ignore_ascii_case(known));
    if is_one_of(&[
        "",
        "us-ascii",
        "ascii",
        "ansi_x3.4-1968",
        "unknown-8bit",
        "x-unknown",
        "unknown",
        "default",
    ]) {
        return Charset::Unnamed;
    }
    if is_one_of(&["hz-gb-2312", "hz", "hz-gb"]) {
        return Charset::Stateful(StatefulCharset::Hz, decode_hz);
    }
    if is_one_of(&["iso-2022-kr", "csiso2022kr", "iso2022-kr", "iso2022kr"]) {
        return Charset::Stateful(StatefulCharset::Iso2022Kr, decode_iso_2022_kr);
    }
    if let Some(encoding) = Encoding::for_label(label.as_bytes()) {
        // encoding_rs uses its replacement encoding for iso-2022-cn and others that it does not support.
        return if encoding == REPLACEMENT { Charset::Unknown } else { Charset::Known(encoding) };
    }
    // Windows code pages have many names: cp-1252, windows1252, x-cp1252, ms936.
    let digits = label.trim_start_matches(|character: char| !character.is_ascii_digit());
    if digits.len() == 4
        && digits.starts_with("125")
        && let Some(encoding) = Encoding::for_label(format!("windows-{digits}").as_bytes())
    {
        return Charset::Known(encoding);
    }
    if is_one_of(&["utf8mb4", "utf_8", "unicode-1-1-utf-8", "utf-8n", "cp65001", "65001"]) {
        return Charset::Known(UTF_8);
    }
    if is_one_of(&["cp932", "ms932", "windows-932"]) {
        return Charset::Known(encoding_rs::SHIFT_JIS);
    }
    if is_one_of(&["cp949", "ms949", "uhc", "windows-949-2000"]) {
        return Charset::Known(encoding_rs::EUC_KR);
    }
    if is_one_of(&["cp950", "ms950"]) {
        return Charset::Known(encoding_rs::BIG5);
    }
    if is_one_of(&["utf-7", "utf7", "unicode-1-1-utf-7", "x-unicode-2-0-utf-7", "csunicode11utf7"]) {
        return Charset::Stateful(StatefulCharset::Utf7, decode_utf7);
    }
    if is_one_of(&[
        "iso2022-jp",
        "iso2022jp",
        "iso-2022-jp-1",
        "iso-2022-jp-2",
        "iso-2022-jp-ms",
        "cp50220",
        "cp50221",
    ]) {
        return Charset::Known(ISO_2022_JP);
    }
    charset_decoder(label.as_bytes()).map_or(Charset::Unknown, Charset::Table)
}

fn decode_known<'a>(
    bytes: &'a [u8],
    encoding: &'static Encoding,
    label: &str,
    problems: &mut Problems,
) -> Cow<'a, str> {
    let is_ascii = bytes.is_ascii();
    let is_utf8 = || std::str::from_utf8(bytes).is_ok();
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    if is_wide && memchr::memchr(0, bytes).is_none() && is_utf8() {
        problems.add(Problem::CharsetWrong(label.into()));
        return salvage_utf8(bytes);
    }
    let (text, has_errors) = if encoding == ISO_2022_JP {
        let (text, has_errors) = decode_iso_2022_jp(bytes);
        (Cow::Owned(text), has_errors)
    } else {
        let (text, _, has_errors) = encoding.decode(bytes);
        (text, has_errors)
    };
    if !has_errors {
        return text;
    }
    problems.add(Problem::CharsetWrong(label.into()));
    if encoding == UTF_8 || (!is_ascii && is_utf8()) { salvage_utf8(bytes) } else { text }
}

/// Decodes bytes that claim to be UTF-8 but are not valid: with replacement characters if most of the
/// non-ASCII characters are UTF-8 (a text cut in the middle, a few bad bytes), else as windows-1252.
fn salvage_utf8(bytes: &[u8]) -> Cow<'_, str> {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good = good.saturating_add(chunk.valid().chars().filter(|character| !character.is_ascii()).count());
        bad = bad.saturating_add(usize::from(!chunk.invalid().is_empty()));
    }
    if good >= bad {
        return String::from_utf8_lossy(bytes);
    }
    WINDOWS_1252.decode_without_bom_handling(bytes).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(bytes: &[u8], label: &str) -> (String, Vec<Problem>) {
        let mut problems = Problems::default();
        let text = decode(bytes, Some(label), None, &mut problems).into_owned();
        (text, problems.into_list())
    }

    #[test]
    fn charsets_are_known_by_many_names() {
        for (label, bytes, text) in [
            ("utf-8", &b"\xc3\xbcber"[..], "über"),
            ("\"UTF-8\"", b"\xc3\xbcber", "über"),
            ("utf-8*de", b"\xc3\xbcber", "über"),
            ("utf8", b"\xef\xbb\xbf\xc3\xbc", "ü"),
            ("iso-8859-1", b"\xfcber \x80", "über €"),
            ("ISO-8859-2", b"\xb3\xf3d\xbc", "łódź"),
            ("latin1", b"\xfc", "ü"),
            ("cp-1252", b"\xfc", "ü"),
            ("windows-1251", b"\xcf\xf0\xe8", "При"),
            ("koi8-r", b"\xf0\xd2\xc9", "При"),
            ("gb2312", b"\xc4\xe3\xba\xc3", "你好"),
            ("gb18030", b"\xc4\xe3\x81\x39\xee\x39", "你\u{3400}"),
            ("big5", b"\xa7A\xa6n", "你好"),
            ("Shift_JIS", b"\x93\xfa\x96{", "日本"),
            ("cp932", b"\x93\xfa\x96{", "日本"),
            ("iso-2022-jp", b"\x1b$BF|K\\\x1b(B!", "日本!"),
            ("iso-2022-jp", b"\x1b$BF|\x1b(B\x1b$BK\\\x1b(B", "日本"),
            ("euc-jp", b"\xc6\xfc\xcb\xdc", "日本"),
            ("euc-kr", b"\xb0\xa1\xb3\xaa", "가나"),
            ("ks_c_5601-1987", b"\xb0\xa1", "가"),
            ("cp850", b"\x81", "ü"),
            ("utf-7", b"Hi +AOQ-", "Hi ä"),
            ("unicode-1-1-utf-7", b"Hi +AOQ-", "Hi ä"),
            ("charset=koi8-r", b"\xf0", "П"),
            ("utf-16le", b"\xe4\0!\0", "ä!"),
            ("utf-16", b"\xfe\xff\0\xe4", "ä"),
            ("hz-gb-2312", b"~{VPND~}.", "中文."),
            ("HZ", b"~{VPND~}.", "中文."),
            ("iso-2022-kr", b"\x1b$)C\x0eGQ1[\x0f.", "한글."),
            ("iso-2022-jp-2", b"\x1b$BF|K\\\x1b(B!", "日本!"),
        ] {
            assert_eq!(show(bytes, label), (text.to_owned(), Vec::new()), "{label}");
        }
    }

    #[test]
    fn wrong_labels_still_give_readable_text() {
        let wrong = |label: &str| vec![Problem::CharsetWrong(label.to_owned())];
        assert_eq!(show(b"\xfcber", "utf-8"), ("über".to_owned(), wrong("utf-8")));
        assert_eq!(show(b"\xc3\xbcb\xc3", "utf-8"), ("üb\u{fffd}".to_owned(), wrong("utf-8")));
        assert_eq!(show(b"\x93\xfa\x96{ \xc3\xbc \x8c\xea", "utf-8").0, "“ú–{ Ã¼ Œê");
        assert_eq!(show("日本語".as_bytes(), "shift_jis").0, "日本語");
        assert_eq!(show(b"plain text", "utf-16"), ("plain text".to_owned(), wrong("utf-16")));
        let unsaid = vec![Problem::CharsetUnsaid];
        assert_eq!(show(b"\xfcber", "us-ascii"), ("über".to_owned(), unsaid.clone()));
        assert_eq!(show("über".as_bytes(), "us-ascii"), ("über".to_owned(), Vec::new()));
        assert_eq!(show(b"\x1b$BF|\x1b(B", "us-ascii"), ("日".to_owned(), unsaid.clone()));
        assert_eq!(show(b"\x1b$)C\x0eGQ1[\x0f", ""), ("한글".to_owned(), unsaid));
        assert_eq!(show(b"~{V", "hz-gb-2312"), ("\u{fffd}".to_owned(), wrong("hz-gb-2312")));
    }

    #[test]
    fn bytes_that_read_differently_are_told_apart() {
        let koi8 = encoding("koi8-r");
        for (bytes, label, fallback, expected) in [
            (&b"plain"[..], None, None, ""),
            (b"plain", Some("utf-8"), koi8, ""),
            (b"plain", Some("x-unknown"), None, ""),
            (b"plain", Some("x-klingon"), koi8, ""),
            (b"plain", Some("Shift_JIS"), None, ""),
            (b"plain +AOQ-", Some("utf-7"), None, "utf-7?"),
            (b"plain", Some("utf-16le"), None, "UTF-16LE"),
            (b"\x1b$BF|\x1b(B", None, None, "?"),
            (b"\x1b$BF|\x1b(B", Some("latin1"), None, "windows-1252"),
            (b"\x1b$BF|\x1b(B", Some("iso-2022-jp"), None, "ISO-2022-JP"),
            (b"\xfc", Some("latin1"), koi8, "windows-1252"),
            (b"\xfc", Some("\"ISO-8859-1\""), None, "windows-1252"),
            (b"\xfc", None, None, "?"),
            (b"\xfc", None, koi8, "?KOI8-R"),
            (b"\xfc", Some(" X-Klingon"), koi8, "x-klingon?KOI8-R"),
        ] {
            assert_eq!(decoding_key(bytes, label, fallback), expected, "{label:?} {}", bytes.escape_ascii());
        }
    }

    #[test]
    fn unknown_labels_are_guessed_and_said() {
        for label in ["x-klingon", "iso-2022-cn"] {
            let unknown = vec![Problem::CharsetUnknown(label.to_owned())];
            assert_eq!(show("über".as_bytes(), label), ("über".to_owned(), unknown));
        }
    }

    #[test]
    fn labels_of_one_charset_are_known() {
        for (one, other, expected) in [
            ("utf-8", "UTF8", true),
            ("utf-8*en", "utf-8*de", true),
            ("gb2312", "GBK", true),
            ("utf-7", "unicode-1-1-utf-7", true),
            ("x-klingon", "X-Klingon", true),
            ("utf-8", "iso-8859-1", false),
            ("hz", "utf-7", false),
            ("x-klingon", "x-romulan", false),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn bytes_without_a_label_take_the_charset_of_the_message() {
        let koi8 = encoding("koi8-r");
        assert_eq!(guess(b"\xf0\xd2\xc9", koi8), (Cow::Borrowed("При"), true));
        assert_eq!(guess("При".as_bytes(), koi8), (Cow::Borrowed("При"), false));
        assert_eq!(guess(b"\xfc", None), (Cow::Borrowed("ü"), true));
        assert_eq!(guess(b"\xff\xff", encoding("big5")), (Cow::Borrowed("ÿÿ"), true));
    }
}
