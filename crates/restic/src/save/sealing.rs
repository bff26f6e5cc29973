//! Compresses and seals one blob, and opens it again to make sure that it can be read.
//!
//! Does not depend on packs.

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::{BlobKind, PackedBlob};
use crate::format::compress::{Compression, Zstd};
use crate::format::pack;
use crate::surroundings::Surroundings;

/// Buffers of one thread. They are reused, because allocating them would cost more than the work.
#[derive(Default)]
pub(super) struct Scratch {
    zstd: Zstd,
    compressed: Vec<u8>,
    sealed: Vec<u8>,
    checked: Vec<u8>,
}

/// A blob as a pack keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SealedBlob<'a> {
    /// Its kind.
    pub(super) kind: BlobKind,
    /// Its name.
    pub(super) id: Id,
    /// Its sealed bytes.
    pub(super) sealed: &'a [u8],
    /// How many bytes it had before it was compressed, 0 if it was not.
    pub(super) uncompressed_length: u32,
}

/// What sealing needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealing<'a> {
    /// The repository's key.
    pub(super) key: &'a Key,
    /// The source of nonces.
    pub(super) surroundings: &'a Surroundings,
    /// Whether such blobs are compressed.
    pub(super) form: Form,
}

/// How a blob is stored in a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Compressed.
    Compressed,
    /// As it is.
    Plain,
}

/// Where a blob's id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// It was computed from this content.
    Made,
    /// The caller gave it.
    Given,
}

/// Buffers that grew beyond this for one large blob are given back.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

impl Scratch {
    /// Returns buffers for one thread and a level of compression.
    pub(super) fn new(compression: Compression) -> Scratch {
        Scratch { zstd: Zstd::new(compression), ..Scratch::default() }
    }

    /// Compresses and seals `plain`, then opens the result and compares it with the content, or with the id
    /// if the caller gave it. A fault of the memory or of a library must not be found only when the blob is
    /// needed.
    ///
    /// # Errors
    /// [`Error::Damage`] if the opened content does not match the id.
    pub(super) fn seal<'a>(
        &'a mut self,
        with: Sealing<'_>,
        (kind, id, name): (BlobKind, Id, Name),
        plain: &[u8],
    ) -> Result<SealedBlob<'a>> {
        let length = u32::try_from(plain.len())
            .map_err(|_| Error::damage(kind.named(&id), "it has 4 GiB or more, which no pack can hold"))?;
        self.give_back();
        let uncompressed_length = match with.form {
            Form::Plain => {
                with.key.seal(with.surroundings, plain, &mut self.sealed);
                0
            }
            Form::Compressed => {
                self.zstd.compress(plain, &mut self.compressed);
                with.key.seal(with.surroundings, &self.compressed, &mut self.sealed);
                length
            }
        };
        // The compressed content is no longer needed, so its buffer is used to open the sealed blob.
        self.compressed.clear();
        self.compressed.extend_from_slice(&self.sealed);
        let Scratch { zstd, compressed, checked, sealed } = self;
        let length = u32::try_from(sealed.len())
            .map_err(|_| Error::damage(kind.named(&id), "it has 4 GiB or more, which no pack can hold"))?;
        let blob = PackedBlob { kind, id, offset: 0, length, uncompressed_length };
        if let Some(what) = blob.length_fault() {
            return Err(Error::Unsupported { file: kind.named(&id), what });
        }
        let checked = match name {
            Name::Made => pack::compare_blob((with.key, zstd), compressed, uncompressed_length, plain),
            Name::Given => pack::open_blob((with.key, zstd), compressed, &blob, checked),
        };
        checked.map_err(|what| {
            let what =
                format!("it cannot be read back after sealing: this machine has a hardware fault: {what}");
            Error::damage(kind.named(&id), what)
        })?;
        Ok(SealedBlob { kind, id, sealed, uncompressed_length })
    }

    /// Empties the buffers, and frees the memory of a large blob.
    fn give_back(&mut self) {
        for buffer in [&mut self.compressed, &mut self.sealed, &mut self.checked] {
            buffer.clear();
            buffer.shrink_to(BUFFER_BYTES_KEPT);
        }
    }
}

impl SealedBlob<'_> {
    /// Returns how many bytes it adds to a pack, with its place in the header.
    pub(super) fn packed_bytes(&self) -> u64 {
        let SealedBlob { kind, id, sealed, uncompressed_length } = *self;
        let blob = PackedBlob { kind, id, offset: 0, length: 0, uncompressed_length };
        (sealed.len() + pack::entry_bytes(&blob)) as u64
    }
}
