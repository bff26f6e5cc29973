//! The multiparts around a position in a message, and where a part of the innermost ends.
//!
//! Input: boundaries, outermost first, and lines. Output: which multipart's boundary a line is. A boundary of
//! an outer multipart ends all inner ones. Does not depend on parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::window::wide;
use crate::bytes::{before, trim_cr};

/// A multipart.
struct Level {
    /// Two hyphens and the boundary.
    delimiter: Vec<u8>,
    /// Whether the line end before a boundary belongs to the boundary. Not when the preamble is read.
    strips: bool,
}

/// The multiparts around a position, outermost first.
#[derive(Default)]
pub(super) struct OpenMultiparts {
    levels: Vec<Level>,
}

/// Where a part ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The number of the multipart whose boundary ends it; none at the end of the message.
    pub(super) level: Option<usize>,
    /// Whether that boundary is the closing one.
    pub(super) is_last: bool,
    /// The offset of the boundary's line.
    pub(super) start: u64,
    /// The offset of the line after it.
    pub(super) next: u64,
    /// The line ends before the boundary: CRs and LFs.
    pub(super) line_ends: Vec<u8>,
}

impl OpenMultiparts {
    /// Enters a multipart and returns its number.
    pub(super) fn enter(&mut self, boundary: &str) -> usize {
        self.levels.push(Level { delimiter: [b"--", boundary.as_bytes()].concat(), strips: true });
        self.levels.len().saturating_sub(1)
    }

    /// Leaves the innermost multipart.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Tells that the preamble of the innermost multipart is read from here on.
    pub(super) fn keep_line_ends(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.strips = false;
        }
    }

    /// Returns which multipart's boundary a line is, and whether it is the closing one. Outer multiparts come
    /// first.
    pub(super) fn which(&self, line: &[u8]) -> Option<(usize, bool)> {
        self.levels.iter().enumerate().find_map(|(number, level)| {
            let following = line.strip_prefix(level.delimiter.as_slice())?.trim_ascii_end();
            (following.is_empty() || following == b"--").then_some((number, !following.is_empty()))
        })
    }

    /// Returns how many bytes before an end do not belong to a part of the innermost multipart: each
    /// multipart that ends there takes a line end, closed or not.
    pub(super) fn stripped(&self, level: Option<usize>, line_ends: &[u8]) -> usize {
        let ended = self.levels.iter().skip(level.unwrap_or(0)).filter(|level| level.strips);
        let kept = ended.fold(line_ends, |rest, _| trim_cr(rest.strip_suffix(b"\n").unwrap_or(rest)));
        line_ends.len().saturating_sub(kept.len())
    }

    /// Returns where a part that begins at `from` ends.
    pub(super) fn end_of(&self, from: u64, end: &End) -> u64 {
        end.start.saturating_sub(wide(self.stripped(end.level, &end.line_ends))).max(from)
    }

    /// Strips the bytes that do not belong to a part.
    pub(super) fn cut<'b>(&self, bytes: &'b [u8], level: Option<usize>) -> &'b [u8] {
        before(bytes, bytes.len().saturating_sub(self.stripped(level, line_ends(bytes))))
    }
}

/// Returns the CRs and LFs at the end.
pub(super) fn line_ends(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    bytes.get(bytes.len().saturating_sub(length)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_out_comes_first_and_takes_line_ends_of_all_within() {
        let mut multiparts = OpenMultiparts::default();
        for boundary in ["a", "b", "a"] {
            multiparts.enter(boundary);
        }
        assert_eq!(multiparts.which(b"--a"), Some((0, false)));
        assert_eq!(multiparts.which(b"--b-- \r"), Some((1, true)));
        assert_eq!(
            (multiparts.which(b"--ab"), multiparts.which(b"-a"), multiparts.which(b"--")),
            (None, None, None)
        );
        assert_eq!(multiparts.cut(b"x\n\r\n\n\n", Some(2)), b"x\n\r\n\n");
        assert_eq!(multiparts.cut(b"x\n\r\n\n\n", Some(1)), b"x\n\r\n");
        assert_eq!(multiparts.cut(b"x\n\r\n\n", None), b"x");
        multiparts.keep_line_ends();
        assert_eq!(multiparts.cut(b"x\n\n", Some(2)), b"x\n\n");
    }
}
