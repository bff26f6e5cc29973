//! Reads sealed files: content, a checksum for each 16 KiB of it, and a trailer (docs/FORMAT.md, "Sealed
//! file").
//!
//! Input: the map of a finished file. Output: ranges of its content. Each range is verified before it is
//! first returned. Does not depend on what the content means. `sealed_write.rs` writes these files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::{Damage, Error, Result};
use crate::file::read_ahead::{ASK_CHUNKS, ahead_of_scan, next_window};
use crate::file::sealed_write::name_hash;
use crate::format::{
    CHUNK_BYTES, LARGE_CHUNK_BYTES, SEALED_MAGIC, SEALED_VERSION, SEALED_VERSION_LARGE_CHUNKS,
    SEALED_VERSION_NAMELESS, SECTION_ALIGNMENT, TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET,
    TRAILER_CONTENT_LENGTH_OFFSET, TRAILER_KIND_OFFSET, TRAILER_NAME_OFFSET, TRAILER_RESERVED_OFFSET,
    TRAILER_TABLE_CHECKSUM_OFFSET, TRAILER_VERSION_OFFSET,
};
use crate::together::{has_asked, is_asking};
use disk::{Disk, Look, Map};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// A finished file, mapped. Takes 16 KiB of memory per GiB.
pub struct Sealed {
    path: PathBuf,
    map: Map,
    content_length: usize,
    /// Bytes of a chunk: a power of two.
    chunk_bytes: usize,
    digest: u64,
    /// The checksums' place in the file.
    table: Range<usize>,
    /// A bit for each chunk that was verified in this process. At first two threads may both verify the
    /// same chunk, which does no harm.
    verified: Box<[AtomicU64]>,
    /// A bit for each chunk that the system was asked for ahead of time. It is not looked at again: it would
    /// be found in memory, as if the rest of the file were there, too.
    asked: Box<[AtomicU64]>,
}

/// A sealed file that is mapped, but not checked yet. It stays, even if it is removed. A clone costs a
/// reference count.
#[derive(Clone)]
pub struct MappedFile {
    path: PathBuf,
    map: Map,
}

impl MappedFile {
    /// Maps `path`.
    ///
    /// # Errors
    /// Disk errors.
    pub fn new(disk: &dyn Disk, path: &Path) -> Result<MappedFile> {
        Ok(MappedFile { path: path.to_owned(), map: disk.map(path)? })
    }

    /// Takes the bytes that [`sealed_bytes`](crate::sealed_bytes) has made for `path`.
    pub fn of_bytes(path: &Path, bytes: &[u8]) -> MappedFile {
        MappedFile { path: path.to_owned(), map: Map::from(bytes) }
    }

    /// Asks the system to read what [`MappedFile::open`] will check. If many files are to be opened, ask for
    /// all of them first: the disk then reads them at the same time.
    pub fn ask_for_end(&self) {
        // The trailer, the checksums, and the last chunk of the content, where readers begin, in one request.
        let length = self.map.len();
        let chunk_count = length.saturating_sub(TRAILER_BYTES).div_ceil(CHUNK_BYTES.saturating_add(8));
        self.map.will_need(chunk_count.saturating_sub(1).saturating_mul(CHUNK_BYTES)..length);
    }

