//! The sequences of an MH folder: which messages were not read, were answered, or are flagged.
//!
//! Input: the content of `.mh_sequences`, untrusted. Output: flags of a message by its number. Pure.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::maildir::flags::Flags;
use std::ops::RangeInclusive;

/// The file of a folder that holds its sequences.
pub(super) const SEQUENCES_FILE: &str = ".mh_sequences";
/// Bytes read of that file.
pub(super) const SEQUENCES_BYTES_MAX: usize = 4 << 20;

/// The sequences of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequences {
    unseen: Vec<RangeInclusive<u64>>,
    flagged: Vec<RangeInclusive<u64>>,
    replied: Vec<RangeInclusive<u64>>,
}

impl Sequences {
    /// Reads sequences: lines such as `unseen: 1-3 7`. Others are ignored.
    pub(super) fn parse(content: &[u8]) -> Sequences {
        let mut sequences = Sequences::default();
        for line in String::from_utf8_lossy(content).lines() {
            let Some((name, numbers)) = line.split_once(':') else { continue };
            let ranges = match name.trim() {
                "unseen" => &mut sequences.unseen,
                "flagged" => &mut sequences.flagged,
                "replied" => &mut sequences.replied,
                _ => continue,
            };
            ranges.extend(numbers.split_ascii_whitespace().filter_map(range));
            ranges.sort_unstable_by_key(|range| *range.start());
        }
        sequences
    }

    /// Returns the flags of a message.
    pub(super) fn flags(&self, number: u64) -> Flags {
        let mut flags = if holds(&self.unseen, number) { Flags::NONE } else { Flags::SEEN };
        for (ranges, flag) in [(&self.flagged, Flags::FLAGGED), (&self.replied, Flags::REPLIED)] {
            if holds(ranges, number) {
                flags |= flag;
            }
        }
        flags
    }
}

/// Returns whether ranges that are sorted by their first number, and do not overlap, hold a number.
fn holds(ranges: &[RangeInclusive<u64>], number: u64) -> bool {
    let before = ranges.partition_point(|range| *range.start() <= number);
    before.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| range.contains(&number))
}

fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_ranges_of_numbers() {
        let content = b"cur: 5\nunseen: 7-9 1 3-3 x 4-\nreplied: 2 8\nflagged: 9\nunseen\n\xff: 1\nother: 2";
        let sequences = Sequences::parse(content);
        let shown: Vec<String> =
            (1..=10).map(|number| sequences.flags(number).letters().map(char::from).collect()).collect();
        assert_eq!(shown, ["", "RS", "", "S", "S", "S", "", "R", "F", "S"]);
        assert_eq!(Sequences::parse(b"").flags(1), Flags::SEEN);
    }
}
