//! Reads a complete message file as it was at one moment, and decompresses it.
//!
//! Input: a path, and a limit in bytes. Output: the content with the file's stat from before it was read, in
//! a buffer that is reused. Does not know what a message is.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::maildir::compression::{Compression, Unpacked, unpack};
use crate::maildir::stamp::FileStat;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// How often a file is read again if it changed during the read.
const REREAD_COUNT_MAX: usize = 3;

/// Bytes of buffer kept from one message to the next. Larger buffers are freed.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The content of a message file.
#[derive(Debug, Default)]
pub struct FileContent {
    /// The message, decompressed.
    pub bytes: Vec<u8>,
    /// The file's stat from before it was read. Its size is that of the file, not of the message.
    pub stat: FileStat,
    /// How the file is compressed.
    pub compression: Compression,
    /// Whether the message is longer than the limit, and was cut there.
    pub truncated: bool,
    /// Compressed bytes; kept because they are as expensive to allocate as the message.
    packed: Vec<u8>,
}

/// Reads at most `limit_bytes` of a message file, and at most as many bytes of its decompressed content.
///
/// # Errors
/// [`Error::Io`] if it cannot be read or does not exist, [`Error::NotAFile`], [`Error::Damaged`],
/// [`Error::Unreadable`], [`Error::Changed`].
pub fn read_message(path: &Path, limit_bytes: usize) -> Result<FileContent> {
    let mut content = FileContent::default();
    read_message_into(path, limit_bytes, &mut content)?;
    Ok(content)
}

/// Does what [`read_message`] does, and reuses the buffer of the previous message. After an error the content
/// is empty.
///
/// # Errors
/// Same as [`read_message`].
pub fn read_message_into(path: &Path, limit_bytes: usize, content: &mut FileContent) -> Result<()> {
    let result = fill(path, limit_bytes, content);
    if result.is_err() {
        content.bytes.clear();
    }
    result
}

fn fill(path: &Path, limit_bytes: usize, content: &mut FileContent) -> Result<()> {
    // Without NONBLOCK, opening a pipe would wait for a writer. It makes no difference for files.
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
                // The end of the file was not read, so its absence is not damage.
                Err(error) if content.truncated && error.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(error) => return Err(Error::Damaged { path: path.to_owned(), what: error.to_string() }),
            };
    }
    Ok(())
}

/// A file that may change while it is read.
trait Source: Copy {
    /// Returns the file's current stat.
    fn stat(self) -> io::Result<FileStat>;