    /// Checks what [`Sealed::open`] checks.
    ///
    /// # Errors
    /// As [`Sealed::open`].
    pub fn open(self, kind: u32) -> Result<Sealed> {
        let MappedFile { path, map } = self;
        let frame = match read_frame(&map, kind, name_hash(&path)) {
            Ok(frame) => frame,
            Err(Refusal::Damage(damage)) => return Err(damage.in_file(&path, 0)),
            Err(Refusal::Version(found)) => {
                return Err(Error::Version { path, found, newest: SEALED_VERSION });
            }
        };
        let words = frame.content_length.div_ceil(frame.chunk_bytes).div_ceil(64);
        let bits = || (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok(Sealed {
            path,
            map,
            content_length: frame.content_length,
            chunk_bytes: frame.chunk_bytes,
            digest: frame.digest,
            table: frame.table,
            verified: bits(),
            asked: bits(),
        })
    }
}

impl Sealed {
    /// Maps `path` and checks its length, trailer and table of checksums. The content is checked when it is
    /// handed out.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is cut or damaged, not of this `kind` or written under another name,
    /// [`Error::Version`] if it is too new, and disk errors.
    pub fn open(disk: &dyn Disk, path: &Path, kind: u32) -> Result<Sealed> {
        let file = MappedFile::new(disk, path)?;
        file.ask_for_end();
        file.open(kind)
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the digest that identifies this file: a hash over its trailer, and so over name, length and
    /// all checksums.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Checks that this is the file that the caller means.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if its digest differs.
    pub fn expect_digest(&self, expected: u64) -> Result<()> {
        if self.digest == expected {
            return Ok(());
        }
        let what = "it is intact, but not the file that was committed under this name";
        Err(self.corrupt(self.map.len().saturating_sub(8) as u64, what))
    }

    /// Returns the content's length in bytes.
    pub fn content_length(&self) -> u64 {
        self.content_length as u64
    }

    /// Returns the file's length in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Returns the map of the file, for hints to the system and to share its bytes. Its content is not
    /// verified.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Returns a range of the content, in bytes, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the range is not within the content, or a checksum does not match.
    #[inline]
    pub fn range(&self, range: Range<u64>) -> Result<&[u8]> {
        let found = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .filter(|&(_, end)| end <= self.content_length)
            .and_then(|(start, end)| Some((start, end, self.map.get(start..end)?)));
        let Some((start, end, bytes)) = found else {
            return Err(self.outside(range));
        };
        if end > start {
            self.verify_chunks(self.chunk_of(start), self.chunk_of(end.saturating_sub(1)))?;
        }
        Ok(bytes)
    }

    /// Asks the system to read what [`Sealed::range`] will verify of a range of the content. If there are
    /// several ranges, ask for all of them first: the disk then reads them at the same time.
    pub fn ask_for(&self, range: Range<u64>) {
        let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(self.content_length);
        if range.start < range.end {
            let last = self.chunk_of(place(range.end).saturating_sub(1));
            let chunks = self.chunk_of(place(range.start))..last.saturating_add(1);
            if self.ask_for_chunks(chunks.clone()) != Look::LeftOut {
                chunks.for_each(|chunk| set(&self.asked, chunk));
            }
        }
    }

    /// Returns one value at `place` in the content, verified. Does the same as [`Sealed::range`] in fewer
    /// steps, for searches that read at random places.
    #[inline]
    pub(crate) fn one<T: bytemuck::Pod>(&self, place: u64) -> Result<&T> {
        let width = size_of::<T>();
        let start = usize::try_from(place).unwrap_or(usize::MAX);
        let end = start.saturating_add(width);
        let chunk = self.chunk_of(start);
        if self.chunk_of(end.saturating_sub(1)) == chunk
            && end <= self.content_length
            && self.is_verified(chunk)
            && let Some(bytes) = self.map.get(start..end)
            && let Ok(value) = bytemuck::try_from_bytes(bytes)
        {
            return Ok(value);
        }
        self.one_after_verifying(place..place.saturating_add(width as u64))
    }

    #[cold]
    fn one_after_verifying<T: bytemuck::Pod>(&self, place: Range<u64>) -> Result<&T> {
        let start = place.start;
        bytemuck::try_from_bytes(self.range(place)?)
            .map_err(|_| self.corrupt(start, "a value is not aligned"))
    }

    /// Verifies the chunks from `first` to `last`, both included, that were not verified before.
    #[inline]
    fn verify_chunks(&self, first: usize, last: usize) -> Result<()> {
        match (first..=last).find(|&chunk| !self.is_verified(chunk)) {
            Some(chunk) => self.verify_new(chunk, last),
            None => Ok(()),
        }
    }

    /// Verifies the chunks from `first` to `last`, both included. `first` was not verified before.
    ///
    /// Requests what is not in memory before touching it. Then exactly this much is read, whereas the system
    /// would guess how far to read around each touch, and the disk reads ahead during hashing.
    #[cold]
    fn verify_new(&self, first: usize, last: usize) -> Result<()> {
        let end = last.saturating_add(1);
        if is_asking() && self.asks_for_new(first..end) {
            return Err(Error::Requested { path: self.path.clone() });
        }
        let is_scanned = |chunks: Range<usize>| chunks.into_iter().all(|chunk| self.is_verified(chunk));
        if let Some(ahead) = ahead_of_scan(first, is_scanned) {
            self.ask_for_chunks(ahead);
        }
        let mut asked = first;
        for chunk in first..end {
            if let Some(window) = next_window(chunk, asked, end) {
                asked = window.end;
                if !window.clone().all(|chunk| is_set(&self.asked, chunk)) {
                    self.ask_for_chunks(window);
                }
            }
            if !self.is_verified(chunk) {
                self.verify_chunk(chunk)?;
            }
        }
        Ok(())
    }

    /// Requests the first chunks of a range from the one on that was neither verified nor asked for before.
    /// Returns whether any of them has to be read from the disk.
    fn asks_for_new(&self, mut chunks: Range<usize>) -> bool {
        let is_known = |chunk: usize| self.is_verified(chunk) || is_set(&self.asked, chunk);
        let Some(first) = chunks.find(|&chunk| !is_known(chunk)) else { return false };
        let new = first..chunks.end.min(first.saturating_add(ASK_CHUNKS));
        let look = self.map.will_need_surely(self.place_of_chunks(&new));
        new.for_each(|chunk| set(&self.asked, chunk));
        if look == Look::Requested {
            has_asked();
        }
        look == Look::Requested
    }

    fn ask_for_chunks(&self, chunks: Range<usize>) -> Look {
        self.map.will_need(self.place_of_chunks(&chunks))
    }

    fn place_of_chunks(&self, chunks: &Range<usize>) -> Range<usize> {
        let place = |chunk: usize| chunk.saturating_mul(self.chunk_bytes);
        place(chunks.start)..place(chunks.end)
    }

    /// Returns the chunk of a byte of the content.
    #[inline]
    fn chunk_of(&self, place: usize) -> usize {
        place >> self.chunk_bytes.trailing_zeros()
    }

    #[inline]
    fn is_verified(&self, chunk: usize) -> bool {
        is_set(&self.verified, chunk)
    }

    #[cold]
    fn verify_chunk(&self, chunk: usize) -> Result<()> {
        let (start, bytes) = self.chunk(chunk);
        if self.expected_checksum(chunk) != Some(xxh3_64(bytes)) {
            let what = format!("the checksum of the {} bytes from here does not fit them", bytes.len());
            return Err(Damage::new(start, what).in_file(&self.path, 0));
        }
        set(&self.verified, chunk);
        Ok(())
    }

    /// Returns where a chunk begins, and its bytes.
    fn chunk(&self, chunk: usize) -> (usize, &[u8]) {
        let start = chunk.saturating_mul(self.chunk_bytes).min(self.content_length);
        let end = start.saturating_add(self.chunk_bytes).min(self.content_length);
        (start, self.map.get(start..end).unwrap_or_default())
    }

    fn expected_checksum(&self, chunk: usize) -> Option<u64> {
        let table = self.map.get(self.table.clone())?;
        let place = table.get(chunk.checked_mul(8)?..)?;
        Some(u64::from_le_bytes(*place.first_chunk()?))
    }

    /// Verifies the whole content again, on all cores, and returns all damage found.
    pub fn verify_all(&self) -> Vec<Error> {
        let chunk_count = self.content_length.div_ceil(self.chunk_bytes);
        let windows = (0..chunk_count.div_ceil(ASK_CHUNKS)).into_par_iter();
        let damage = windows.flat_map_iter(|window| {
            let first = window.saturating_mul(ASK_CHUNKS);
            let end = first.saturating_add(ASK_CHUNKS).min(chunk_count);
            // Request the next chunk too: mostly the same core takes it.
            self.ask_for_chunks(first..end.saturating_add(ASK_CHUNKS));
            (first..end).filter_map(|chunk| self.verify_chunk(chunk).err())
        });
        damage.collect()
    }

    /// Returns an error: the content at `offset` violates its format.
    #[cold]
    pub fn corrupt(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::Corrupt { path: self.path.clone(), offset, what: what.into() }
    }

    #[cold]
    fn outside(&self, range: Range<u64>) -> Error {
        let what =
            format!("bytes {} to {} of {} were to be read", range.start, range.end, self.content_length);
        self.corrupt(range.start, what)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Sealed({}, {} bytes)", self.path.display(), self.content_length)
    }
}

// Relaxed is enough: a bit only avoids doing something again.
#[inline]
fn is_set(bits: &[AtomicU64], chunk: usize) -> bool {
    bits.get(chunk / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (chunk % 64) & 1 == 1)
}

fn set(bits: &[AtomicU64], chunk: usize) {
    if let Some(word) = bits.get(chunk / 64) {
        word.fetch_or(1 << (chunk % 64), Ordering::Relaxed);
    }
}

/// The positions of the parts of a sealed file.
struct Frame {
    content_length: usize,
    chunk_bytes: usize,
    digest: u64,
    table: Range<usize>,
}

/// Why this program does not read a file as a sealed file.
enum Refusal {
    Damage(Damage),
    Version(u32),
}

impl From<Damage> for Refusal {
    fn from(damage: Damage) -> Refusal {
        Refusal::Damage(damage)
    }
}

/// The fields of a trailer.
struct Trailer {
    content_length: u64,
    chunk_bytes: usize,
    checksum: u64,
}

/// Checks everything in a file except its content.
fn read_frame(file: &[u8], kind: u32, name: u64) -> std::result::Result<Frame, Refusal> {
    let Some(trailer_start) = file.len().checked_sub(TRAILER_BYTES) else {
        let what = format!("a sealed file has {TRAILER_BYTES} bytes or more, this one {}", file.len());
        return Err(Damage::new(0, what).into());
    };
    let trailer = file.get(trailer_start..).unwrap_or_default();
    let Trailer { content_length, chunk_bytes, checksum } = read_trailer(trailer, trailer_start, kind, name)?;
    let frame = usize::try_from(content_length)
        .ok()
        .and_then(|content_length| frame_of(content_length, chunk_bytes, checksum))
        .filter(|frame| frame.table.end == trailer_start);
    let Some(frame) = frame else {
        let what =
            format!("the file has {} bytes, which does not fit {content_length} of content", file.len());
        return Err(Damage::new(trailer_start, what).into());
    };
    let padding = file.get(frame.content_length..frame.table.start).unwrap_or_default();
    if padding.iter().any(|&byte| byte != 0) {
        return Err(Damage::new(frame.content_length, "padding is not zero").into());
    }
    let table = file.get(frame.table.clone()).unwrap_or_default();
    let expected = trailer.get(TRAILER_TABLE_CHECKSUM_OFFSET..).and_then(|rest| rest.first_chunk());
    if expected.copied().map(u64::from_le_bytes) != Some(xxh3_64(table)) {
        return Err(
            Damage::new(frame.table.start, "the checksum of the table of checksums does not fit it").into()
        );
    }
    Ok(frame)
}

/// Checks the trailer itself.
fn read_trailer(
    trailer: &[u8],
    trailer_start: usize,
    kind: u32,
    name: u64,
) -> std::result::Result<Trailer, Refusal> {
    let damage = |offset: usize, what: String| Damage::new(trailer_start.saturating_add(offset), what);
    let mut cursor = Cursor::new(trailer);
    let magic: [u8; 8] = cursor.array("the magic")?;
    let (version, found_kind) = (cursor.u32("the version")?, cursor.u32("the kind")?);
    let content_length = cursor.u64("the content's length")?;
    let _table_checksum = cursor.u64("the table's checksum")?;
    let found_name = cursor.u64("the name")?;
    let reserved: [u8; TRAILER_CHECKSUM_OFFSET - TRAILER_RESERVED_OFFSET] = cursor.array("zeros")?;
    let checksum = cursor.u64("the trailer's checksum")?;
    if magic != SEALED_MAGIC {
        return Err(damage(0, "this is not a sealed file, or it is truncated".into()).into());
    }
    if checksum != xxh3_64(trailer.get(..TRAILER_CHECKSUM_OFFSET).unwrap_or_default()) {
        return Err(damage(TRAILER_CHECKSUM_OFFSET, "the trailer's checksum does not fit it".into()).into());
    }
    if version > SEALED_VERSION {
        return Err(Refusal::Version(version));
    }
    if version == 0 {
        return Err(damage(TRAILER_VERSION_OFFSET, "there is no version 0".into()).into());
    }
    if found_kind != kind {
        return Err(
            damage(TRAILER_KIND_OFFSET, format!("the file is of kind {found_kind}, not {kind}")).into()
        );
    }
    if version == SEALED_VERSION_NAMELESS && found_name != 0 {
        return Err(damage(TRAILER_NAME_OFFSET, "version 1 has no name".into()).into());
    }
    if version != SEALED_VERSION_NAMELESS && found_name != name {
        let what = "it was written under another name: it is in the place of another file";
        return Err(damage(TRAILER_NAME_OFFSET, what.into()).into());
    }
    if reserved.iter().any(|&byte| byte != 0) {
        return Err(damage(TRAILER_RESERVED_OFFSET, "reserved bytes are not zero".into()).into());
    }
    if content_length > u64::MAX / 2 {
        return Err(
            damage(TRAILER_CONTENT_LENGTH_OFFSET, format!("{content_length} bytes of content")).into()
        );
    }
    let chunk_bytes = if version <= SEALED_VERSION_LARGE_CHUNKS { LARGE_CHUNK_BYTES } else { CHUNK_BYTES };
    Ok(Trailer { content_length, chunk_bytes, checksum })
}

/// Returns where the parts of a file with content of this length lie.
fn frame_of(content_length: usize, chunk_bytes: usize, digest: u64) -> Option<Frame> {
    let alignment = usize::try_from(SECTION_ALIGNMENT).ok()?;
    let table_start = content_length.checked_next_multiple_of(alignment)?;
    let table_end = table_start.checked_add(content_length.div_ceil(chunk_bytes).checked_mul(8)?)?;
    Some(Frame { content_length, chunk_bytes, digest, table: table_start..table_end })
}
