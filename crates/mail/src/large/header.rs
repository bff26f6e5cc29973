//! Finds the end of a header block in the bytes of a message that were read so far.
//!
//! Input: the first bytes of a message or part. Output: the length of its header, and whether more bytes
//! could change it. Does not depend on windows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::before;
use crate::header::block::{skip_envelope, split};

/// What starts at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// A part of a multipart.
    Part,
    /// A message, possibly after an mbox line or empty lines.
    Message,
}

/// Returns the length of the header at the start of some bytes, including the bytes before it, and whether it
/// is certain whatever follows.
pub(super) fn header_length(bytes: &[u8], begin: Begin) -> (usize, bool) {
    let lines = before(bytes, memchr::memrchr(b'\n', bytes).map_or(0, |end| end.saturating_add(1)));
    let header = if begin == Begin::Message { skip_envelope(lines) } else { lines };
    // The first line that is not empty decides whether empty lines are skipped.
    let is_open = begin == Begin::Message
        && lines
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(lines)
            .iter()
            .all(|byte| matches!(byte, b'\r' | b'\n'));
    let block = split(header);
    let has_empty_line = block.bytes.len() < header.len().saturating_sub(block.body.len());
    // Without an empty line, the body starts with a line that is not a field and is followed by another such
    // line.
    let has_body = memchr::memchr_iter(b'\n', block.body).nth(1).is_some();
    (lines.len().saturating_sub(block.body.len()), !is_open && (has_empty_line || has_body))
}
