//! A window onto a stream: looks ahead as far as is asked for, and lets go of what was taken.
//!
//! Input: a stream. Output: its next bytes. Holds no more than the longest look ahead and a block. Does not
//! know what the bytes mean.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io::{self, Read};

/// How many bytes are read at once.
const BLOCK_BYTES: usize = 256 << 10;

/// The next bytes of a stream.
#[derive(Debug)]
pub(super) struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    /// Where in `bytes` the bytes begin that were not taken yet.
    start: usize,
    is_at_end: bool,
}

impl<R: Read> Window<R> {
    pub(super) fn new(reader: R) -> Window<R> {
        Window { reader, bytes: Vec::new(), start: 0, is_at_end: false }
    }

    /// Returns the next bytes: at least `wanted`, or all up to the end of the stream.
    ///
    /// # Errors
    /// Those of the stream.
    pub(super) fn look(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while !self.is_at_end && self.bytes.len().saturating_sub(self.start) < wanted {
            self.read()?;
        }
        Ok(self.bytes.get(self.start..).unwrap_or_default())
    }

    /// Takes bytes that [`Window::look`] returned.
    pub(super) fn take(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.bytes.len());
    }

    fn read(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.len() < BLOCK_BYTES {
            self.bytes.shrink_to(BLOCK_BYTES.saturating_mul(4));
        }
        // What is left was moved. The more that is, the more is read, so that each byte moves a few times.
        let block_bytes = BLOCK_BYTES.max(self.bytes.len() >> 1);
        let limit = u64::try_from(block_bytes).unwrap_or(u64::MAX);
        let count = self.reader.by_ref().take(limit).read_to_end(&mut self.bytes)?;
        self.is_at_end = count == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_in_order_however_far_it_looks() {
        let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut window = Window::new(&bytes[..]);
        let mut taken = Vec::new();
        for step in (1..).map(|step: usize| step * 7_919 % 700_001) {
            let seen = window.look(step).unwrap();
            assert!(seen.len() >= step.min(bytes.len() - taken.len()));
            let count = seen.len().min(step / 2 + 1);
            taken.extend_from_slice(&seen[..count]);
            window.take(count);
            if count == 0 {
                break;
            }
        }
        assert!(taken == bytes);
    }
}
