//! Reads a header field in the forms of RFC 8621, 4.1.2.
//!
//! Input: the bytes after a field's colon. Output: values; `None` where the RFC says null. Whatever a
//! field's name is, it can be read in any form: `form` says which ones a client may ask for. Texts are not
//! normalised to NFC here, because that needs tables of Unicode. Does not depend on parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::bytes::before;
use crate::decode::encoded_words::{decode_words, unfold};
use crate::header::addresses::{AddressGroup, parse_groups};
use crate::header::block::Field;
use crate::header::dates::parse_zoned_date;
use crate::header::mailbox::Address;
use crate::header::message_ids::references;
use crate::header::quoted::comment;
use crate::limits::{LIST_BYTES_MAX, VALUE_BYTES_MAX};
use crate::problem::Problems;

/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// One header field of a message or part.
#[derive(Clone, Copy, Debug)]
pub struct HeaderField<'a> {
    name: &'a [u8],
    raw: &'a [u8],
    /// The charset of raw bytes that are not UTF-8.
    fallback: Option<&'static Encoding>,
}

/// A date with its time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedDate {
    /// Seconds since 1970, UTC.
    pub seconds: i64,
    /// How many minutes the zone is ahead of UTC, less than a day either way; 0 if the field names no zone.
    pub offset_minutes: i64,
}

impl<'a> HeaderField<'a> {
    pub(crate) fn new(field: &Field<'a>, fallback: Option<&'static Encoding>) -> HeaderField<'a> {
        HeaderField { name: field.name, raw: field.raw, fallback }
    }

    /// Returns the value that is decoded: without white space around it, which may end the characters of a
    /// stateful charset, and `bytes_max` bytes at most.
    fn value(&self, bytes_max: usize) -> &'a [u8] {
        before(self.raw.trim_ascii(), bytes_max)
    }

    /// Returns its name as it is written.
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.name)
    }

    /// Returns everything between the colon and the last line end, with folds. Bytes that are not UTF-8 are
    /// replaced by U+FFFD, and NULs are left out.
    #[must_use]
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(self.raw).replace('\0', "")
    }

    /// Returns the text on one line: unfolded, with encoded words decoded, without white space at its ends.
    /// The caller normalises it to NFC.
    #[must_use]
    pub fn text(&self) -> String {
        let mut problems = Problems::default();
        let text = unfold(self.value(LIST_BYTES_MAX), self.fallback, &mut problems);
        let text = decode_words(&text, &mut problems);
        // What folds lines is left out; any other CR is white space.
        let text = text.replace("\r\n", "").replace(['\n', '\0'], "").replace('\r', " ");
        text.trim().to_owned()
    }

    /// Returns the addresses, those of groups among the others. A group without addresses is left out.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        self.grouped_addresses().into_iter().flat_map(|group| group.addresses).collect()
    }

    /// Returns the addresses by groups, in the order of the field.
    #[must_use]
    pub fn grouped_addresses(&self) -> Vec<AddressGroup> {
        parse_groups(self.value(LIST_BYTES_MAX), self.fallback)
    }

    /// Returns the message IDs without brackets; `None` if there are none. Without any brackets, words count
    /// that look like an ID.
    #[must_use]
    pub fn message_ids(&self) -> Option<Vec<String>> {
        Some(references(self.value(LIST_BYTES_MAX))).filter(|ids| !ids.is_empty())
    }

    /// Returns the date; `None` if it cannot be read.
    #[must_use]
    pub fn date(&self) -> Option<ZonedDate> {
        let (seconds, zone_seconds) = parse_zoned_date(self.value(VALUE_BYTES_MAX))?;
        let zone_seconds = if zone_seconds.abs() < DAY_SECONDS { zone_seconds } else { 0 };
        Some(ZonedDate { seconds, offset_minutes: zone_seconds.div_euclid(60) })
    }

    /// Returns the URLs in angle brackets, up to the first thing between them that is neither a comma nor a
    /// comment (RFC 2369, 2); `None` if there are none.
    #[must_use]
    pub fn urls(&self) -> Option<Vec<String>> {
        let text = unfold(self.value(LIST_BYTES_MAX), self.fallback, &mut Problems::default()).into_owned();
        let mut rest = skip_comments(&text);
        let mut urls = Vec::new();
        while let Some((url, next)) = rest.strip_prefix('<').and_then(|inner| inner.split_once('>')) {
            let url = url.replace(|character: char| character.is_ascii_whitespace() || character == '\0', "");
            if !url.is_empty() {
                urls.push(url);
            }
            let Some(next) = skip_comments(next).strip_prefix(',') else { break };
            rest = skip_comments(next);
        }
        Some(urls).filter(|urls| !urls.is_empty())
    }
}

