//! Opens a file of rows under any name, or says in a sentence what the file is instead.

use crate::error::{Error, Result};
use crate::file::directory;
use crate::file::header::{FileKind, HEADER_BYTES_MAX, Header};
use disk::{Disk, Map};
use std::path::{Path, PathBuf};

/// An opened file of rows.
#[derive(Clone, Debug)]
pub struct RowsFile {
    /// Its path.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
    /// The offset of its first block.
    pub begin: usize,
    /// Its bytes.
    pub bytes: Map,
}

impl RowsFile {
    /// Returns what kind of file it is.
    pub fn kind(&self) -> FileKind {
        self.header.kind
    }
}

/// Opens a file by what is in it, whatever its name.
///
/// # Errors
/// Disk errors. It is no file of Tarantool's, or one that cannot be read: the sentence says what it is.
pub fn open_rows(disk: &dyn Disk, path: &Path) -> Result<RowsFile> {
    let bytes = disk.map(path)?;
    let head = bytes.get(..HEADER_BYTES_MAX).unwrap_or(&bytes);
    match Header::parse(head) {
        Ok((header, begin)) => Ok(RowsFile { path: path.to_owned(), header, begin, bytes }),
        Err(damage) => match foreign(&bytes) {
            Some(what) => Err(Error::Unsupported { path: path.to_owned(), what }),
            None => Err(damage.in_file(path, 0)),
        },
    }
}

/// Returns the paths of all logs in a directory, the oldest first.
///
/// # Errors
/// Disk errors.
pub fn logs_of(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>> {
    let logs = directory::list(disk, directory, FileKind::Log)?;
    Ok(logs.into_iter().map(|log| log.path).collect())
}

/// Returns what a file is whose header cannot be read, if that can be told by its beginning.
fn foreign(bytes: &[u8]) -> Option<String> {
    const NOT_READ: &str = "which is not read; rows are in files that begin with SNAP, XLOG, VYLOG or RUN";
    const KNOWN: [(&[u8], &str); 5] = [
        (b"\x28\xb5\x2f\xfd", "this is a file compressed with zstd: decompress it first"),
        (b"\x1f\x8b", "this is a file compressed with gzip: decompress it first"),
        (b"\xd5\xba\x0b", "this begins with a block of rows: the header of the file is missing"),
        (b"\x7fELF", "this is a program"),
        (b"SQLite format 3\0", "this is a database of SQLite"),
    ];
    if bytes.is_empty() {
        return Some("the file is empty: not even a header was written".to_owned());
    }
    if bytes.starts_with(b"SORTDATA\n") {
        return Some(format!("this is the order of a snapshot's indexes, without rows, {NOT_READ}"));
    }
    let mut lines = bytes.get(..64).unwrap_or(bytes).split(|&byte| byte == b'\n');
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if matches!(first, b"SNAP" | b"XLOG" | b"VYLOG" | b"RUN" | b"INDEX") {
        let is_version =
            second.contains(&b'.') && second.iter().all(|byte| matches!(byte, b'.' | b'0'..=b'9'));
        let is_known = matches!(second, b"0.12" | b"0.13");
        return (is_version && !is_known).then(|| {
            format!(
                "this is a {} file of version {}, and versions 0.12 and 0.13 are read: it is of another \
                 Tarantool than 1.6 to 3",
                String::from_utf8_lossy(first),
                String::from_utf8_lossy(second)
            )
        });
    }
    let known = KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| (*what).to_owned());
    let is_tar = bytes.get(257..262) == Some(b"ustar");
    let is_text = || first.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    known.or_else(|| is_tar.then(|| "this is an archive of tar".to_owned())).or_else(|| {
        Some(if is_text() {
            format!("this is not a file of Tarantool: its first line is {:?}", String::from_utf8_lossy(first))
        } else {
            "this is not a file of Tarantool: it does not begin with SNAP, XLOG, VYLOG or RUN".to_owned()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_named_for_what_they_are() {
        for (bytes, what) in [
            (&b""[..], "the file is empty"),
            (b"\x28\xb5\x2f\xfdxx", "compressed with zstd"),
            (b"\x1f\x8bxx", "compressed with gzip"),
            (b"SORTDATA\n1\n", "the order of a snapshot's indexes"),
            (b"SNAP\n0.14\nx", "a SNAP file of version 0.14"),
            (b"hello\nworld", "its first line is \"hello\""),
            (b"\x00\x01", "does not begin with SNAP"),
            (b"\xd5\xba\x0b\xab", "the header of the file is missing"),
        ] {
            let said = foreign(bytes).unwrap();
            assert!(said.contains(what), "{said}");
        }
        assert_eq!(foreign(b"SNAP\n0.13\nbad"), None, "the damage of the header says more");
        assert_eq!(foreign(b"SNAP\nx"), None);
    }
}
