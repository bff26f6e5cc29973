//! The file of a segment: what tantivy writes as several files, and the lists of words, one after another
//! (docs/FORMAT.md, "Segments of text").
//!
//! Input: the parts, or a mapped file. Output: a sealed file, or the parts. One file takes one sync to write,
//! and a reader opens it at once. Must not know what is in the parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::text::SEALED_KIND;
use disk::Disk;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use store::{MappedFile, Sealed, SealedWriter};
use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

/// The ending of the file's name.
pub(super) const ENDING: &str = "text";
/// The part with lists of words, which only a segment with many words has.
pub(super) const WORDS: &str = "words";
/// The parts in their order, by the endings of tantivy's names. The small ones are beside the table, which is
/// read first.
pub(super) const PARTS: [&str; 7] = [WORDS, "pos", "idx", "term", "fast", "store", "fieldnorm"];
/// A segment whose parts have at most so many bytes may lie in a commit. Three in four single messages are
/// below half of it.
pub(super) const SMALL_BYTES_MAX: usize = 16 << 10;
/// Bytes of the table: where each part ends.
const TABLE_BYTES: usize = PARTS.len() * 8;
/// tantivy begins to read a part at its end. That much is requested when a file is opened.
const END_BYTES: usize = 1 << 10;

/// Returns whether a file of a segment may have this ending: a part may be in a file of its own while the
/// segment is written.
pub(crate) fn is_ending(end: &str) -> bool {
    end == ENDING || PARTS.contains(&end)
}