    /// Appends the bytes at `offset`, as many as `buffer` has room for, and returns how many; 0 at the end of
    /// the file.
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

/// Reads at most `limit_bytes` and checks that neither size nor modification time changed. Returns the stat
/// from before the read, or `None` if the file changed every time.
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

/// Reads until `wanted` bytes are read or the file ends. Asks for one byte more, so that one call tells
/// whether a file has grown.
fn read_at_least(source: impl Source, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    prepare(buffer, wanted.saturating_add(1))?;
    while source.read_at(buffer, size(buffer.len()))? > 0 && buffer.len() < wanted {}
    Ok(())
}

/// Clears a buffer and reserves `length` bytes.
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
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A file whose content is `contents[n]` after n calls to `stat`, and the last one from then on. A
    /// repeated content counts as not written. A call reads at most `step` bytes.
    struct Script {
        contents: &'static [&'static str],
        stats: Cell<usize>,
        reads: Cell<usize>,
        step: usize,
    }

    impl Script {
        fn new(contents: &'static [&'static str], step: usize) -> Script {
            Script { contents, stats: Cell::new(0), reads: Cell::new(0), step }
        }

        fn moment(&self) -> usize {
            self.stats.get().min(self.contents.len() - 1)
        }

        fn calls(&self) -> i64 {
            i64::try_from(self.stats.get()).unwrap()
        }

        /// Reads the file. Returns its content, and how many calls that took.
        fn read(&self, limit_bytes: usize) -> Option<(String, usize)> {
            let mut buffer = Vec::new();
            let first = self.stat().unwrap();
            let stat = read_unchanged(self, first, limit_bytes, &mut buffer).unwrap()?;
            let text = String::from_utf8(buffer).unwrap();
            let content = self.contents[usize::try_from(stat.mtime_ns).unwrap()];
            assert_eq!(
                stat.ctime_ns,
                self.calls() - 2,
                "the stat is not the one from before the content was read"
            );
            assert_eq!(text, content[..content.len().min(limit_bytes)], "the stat is of another content");
            Some((text, self.reads.get()))
        }
    }

    impl Source for &Script {
        fn stat(self) -> io::Result<FileStat> {
            let moment = self.moment();
            self.stats.set(self.stats.get() + 1);
            let content = self.contents[moment];
            let written = self.contents[..moment]
                .iter()
                .rposition(|before| *before != content)
                .map_or(0, |index| index + 1);
            let mtime_ns = i64::try_from(written).unwrap();
            let ctime_ns = self.calls() - 1;
            Ok(FileStat { size_bytes: size(content.len()), mtime_ns, ctime_ns, ..FileStat::default() })
        }

        fn read_at(self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
            self.reads.set(self.reads.get() + 1);
            let content = &self.contents[self.moment()].as_bytes();
            let rest = content.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let room = buffer.capacity() - buffer.len();
            assert!(room > 0, "no room to see the end of the file");
            let count = rest.len().min(room).min(self.step);
            buffer.extend_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    fn read(contents: &'static [&'static str], step: usize, limit_bytes: usize) -> Option<(String, usize)> {
        Script::new(contents, step).read(limit_bytes)
    }

    #[test]
    fn a_quiet_file_is_read_by_one_call() {
        assert_eq!(read(&["quiet"], 100, 100), Some(("quiet".into(), 1)));
        assert_eq!(read(&[""], 100, 100), Some((String::new(), 1)));
        assert_eq!(read(&["quiet"], 100, 5), Some(("quiet".into(), 1)));
    }

    #[test]
    fn short_reads_go_on() {
        assert_eq!(read(&["quiet"], 2, 100), Some(("quiet".into(), 3)));
    }

    #[test]
    fn only_the_limit_is_read() {
        assert_eq!(read(&["a long message"], 100, 6), Some(("a long".into(), 1)));
        assert_eq!(read(&["a long message"], 1, 6), Some(("a long".into(), 6)));
        assert_eq!(read(&["a long message"], 1, 0), Some((String::new(), 1)));
    }

    #[test]
    fn a_file_that_changes_is_read_again() {
        assert_eq!(
            read(&["first", "first", "other"], 100, 100),
            Some(("first".into(), 1)),
            "changed after it was read"
        );
        assert_eq!(read(&["first", "other"], 100, 100), Some(("other".into(), 2)));
        assert_eq!(read(&["short", "much longer"], 100, 100), Some(("much longer".into(), 2)));
        assert_eq!(
            read(&["much longer", "short"], 100, 100),
            Some(("short".into(), 3)),
            "two calls see the early end"
        );
        assert_eq!(read(&["much longer", ""], 100, 100), Some((String::new(), 2)));
        assert_eq!(
            read(&["abcdef", "xxxdefgh"], 100, 3),
            Some(("xxx".into(), 2)),
            "changed beyond the limit"
        );
    }

    #[test]
    fn a_file_that_never_rests_is_given_up() {
        assert_eq!(read(&["a", "b", "c", "d", "e", "e"], 100, 100), None);
        assert_eq!(read(&["a", "b", "c", "d", "d"], 100, 100), Some(("d".into(), 4)));
    }

    #[test]
    fn a_large_message_gives_its_memory_back() {
        let mut buffer = Vec::new();
        prepare(&mut buffer, KEPT_BYTES_MAX + 1).unwrap();
        prepare(&mut buffer, KEPT_BYTES_MAX + 1).unwrap();
        assert!(buffer.capacity() > KEPT_BYTES_MAX);
        prepare(&mut buffer, 10).unwrap();
        assert!(buffer.capacity() < 100);
        prepare(&mut buffer, 1000).unwrap();
        prepare(&mut buffer, 10).unwrap();
        assert!(buffer.capacity() >= 1000, "small buffers are kept");
    }
}
