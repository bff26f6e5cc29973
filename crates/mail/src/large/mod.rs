//! Messages that are too large to be held in memory: read in pieces, and taken apart as others are.
//!
//! Comes in: a file, or bytes that are kept compressed. Goes out: all of the message block by block, and the
//! message taken apart, in memory that does not grow with it. `message.rs` does the same in memory, and tests
//! compare both.
//!
//! What differs from that: text beyond `LARGE_TEXTS_BYTES_MAX` counts for the hashes, and is not kept; an
//! encoded message within the message is taken apart only up to `LARGE_NESTED_BYTES_MAX`; of a header
//! `LARGE_HEADER_BYTES_MAX` are read.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod decode;
mod levels;
mod lines;
mod room;
mod source;
#[cfg(test)]
mod tests;
mod walk;
mod window;

use crate::far::Far;
use crate::headers::{skip_envelope, split};
use crate::limits::{LARGE_BYTES_MAX, LARGE_STEP_BYTES};
use crate::message::{Context, Message, assemble};
use crate::problem::{Problem, Problems};
use crate::transfer::Transfer;
use crate::unpack::Compression;
use crate::{Error, FileStat, Result};
use rustix::fs::{CWD, Mode, OFlags};
use source::{Place, Source};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use window::{PACE, Pace, Window, wide};

/// A message that is read in pieces.
#[derive(Debug)]
pub struct Large<'s> {
    source: Source<'s>,
    /// Where it is, for what is said of it.
    path: PathBuf,
    /// The file before it was read.
    stat: FileStat,
}

/// What a message has in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The length of the message, decompressed; up to `LARGE_BYTES_MAX`.
    pub size_bytes: u64,
    /// Whether it is longer than that, and cut there.
    pub is_cut: bool,
}

impl Large<'static> {
    /// Opens a message file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened, [`Error::NotAFile`], [`Error::Unreadable`].
    pub fn open(path: &Path) -> Result<Large<'static>> {
        let failed = |error: rustix::io::Errno| Error::io("open", path, error);
        // Opening a pipe would otherwise wait for a writer; for files it makes no difference.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let stat = FileStat::from(rustix::fs::fstat(&file).map_err(failed)?);
        if !stat.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        Large::new(Place::File(file), path, stat)
    }
}

impl<'s> Large<'s> {
    /// Takes a message out of memory that has no room for it decompressed; `path` is where it was.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn of_bytes(bytes: &'s [u8], path: &Path) -> Result<Large<'s>> {
        let stat = FileStat { size_bytes: wide(bytes.len()), ..FileStat::default() };
        Large::new(Place::Bytes(bytes), path, stat)
    }

    fn new(place: Place<'s>, path: &Path, stat: FileStat) -> Result<Large<'s>> {
        let mut source = Source { place, compression: Compression::Plain, has_cr_lines: false };
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
            _ => Ok(Large { source, path: path.to_owned(), stat }),
        }
    }

    /// Returns the file as it was before it was read.
    pub fn stat(&self) -> FileStat {
        self.stat
    }

    /// Says how the file is compressed.
    pub fn compression(&self) -> Compression {
        self.source.compression
    }

    /// Hands out all of the message, decompressed, and says how much that was. To be done before the message
    /// is taken apart.
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

    /// Hands out the bytes of the file as they are, compressed if they are.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Changed`].
    pub fn each_stored_block(&self, consume: &mut dyn FnMut(&[u8])) -> Result<u64> {
        let size_bytes = each_block(self.source.bytes(0), consume).map_err(|error| self.explained(error))?;
        self.expect_unchanged(Some(size_bytes))?;
        Ok(size_bytes)
    }

    /// Takes the message apart.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], [`Error::Changed`].
    pub fn parse(&self, context: &Context<'_>) -> Result<Message> {
        let message = self.parse_by(PACE, context);
        let message = message.map_err(|error| self.explained(error))?;
        self.expect_unchanged(None)?;
        Ok(message)
    }

    fn parse_by(&self, pace: Pace, context: &Context<'_>) -> io::Result<Message> {
        let mut problems = Problems::default();
        let mut window = Window::new(&self.source, pace)?;
        let (header, parts) = walk::take_apart(&mut window, pace.near_bytes, &mut problems)?;
        let block = split(skip_envelope(&header));
        if block.fields.is_empty() {
            problems.add(Problem::NoHeader);
        }
        drop(window);
        let mut contents = Contents { window: Window::new(&self.source, pace)?, failure: None };
        let message = assemble(&block, &parts, &mut contents, context, problems);
        contents.failure.map_or(Ok(message), Err)
    }

    /// Says whether the file goes on beyond `LARGE_BYTES_MAX`.
    fn goes_on(&self) -> io::Result<bool> {
        if self.compression() == Compression::Plain {
            return Ok(self.stat.size_bytes > LARGE_BYTES_MAX);
        }
        // How much follows is not worth another hundred seconds: what fills the limit to the byte counts as
        // cut.
        Ok(true)
    }

    /// Refuses a file that changed since it was opened, or had fewer bytes than it said.
    fn expect_unchanged(&self, read_bytes: Option<u64>) -> Result<()> {
        let changed = || Error::Changed { path: self.path.clone() };
        if let Place::File(file) = &self.source.place {
            let now = rustix::fs::fstat(file).map_err(|error| Error::io("look at", &self.path, error))?;
            let now = FileStat::from(now);
            if (now.size_bytes, now.mtime_ns) != (self.stat.size_bytes, self.stat.mtime_ns) {
                return Err(changed());
            }
        }
        if read_bytes.is_some_and(|count| count != self.stat.size_bytes) { Err(changed()) } else { Ok(()) }
    }

    fn explained(&self, error: io::Error) -> Error {
        // What the operating system says has a number; what a decompressor says has none.
        if self.compression() == Compression::Plain || error.raw_os_error().is_some() {
            return Error::io("read", &self.path, error);
        }
        Error::Damaged { path: self.path.clone(), what: error.to_string() }
    }
}

/// Contents of parts, read in the order of the message.
struct Contents<'s> {
    window: Window<'s>,
    failure: Option<io::Error>,
}

impl Far for Contents<'_> {
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
