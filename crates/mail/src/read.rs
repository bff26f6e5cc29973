//! Reads a message file whole, as it was at one moment, and decompressed.
//!
//! Comes in: a path, and how much may be read. Goes out: the content with the file's stat from before it was read, in memory that is
//! used again. This file must not know what a message is.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::unpack::{Compression, Unpacked, unpack};
use crate::{Error, FileStat, Result};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// How often a file is read again because it changed meanwhile.
const REREAD_COUNT_MAX: usize = 3;

/// Memory kept from one message to the next. The few larger messages give back theirs.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// What a message file holds.
#[derive(Debug, Default)]
pub struct Content {
    /// The message, decompressed.
    pub bytes: Vec<u8>,
    /// The file as it was before it was read; its size is that of the file, not of the message.
    pub stat: FileStat,
    /// How the file is compressed.
    pub compression: Compression,
    /// Whether the message is longer than was allowed, and cut there.
    pub truncated: bool,
    /// Compressed bytes; kept because they are as expensive to allocate as the others.
    packed: Vec<u8>,
}

/// Reads a message file: at most `limit_bytes` of the file, and at most as much of its content.
///
/// # Errors
/// [`Error::Io`] if it cannot be read or is gone, [`Error::NotAFile`], [`Error::Damaged`], [`Error::Changed`].
pub fn read_message(path: &Path, limit_bytes: usize) -> Result<Content> {
    let mut content = Content::default();
    read_message_into(path, limit_bytes, &mut content)?;
    Ok(content)
}

/// Does what [`read_message`] does, in the memory of the message before. After an error the content is empty.
///
/// # Errors
/// As [`read_message`].
pub fn read_message_into(path: &Path, limit_bytes: usize, content: &mut Content) -> Result<()> {
    let result = fill(path, limit_bytes, content);
    if result.is_err() {
        content.bytes.clear();
    }
    result
}

fn fill(path: &Path, limit_bytes: usize, content: &mut Content) -> Result<()> {
    // Opening a pipe would otherwise wait for a writer; for files it makes no difference.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty())
        .map_err(|error| Error::io("open", path, error))?;
    let failed = |error| Error::io("read", path, error);
    let first = (&file).stat().map_err(failed)?;
    if !first.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let unchanged = read_unchanged(&file, first, limit_bytes, &mut content.bytes).map_err(failed)?;
    content.stat = unchanged.ok_or_else(|| Error::Changed { path: path.to_owned() })?;
    content.truncated = content.stat.size_bytes > size(limit_bytes);
    content.compression = Compression::of(&content.bytes);
    if let Compression::Unreadable(program) = content.compression {
        return Err(Error::Unreadable { path: path.to_owned(), program });
    }
    if content.compression != Compression::Plain {
        std::mem::swap(&mut content.bytes, &mut content.packed);
        prepare(&mut content.bytes, 0).map_err(failed)?;
        content.truncated |=
            match unpack(&content.packed, content.compression, limit_bytes, &mut content.bytes) {
                Ok(unpacked) => unpacked == Unpacked::Cut,
                // The end of the file was not read, so that its missing is no damage.
                Err(error) if content.truncated && error.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(error) => return Err(Error::Damaged { path: path.to_owned(), what: error.to_string() }),
            };
    }
    Ok(())
}

/// A file that may change while it is read.
trait Source: Copy {
    /// Returns what the file says of itself now.
    fn stat(self) -> io::Result<FileStat>;

    /// Appends what lies at `offset`, as much as `buffer` has room for; returns how many bytes that was, 0 at the end of the file.
    fn read_at(self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize>;
}

impl Source for &OwnedFd {
    fn stat(self) -> io::Result<FileStat> {
        Ok(FileStat::from(rustix::fs::fstat(self)?))
    }

    fn read_at(self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        loop {
            match rustix::io::pread(self, rustix::buffer::spare_capacity(buffer), offset) {
                Err(Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }
}

/// Reads at most `limit_bytes` and looks whether size or time of modification changed meanwhile. Returns the stat from before it was
/// read; `None` if the file changed each time.
fn read_unchanged(
    source: impl Source,
    first: FileStat,
    limit_bytes: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<FileStat>> {
    let mut before = first;
    for _ in 0..=REREAD_COUNT_MAX {
        let wanted = usize::try_from(before.size_bytes).unwrap_or(usize::MAX).min(limit_bytes);
        read_at_least(source, wanted, buffer)?;
        buffer.truncate(limit_bytes);
        let after = source.stat()?;
        let is_same = (after.size_bytes, after.mtime_ns) == (before.size_bytes, before.mtime_ns);
        if is_same && buffer.len() == wanted {
            return Ok(Some(before));
        }
        before = after;
    }
    Ok(None)
}

/// Reads until `wanted` bytes are there or the file ends. Asks for one more, so that one call says whether a file has grown.
fn read_at_least(source: impl Source, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    prepare(buffer, wanted.saturating_add(1))?;
    while source.read_at(buffer, size(buffer.len()))? > 0 && buffer.len() < wanted {}
    Ok(())
}

/// Empties a buffer and gives it room for `length` bytes.
fn prepare(buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
    buffer.clear();
    if buffer.capacity() > KEPT_BYTES_MAX && length <= KEPT_BYTES_MAX {
        *buffer = Vec::new();
    }
    Ok(buffer.try_reserve_exact(length)?)
}

fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a test that overflows fails")]
mod tests;
