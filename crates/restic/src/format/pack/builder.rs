//! Builds a pack from sealed blobs.
//!
//! Output: the pack's bytes and the position of each blob. Does not decide when a pack is full or where it
//! is stored.

use super::header;
use super::read;
use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::{BlobKind, PackedBlob};
use crate::surroundings::Surroundings;

/// A pack that is being built.
#[derive(Clone, Debug)]
pub struct PackBuilder {
    kind: BlobKind,
    bytes: Vec<u8>,
    blobs: Vec<PackedBlob>,
}

impl PackBuilder {
    /// Returns an empty pack for blobs of one kind.
    pub fn new(kind: BlobKind) -> PackBuilder {
        PackBuilder::in_buffer(kind, Vec::new())
    }

    /// Returns an empty pack that uses `bytes` as its buffer. The buffer is cleared.
    pub fn in_buffer(kind: BlobKind, mut bytes: Vec<u8>) -> PackBuilder {
        bytes.clear();
        PackBuilder { kind, bytes, blobs: Vec::new() }
    }

    /// Adds a sealed blob; `uncompressed_length` is 0 if it is not compressed.
    ///
    /// # Panics
    /// If the pack would reach 4 GiB: packs are closed long before that, and no blob is as large.
    pub fn add(&mut self, id: Id, sealed: &[u8], uncompressed_length: u32) {
        let offset = self.size();
        let number = |bytes: usize| u32::try_from(bytes).expect("a pack has less than 4 GiB");
        number(offset + sealed.len());
        self.bytes.extend_from_slice(sealed);
        self.blobs.push(PackedBlob {
            kind: self.kind,
            id,
            offset: number(offset),
            length: number(sealed.len()),
            uncompressed_length,
        });
    }

    /// Adds all blobs of another pack of the same kind.
    ///
    /// # Panics
    /// If it is of another kind, or both together reach 4 GiB.
    pub fn append(&mut self, other: &PackBuilder) {
        assert_eq!(self.kind, other.kind, "data and trees never share a pack");
        let moved = u32::try_from(self.size()).expect("a pack has less than 4 GiB");
        u32::try_from(self.size() + other.size()).expect("a pack has less than 4 GiB");
        self.bytes.extend_from_slice(&other.bytes);
        self.blobs.extend(other.blobs.iter().map(|blob| PackedBlob { offset: blob.offset + moved, ..*blob }));
    }

    /// Returns the total length of the blobs so far, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the blobs so far.
    pub fn blobs(&self) -> &[PackedBlob] {
        &self.blobs
    }

    /// Returns whether the header is full.
    pub fn is_full(&self) -> bool {
        self.blobs.len() >= header::ENTRY_COUNT_MAX
    }

    /// Adds the header, and returns the pack with the positions of its blobs. First opens and reads the
    /// header again, as restic does.
    ///
    /// # Errors
    /// [`Error::Damage`] if the header cannot be read back: a fault of this machine.
    ///
    /// # Panics
    /// If there are no blobs, or more than [`ENTRY_COUNT_MAX`](super::ENTRY_COUNT_MAX).
    pub fn finish(self, key: &Key, surroundings: &Surroundings) -> Result<(Vec<u8>, Vec<PackedBlob>)> {
        let PackBuilder { mut bytes, blobs, .. } = self;
        assert!(!blobs.is_empty(), "a pack holds a blob at least");
        assert!(blobs.len() <= header::ENTRY_COUNT_MAX, "a full pack takes no more blobs");
        let begin = bytes.len();
        key.seal(surroundings, &header::encode(&blobs), &mut bytes);
        let length = u32::try_from(bytes.len() - begin).expect("a header has 16 MiB at most");
        bytes.extend_from_slice(&length.to_le_bytes());
        let mut end = bytes.split_at(begin).1.to_vec();
        match read::tail(key, &mut end, bytes.len() as u64) {
            Ok(again) if again == blobs => Ok((bytes, blobs)),
            Ok(_) => Err(Error::damage(
                "a new pack",
                "its header reads back as something else: this machine has a hardware fault",
            )),
            Err(what) => Err(Error::damage(
                "a new pack",
                format!("{what} when it is read back: this machine has a hardware fault"),
            )),
        }
    }
}