/// Skips white space and comments.
fn skip_comments(text: &str) -> &str {
    let mut rest = text.trim_ascii_start();
    while rest.starts_with('(') {
        let Some((_, next)) = comment(rest) else { break };
        rest = next.trim_ascii_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(value: &[u8]) -> HeaderField<'_> {
        HeaderField { name: b"X", raw: value, fallback: None }
    }

    #[test]
    fn raw_values_keep_everything_that_is_text() {
        for (value, expected) in [
            (&b" a\r\n\tb  "[..], " a\r\n\tb  "),
            (b"caf\xc3\xa9 \xff\0x", "caf\u{e9} \u{fffd}x"),
            (b"=?utf-8?q?a?=", "=?utf-8?q?a?="),
            (b"", ""),
        ] {
            assert_eq!(field(value).raw(), expected);
        }
    }

    #[test]
    fn texts_are_one_decoded_line() {
        for (value, expected) in [
            (" Hello  there ", "Hello  there"),
            (" folded\r\n  and\n\tagain", "folded  and\tagain"),
            ("=?utf-8?q?J=C3?=\r\n =?utf-8?q?=B6rg?= M", "Jörg M"),
            ("=?utf-8?b?YQpiAGM=?= d", "a bc d"),
            ("=?unknown?q?a?= =?utf-8?x?b?=", "a =?utf-8?x?b?="),
            ("=?utf-8?q?a=\r\n b=\n=?= \n=?utf-8?q?c?=", "a bc"),
            ("=?ut\rf-8?q?a?= =?utf-\x008?q?b?=", "=?ut f-8?q?a?= =?utf-8?q?b?="),
            ("  ", ""),
        ] {
            assert_eq!(field(value.as_bytes()).text(), expected, "{value:?}");
        }
        assert_eq!(field(b" caf\xe9").text(), "café");
        // Characters of a stateful charset may end with the value, before the white space after it.
        assert_eq!(field(b" ann\x1b$B\r\n ").text(), "ann");
    }

    #[test]
    fn addresses_are_those_of_all_groups() {
        let value = " =?utf-8?q?J=C3=B6rg?= <j@x>, Team: a@b, \"C, D\" <c@d>;\r\n e@f (E F), Nobody:;";
        let shown = |found: &Address| format!("{}<{}>", found.name, found.address);
        let addresses: Vec<String> = field(value.as_bytes()).addresses().iter().map(shown).collect();
        assert_eq!(addresses, ["Jörg<j@x>", "<a@b>", "C, D<c@d>", "E F<e@f>"]);
        let groups = field(value.as_bytes()).grouped_addresses();
        let names: Vec<Option<&str>> = groups.iter().map(|group| group.name.as_deref()).collect();
        assert_eq!(names, [None, Some("Team"), None, Some("Nobody")]);
        assert!(field(b"").addresses().is_empty());
    }

    #[test]
    fn message_ids_lose_their_brackets() {
        for (value, expected) in [
            (" <a@b>\r\n <c@d>", Some(vec!["a@b", "c@d"])),
            (" a@b", Some(vec!["a@b"])),
            (" your message of Monday", None),
            ("", None),
        ] {
            let ids = field(value.as_bytes()).message_ids();
            assert_eq!(ids, expected.map(|ids| ids.into_iter().map(str::to_owned).collect()), "{value}");
        }
    }

    #[test]
    fn dates_keep_their_zone() {
        let date = |seconds, offset_minutes| Some(ZonedDate { seconds, offset_minutes });
        for (value, expected) in [
            (" Mon, 5 Jan 2004 11:00:00 +0100 (CET)", date(1_073_296_800, 60)),
            ("Mon, 5 Jan 2004 05:00:00 EST", date(1_073_296_800, -300)),
            ("5 Jan 2004 15:30 +0530", date(1_073_296_800, 330)),
            ("5 Jan 2004 10:00 -0000", date(1_073_296_800, 0)),
            ("5 Jan 2004 10:00", date(1_073_296_800, 0)),
            ("6 Jan 2004 10:00 +2400", date(1_073_296_800, 0)),
            ("soon", None),
        ] {
            assert_eq!(field(value.as_bytes()).date(), expected, "{value}");
        }
    }

    #[test]
    fn urls_stand_in_brackets() {
        for (value, expected) in [
            (" <mailto:a@b?subject=x>", Some(vec!["mailto:a@b?subject=x"])),
            (
                "(one (1)) <http://x/(1)>,\r\n\t<mailto:a\r\n @b> (two)",
                Some(vec!["http://x/(1)", "mailto:a@b"]),
            ),
            ("<https://x/> junk, <https://y/>", Some(vec!["https://x/"])),
            ("<https://x/>, NO", Some(vec!["https://x/"])),
            ("NO", None),
            ("https://x/", None),
            ("<>", None),
            ("<https://x/", None),
            ("(open <https://x/>", None),
            ("", None),
        ] {
            let urls = field(value.as_bytes()).urls();
            assert_eq!(urls, expected.map(|urls| urls.into_iter().map(str::to_owned).collect()), "{value}");
        }
    }
}
