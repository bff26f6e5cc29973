//! The multiparts that a place in a message lies in, and where a part of the innermost ends.
//!
//! Comes in: boundaries, outermost first, and lines. Goes out: which boundary a line is. A boundary further
//! out ends all that lies within. Knows nothing of parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::window::wide;
use crate::bytes::{before, trim_cr};

/// A multipart.
struct Level {
    /// Two hyphens and the boundary.
    delimiter: Vec<u8>,
    /// Whether the line end before a boundary belongs to it; not where what stands before the first one is
    /// read.
    strips: bool,
}

/// The multiparts around a place, outermost first.
#[derive(Default)]
pub(super) struct Levels {
    levels: Vec<Level>,
}

/// Where a part ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The multipart whose boundary ends it; none at the end of the message.
    pub(super) level: Option<usize>,
    /// That boundary is the multipart's last.
    pub(super) is_last: bool,
    /// Where the boundary's line begins.
    pub(super) start: u64,
    /// Where the line after it begins.
    pub(super) next: u64,
    /// The line ends before the boundary: CRs and LFs.
    pub(super) line_ends: Vec<u8>,
}

impl Levels {
    /// Enters a multipart and returns its number.
    pub(super) fn enter(&mut self, boundary: &str) -> usize {
        self.levels.push(Level { delimiter: [b"--", boundary.as_bytes()].concat(), strips: true });
        self.levels.len().saturating_sub(1)
    }

    /// Leaves the innermost multipart.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Says that what stands before the first boundary of the innermost multipart is read from here on.
    pub(super) fn keep_line_ends(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.strips = false;
        }
    }

    /// Says which multipart's boundary a line is, and whether the last. Further out comes first.
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

    /// Cuts what does not belong to a part off its bytes.
    pub(super) fn cut<'b>(&self, bytes: &'b [u8], level: Option<usize>) -> &'b [u8] {
        before(bytes, bytes.len().saturating_sub(self.stripped(level, line_ends(bytes))))
    }
}

/// Returns the CRs and LFs at the end of some bytes.
pub(super) fn line_ends(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    bytes.get(bytes.len().saturating_sub(length)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_out_comes_first_and_takes_line_ends_of_all_within() {
        let mut levels = Levels::default();
        for boundary in ["a", "b", "a"] {
            levels.enter(boundary);
        }
        assert_eq!(levels.which(b"--a"), Some((0, false)));
        assert_eq!(levels.which(b"--b-- \r"), Some((1, true)));
        assert_eq!((levels.which(b"--ab"), levels.which(b"-a"), levels.which(b"--")), (None, None, None));
        assert_eq!(levels.cut(b"x\n\r\n\n\n", Some(2)), b"x\n\r\n\n");
        assert_eq!(levels.cut(b"x\n\r\n\n\n", Some(1)), b"x\n\r\n");
        assert_eq!(levels.cut(b"x\n\r\n\n", None), b"x");
        levels.keep_line_ends();
        assert_eq!(levels.cut(b"x\n\n", Some(2)), b"x\n\n");
    }
}
