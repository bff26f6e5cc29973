//! Converts the decoded content of one part to text.
//!
//! Input: bytes and their content fields. Output: text, up to a limit. Does not depend on other parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::bytes::{after, before};
use crate::decode::charset;
use crate::mime::content_fields::ContentFields;
use crate::problem::{Problem, Problems};
use crate::text::html::{html_to_linked_text, html_to_text};
use crate::text::links::{LinkList, Links};

/// Returns the text of a part; for HTML, the text that is shown. The caller needs `room` bytes of it. A few
/// more bytes show that the text is longer.
pub(crate) fn part_text<'a>(
    content: &ContentFields,
    decoded: &'a [u8],
    (room, fallback): (usize, Option<&'static Encoding>),
    problems: &mut Problems,
) -> Cow<'a, str> {
    linked_part_text(content, decoded, (room, fallback, Links::Ignored), problems).0
}

/// Returns the same text, and its links if requested.
pub(crate) fn linked_part_text<'a>(
    content: &ContentFields,
    decoded: &'a [u8],
    (room, fallback, links): (usize, Option<&'static Encoding>, Links),
    problems: &mut Problems,
) -> (Cow<'a, str>, LinkList) {
    // HTML is mostly markup, so more bytes are needed for the same text.
    let factor = if content.is_html() { 16 } else { 2 };
    let bytes = cut_text(decoded, room.saturating_mul(factor).max(1 << 12));
    if bytes.len() < decoded.len() {
        problems.add(Problem::TextCut);
    }
    let text = charset::decode(bytes, label(content, bytes).as_deref(), fallback, problems);
    if !content.is_html() {
        return (text, LinkList::default());
    }
    // One character more than fits, so that the caller notices the cut.
    let room = room.saturating_add(4);
    let (text, links) = match links {
        Links::Ignored => (html_to_text(&text, room), LinkList::default()),
        Links::Listed => html_to_linked_text(&text, room),
    };
    (Cow::Owned(text), links)
}

/// Cuts bytes of text at a line end, so that no character is split.
pub(crate) fn cut_text(bytes: &[u8], length: usize) -> &[u8] {
    if bytes.len() <= length {
        return bytes;
    }
    let bytes = before(bytes, length);
    before(bytes, memchr::memrchr(b'\n', bytes).unwrap_or(bytes.len()))
}

/// Returns the label of the charset that a text is decoded in: that of its header, or else the one in the
/// HTML itself. All decoding must use it, so that the text shown and the text hashed are the same.
pub(crate) fn label<'a>(content: &'a ContentFields, decoded: &[u8]) -> Option<Cow<'a, str>> {
    match &content.charset {
        Some(charset) => Some(Cow::Borrowed(charset)),
        None if content.is_html() => meta_charset(decoded).map(Cow::Owned),
        None => None,
    }
}

/// Finds the charset that HTML declares, if its header names none.
fn meta_charset(html: &[u8]) -> Option<String> {
    let head = before(html, 1 << 10).to_ascii_lowercase();
    let start = memchr::memmem::find(&head, b"charset=")?;
    let value = after(&head, start.saturating_add(b"charset=".len()));
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end = value.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)))?;
    let label: Cow<'_, str> = String::from_utf8_lossy(before(value, end));
    // A declaration in ASCII cannot be in UTF-16.
    (!label.is_empty() && !label.starts_with("utf-16")).then(|| label.into_owned())
}
