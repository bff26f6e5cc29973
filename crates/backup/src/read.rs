//! Reads a file and saves its content.
//!
//! In: a path. Out: the file's stat from before it was read, the SHA-256 of its content, and the pieces it is saved as. A file that changes
//! while it is read is read again, and left out if that does not end.

use crate::depot::Depot;
use crate::entry::{PIECE_BYTES_MIN, Stat};
use crate::error::Result;
use archive::Id;
use rustix::fs::{CWD, Mode, OFlags};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How often a file is read again because it changed meanwhile.
const REREAD_COUNT_MAX: usize = 3;

/// What came of reading a file.
#[derive(Debug)]
pub(crate) enum ReadFile {
    /// It is saved: its stat, the SHA-256 of its content, its pieces.
    Whole(Stat, [u8; 32], Vec<Id>),
    /// It is not, for this reason.
    Left(String),
}

/// Reads and saves.
///
/// # Errors
/// What the archive says. What the file says is an outcome.
pub(crate) fn read(depot: &dyn Depot, path: &Path) -> Result<ReadFile> {
    for _ in 0..=REREAD_COUNT_MAX {
        match attempt(depot, path)? {
            Ok(Some(whole)) => return Ok(whole),
            Ok(None) => {}
            Err(error) => return Ok(ReadFile::Left(error.to_string())),
        }
    }
    Ok(ReadFile::Left("it changed each time it was read".to_owned()))
}

/// Reads once; none if the file changed meanwhile.
fn attempt(depot: &dyn Depot, path: &Path) -> Result<std::io::Result<Option<ReadFile>>> {
    let (mut file, before) = match open(path) {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    if !before.is_file() {
        return Ok(Ok(Some(ReadFile::Left("it is no file".to_owned()))));
    }
    let (sha256, pieces, length) = if before.size_bytes < PIECE_BYTES_MIN {
        let mut content =
            Vec::with_capacity(usize::try_from(before.size_bytes).unwrap_or(0).saturating_add(1));
        // One byte more than there should be tells that it has grown.
        if let Err(error) = (&mut file).take(before.size_bytes.saturating_add(1)).read_to_end(&mut content) {
            return Ok(Err(error));
        }
        let sha256: [u8; 32] = Sha256::digest(&content).into();
        let pieces = if content.is_empty() { Vec::new() } else { vec![Id(sha256)] };
        if content.len() as u64 == before.size_bytes && !content.is_empty() {
            depot.save_piece(Id(sha256), &content)?;
        }
        (sha256, pieces, content.len() as u64)
    } else {
        let mut hashing = Hashing { file: &mut file, hasher: Sha256::new(), length: 0, failure: None };
        let pieces = depot.save_stream(&mut hashing);
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
    Ok(Ok((is_same && length == before.size_bytes).then_some(ReadFile::Whole(before, sha256, pieces))))
}

fn open(path: &Path) -> std::io::Result<(File, Stat)> {
    // Opening a pipe would otherwise wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?.into();
    Ok((file, stat))
}

/// Hashes what passes through, and keeps what the file said: the archive knows no files.
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
