//! A file of a snapshot as a stream of its pieces, hashed on the way.
//!
//! Input: a repository, and the pieces of a file of any length. Output: its bytes, one piece in memory at a
//! time, and the SHA-256 of all of them. Does not know what the bytes mean.

use crate::blobs::reader::BlobReader;
use crate::error::{Error, Result};
use restic::Id;
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, Read};
use std::slice;
use work::Progress;

/// A file that is read from its beginning.
pub(crate) struct FileStream<'a> {
    reader: &'a dyn BlobReader,
    progress: &'a dyn Progress,
    left: slice::Iter<'a, Id>,
    /// What was read last, and how much of it was consumed.
    read: Vec<u8>,
    consumed: usize,
    hasher: Sha256,
    /// Why a piece could not be read. The error of the stream cannot hold it.
    failure: Option<Error>,
}

impl<'a> FileStream<'a> {
    /// Begins a stream. `progress` is asked before each piece whether to go on.
    pub(crate) fn new(
        reader: &'a dyn BlobReader,
        pieces: &'a [Id],
        progress: &'a dyn Progress,
    ) -> FileStream<'a> {
        FileStream {
            reader,
            progress,
            left: pieces.iter(),
            read: Vec::new(),
            consumed: 0,
            hasher: Sha256::new(),
            failure: None,
        }
    }

    /// Returns the first `count` bytes at least, or all of a shorter file. Nothing may have been consumed.
    ///
    /// # Errors
    /// A piece cannot be read; [`Error::Interrupted`].
    pub(crate) fn first(&mut self, count: usize) -> Result<&[u8]> {
        while self.read.len() < count {
            let Some(mut piece) = self.next_piece()? else { break };
            self.read.append(&mut piece);
        }
        Ok(&self.read)
    }

    /// Reads the rest, and returns the SHA-256 of the whole file.
    ///
    /// # Errors
    /// A piece cannot be read, now or earlier; [`Error::Interrupted`].
    pub(crate) fn finish(mut self) -> Result<[u8; 32]> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        while self.next_piece()?.is_some() {}
        Ok(self.hasher.finalize().into())
    }

    fn next_piece(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(id) = self.left.next() else { return Ok(None) };
        self.progress.check()?;
        let piece = self.reader.piece(id)?;
        self.hasher.update(&piece);
        Ok(Some(piece))
    }
}

impl BufRead for FileStream<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.consumed >= self.read.len() {
            match self.next_piece() {
                Ok(Some(piece)) => (self.read, self.consumed) = (piece, 0),
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    return Err(io::Error::other("a piece of the file cannot be read"));
                }
            }
        }
        Ok(self.read.get(self.consumed..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.consumed = self.consumed.saturating_add(count).min(self.read.len());
    }
}

impl Read for FileStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.fill_buf()?;
        let count = rest.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::{MemoryRepository, id_of};

    /// Stores pieces.
    fn stored(repository: &MemoryRepository, texts: &[&str]) -> Vec<Id> {
        let mut pieces = repository.pieces.lock().unwrap();
        texts
            .iter()
            .map(|text| {
                pieces.insert(id_of(text.as_bytes()), text.as_bytes().to_vec());
                id_of(text.as_bytes())
            })
            .collect()
    }

    #[test]
    fn pieces_are_one_stream_and_all_of_it_is_hashed_however_much_is_consumed() {
        let repository = MemoryRepository::default();
        let pieces = stored(&repository, &["ab", "", "cdefg", "h"]);
        for first in [0, 1, 4, 7, 99] {
            for count in 0..9 {
                let mut stream = FileStream::new(&repository, &pieces, &work::Silent);
                let begin = stream.first(first).unwrap();
                assert!(b"abcdefgh".starts_with(begin) && begin.len() >= first.min(8), "{begin:?}");
                let mut text = Vec::new();
                stream.by_ref().take(count).read_to_end(&mut text).unwrap();
                assert_eq!(text, &b"abcdefgh"[..count.min(8) as usize]);
                assert_eq!(stream.finish().unwrap(), id_of(b"abcdefgh").0);
            }
        }
        let empty = FileStream::new(&repository, &[], &work::Silent);
        assert_eq!(empty.finish().unwrap(), id_of(b"").0);
    }

    #[test]
    fn an_interruption_ends_the_stream_and_is_told() {
        let repository = MemoryRepository::default();
        let pieces = stored(&repository, &["ab", "cd"]);
        let cancel = work::Cancel::new();
        let stopping =
            work::Relay { progress: &work::Silent, at_stage: &|_| {}, is_stopped: &|| cancel.is_cancelled() };
        let mut stream = FileStream::new(&repository, &pieces, &stopping);
        let mut byte = [0];
        assert_eq!(stream.read(&mut byte).unwrap(), 1);
        cancel.cancel();
        assert!(stream.read_to_end(&mut Vec::new()).is_err());
        assert!(matches!(stream.finish(), Err(Error::Interrupted)));
    }
}
