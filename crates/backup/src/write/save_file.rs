//! Reads a file and saves its content.
//!
//! Input: a name in an open directory, and the SHA-256 that its content should have, if that is known.
//! Output: the file's metadata from before it was read, the SHA-256 of its content, and its pieces. A file
//! that changes while it is read is read again, and skipped if it changes every time.

use crate::blobs::entry::{PIECE_BYTES_MIN, Stat};
use crate::blobs::writer::BlobWriter;
use crate::error::{Error, Result};
use restic::Id;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

/// How often a file is read again because it changed while it was read.
const REREAD_COUNT_MAX: usize = 3;

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum SavedFile {
    /// It is saved: its metadata, the SHA-256 of its content, its pieces.
    Saved(Stat, [u8; 32], Vec<Id>),
    /// It is not saved, for this reason.
    Skipped(String),
    /// There is no file with this name any more.
    Gone,
}

/// The SHA-256 that a file's content should have if it has this metadata.
pub(crate) type Predicted<'a> = Option<(&'a Stat, [u8; 32])>;

/// Reads and saves a file.
///
/// # Errors
/// The repository reports a failure. An error of the file is an outcome.
pub(crate) fn save_file(
    writer: &dyn BlobWriter,
    (directory, name): (&OwnedFd, &[u8]),
    predicted: Predicted<'_>,
) -> Result<SavedFile> {
    for _ in 0..=REREAD_COUNT_MAX {
        match attempt(writer, (directory, name), predicted)? {
            Ok(Some(saved)) => return Ok(saved),
            Ok(None) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(SavedFile::Gone),
            Err(error) => return Ok(SavedFile::Skipped(error.to_string())),
        }
    }
    Ok(SavedFile::Skipped("it changed each time it was read".to_owned()))
}

/// Reads once. Returns `None` if the file changed meanwhile.
fn attempt(
    writer: &dyn BlobWriter,
    (directory, name): (&OwnedFd, &[u8]),
    predicted: Predicted<'_>,
) -> Result<std::io::Result<Option<SavedFile>>> {
    let (mut file, before) = match open(directory, name) {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    if !before.is_file() {
        return Ok(Ok(Some(SavedFile::Skipped("it is not a file".to_owned()))));
    }
    let (sha256, pieces, length) = if before.size_bytes < PIECE_BYTES_MIN {
        let content = match whole(&mut file, before.size_bytes) {
            Ok(content) => content,
            Err(error) => return Ok(Err(error)),
        };
        let length = content.len() as u64;
        if length == before.size_bytes && length > 0 {
            let predicted = predicted.filter(|(stat, _)| **stat == before).map(|(_, sha256)| sha256);
            let sha256 = save_piece(writer, &content, predicted)?;
            (sha256, vec![Id(sha256)], length)
        } else {
            (Sha256::digest(&content).into(), Vec::new(), length)
        }
    } else {
        let mut hashing = Hashing { file: &mut file, hasher: Sha256::new(), length: 0, failure: None };
        let pieces = writer.save_stream(&mut hashing);
        if let Some(failure) = hashing.failure {
            return Ok(Err(failure));
        }
        (hashing.hasher.finalize().into(), pieces?, hashing.length)
    };
    let after = match rustix::fs::fstat(&file) {
        Ok(stat) => Stat::from(stat),
        Err(error) => return Ok(Err(error.into())),
    };
    let is_same = (after.size_bytes, after.mtime_ns) == (before.size_bytes, before.mtime_ns);
    Ok(Ok((is_same && length == before.size_bytes).then_some(SavedFile::Saved(before, sha256, pieces))))
}

/// Reads as many bytes as a file should have, or those that there are. Whether there are more its stat tells,
/// once they are read.
fn whole(file: &mut File, size_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut content = vec![0; usize::try_from(size_bytes).unwrap_or(0)];
    let mut filled = 0;
    while let Some(rest) = content.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(filled);
    Ok(content)
}

/// Saves a file of one piece, and returns its SHA-256. The predicted hash is not trusted: the repository
/// hashes everything that it saves, and refuses a wrong one.
fn save_piece(writer: &dyn BlobWriter, content: &[u8], predicted: Option<[u8; 32]>) -> Result<[u8; 32]> {
    if let Some(sha256) = predicted {
        match writer.save_piece(Id(sha256), content) {
            Err(Error::Repository(restic::Error::NotItsName { .. })) => {}
            other => return other.map(|()| sha256),
        }
    }
    let sha256: [u8; 32] = Sha256::digest(content).into();
    writer.save_piece(Id(sha256), content)?;
    Ok(sha256)
}

fn open(directory: &OwnedFd, name: &[u8]) -> std::io::Result<(File, Stat)> {
    // Opening a pipe would otherwise wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::openat(directory, OsStr::from_bytes(name), flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?.into();
    Ok((file, stat))
}

/// Hashes what is read, and keeps the error of the file, since the repository does not know files.
struct Hashing<'a> {
    file: &'a mut File,
    hasher: Sha256,
    length: u64,
    failure: Option<std::io::Error>,
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.file.read(buffer) {
            Ok(count) => {
                self.hasher.update(buffer.get(..count).unwrap_or_default());
                self.length += count as u64;
                Ok(count)
            }
            Err(error) => {
                let told = std::io::Error::from(error.kind());
                self.failure = Some(error);
                Err(told)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::{MemoryRepository, id_of};

    #[test]
    fn content_is_saved_under_its_own_name_whatever_was_foreseen() {
        let content = b"what it is";
        for predicted in [None, Some(id_of(content).0), Some(id_of(b"what it was").0)] {
            let writer = MemoryRepository::default();
            assert_eq!(save_piece(&writer, content, predicted).unwrap(), id_of(content).0, "{predicted:?}");
            assert_eq!(writer.pieces.lock().unwrap()[&id_of(content)], content);
            assert_eq!(writer.brought().0, 1);
        }
    }

    #[test]
    fn files_are_read_as_far_as_they_should_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        for (size_bytes, read) in [(10, "0123456789"), (4, "0123"), (12, "0123456789"), (0, "")] {
            let mut file = File::open(&path).unwrap();
            assert_eq!(whole(&mut file, size_bytes).unwrap(), read.as_bytes(), "{size_bytes}");
        }
    }

    #[test]
    fn a_file_with_another_stat_than_foreseen_is_hashed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let place = crate::write::context::open(directory.path()).unwrap();
        let stat = open(&place, b"file").unwrap().1;
        let writer = MemoryRepository::default();
        writer.pieces.lock().unwrap().insert(Id([7; 32]), b"of another file".to_vec());
        let other = Stat { ctime_ns: stat.ctime_ns - 1, ..stat };
        let SavedFile::Saved(found, sha256, pieces) =
            save_file(&writer, (&place, b"file"), Some((&other, [7; 32]))).unwrap()
        else {
            panic!("it can be read");
        };
        assert_eq!((found, sha256, pieces), (stat, id_of(b"0123456789").0, vec![id_of(b"0123456789")]));
    }
}
