//! Cutting byte slices without a panic: what lies beyond the end is empty.
//!
//! Slices of outside bytes come in, smaller slices go out. Knows nothing of mail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Returns what begins at `start`, or nothing.
pub(crate) fn after(bytes: &[u8], start: usize) -> &[u8] {
    bytes.get(start..).unwrap_or_default()
}

/// Returns what ends before `end`, or all.
pub(crate) fn before(bytes: &[u8], end: usize) -> &[u8] {
    bytes.get(..end).unwrap_or(bytes)
}

/// Returns the first line without its end (LF, with any CR before it), and what follows.
pub(crate) fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', bytes) {
        Some(end) => (trim_cr(before(bytes, end)), after(bytes, end.saturating_add(1))),
        None => (trim_cr(bytes), &[]),
    }
}

/// Cuts CRs from the end.
pub(crate) fn trim_cr(mut bytes: &[u8]) -> &[u8] {
    while let Some((b'\r', rest)) = bytes.split_last() {
        bytes = rest;
    }
    bytes
}

/// Returns the part of `whole` that lies before `rest`, where `rest` is its end.
pub(crate) fn until<'a>(whole: &'a [u8], rest: &[u8]) -> &'a [u8] {
    before(whole, whole.len().saturating_sub(rest.len()))
}

/// Cuts `text` to at most `length` bytes, at a character.
pub(crate) fn cut(text: &str, length: usize) -> &str {
    text.get(..text.floor_char_boundary(length)).unwrap_or(text)
}
