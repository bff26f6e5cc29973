//! Slices of bytes without panics: a range beyond the end is empty.
//!
//! Does not depend on mail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

/// Returns the bytes from `start` on, or nothing.
pub(crate) fn after(bytes: &[u8], start: usize) -> &[u8] {
    bytes.get(start..).unwrap_or_default()
}

/// Returns the bytes before `end`, or all.
pub(crate) fn before(bytes: &[u8], end: usize) -> &[u8] {
    bytes.get(..end).unwrap_or(bytes)
}

/// Returns the first line without its line end (LF, with any CRs before it), and the bytes after it.
pub(crate) fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', bytes) {
        Some(end) => (trim_cr(before(bytes, end)), after(bytes, end.saturating_add(1))),
        None => (trim_cr(bytes), &[]),
    }
}

/// Strips CRs from the end.
pub(crate) fn trim_cr(mut bytes: &[u8]) -> &[u8] {
    while let Some((b'\r', rest)) = bytes.split_last() {
        bytes = rest;
    }
    bytes
}

/// Returns the part of `whole` before `rest`, which must be its end.
pub(crate) fn until<'a>(whole: &'a [u8], rest: &[u8]) -> &'a [u8] {
    before(whole, whole.len().saturating_sub(rest.len()))
}

/// Returns the range of `part` in `whole`; `None` if it is not a piece of it.
pub(crate) fn range_of(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len()).filter(|end| *end <= whole.len())?;
    Some(start..end)
}

/// Replaces CR by LF in a message without any LF, as old Macintoshes wrote them.
pub(crate) fn with_line_feeds(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', bytes).is_some() || memchr::memchr(b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if byte == b'\r' { b'\n' } else { byte }).collect())
}

/// Cuts `text` to at most `length` bytes, at a character boundary and without trailing white space.
pub(crate) fn cut(text: &str, length: usize) -> &str {
    if text.len() <= length {
        return text;
    }
    text.get(..text.floor_char_boundary(length)).unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_never_reach_beyond_the_end() {
        assert_eq!((before(b"abc", 2), before(b"abc", 9)), (&b"ab"[..], &b"abc"[..]));
        assert_eq!((after(b"abc", 2), after(b"abc", 9)), (&b"c"[..], &b""[..]));
        assert_eq!(line(b"a\r\r\nb"), (&b"a"[..], &b"b"[..]));
        assert_eq!(line(b"a\rb\r"), (&b"a\rb"[..], &b""[..]));
        assert_eq!(until(b"abc", b"c"), b"ab");
        let (whole, other) = (b"abcd".to_vec(), vec![0; 64]);
        assert_eq!((range_of(&whole, after(&whole, 2)), range_of(&whole, &whole)), (Some(2..4), Some(0..4)));
        assert_eq!(range_of(before(&whole, 2), after(&whole, 1)), None);
        assert_eq!((range_of(&whole, &other), range_of(&other, &whole)), (None, None));
    }

    #[test]
    fn text_is_cut_at_a_character() {
        for (length, expected) in
            [(0, ""), (1, "a"), (2, "a"), (3, "a"), (5, "a é"), (6, "a é b"), (9, "a é b")]
        {
            assert_eq!(cut("a é b", length), expected, "{length}");
        }
    }
}
