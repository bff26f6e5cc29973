//! One blob from plain to sealed, and back again to see that it can be read.
//!
//! Comes in: a plain blob. Goes out: what a pack keeps of it. Must not know packs, or what else is saved.

use crate::blob::{BlobKind, PackedBlob};
use crate::compress::{Compression, Zstd};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::key::Key;
use crate::pack;
use crate::surroundings::Surroundings;

/// What a thread needs again and again; reused, since these buffers would cost more than what is done in them.
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

/// What seals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealing<'a> {
    /// The repository's key.
    pub(super) key: &'a Key,
    /// Where nonces come from.
    pub(super) surroundings: &'a Surroundings,
    /// Whether such blobs are compressed.
    pub(super) form: Form,
}

/// How a blob lies in a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Compressed.
    Compressed,
    /// As it is.
    Plain,
}

/// What is known of a blob's name before it is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// It was made of this very content.
    Made,
    /// Somebody says that it is this content's.
    Given,
}

/// Buffers that grew beyond this for one large blob are given back.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

impl Scratch {
    /// Returns buffers of one thread, which compress so hard.
    pub(super) fn new(compression: Compression) -> Scratch {
        Scratch { zstd: Zstd::new(compression), ..Scratch::default() }
    }

    /// Compresses and seals `plain`, then opens the result and compares it with the content, or with the name if that was only given: a flaw
    /// of the memory or of a library must not be found only when somebody needs the blob.
    ///
    /// # Errors
    /// [`Error::Damage`] if what was opened is not what the name says.
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
        // What was compressed is needed no more: its place serves for opening what was sealed.
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
                format!("it cannot be read back after it was sealed, this machine makes mistakes: {what}");
            Error::damage(kind.named(&id), what)
        })?;
        Ok(SealedBlob { kind, id, sealed, uncompressed_length })
    }

    /// Empties the buffers, and gives back what a large blob left.
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
