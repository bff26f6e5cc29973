//! A window on a stream: some bytes ahead, a few behind. It goes back by reading the source again.
//!
//! Input: a source. Output: slices of the bytes at the current position. Memory is the largest slice asked
//! for, and one step. Does not know what the bytes mean.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::source::Source;
use crate::bytes::{after, before};
use crate::limits::{
    LARGE_REWIND_BYTES_MAX, LARGE_REWIND_COUNT_MAX, LARGE_SMALL_PART_BYTES, LARGE_STEP_BYTES,
};
use crate::maildir::compression::Compression;
use std::io::{self, Read};

/// Bytes kept before the position, so that the line ends there can be seen.
pub(super) const BEHIND_BYTES: usize = 1 << 10;

/// Sizes and limits of reading a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowLimits {
    /// Bytes that are read at once.
    pub(super) step_bytes: usize,
    /// Parts up to this size are parsed in memory.
    pub(super) small_bytes: usize,
    /// How often the window may go back by reading the source again.
    pub(super) rewind_count: usize,
    /// Bytes that may be decompressed again for going back. A compressed message starts from its beginning
    /// each time.
    pub(super) rewind_bytes: u64,
}

/// The limits outside tests.
pub(super) const WINDOW_LIMITS: WindowLimits = WindowLimits {
    step_bytes: LARGE_STEP_BYTES,
    small_bytes: LARGE_SMALL_PART_BYTES,
    rewind_count: LARGE_REWIND_COUNT_MAX,
    rewind_bytes: LARGE_REWIND_BYTES_MAX,
};

/// A window on a message.
pub(super) struct Window<'s> {
    source: &'s Source<'s>,
    stream: Box<dyn Read + 's>,
    buffer: Vec<u8>,
    /// The offset of the buffer in the message.
    start: u64,
    /// The position in the buffer.
    at: usize,
    is_over: bool,
    /// Bytes that are read in one step.
    pub(super) step_bytes: usize,
    rewinds_left: usize,
    /// Bytes that may still be decompressed again.
    rewind_bytes_left: u64,
}

impl<'s> Window<'s> {
    /// Opens a window at the start.
    pub(super) fn new(source: &'s Source<'s>, limits: WindowLimits) -> io::Result<Window<'s>> {
        Ok(Window {
            source,
            stream: source.stream(0)?,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            is_over: false,
            step_bytes: limits.step_bytes,
            rewinds_left: limits.rewind_count,
            rewind_bytes_left: limits.rewind_bytes,
        })
    }

    /// Returns the position in the message.
    pub(super) fn position(&self) -> u64 {
        self.start.saturating_add(wide(self.at))
    }

    /// Reads until at least `count` bytes are ahead, or all.
    pub(super) fn fill(&mut self, count: usize) -> io::Result<()> {
        while self.ahead().len() < count && !self.is_over {
            self.read_on()?;
        }
        Ok(())
    }

    /// Returns the bytes ahead that were read.
    pub(super) fn ahead(&self) -> &[u8] {
        after(&self.buffer, self.at)
    }

    /// Returns the bytes before the position that are still in the buffer: at least `BEHIND_BYTES`, or all
    /// since the window last went back.
    pub(super) fn behind(&self) -> &[u8] {
        before(&self.buffer, self.at)
    }

    /// Returns whether the message ends with the bytes ahead.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Advances by `count` of the bytes ahead.
    pub(super) fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.buffer.len());
    }

    /// Moves to an offset. Returns false if that requires going back and the allowance is used up.
    pub(super) fn seek(&mut self, offset: u64) -> io::Result<bool> {
        if offset < self.start {
            let Some(left) = self.rewinds_left.checked_sub(1) else { return Ok(false) };
            if self.source.compression != Compression::Plain {
                // It will probably be read again up to the same position.
                let Some(left) = self.rewind_bytes_left.checked_sub(self.position()) else {
                    return Ok(false);
                };
                self.rewind_bytes_left = left;
            }
            self.rewinds_left = left;
            self.stream = self.source.stream(offset)?;
            self.buffer.clear();
            (self.start, self.at, self.is_over) = (offset, 0, false);
            return Ok(true);
        }
        loop {
            let distance = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
            if distance <= self.buffer.len() {
                self.at = distance;
                return Ok(true);
            }
            self.at = self.buffer.len();
            if self.is_over {
                return Ok(true);
            }
            self.read_on()?;
        }
    }

    /// Reads one more step. Bytes far behind are dropped once they are most of the buffer, so that each byte
    /// is moved about once.
    fn read_on(&mut self) -> io::Result<()> {
        let spare = self.at.saturating_sub(BEHIND_BYTES);
        if spare > self.buffer.len().div_euclid(2) {
            self.buffer.drain(..spare);
            self.at = self.at.saturating_sub(spare);
            self.start = self.start.saturating_add(wide(spare));
        }
        let length = self.buffer.len();
        self.buffer.resize(length.saturating_add(self.step_bytes), 0);
        let count = loop {
            match self.stream.read(self.buffer.get_mut(length..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(length.saturating_add(*count.as_ref().unwrap_or(&0)));
        self.is_over = count? == 0;
        Ok(())
    }
}

/// Converts a length to an offset.
pub(super) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
