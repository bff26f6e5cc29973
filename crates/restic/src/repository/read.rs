//! Reads blobs: one by its id, or many of one pack at once.
//!
//! Output: verified content; first the MAC is checked, then the SHA-256.
//!
//! A blob may lie in several packs. Each copy is tried in turn, each several times. Only if all copies are
//! damaged or missing is that an error, which names them all.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::{BlobKind, Location, PackedBlob};
use crate::format::compress::Zstd;
use crate::format::pack;
use crate::repository::Repository;
use crate::storage::reread::verified;

/// Blobs of one pack that lie closer together than this are read at once, including the gap. On a disk that
/// costs less than another call, and over a network much less than another request.
const GAP_BYTES_MAX: u32 = 64 << 10;
/// Bytes that are read at once at most, unless a single blob is larger.
const RANGE_BYTES_MAX: u32 = 4 << 20;

/// A blob to read from a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its kind.
    pub kind: BlobKind,
    /// Its name.
    pub id: Id,
    /// Its location. Blobs that are read together lie in the same pack and come in the order of their
    /// offsets.
    pub location: Location,
}

/// Buffers for reading; each thread has its own.
#[derive(Default)]
pub struct Reading {
    zstd: Zstd,
    plain: Vec<u8>,
}

/// Takes each blob with its position among the wanted ones. An error concerns that blob only.
pub type EachBlob<'a> = dyn FnMut(usize, Result<&[u8]>) -> Result<()> + 'a;

impl Repository {
    /// Reads a blob.
    ///
    /// # Errors
    /// [`Error::NoBlob`] if no index file knows it; [`Error::Damage`] with all copies if none can be read.
    #[cfg(any(test, feature = "testing"))]
    pub fn load_blob(&self, kind: BlobKind, id: &Id) -> Result<Vec<u8>> {
        let mut reading = Reading::default();
        self.load_blob_with(&mut reading, kind, id)?;
        Ok(reading.plain)
    }

    /// Reads a blob into buffers that can be reused.
    ///
    /// # Errors
    /// [`Error::NoBlob`] if no index file knows it; [`Error::Damage`] with all copies if none can be read.
    pub fn load_blob_with<'a>(&self, reading: &'a mut Reading, kind: BlobKind, id: &Id) -> Result<&'a [u8]> {
        let mut copies = Vec::new();
        self.index()?.find(kind, id, &mut copies)?;
        if copies.is_empty() {
            return Err(Error::NoBlob { what: kind.named(id) });
        }
        let mut failures = Vec::new();
        for location in copies {
            match self.load_copy(reading, &Wanted { kind, id: *id, location }) {
                Ok(()) => return Ok(&reading.plain),
                Err(error) if error.ends_work() => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        Err(worst(kind, id, failures))
    }

    /// Reads blobs of one pack with few and large requests, and passes each to `each` with its position in
    /// `wanted`. A damaged blob is read from another copy.
    ///
    /// # Errors
    /// The error of `each`, or the storage cannot be reached. An unreadable blob is an error passed to
    /// `each`.
    pub fn load_from_pack(
        &self,
        reading: &mut Reading,
        wanted: &[Wanted],
        each: &mut EachBlob<'_>,
    ) -> Result<()> {
        let mut begin = 0;
        while begin < wanted.len() {
            let range = range_of(&wanted[begin..]);
            let end = begin + range.count;
            let name = FileName { kind: FileKind::Pack, id: range.pack };
            let mut bytes = match wanted[begin].packed().length_fault() {
                Some(_) => None,
                None => match self.storage().read_range(name, range.offset.into(), range.length) {
                    // It was tried again and again already: the next blob would wait as long in vain.
                    Err(end) if end.ends_work() => return Err(end),
                    read => read.ok(),
                },
            };
            for (place, blob) in wanted.iter().enumerate().take(end).skip(begin) {
                let from = (blob.location.offset - range.offset) as usize;
                let sealed = bytes
                    .as_mut()
                    .and_then(|bytes| bytes.get_mut(from..from.checked_add(blob.location.length as usize)?));
                let is_open = sealed.is_some_and(|sealed| self.open_blob(reading, blob, sealed).is_ok());
                if is_open {
                    each(place, Ok(&reading.plain))?;
                } else {
                    // Reads it once more on its own: a transient error does not recur, or gets its own
                    // message, and there may be other copies.
                    match self.load_blob_with(reading, blob.kind, &blob.id) {
                        Err(end) if end.ends_work() => return Err(end),
                        result => each(place, result)?,
                    }
                }
            }
            begin = end;
        }
        Ok(())
    }

    fn load_copy(&self, reading: &mut Reading, blob: &Wanted) -> Result<()> {
        let Location { pack, offset, length, .. } = blob.location;
        let name = FileName { kind: FileKind::Pack, id: pack };
        if let Some(what) = blob.packed().length_fault() {
            return Err(blob.damage(what));
        }
        verified(|| {
            let mut sealed = self.storage().read_range(name, offset.into(), length)?;
            self.open_blob(reading, blob, &mut sealed)
        })
    }

    fn open_blob(&self, reading: &mut Reading, blob: &Wanted, sealed: &mut [u8]) -> Result<()> {
        let Reading { zstd, plain } = reading;
        pack::open_blob((self.key(), zstd), sealed, &blob.packed(), plain).map_err(|what| blob.damage(what))
    }
}

