//! Normalises text for hashing: LF for each CRLF, and no white space at the end.
//!
//! Input: a text, whole or block by block. Output: pieces of the normalised text. Does not depend on hashes.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before};

/// Passes a text on in pieces, without the CR of each CRLF, and without spaces, tabs and line ends at its
/// end.
pub(crate) fn without_line_ends(text: &[u8], mut each: impl FnMut(&[u8])) {
    without_crs(text.trim_ascii_end(), &mut each);
}

/// White space that is held back until more text follows. If there is more of it, it is hashed even at the
/// end of a text.
const BLANK_BYTES_MAX: usize = 1 << 20;

/// Passes a text on in pieces, normalised for hashing: with LF for each CRLF, and without white space at its
/// end.
#[derive(Default)]
pub(crate) struct TextBlocks {
    /// The white space after the last piece.
    blank: Vec<u8>,
}

impl TextBlocks {
    /// Takes a block, and passes on everything up to its trailing white space.
    pub(crate) fn add(&mut self, block: &[u8], consume: &mut dyn FnMut(&[u8])) {
        let length = block.trim_ascii_end().len();
        if length > 0 || self.blank.len() > BLANK_BYTES_MAX {
            self.blank.extend_from_slice(before(block, length));
            let certain = std::mem::take(&mut self.blank);
            without_crs(&certain, consume);
            self.blank = certain;
            self.blank.clear();
        }
        self.blank.extend_from_slice(after(block, length));
    }
}

/// Passes a text on without the CR of each CRLF. A CR at the end is passed on.
fn without_crs(text: &[u8], consume: &mut dyn FnMut(&[u8])) {
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
