//! Reads and parses messages that are too large for memory, in pieces.
//!
//! Input: a file, or bytes in memory that are too large decompressed. Output: the whole message block by
//! block, and the parsed message, in memory that does not grow with the message. `message/parse.rs` does the
//! same in memory, and tests compare both.
//!
//! The results differ in three cases: text beyond `LARGE_TEXTS_BYTES_MAX` is hashed but not kept; an encoded
//! message within the message is split only up to `LARGE_NESTED_BYTES_MAX`; and `LARGE_HEADER_BYTES_MAX` of a
//! header are read.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod budget;
mod decode;
mod extract;
mod header;
mod keep;
mod lines;
mod multiparts;
mod source;
#[cfg(test)]
mod tests;
mod walk;
mod window;

use crate::decode::transfer::Transfer;
use crate::error::{Error, Result};
use crate::header::block::{skip_envelope, split};
use crate::limits::{LARGE_BYTES_MAX, LARGE_STEP_BYTES};
use crate::maildir::compression::Compression;
use crate::maildir::stamp::FileStat;
use crate::message::model::{Context, Message};
use crate::message::parse::assemble;
use crate::mime::content_source::ContentSource;
use crate::problem::{Problem, Problems};
use rustix::fs::{CWD, Mode, OFlags};
use sha2::{Digest, Sha256};
use source::{Source, Stop, Storage};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use window::{WINDOW_LIMITS, Window, WindowLimits, wide};

/// A message that is read in pieces.
#[derive(Debug)]
pub struct LargeMessage<'s> {
    source: Source<'s>,
    /// The path, for error messages.
    path: PathBuf,
    /// The file's stat from before it was read.
    stat: FileStat,
}

/// The size of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The length of the message, decompressed; up to `LARGE_BYTES_MAX`.
    pub size_bytes: u64,
    /// Whether it is longer than `LARGE_BYTES_MAX`, and was cut there.
    pub is_cut: bool,
}

/// The identity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// SHA-256 of the message, decompressed. If the message was cut, SHA-256 of the stored file.
    pub sha256: [u8; 32],
    /// How many bytes were hashed.
    pub size_bytes: u64,
    /// Whether the message is longer than `LARGE_BYTES_MAX`.
    pub is_cut: bool,
}

impl LargeMessage<'static> {
    /// Opens a message file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened, [`Error::NotAFile`], [`Error::Unreadable`].
    pub fn open(path: &Path) -> Result<LargeMessage<'static>> {
        let failed = |error: rustix::io::Errno| Error::io("open", path, error);
        // Without NONBLOCK, opening a pipe would wait for a writer. It makes no difference for files.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let stat = FileStat::from(rustix::fs::fstat(&file).map_err(failed)?);
        if !stat.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        LargeMessage::new(Storage::File(file), path, stat)
    }
}

