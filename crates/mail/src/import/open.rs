//! Opens a file or a stream of mail, compressed or not, and says whether it is an mbox or one message.
//!
//! Input: a path or a stream, untrusted. Output: a stream of its content. Does not read messages.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::import::from_line::FROM;
use crate::maildir::compression::{Compression, explained, unpacked};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many bytes are read at once.
const BUFFER_BYTES: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Fields of which a message has at least one near its beginning. Other text also has lines with a colon.
const FIELDS: [&str; 12] = [
    "from",
    "to",
    "date",
    "subject",
    "message-id",
    "received",
    "return-path",
    "delivered-to",
    "sender",
    "reply-to",
    "mime-version",
    "status",
];
/// How the names of other fields of messages begin.
const FIELD_PREFIXES: [&str; 9] =
    ["x-", "arc-", "resent-", "list-", "content-", "dkim-", "authentication-", "received-", "envelope-"];

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// An mbox.
    Mbox,
    /// A message.
    Message,
    /// Nothing.
    Empty,
    /// Something else.
    Unknown,
}

/// A file or stream that was opened.
pub struct Opened {
    /// Its content, decompressed.
    pub reader: Box<dyn BufRead>,
    /// What it is, by its first lines.
    pub kind: ContentKind,
}

/// Opens a file in a directory. Follows no link. Counts in `read` how many bytes of it are read.
///
/// # Errors
/// It cannot be opened, or is no file; it is compressed in an unknown way.
pub fn open_file(path: &Path, read: &Arc<AtomicU64>) -> Result<Opened> {
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| Error::io("open", path, error))?;
    if !file.metadata().map_err(|error| Error::io("stat", path, error))?.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    open_stream(Box::new(file), path, read)
}

/// Opens a stream, which is called `path` in errors. See [`open_file`].
///
/// # Errors
/// It cannot be read; it is compressed in an unknown way.
pub fn open_stream(stream: Box<dyn Read>, path: &Path, read: &Arc<AtomicU64>) -> Result<Opened> {
    let failed = |error| Error::io("read", path, explained(error));
    let counted = Counted { stream, read: Arc::clone(read) };
    let mut packed = Ahead::new(counted).map_err(failed)?;
    let compression = Compression::of(packed.fill_buf().map_err(failed)?);
    let mut reader: Box<dyn BufRead> = match compression {
        Compression::Plain => Box::new(packed),
        Compression::Unreadable(program) => {
            return Err(Error::Unreadable { path: path.to_owned(), program });
        }
        other => {
            let content = Explained(unpacked(packed, other).map_err(failed)?);
            Box::new(Ahead::new(content).map_err(failed)?)
        }
    };
    let kind = kind(reader.fill_buf().map_err(failed)?);
    Ok(Opened { reader, kind })
}

/// Returns what content with these first bytes is.
fn kind(bytes: &[u8]) -> ContentKind {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let begin = bytes.trim_ascii_start();
    if begin.is_empty() {
        return ContentKind::Empty;
    }
    if begin.starts_with(FROM) {
        return ContentKind::Mbox;
    }
    let mut lines = begin.split(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    let mut others = lines.clone();
    let is_field = lines.next().is_some_and(|line| field_name(line).is_some());
    match is_field && others.any(|line| field_name(line).is_some_and(is_known)) {
        true => ContentKind::Message,
        false => ContentKind::Unknown,
    }
}

/// Returns the name of the field that a line begins, if it begins one.
fn field_name(line: &[u8]) -> Option<&str> {
    let name = line.get(..line.iter().position(|byte| *byte == b':')?)?;
    let name = std::str::from_utf8(name).ok()?.trim_end_matches([' ', '\t']);
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(name)
}

fn is_known(name: &str) -> bool {
    let begins =
        |prefix: &&str| name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name)) || FIELD_PREFIXES.iter().any(begins)
}

/// Reads through a buffer whose first bytes are there from the beginning, as many as a short stream has.
struct Ahead<R> {
    first: io::Cursor<Vec<u8>>,
    rest: BufReader<R>,
}

/// Bytes that are read ahead: enough to see a first line.
const AHEAD_BYTES: u64 = 4 << 10;

impl<R: Read> Ahead<R> {
    fn new(stream: R) -> io::Result<Ahead<R>> {
        let mut rest = BufReader::with_capacity(BUFFER_BYTES, stream);
        let mut first = Vec::new();
        rest.by_ref().take(AHEAD_BYTES).read_to_end(&mut first)?;
        Ok(Ahead { first: io::Cursor::new(first), rest })
    }
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.first.read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}

impl<R: Read> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.first.fill_buf()?.is_empty() { self.rest.fill_buf() } else { self.first.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        match self.first.fill_buf() {
            Ok([]) | Err(_) => self.rest.consume(count),
            Ok(_) => self.first.consume(count),
        }
    }
}

/// Replaces errors of decompression by sentences.
struct Explained<R>(R);

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(explained)
    }
}

/// Counts what is read.
struct Counted {
    stream: Box<dyn Read>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.read.fetch_add(u64::try_from(count).unwrap_or_default(), Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn opened(content: &[u8]) -> Result<(ContentKind, Vec<u8>, u64)> {
        let read = Arc::default();
        let mut opened = open_stream(Box::new(io::Cursor::new(content.to_vec())), Path::new("x"), &read)?;
        let mut bytes = Vec::new();
        opened.reader.read_to_end(&mut bytes).map_err(|error| Error::io("read", Path::new("x"), error))?;
        Ok((opened.kind, bytes, read.load(Ordering::Relaxed)))
    }

    #[test]
    fn content_is_told_by_its_first_lines() {
        for (content, kind) in [
            ("From ana Mon", ContentKind::Mbox),
            ("\u{feff}\r\n\nFrom x", ContentKind::Mbox),
            ("Subject: x", ContentKind::Message),
            ("Bcc: x\nsubject : x", ContentKind::Message),
            ("X-Account-Key: x", ContentKind::Message),
            ("root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/bin/false\n", ContentKind::Unknown),
            ("a: b\n\nSubject: x", ContentKind::Unknown),
            ("", ContentKind::Empty),
            ("\n\n", ContentKind::Empty),
            ("some text: x", ContentKind::Unknown),
            (": x", ContentKind::Unknown),
        ] {
            assert_eq!(opened(content.as_bytes()).unwrap().0, kind, "{content:?}");
        }
    }

    #[test]
    fn compressed_content_is_read_as_it_was() {
        let content = [&b"From ana Mon\n"[..], &b"text ".repeat(100_000)].concat();
        let packed = zstd::encode_all(&content[..], 3).unwrap();
        let (kind, bytes, read) = opened(&packed).unwrap();
        assert_eq!((kind, read), (ContentKind::Mbox, packed.len() as u64));
        assert!(bytes == content);
        assert!(opened(&packed[..packed.len() - 5]).is_err());
        assert!(matches!(opened(&[0x04, 0x22, 0x4d, 0x18]), Err(Error::Unreadable { program: "lz4", .. })));
    }

    #[test]
    fn in_a_directory_only_files_are_opened() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        std::fs::write(&file, "From x").unwrap();
        symlink(&file, &link).unwrap();
        let read = Arc::default();
        assert!(open_file(&file, &read).is_ok());
        assert!(open_file(&link, &read).is_err());
        assert!(open_file(place.path(), &read).is_err());
        rustix::fs::mknodat(CWD, place.path().join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        assert!(matches!(open_file(&place.path().join("pipe"), &read), Err(Error::NotAFile { .. })));
    }
}
