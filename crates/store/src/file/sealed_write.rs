//! Writes sealed files (docs/FORMAT.md, "Sealed file"). `sealed.rs` reads them.
//!
//! Input: content of any length, piece by piece. Output: a synced file. Does not depend on what the content
//! means.

use crate::error::Result;
use crate::format::{
    CHUNK_BYTES, SEALED_MAGIC, SEALED_VERSION, SECTION_ALIGNMENT, TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET,
};
use disk::{Disk, File};
use std::path::{Path, PathBuf};
use work::{Cancel, Progress};
use xxhash_rust::xxh3::xxh3_64;

/// How much is written at once at least: whole chunks.
const WRITE_BYTES: usize = 4 * CHUNK_BYTES;

/// A sealed file that is being written from front to back. Buffers 64 KiB, and 512 KiB of checksums per
/// GiB.
///
/// If it is dropped before [`SealedWriter::finish`], it leaves a file that no reader accepts. The caller
/// removes it.
pub struct SealedWriter {
    file: Box<dyn File>,
    path: PathBuf,
    kind: u32,
    /// The end of the content, less than [`WRITE_BYTES`].
    tail: Vec<u8>,
    position: u64,
    checksums: Vec<u64>,
    cancel: Option<Cancel>,
}

impl SealedWriter {
    /// Creates the new file `path`, whose content is of `kind`. The file is valid only under this name.
    ///
    /// # Errors
    /// Disk errors. An existing file is an error.
    pub fn create(disk: &dyn Disk, path: &Path, kind: u32) -> Result<SealedWriter> {
        assert_ne!(kind, 0, "kind 0 is never valid");
        let file = disk.create(path)?;
        Ok(SealedWriter {
            file,
            path: path.to_owned(),
            kind,
            tail: Vec::with_capacity(WRITE_BYTES),
            position: 0,
            checksums: Vec::new(),
            cancel: None,
        })
    }

    /// Writes no more once `cancel` says so: from then on every call fails with
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[must_use]
    pub fn stopped_by(self, cancel: &Cancel) -> SealedWriter {
        SealedWriter { cancel: Some(cancel.clone()), ..self }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many bytes of content were written, which is the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends `bytes` to the content.
    ///
    /// # Errors
    /// Disk errors. The file is then unusable.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.position = self.position.saturating_add(bytes.len() as u64);
        let mut rest = bytes;
        if !self.tail.is_empty() {
            let room = WRITE_BYTES.saturating_sub(self.tail.len()).min(rest.len());
            let (head, after) = rest.split_at(room);
            self.tail.extend_from_slice(head);
            rest = after;
            if self.tail.len() < WRITE_BYTES {
                return Ok(());
            }
            self.checksums.extend(checksums(&self.tail));
            self.file.write(&self.tail)?;
            self.tail.clear();
        }
        let whole = rest.len().saturating_sub(rest.len() % WRITE_BYTES);
        let (chunks, after) = rest.split_at(whole);
        if !chunks.is_empty() {
            self.checksums.extend(checksums(chunks));
            self.file.write(chunks)?;
        }
        self.tail.extend_from_slice(after);
        Ok(())
    }

    /// Appends zeros up to the next multiple of 64, where a section may begin.
    ///
    /// # Errors
    /// Same as [`SealedWriter::write`].
    pub fn align(&mut self) -> Result<()> {
        self.write(padding(self.position))
    }

    /// Writes checksums and trailer, syncs the file, and returns its length in bytes.
    ///
    /// Its name is durable only after its directory is synced.
    ///
    /// # Errors
    /// Disk errors. The file is then unusable.
    pub fn finish(mut self) -> Result<u64> {
        self.check()?;
        self.checksums.extend(checksums(&self.tail));
        let mut rest = std::mem::take(&mut self.tail);
        let after = end(&self.path, self.kind, self.position, &self.checksums);
        rest.extend_from_slice(&after);
        self.file.write(&rest)?;
        self.file.sync()?;
        Ok(self.position.saturating_add(after.len() as u64))
    }

    fn check(&self) -> Result<()> {
        Ok(self.cancel.as_ref().map_or(Ok(()), Progress::check)?)
    }
}

/// Returns the bytes of a sealed file with this content, as it would stand under `path`. For one so small
/// that it is kept in another file.
pub fn sealed_bytes(path: &Path, kind: u32, content: &[u8]) -> Vec<u8> {
    let checksums: Vec<u64> = checksums(content).collect();
    let mut bytes = content.to_vec();
    bytes.extend_from_slice(&end(path, kind, content.len() as u64, &checksums));
    bytes
}

/// Returns what comes after the content: padding, checksums and trailer.
fn end(path: &Path, kind: u32, content_length: u64, checksums: &[u64]) -> Vec<u8> {
    let mut end = padding(content_length).to_vec();
    let table: &[u8] = bytemuck::cast_slice(checksums);
    end.extend_from_slice(table);
    end.extend_from_slice(&trailer(path, kind, content_length, xxh3_64(table)));
    end
}

fn trailer(path: &Path, kind: u32, content_length: u64, table_checksum: u64) -> Vec<u8> {
    let mut trailer = Vec::with_capacity(TRAILER_BYTES);
    trailer.extend_from_slice(&SEALED_MAGIC);
    trailer.extend_from_slice(&SEALED_VERSION.to_le_bytes());
    trailer.extend_from_slice(&kind.to_le_bytes());
    trailer.extend_from_slice(&content_length.to_le_bytes());
    trailer.extend_from_slice(&table_checksum.to_le_bytes());
    trailer.extend_from_slice(&name_hash(path).to_le_bytes());
    trailer.resize(TRAILER_CHECKSUM_OFFSET, 0);
    let checksum = xxh3_64(&trailer);
    trailer.extend_from_slice(&checksum.to_le_bytes());
    trailer
}

/// Returns the checksum of each chunk of `content`, which begins with a chunk.
fn checksums(content: &[u8]) -> impl Iterator<Item = u64> {
    content.chunks(CHUNK_BYTES).map(xxh3_64)
}

/// Returns the hash of the name of the file at `path`, as the trailer holds it.
pub(crate) fn name_hash(path: &Path) -> u64 {
    xxh3_64(path.file_name().unwrap_or_default().as_encoded_bytes())
}

/// Returns the zeros that fill up `position` to the next multiple of 64.
fn padding(position: u64) -> &'static [u8] {
    const ZEROS: [u8; 64] = [0; 64];
    let length = position.next_multiple_of(SECTION_ALIGNMENT).saturating_sub(position);
    usize::try_from(length).ok().and_then(|length| ZEROS.get(..length)).unwrap_or_default()
}