impl Wanted {
    /// Returns the blob as its pack tells of it.
    fn packed(&self) -> PackedBlob {
        let Location { offset, length, uncompressed_length, .. } = self.location;
        PackedBlob { kind: self.kind, id: self.id, offset, length, uncompressed_length }
    }

    fn damage(&self, what: String) -> Error {
        let file = FileName { kind: FileKind::Pack, id: self.location.pack };
        Error::damage(format!("{} in {file}", self.kind.named(&self.id)), what)
    }
}

/// A part of a pack that is read at once.
#[derive(Debug, PartialEq, Eq)]
struct Range {
    pack: Id,
    offset: u32,
    length: u32,
    /// How many blobs it serves.
    count: usize,
}

/// Chooses the range to read for the first of `wanted`, which is not empty, and for those after it.
fn range_of(wanted: &[Wanted]) -> Range {
    let first = wanted[0].location;
    let mut range = Range { pack: first.pack, offset: first.offset, length: first.length, count: 1 };
    for Wanted { location, .. } in &wanted[1..] {
        let end = u64::from(range.offset) + u64::from(range.length);
        let gap = u64::from(location.offset).checked_sub(end);
        let longer =
            (u64::from(location.offset) + u64::from(location.length)).saturating_sub(u64::from(range.offset));
        let is_near = gap.is_some_and(|gap| gap <= u64::from(GAP_BYTES_MAX));
        match u32::try_from(longer) {
            Ok(length) if is_near && length <= RANGE_BYTES_MAX && location.pack == range.pack => {
                range.length = length;
                range.count += 1;
            }
            _ => break,
        }
    }
    range
}

/// Makes one error of what each copy met.
fn worst(kind: BlobKind, id: &Id, mut failures: Vec<Error>) -> Error {
    if failures.len() == 1 {
        return failures.remove(0);
    }
    let copies: Vec<String> = failures.iter().map(Error::to_string).collect();
    Error::damage(kind.named(id), format!("none of its copies can be read: {}", copies.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pack: u8, offset: u32, length: u32) -> Wanted {
        let location = Location { pack: Id([pack; 32]), offset, length, uncompressed_length: 0 };
        Wanted { kind: BlobKind::Data, id: Id::default(), location }
    }

    fn range(blobs: &[Wanted]) -> (u32, u32, usize) {
        let Range { offset, length, count, .. } = range_of(blobs);
        (offset, length, count)
    }

    #[test]
    fn neighbours_are_read_at_once_and_what_is_far_is_not() {
        let near = [wanted(1, 10, 100), wanted(1, 110, 50), wanted(1, 160 + GAP_BYTES_MAX, 7)];
        assert_eq!(range(&near), (10, 157 + GAP_BYTES_MAX, 3));
        assert_eq!(range(&[wanted(1, 10, 100), wanted(1, 111 + GAP_BYTES_MAX, 7)]), (10, 100, 1));
        assert_eq!(range(&[wanted(1, 0, 100), wanted(2, 100, 7)]), (0, 100, 1), "another pack");
        assert_eq!(range(&[wanted(1, 50, 100), wanted(1, 20, 7)]), (50, 100, 1), "out of order");
    }

    #[test]
    fn no_more_is_read_at_once_than_memory_is_meant_for() {
        let half = RANGE_BYTES_MAX / 2;
        assert_eq!(range(&[wanted(1, 0, half), wanted(1, half, half)]), (0, RANGE_BYTES_MAX, 2));
        assert_eq!(range(&[wanted(1, 0, half), wanted(1, half, half + 1)]), (0, half, 1));
        assert_eq!(range(&[wanted(1, 0, u32::MAX), wanted(1, u32::MAX, 5)]), (0, u32::MAX, 1));
    }
}