/// Takes the next bytes of a file.
pub(super) type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// Writes the file `path`, synced, and returns its digest. `copy` writes the part of an ending. A part may be
/// missing, or empty, which is the same.
///
/// # Errors
/// Errors of `copy` and of the disk. A file that exists.
pub(super) fn write(
    disk: &dyn Disk,
    path: &Path,
    copy: impl FnMut(&str, &mut Sink<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut file = SealedWriter::create(disk, path, SEALED_KIND).map_err(io::Error::other)?;
    write_content(copy, &mut |piece| file.write(piece).map_err(io::Error::other))?;
    let digest = || {
        file.finish()?;
        Ok(Sealed::open(disk, path, SEALED_KIND)?.digest())
    };
    digest().map_err(|error: store::Error| io::Error::other(error))
}

/// Returns the bytes that the file `path` would have, and its digest.
///
/// # Errors
/// Errors of `copy`.
pub(super) fn in_memory(
    path: &Path,
    copy: impl FnMut(&str, &mut Sink<'_>) -> io::Result<()>,
) -> io::Result<(Vec<u8>, u64)> {
    let mut content = Vec::new();
    write_content(copy, &mut |piece| {
        content.extend_from_slice(piece);
        Ok(())
    })?;
    let bytes = store::sealed_bytes(path, SEALED_KIND, &content);
    let sealed = MappedFile::of_bytes(path, &bytes).open(SEALED_KIND).map_err(io::Error::other)?;
    Ok((bytes, sealed.digest()))
}

/// Writes the parts and their table.
fn write_content(
    mut copy: impl FnMut(&str, &mut Sink<'_>) -> io::Result<()>,
    write: &mut Sink<'_>,
) -> io::Result<()> {
    let (mut position, mut table) = (0_u64, Vec::new());
    for ending in PARTS {
        copy(ending, &mut |piece| {
            position = position.saturating_add(piece.len() as u64);
            write(piece)
        })?;
        table.extend_from_slice(&position.to_le_bytes());
    }
    write(&table)
}

/// An opened file of a segment.
pub(super) struct Parts {
    sealed: Arc<Sealed>,
    bytes: OwnedBytes,
    ends: [usize; PARTS.len()],
}

impl Parts {
    /// Opens a mapped file, and requests the ends of its parts. With a digest, only the committed file is
    /// accepted.
    ///
    /// # Errors
    /// Damage.
    pub(super) fn open(file: MappedFile, expected: Option<u64>) -> store::Result<Parts> {
        let sealed = file.open(SEALED_KIND)?;
        if let Some(expected) = expected {
            sealed.expect_digest(expected)?;
        }
        let length = usize::try_from(sealed.content_length()).unwrap_or(usize::MAX);
        let Some(table_start) = length.checked_sub(TABLE_BYTES) else {
            return Err(sealed.corrupt(0, "it is too short for a table of parts"));
        };
        let table = sealed.range(table_start as u64..length as u64)?;
        let mut ends = [0; PARTS.len()];
        for (end, bytes) in ends.iter_mut().zip(table.as_chunks().0) {
            *end = usize::try_from(u64::from_le_bytes(*bytes)).unwrap_or(usize::MAX);
        }
        if !ends.is_sorted() || ends.last() != Some(&table_start) {
            return Err(sealed.corrupt(table_start as u64, "its table of parts is not valid"));
        }
        for end in ends {
            sealed.ask_for(end.saturating_sub(END_BYTES) as u64..end as u64);
        }
        Ok(Parts { bytes: OwnedBytes::new(sealed.map().clone()), sealed: Arc::new(sealed), ends })
    }

    /// Lets go of the file's memory: what is read again is mapped again.
    pub(super) fn let_go(&self) {
        self.sealed.map().let_go(0..usize::MAX);
    }

    /// Verifies the whole file, and returns all damage found.
    pub(super) fn verify_all(&self) -> Vec<store::Error> {
        self.sealed.verify_all()
    }

    /// Returns a part, or nothing if the segment does not have it.
    pub(super) fn part(&self, ending: &str) -> Option<Part> {
        let place = PARTS.iter().position(|part| *part == ending)?;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        let end = *self.ends.get(place)?;
        let part = Part { bytes: self.bytes.clone(), sealed: Arc::clone(&self.sealed), start, end };
        (start < end).then_some(part)
    }
}

/// One part, verified piece by piece as it is read.
pub(super) struct Part {
    sealed: Arc<Sealed>,
    bytes: OwnedBytes,
    start: usize,
    end: usize,
}

impl Part {
    /// Returns an error: the part violates its format.
    pub(super) fn corrupt(&self, what: &str) -> io::Error {
        io::Error::other(self.sealed.corrupt(self.start as u64, what))
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Part({:?}, {} to {})", self.sealed, self.start, self.end)
    }
}

impl HasLen for Part {
    fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

impl FileHandle for Part {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let (start, end) = (self.start.saturating_add(range.start), self.start.saturating_add(range.end));
        if end > self.end {
            let what = format!("byte {} of {} was to be read", range.end, self.len());
            return Err(io::Error::other(self.sealed.corrupt(start as u64, what)));
        }
        self.sealed.range(start as u64..end as u64).map_err(io::Error::other)?;
        Ok(self.bytes.slice(start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::RealDisk;

    fn written(path: &Path) -> u64 {
        let of_part = |ending: &str| match ending {
            "pos" | "idx" | "fast" => ending.as_bytes().to_vec(),
            "store" => b"st".to_vec(),
            _ => Vec::new(),
        };
        let digest = write(&RealDisk, path, |ending, write| write(&of_part(ending))).unwrap();
        let (bytes, same) = in_memory(path, |ending, write| write(&of_part(ending))).unwrap();
        assert_eq!((std::fs::read(path).unwrap(), digest), (bytes, same));
        digest
    }

    fn opened(path: &Path, digest: u64) -> store::Result<Parts> {
        Parts::open(MappedFile::new(&RealDisk, path)?, Some(digest))
    }

    #[test]
    fn parts_are_read_back() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.text");
        let digest = written(&path);
        let parts = opened(&path, digest).unwrap();
        for (ending, expected) in [("pos", &b"pos"[..]), ("idx", b"idx"), ("fast", b"fast"), ("store", b"st")]
        {
            let part = parts.part(ending).unwrap();
            assert_eq!(&part.read_bytes(0..part.len()).unwrap()[..], expected);
            assert_eq!(&part.read_bytes(1..2).unwrap()[..], &expected[1..2]);
            assert!(part.read_bytes(0..part.len() + 1).is_err(), "no part has bytes of the next one");
        }
        for missing in ["words", "term", "fieldnorm", "lock"] {
            assert!(parts.part(missing).is_none());
        }
        assert!(opened(&path, digest ^ 1).is_err());
    }

    #[test]
    fn a_table_that_is_not_valid_is_damage() {
        let place = tempfile::tempdir().unwrap();
        for (number, ends) in
            [&[][..], &[0; 7], &[0, 3, 2, 3, 3, 3, 4], &[0, 0, 0, 0, 0, 0, 5]].iter().enumerate()
        {
            let path = place.path().join(number.to_string());
            let mut file = SealedWriter::create(&RealDisk, &path, SEALED_KIND).unwrap();
            file.write(b"part").unwrap();
            ends.iter().for_each(|end: &u64| file.write(&end.to_le_bytes()).unwrap());
            file.finish().unwrap();
            let opened = Parts::open(MappedFile::new(&RealDisk, &path).unwrap(), None);
            assert!(matches!(opened, Err(store::Error::Corrupt { .. })), "{ends:?}");
        }
    }
}
