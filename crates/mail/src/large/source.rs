//! Streams the bytes of a large message from any offset.
//!
//! Input: an open file, or bytes as stored. Output: streams of the message, decompressed. Does not know what
//! a message is.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before};
use crate::limits::LARGE_BYTES_MAX;
use crate::maildir::compression::{Compression, explained, unpacked};
use rustix::io::Errno;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Bytes of a compressed file that are read at once.
const PACKED_BYTES: usize = 128 << 10;

/// Where the bytes are stored.
#[derive(Debug)]
pub(super) enum Storage<'s> {
    File(OwnedFd),
    Bytes(&'s [u8]),
}

/// Says whether to read no further.
#[derive(Clone, Default)]
pub(super) struct Stop(pub(super) Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    fn check(&self) -> io::Result<()> {
        match &self.0 {
            Some(is_stopped) if is_stopped() => Err(io::Error::other("reading was stopped")),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stop")
    }
}

/// A stored message.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) storage: Storage<'s>,
    pub(super) compression: Compression,
    /// Whether its lines end with CR alone, so that CR is read as LF.
    pub(super) has_cr_lines: bool,
    pub(super) stop: Stop,
}

impl Source<'_> {
    /// Returns the message from `offset` on, up to `LARGE_BYTES_MAX`.
    pub(super) fn stream(&self, offset: u64) -> io::Result<Box<dyn Read + '_>> {
        let stream: Box<dyn Read + '_> = if self.compression == Compression::Plain {
            Box::new(self.bytes(offset).take(LARGE_BYTES_MAX.saturating_sub(offset)))
        } else {
            let packed = BufReader::with_capacity(PACKED_BYTES, self.bytes(0));
            let mut message = ExplainErrors(unpacked(packed, self.compression)?).take(LARGE_BYTES_MAX);
            io::copy(&mut message.by_ref().take(offset), &mut io::sink())?;
            Box::new(message)
        };
        Ok(if self.has_cr_lines { Box::new(CrLines(stream)) } else { stream })
    }

    /// Returns the bytes as stored, from `offset` on.
    pub(super) fn bytes(&self, offset: u64) -> StoredBytes<'_> {
        StoredBytes { storage: &self.storage, stop: &self.stop, offset }
    }
}

/// Reads bytes as stored.
pub(super) struct StoredBytes<'s> {
    storage: &'s Storage<'s>,
    stop: &'s Stop,
    offset: u64,
}

impl Read for StoredBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        let count = match self.storage {
            Storage::File(file) => loop {
                match rustix::io::pread(file, &mut *buffer, self.offset) {
                    Err(Errno::INTR) => {}
                    result => break result?,
                }
            },
            Storage::Bytes(bytes) => {
                let rest = after(bytes, usize::try_from(self.offset).unwrap_or(usize::MAX));
                let rest = before(rest, buffer.len());
                let (begin, _) = buffer.split_at_mut(rest.len());
                begin.copy_from_slice(rest);
                rest.len()
            }
        };
        self.offset = self.offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}

/// Replaces errors of decompressors by sentences.
struct ExplainErrors<R>(R);

impl<R: Read> Read for ExplainErrors<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(explained)
    }
}

/// Replaces CRs by LFs.
struct CrLines<R>(R);

impl<R: Read> Read for CrLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        buffer.iter_mut().take(count).filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(count)
    }
}
