//! The header of a pack: an entry for each blob, in their order.
//!
//! Converts between blobs and the header's plain bytes. Does not depend on how the header is sealed.
//!
//! ```text
//! kind u8 | length u32, sealed | id 32                                0 data, 1 tree
//! kind u8 | length u32, sealed | length u32, uncompressed | id 32     2 data, 3 tree, both compressed
//! ```
#![deny(clippy::indexing_slicing)]

use crate::crypto::key::OVERHEAD;
use crate::encoding::id::Id;
use crate::format::blob::{BlobKind, PackedBlob};

/// Bytes of one entry.
const PLAIN_ENTRY_BYTES: usize = 1 + 4 + Id::BYTES;
const COMPRESSED_ENTRY_BYTES: usize = 1 + 4 + 4 + Id::BYTES;
/// Bytes of the length at the end of a pack.
pub(super) const LENGTH_BYTES: usize = 4;
/// Size limit of a sealed header, in bytes.
pub(super) const SEALED_BYTES_MAX: usize = 16 << 20;
/// The most blobs that a pack can hold.
pub const ENTRY_COUNT_MAX: usize = (SEALED_BYTES_MAX - OVERHEAD) / COMPRESSED_ENTRY_BYTES;

/// Returns the bytes that a blob adds to the header.
pub fn entry_bytes(blob: &PackedBlob) -> usize {
    if blob.uncompressed_length == 0 { PLAIN_ENTRY_BYTES } else { COMPRESSED_ENTRY_BYTES }
}

/// Returns how many bytes of a pack with these blobs are not blobs.
pub fn header_bytes<'a>(blobs: impl IntoIterator<Item = &'a PackedBlob>) -> u64 {
    blobs.into_iter().fold((OVERHEAD + LENGTH_BYTES) as u64, |bytes, blob| bytes + entry_bytes(blob) as u64)
}

/// The eager read takes the whole header of a pack with this many blobs.
const EAGER_ENTRY_COUNT: usize = 15;
/// Bytes of a pack's end that are read first.
pub(super) const EAGER_BYTES: usize = EAGER_ENTRY_COUNT * COMPRESSED_ENTRY_BYTES + OVERHEAD + LENGTH_BYTES;

/// Returns the header of these blobs, not sealed.
pub(super) fn encode(blobs: &[PackedBlob]) -> Vec<u8> {
    let mut header = Vec::with_capacity(blobs.len() * COMPRESSED_ENTRY_BYTES);
    for blob in blobs {
        let is_compressed = blob.uncompressed_length != 0;
        header.push(u8::from(blob.kind == BlobKind::Tree) | u8::from(is_compressed) << 1);
        header.extend_from_slice(&blob.length.to_le_bytes());
        if is_compressed {
            header.extend_from_slice(&blob.uncompressed_length.to_le_bytes());
        }
        header.extend_from_slice(&blob.id.0);
    }
    header
}

/// Parses a header. An error says what is wrong, as the rest of a sentence.
pub(super) fn decode(mut header: &[u8]) -> Result<Vec<PackedBlob>, String> {
    let mut blobs = Vec::with_capacity(header.len() / PLAIN_ENTRY_BYTES);
    let mut offset = 0;
    while let Some((kind, rest)) = header.split_first() {
        let number = blobs.len();
        let wrong = |what: &str| format!("entry {number} of its header {what}");
        let kind_and_form = match kind {
            0 => (BlobKind::Data, false),
            1 => (BlobKind::Tree, false),
            2 => (BlobKind::Data, true),
            3 => (BlobKind::Tree, true),
            other => return Err(wrong(&format!("is of kind {other}"))),
        };
        let (blob, rest) = entry(kind_and_form, offset, rest).ok_or_else(|| wrong("is cut off"))?;
        if kind_and_form.1 && blob.uncompressed_length == 0 {
            return Err(wrong("is compressed and had no bytes before"));
        }
        if (blob.length as usize) < OVERHEAD {
            return Err(wrong("is shorter than any sealed blob"));
        }
        offset = offset.checked_add(blob.length).ok_or_else(|| wrong("ends after 4 GiB"))?;
        blobs.push(blob);
        header = rest;
    }
    if blobs.is_empty() { Err("its header has no entries".to_owned()) } else { Ok(blobs) }
}

fn entry((kind, is_compressed): (BlobKind, bool), offset: u32, rest: &[u8]) -> Option<(PackedBlob, &[u8])> {
    let (length, rest) = rest.split_first_chunk()?;
    let (uncompressed_length, rest) = if is_compressed { rest.split_first_chunk()? } else { (&[0; 4], rest) };
    let (id, rest) = rest.split_first_chunk()?;
    let blob = PackedBlob {
        kind,
        id: Id(*id),
        offset,
        length: u32::from_le_bytes(*length),
        uncompressed_length: u32::from_le_bytes(*uncompressed_length),
    };
    Some((blob, rest))
}