impl<'s> LargeMessage<'s> {
    /// Reads a message from bytes in memory, whose decompressed content is too large; `path` is where it was.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn of_bytes(bytes: &'s [u8], path: &Path) -> Result<LargeMessage<'s>> {
        let stat = FileStat { size_bytes: wide(bytes.len()), ..FileStat::default() };
        LargeMessage::new(Storage::Bytes(bytes), path, stat)
    }

    fn new(storage: Storage<'s>, path: &Path, stat: FileStat) -> Result<LargeMessage<'s>> {
        let (compression, stop) = (Compression::Plain, Stop::default());
        let mut source = Source { storage, compression, has_cr_lines: false, stop };
        let mut magic = Vec::new();
        let length = wide(Compression::MAGIC_BYTES_MAX);
        source
            .bytes(0)
            .take(length)
            .read_to_end(&mut magic)
            .map_err(|error| Error::io("read", path, error))?;
        source.compression = Compression::of(&magic);
        match source.compression {
            Compression::Unreadable(program) => Err(Error::Unreadable { path: path.to_owned(), program }),
            _ => Ok(LargeMessage { source, path: path.to_owned(), stat }),
        }
    }

    /// Returns the same message, whose reading ends with [`Error::Io`] or [`Error::Damaged`] once
    /// `is_stopped` returns true. It is asked before each piece is read from the file.
    #[must_use]
    pub fn stopped_by(mut self, is_stopped: Arc<dyn Fn() -> bool + Send + Sync>) -> LargeMessage<'s> {
        self.source.stop = Stop(Some(is_stopped));
        self
    }

    /// Returns the file's stat from before it was read.
    pub fn stat(&self) -> FileStat {
        self.stat
    }

    /// Returns the file's compression.
    pub fn compression(&self) -> Compression {
        self.source.compression
    }

    /// Passes the whole message, decompressed, to `consume`, and returns its size. Must be called before
    /// `parse`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], [`Error::Changed`].
    pub fn each_block(&mut self, consume: &mut dyn FnMut(&[u8])) -> Result<Extent> {
        self.source.has_cr_lines = false;
        let (mut has_cr, mut has_lf) = (false, false);
        let size_bytes = self.source.stream(0).and_then(|stream| {
            each_block(stream, &mut |block| {
                has_lf = has_lf || memchr::memchr(b'\n', block).is_some();
                has_cr = has_cr || !has_lf && memchr::memchr(b'\r', block).is_some();
                consume(block);
            })
        });
        let size_bytes = size_bytes.map_err(|error| self.explained(error))?;
        self.source.has_cr_lines = has_cr && !has_lf;
        let is_cut =
            size_bytes == LARGE_BYTES_MAX && self.goes_on().map_err(|error| self.explained(error))?;
        self.expect_unchanged((!is_cut && self.compression() == Compression::Plain).then_some(size_bytes))?;
        Ok(Extent { size_bytes, is_cut })
    }

    /// Hashes the whole message. Must be called before `parse`.
    ///
    /// # Errors
    /// Same as [`LargeMessage::each_block`].
    pub fn identify(&mut self) -> Result<Identity> {
        let mut hasher = Sha256::new();
        let Extent { size_bytes, is_cut } = self.each_block(&mut |block| hasher.update(block))?;
        if !is_cut {
            return Ok(Identity { sha256: hasher.finalize().into(), size_bytes, is_cut });
        }
        // The id of a message that cannot be decompressed whole is that of its file.
        let mut hasher = Sha256::new();
        let size_bytes = self.each_stored_block(&mut |block| hasher.update(block))?;
        Ok(Identity { sha256: hasher.finalize().into(), size_bytes, is_cut })
    }

    /// Passes the bytes of the file to `consume` without decompressing them, and returns their number.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Changed`].
    pub fn each_stored_block(&self, consume: &mut dyn FnMut(&[u8])) -> Result<u64> {
        let size_bytes = each_block(self.source.bytes(0), consume).map_err(|error| self.explained(error))?;
        self.expect_unchanged(Some(size_bytes))?;
        Ok(size_bytes)
    }

    /// Parses the message.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], [`Error::Changed`].
    pub fn parse(&self, context: &Context<'_>) -> Result<Message> {
        let message = self.parse_by(WINDOW_LIMITS, context);
        let message = message.map_err(|error| self.explained(error))?;
        self.expect_unchanged(None)?;
        Ok(message)
    }

    fn parse_by(&self, limits: WindowLimits, context: &Context<'_>) -> io::Result<Message> {
        let mut problems = Problems::default();
        let mut window = Window::new(&self.source, limits)?;
        let (header, parts) = walk::take_apart(&mut window, limits.small_bytes, &mut problems)?;
        let block = split(skip_envelope(&header));
        if block.fields.is_empty() {
            problems.add(Problem::NoHeader);
        }
        drop(window);
        let mut contents = LargeContents { window: Window::new(&self.source, limits)?, failure: None };
        let message = assemble(&block, &parts, &mut contents, context, problems);
        contents.failure.map_or(Ok(message), Err)
    }

    /// Returns whether the file continues beyond `LARGE_BYTES_MAX`.
    fn goes_on(&self) -> io::Result<bool> {
        if self.compression() == Compression::Plain {
            return Ok(self.stat.size_bytes > LARGE_BYTES_MAX);
        }
        // Finding out would take another hundred seconds, so a message of exactly the limit counts as cut.
        Ok(true)
    }

    /// Returns an error if the file changed since it was opened, or had fewer bytes than its stat says.
    fn expect_unchanged(&self, read_bytes: Option<u64>) -> Result<()> {
        let changed = || Error::Changed { path: self.path.clone() };
        if let Storage::File(file) = &self.source.storage {
            let now = rustix::fs::fstat(file).map_err(|error| Error::io("stat", &self.path, error))?;
            let now = FileStat::from(now);
            if (now.size_bytes, now.mtime_ns) != (self.stat.size_bytes, self.stat.mtime_ns) {
                return Err(changed());
            }
        }
        if read_bytes.is_some_and(|count| count != self.stat.size_bytes) { Err(changed()) } else { Ok(()) }
    }

    fn explained(&self, error: io::Error) -> Error {
        // Errors of the operating system have a number; those of a decompressor do not.
        if self.compression() == Compression::Plain || error.raw_os_error().is_some() {
            return Error::io("read", &self.path, error);
        }
        Error::Damaged { path: self.path.clone(), what: error.to_string() }
    }
}

/// Reads contents of parts in the order of the message.
pub(crate) struct LargeContents<'s> {
    window: Window<'s>,
    failure: Option<io::Error>,
}

impl ContentSource for LargeContents<'_> {
    fn each_block(&mut self, range: Range<u64>, transfer: Transfer, consume: &mut dyn FnMut(&[u8])) -> bool {
        match decode::each_block(&mut self.window, &range, transfer, consume) {
            Ok(is_clean) => is_clean,
            Err(error) => {
                self.failure.get_or_insert(error);
                false
            }
        }
    }
}

fn each_block(mut stream: impl Read, consume: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
    let mut buffer = vec![0; LARGE_STEP_BYTES];
    let mut size_bytes = 0_u64;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(size_bytes),
            Ok(count) => {
                consume(buffer.get(..count).unwrap_or_default());
                size_bytes = size_bytes.saturating_add(wide(count));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
