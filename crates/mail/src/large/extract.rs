//! Gives out the parts of a large message, and their contents.
//!
//! Input: a large message. Output: its parts, and one content after the other, block by block. Does not know
//! what the contents are for.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::window::{WINDOW_LIMITS, Window};
use super::{LargeContents, LargeMessage, walk};
use crate::decode::transfer::Transfer;
use crate::error::Result;
use crate::mime::content_source::ContentSource;
use crate::mime::parts::Part;
use crate::problem::Problems;

impl LargeMessage<'_> {
    /// Splits the message into its header, with the bytes before it, and its parts.
    pub(crate) fn split(&self, problems: &mut Problems) -> Result<(Vec<u8>, Vec<Part<'static>>)> {
        let mut window = self.window()?;
        let split = walk::take_apart(&mut window, WINDOW_LIMITS.small_bytes, problems);
        let split = split.map_err(|error| self.explained(error))?;
        self.expect_unchanged(None)?;
        Ok(split)
    }

    /// Returns the content of the part with this index in its transfer encoding, if it is inside content that
    /// is decoded in memory. Splits the message once more.
    pub(crate) fn content_in_memory(&self, index: usize) -> Result<Option<Vec<u8>>> {
        let mut window = self.window()?;
        let content = walk::content_in_memory(&mut window, WINDOW_LIMITS.small_bytes, index);
        content.map_err(|error| self.explained(error))
    }

    /// Returns what reads the contents of parts.
    pub(crate) fn contents(&self) -> Result<LargeContents<'_>> {
        Ok(LargeContents { window: self.window()?, failure: None })
    }

    /// Passes the decoded content of a range to `consume`, and returns whether it was clean. `contents` reads
    /// on; only a range before its position starts again.
    pub(crate) fn each_block_of<'s>(
        &'s self,
        contents: &mut LargeContents<'s>,
        (range, transfer): (Range<u64>, Transfer),
        consume: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        if range.start < contents.window.position() {
            *contents = self.contents()?;
        }
        let is_clean = contents.each_block(range, transfer, consume);
        match contents.failure.take() {
            Some(error) => Err(self.explained(error)),
            None => self.expect_unchanged(None).map(|()| is_clean),
        }
    }

    fn window(&self) -> Result<Window<'_>> {
        Window::new(&self.source, WINDOW_LIMITS).map_err(|error| self.explained(error))
    }
}
