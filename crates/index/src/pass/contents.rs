//! Reads files, each with its id; and what lies in no file, as if it had been read.
//!
//! In: files to read. Out: their contents. Memory is bounded: of large files only the beginning is read together with others. Must not
//! know what is made of them.

use crate::elsewhere::Kept;
use crate::pass::plan::Candidate;
use mail::{Compression, Content, FileStat, Unpacked};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Files that are read before any is parsed.
pub(super) const CHUNK_FILE_COUNT: usize = 512;
/// Content up to which a file is read together with others.
pub(super) const SMALL_BYTES: usize = 256 << 10;

/// Files that go through a batch together.
pub(super) struct Chunk {
    /// Why each is read.
    pub candidates: Vec<Candidate>,
    /// Where each lies.
    pub paths: Vec<PathBuf>,
    /// What each holds, once they are read: of large ones only the beginning.
    pub contents: Vec<mail::Result<Read>>,
}

impl Chunk {
    /// Returns files that are not read yet; `folders` says where folders lie, by their place in the plan.
    pub(super) fn new<'a>(candidates: Vec<Candidate>, folders: impl Fn(usize) -> &'a Path) -> Chunk {
        let path = |candidate: &Candidate| path_of(folders(candidate.found.folder), candidate);
        let paths = candidates.iter().map(path).collect();
        Chunk { candidates, paths, contents: Vec::new() }
    }

    /// Reads the files, on all cores that have nothing else to do.
    pub(super) fn read(&mut self) {
        self.contents = self.paths.par_iter().map(|path| read(path, SMALL_BYTES)).collect();
    }
}

/// A file's content with its id.
pub(super) struct Read {
    /// The beginning, and whether there is more.
    pub content: Content,
    /// The id of all of it; of its beginning while only that was read.
    pub sha256: [u8; 32],
    /// The length, likewise.
    pub size_bytes: u64,
}

fn read(path: &Path, limit_bytes: usize) -> mail::Result<Read> {
    let content = mail::read_message(path, limit_bytes)?;
    let sha256 = Sha256::digest(&content.bytes).into();
    let size_bytes = content.bytes.len() as u64;
    Ok(Read { content, sha256, size_bytes })
}

/// Reads a file that is not small. Of one over the limit the first part is indexed, and all of it is hashed.
pub(super) fn read_large(path: &Path, limit_bytes: usize) -> mail::Result<Read> {
    let whole = read(path, limit_bytes)?;
    if !whole.content.truncated {
        return Ok(whole);
    }
    let (sha256, size_bytes) = hash_file(path).map_err(|error| mail::Error::io("read", path, error))?;
    Ok(Read { content: whole.content, sha256, size_bytes })
}

/// Takes a file's content as if it had been read from a disk; `None` if it is compressed and damaged.
pub(super) fn read_kept(kept: Kept, limit_bytes: usize) -> Option<Read> {
    let stat =
        FileStat { mtime_ns: kept.mtime_ns, size_bytes: kept.bytes.len() as u64, ..FileStat::default() };
    let compression = Compression::of(&kept.bytes);
    let mut content = Content::default();
    (content.stat, content.compression) = (stat, compression);
    let unpacked = match compression {
        Compression::Plain => None,
        _ => Some(mail::unpack(&kept.bytes, compression, limit_bytes, &mut content.bytes).ok()?),
    };
    // As for files on a disk: of what is not indexed whole, the id is that of the whole file.
    if unpacked == Some(Unpacked::Whole) {
        let sha256 = Sha256::digest(&content.bytes).into();
        let size_bytes = content.bytes.len() as u64;
        return Some(Read { content, sha256, size_bytes });
    }
    let (sha256, size_bytes) = (Sha256::digest(&kept.bytes).into(), kept.bytes.len() as u64);
    content.truncated = unpacked.is_some() || kept.bytes.len() > limit_bytes;
    if unpacked.is_none() {
        content.bytes = kept.bytes;
        content.bytes.truncate(limit_bytes);
    }
    Some(Read { content, sha256, size_bytes })
}

/// Returns SHA-256 and size of a file's bytes, without keeping them.
fn hash_file(path: &Path) -> std::io::Result<([u8; 32], u64)> {
    let mut file = disk::open_file(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut size_bytes = 0;
    loop {
        match std::io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok((hasher.finalize().into(), size_bytes)),
            count => {
                hasher.update(buffer.get(..count).unwrap_or_default());
                size_bytes += count as u64;
            }
        }
    }
}

/// Returns where a file lies that is to be read; `folder` is its folder's directory.
pub(super) fn path_of(folder: &Path, candidate: &Candidate) -> PathBuf {
    mail::join(&folder.join(candidate.found.place.name()), &candidate.found.name)
}
