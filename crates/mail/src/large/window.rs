//! A window on a stream: some bytes ahead, a few behind, and going back by reading anew.
//!
//! Comes in: a source. Goes out: slices of what lies at the place that was gone to. Memory is what was asked
//! for at once, and a step. Knows nothing of what the bytes mean.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::source::Source;
use crate::bytes::{after, before};
use crate::limits::{LARGE_NEAR_BYTES, LARGE_REWIND_BYTES_MAX, LARGE_REWIND_COUNT_MAX, LARGE_STEP_BYTES};
use crate::unpack::Compression;
use std::io::{self, Read};

/// Bytes behind the place that are kept, so that the line ends before it are seen.
pub(super) const BEHIND_BYTES: usize = 1 << 10;

/// How a message is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Bytes that are read at once.
    pub(super) step_bytes: usize,
    /// Parts up to so many bytes are taken apart in memory.
    pub(super) near_bytes: usize,
    /// How often it is gone back by reading anew.
    pub(super) rewind_count: usize,
    /// Bytes that may be decompressed once more for that: a compressed message begins anew each time.
    pub(super) rewind_bytes: u64,
}

/// How messages are read but in tests.
pub(super) const PACE: Pace = Pace {
    step_bytes: LARGE_STEP_BYTES,
    near_bytes: LARGE_NEAR_BYTES,
    rewind_count: LARGE_REWIND_COUNT_MAX,
    rewind_bytes: LARGE_REWIND_BYTES_MAX,
};

/// A window on a message.
pub(super) struct Window<'s> {
    source: &'s Source<'s>,
    stream: Box<dyn Read + 's>,
    buffer: Vec<u8>,
    /// Where the buffer begins in the message.
    start: u64,
    /// The place, in the buffer.
    at: usize,
    is_over: bool,
    /// How much is read at once.
    pub(super) step_bytes: usize,
    rewinds_left: usize,
    /// Bytes that may be decompressed once more.
    rewind_bytes_left: u64,
}

impl<'s> Window<'s> {
    /// Opens a window at the beginning.
    pub(super) fn new(source: &'s Source<'s>, pace: Pace) -> io::Result<Window<'s>> {
        Ok(Window {
            source,
            stream: source.stream(0)?,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            is_over: false,
            step_bytes: pace.step_bytes,
            rewinds_left: pace.rewind_count,
            rewind_bytes_left: pace.rewind_bytes,
        })
    }

    /// Returns the place in the message.
    pub(super) fn position(&self) -> u64 {
        self.start.saturating_add(wide(self.at))
    }

    /// Reads until at least so many bytes are ahead, or all.
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

    /// Returns the bytes behind that are still there, `BEHIND_BYTES` at least or all since it was last gone
    /// back.
    pub(super) fn behind(&self) -> &[u8] {
        before(&self.buffer, self.at)
    }

    /// Says whether nothing follows what is ahead.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Goes on by so many of the bytes ahead.
    pub(super) fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.buffer.len());
    }

    /// Goes to a place; says no if that lies behind, and too much was gone back.
    pub(super) fn seek(&mut self, offset: u64) -> io::Result<bool> {
        if offset < self.start {
            let Some(left) = self.rewinds_left.checked_sub(1) else { return Ok(false) };
            if self.source.compression != Compression::Plain {
                // As far as it was read before, it is likely to be read again.
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

    /// Reads a step more. What lies far behind goes once it is most of the buffer, so that each byte is moved
    /// about once.
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

/// A length as an offset.
pub(super) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
