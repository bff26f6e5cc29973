//! Chooses which part of a sealed file to request before it is read, so that the disk reads while checksums
//! are computed.
//!
//! Input: numbers of chunks, and which chunks were read. Output: ranges of chunks to request. Does not
//! depend on files or maps.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

/// How many chunks of a long range are requested at once, 4 MiB (16 MiB in old files): as much as a disk
/// reads while the chunks before are hashed.
pub(crate) const ASK_CHUNKS: usize = 256;

/// After this many consecutive chunks, 1 MiB (4 MiB in old files), the caller is assumed to read all values
/// from front to back.
const SCAN_CHUNKS: usize = 64;

/// Returns what to request at `chunk` of a range that ends at `end`, if everything before `asked` was
/// requested: one window at the beginning, and the next as soon as only one is left.
pub(crate) fn next_window(chunk: usize, asked: usize, end: usize) -> Option<Range<usize>> {
    let is_due = asked < end && asked.saturating_sub(chunk) < ASK_CHUNKS;
    is_due.then(|| asked..asked.saturating_add(ASK_CHUNKS).min(end))
}

/// Returns what to request at `chunk` if the chunks before it were read consecutively: as many chunks ahead
/// as were read so far.
pub(crate) fn ahead_of_scan(chunk: usize, is_scanned: impl Fn(Range<usize>) -> bool) -> Option<Range<usize>> {
    let before = chunk.checked_sub(SCAN_CHUNKS).filter(|_| chunk.is_multiple_of(SCAN_CHUNKS))?;
    is_scanned(before..chunk).then(|| chunk..chunk.saturating_add(2 * SCAN_CHUNKS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_chunk_of_a_range_is_asked_for_once_and_before_it_is_touched() {
        for (first, end) in [(0, 1), (5, 6), (0, 256), (3, 272), (7, 2000), (256, 768)] {
            let (mut asked, mut all) = (first, Vec::new());
            for chunk in first..end {
                if let Some(window) = next_window(chunk, asked, end) {
                    asked = window.end;
                    all.extend(window);
                }
                assert!(chunk < asked && asked <= chunk + 2 * ASK_CHUNKS, "chunk {chunk} of {first}..{end}");
                assert!(asked == end || asked >= chunk + ASK_CHUNKS, "a window ahead of {chunk}");
            }
            assert_eq!(all, (first..end).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_scan_is_asked_for_ahead_and_a_look_up_is_not() {
        let mut asked = BTreeSet::new();
        for chunk in 0..800 {
            asked.extend(ahead_of_scan(chunk, |chunks| chunks.end <= chunk).into_iter().flatten());
            assert!(chunk < SCAN_CHUNKS || asked.contains(&(chunk + SCAN_CHUNKS)), "behind {chunk}");
        }
        assert!(!asked.contains(&0) && asked.len() < 800 + 2 * SCAN_CHUNKS);
        assert!((0..800).all(|chunk| ahead_of_scan(chunk, |_| false).is_none()));
    }
}
