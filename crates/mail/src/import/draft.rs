//! A message that is being read: in memory if it is small, else in a file.
//!
//! Input: pieces. Output: its SHA-256, its beginning, and the bytes or the file. Does not know where the
//! message goes.

use crate::import::state::without_state;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes of a message that are held in memory.
pub const DRAFT_BYTES_MAX: usize = 4 << 20;

/// A message that is being read.
#[derive(Debug, Default)]
pub struct Draft {
    /// The message, or its first [`DRAFT_BYTES_MAX`] bytes.
    begin: Vec<u8>,
    /// The file that has the whole message, if it is larger.
    file: Option<(File, PathBuf)>,
    hasher: Sha256,
    /// Hashes the message without its state, once it is too large for memory.
    stateless: Option<Sha256>,
    size_bytes: u64,
}

impl Draft {
    /// Forgets the message, and removes its file.
    pub fn clear(&mut self) {
        self.begin.clear();
        self.hasher.reset();
        self.stateless = None;
        self.size_bytes = 0;
        if let Some((_, path)) = self.file.take() {
            // What is left is removed by the next import.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Appends a piece. A message that is too large for memory goes into a file at `place`; without a place
    /// the rest of it is not kept.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, piece: &[u8], place: Option<&Path>) -> io::Result<()> {
        self.hasher.update(piece);
        self.size_bytes += piece.len() as u64;
        let room = DRAFT_BYTES_MAX - self.begin.len();
        if self.file.is_none() && piece.len() <= room {
            self.begin.extend_from_slice(piece);
            return Ok(());
        }
        self.stateless.get_or_insert_with(|| stateless(&self.begin)).update(piece);
        let Some(place) = place else {
            self.begin.extend_from_slice(piece.get(..room).unwrap_or(piece));
            return Ok(());
        };
        if self.file.is_none() {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?;
            file.write_all(&self.begin)?;
            self.file = Some((file, place.to_owned()));
        }
        self.file.as_mut().map_or(Ok(()), |(file, _)| file.write_all(piece))
    }

    /// Returns the first bytes of the message.
    pub fn begin(&self) -> &[u8] {
        &self.begin
    }

    /// Returns the size of the message in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the SHA-256 of the message.
    pub fn sha256(&self) -> [u8; 32] {
        self.hasher.clone().finalize().into()
    }

    /// Returns the SHA-256 of the message without the fields in which mail programs note its state. Of a
    /// message with more than [`DRAFT_BYTES_MAX`], those after that many bytes count.
    pub fn stateless_sha256(&self) -> [u8; 32] {
        self.stateless.clone().unwrap_or_else(|| stateless(&self.begin)).finalize().into()
    }

    /// Returns the whole message, if it is in memory.
    pub fn whole(&self) -> Option<&[u8]> {
        self.stateless.is_none().then_some(&self.begin)
    }

    /// Takes the file of a message that is too large for memory.
    pub(super) fn take_file(&mut self) -> Option<(File, PathBuf)> {
        let file = self.file.take();
        if file.is_some() {
            self.begin.clear();
        }
        file
    }

    /// Returns the bytes that are not in the file.
    pub(super) fn unwritten(&self) -> &[u8] {
        &self.begin
    }
}

/// Hashes the begin of a message without its state.
fn stateless(begin: &[u8]) -> Sha256 {
    let mut hasher = Sha256::new();
    without_state(begin, |piece| hasher.update(piece));
    hasher
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_message_is_in_a_file_and_a_small_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("draft");
        let piece = vec![b'x'; 100_000];
        let mut draft = Draft::default();
        for count in 1..=60_u64 {
            draft.push(&piece, Some(&path)).unwrap();
            assert_eq!(draft.size_bytes(), count * 100_000);
            assert_eq!(path.exists(), count > 41, "{count}");
        }
        let expected: [u8; 32] = Sha256::digest(b"x".repeat(6_000_000)).into();
        assert_eq!(draft.sha256(), expected);
        assert_eq!(path.metadata().unwrap().len(), 6_000_000);
        assert_eq!(draft.stateless_sha256(), expected);
        draft.clear();
        assert!(!path.exists() && draft.begin().is_empty());
        draft.push(b"small", Some(&path)).unwrap();
        assert_eq!((draft.begin(), path.exists()), (&b"small"[..], false));
        let expected: [u8; 32] = Sha256::digest(b"small").into();
        assert_eq!(draft.sha256(), expected);
    }

    #[test]
    fn a_message_in_another_state_is_the_same_one() {
        let hash = |header: &str, size: usize| {
            let mut draft = Draft::default();
            draft.push(header.as_bytes(), None).unwrap();
            // In pieces, as they are read.
            vec![b'x'; size].chunks(65_536).for_each(|piece| draft.push(piece, None).unwrap());
            assert_eq!(draft.whole().is_some(), size < DRAFT_BYTES_MAX);
            draft.stateless_sha256()
        };
        for size in [10, 5_000_000] {
            let read = hash("X-Mozilla-Status: 0001\nSubject: x\n\n", size);
            assert_eq!(read, hash("X-Mozilla-Status: 0000\nSubject: x\n\n", size));
            assert_eq!(read, hash("Subject: x\nStatus: RO\n\n", size));
            assert_ne!(read, hash("Subject: y\n\n", size));
            assert_ne!(read, hash("Subject: x\n\n", size + 1));
        }
    }
}
