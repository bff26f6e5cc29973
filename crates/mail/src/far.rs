//! Contents of parts that are not in memory, because the message is too large for that.
//!
//! The place of a content in its message comes in, its decoded bytes go out, block by block. Knows nothing of
//! where they are kept.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use crate::bytes::{after, before};
use crate::transfer::Transfer;

/// Where contents are that are not in memory.
pub(crate) trait Far {
    /// Hands out the decoded content of these bytes of the message, and says whether it was clean. What
    /// cannot be read is left out; whoever owns the message finds out.
    fn each_block(&mut self, range: Range<u64>, transfer: Transfer, consume: &mut dyn FnMut(&[u8])) -> bool;
}

/// Of a message that is in memory nothing is anywhere else.
pub(crate) struct Nowhere;

impl Far for Nowhere {
    fn each_block(
        &mut self,
        _range: Range<u64>,
        _transfer: Transfer,
        _consume: &mut dyn FnMut(&[u8]),
    ) -> bool {
        true
    }
}

/// White space at the end of a text that is held back until more text follows. A text with more of it counts
/// with it.
const BLANK_BYTES_MAX: usize = 1 << 20;

/// Hands a text on in pieces as it counts for hashes: with LF for each CRLF, and without white space at its
/// end.
#[derive(Default)]
pub(crate) struct TextBlocks {
    /// White space after what was handed on.
    blank: Vec<u8>,
}

impl TextBlocks {
    /// Takes a block, and hands on what is certain.
    pub(crate) fn add(&mut self, block: &[u8], consume: &mut dyn FnMut(&[u8])) {
        let length = block.trim_ascii_end().len();
        if length > 0 || self.blank.len() > BLANK_BYTES_MAX {
            self.blank.extend_from_slice(before(block, length));
            let certain = std::mem::take(&mut self.blank);
            hand_on(&certain, consume);
            self.blank = certain;
            self.blank.clear();
        }
        self.blank.extend_from_slice(after(block, length));
    }
}

/// Ends with no CR, unless that is kept whatever follows.
fn hand_on(text: &[u8], consume: &mut dyn FnMut(&[u8])) {
    let mut rest = text;
    while let Some(end) = memchr::memmem::find(rest, b"\r\n") {
        consume(before(rest, end));
        rest = after(rest, end.saturating_add(1));
    }
    consume(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let text = b"a\r\nb \r\n\r\n c\r\rd\n\ne\r\n\t \r\n";
        for length in 1..=text.len() {
            let (mut blocks, mut found) = (TextBlocks::default(), Vec::new());
            for block in text.chunks(length) {
                blocks.add(block, &mut |bytes| found.extend_from_slice(bytes));
            }
            assert_eq!(found, b"a\nb \n\n c\r\rd\n\ne", "{length}");
        }
    }

    #[test]
    fn white_space_is_not_held_back_without_end() {
        let mut blocks = TextBlocks::default();
        for _ in 0..100 {
            blocks.add(&[b' '; 1 << 16], &mut |_| {});
        }
        assert!(blocks.blank.len() <= BLANK_BYTES_MAX + (1 << 16), "{}", blocks.blank.len());
    }
}
