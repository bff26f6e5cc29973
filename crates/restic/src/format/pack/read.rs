//! Reads packs: their headers, and single blobs.
//!
//! Output: the position of each blob, or a blob's verified content. Does not decide what to do about damage.
#![deny(clippy::indexing_slicing)]

use super::header::{self, EAGER_BYTES, LENGTH_BYTES, SEALED_BYTES_MAX};
use crate::crypto::key::{Key, OVERHEAD};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::PackedBlob;
use crate::format::compress::Zstd;
use crate::storage::Storage;
use crate::storage::reread::verified;

/// Reads the header of a stored pack of `size` bytes and returns its blobs. A short header takes one request,
/// a long one two.
///
/// # Errors
/// [`Error::Damage`] if it is not a valid pack: its header must be sound, and its blobs must fill it from its
/// beginning to the header. Storage errors.
pub fn list(storage: &dyn Storage, key: &Key, pack: Id, size: u64) -> Result<Vec<PackedBlob>> {
    let name = FileName { kind: FileKind::Pack, id: pack };
    let damage = |what: String| Error::damage(name, what);
    if size < (OVERHEAD + LENGTH_BYTES) as u64 {
        return Err(damage(format!("it has {size} bytes, too few for a pack")));
    }
    let read_end = |bytes: u32| storage.read_range(name, size - u64::from(bytes), bytes);
    let eager = u32::try_from(size.min(EAGER_BYTES as u64)).expect("it is no more than a few entries");
    verified(|| {
        let mut end = read_end(eager)?;
        let wanted = header_end(&end, size).map_err(damage)?;
        if wanted > eager {
            end = read_end(wanted)?;
        }
        tail(key, &mut end, size).map_err(damage)
    })
}

/// Returns the blobs of a complete pack, and verifies its bytes against its name.
///
/// # Errors
/// [`Error::Damage`], as for [`list`], and if the content does not match the name.
pub fn open(key: &Key, pack: Id, bytes: &[u8]) -> Result<Vec<PackedBlob>> {
    let damage = |what: String| Error::damage(FileName { kind: FileKind::Pack, id: pack }, what);
    if Id::of(bytes) != pack {
        return Err(damage("its content does not match its name".to_owned()));
    }
    let size = bytes.len() as u64;
    let wanted = header_end(bytes, size).map_err(damage)?;
    let mut end = bytes.split_at(bytes.len() - wanted as usize).1.to_vec();
    tail(key, &mut end, size).map_err(damage)
}

/// Opens a sealed blob in place, and puts its content into `plain`, which is cleared first. Verifies the
/// content against its name. An error is the rest of a sentence that says what is wrong; `plain` is then
/// undefined.
///
/// # Errors
/// If the blob is damaged.
pub fn open_blob(
    (key, zstd): (&Key, &mut Zstd),
    sealed: &mut [u8],
    blob: &PackedBlob,
    plain: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    if let Some(what) = blob.length_fault() {
        return Err(what);
    }
    let content = key.open(sealed).map_err(|damaged| damaged.to_string())?;
    if blob.uncompressed_length == 0 {
        plain.clear();
        plain.extend_from_slice(content);
    } else {
        let length = u64::from(blob.uncompressed_length);
        zstd.decompress(content, Some(length), length, plain)?;
    }
    match Id::of(plain) {
        found if found == blob.id => Ok(()),
        found => Err(format!("its content is that of {found}")),
    }
}

/// Opens a sealed blob in place, and returns whether its content equals `plain`, without copying it. An error
/// is the rest of a sentence that says what is wrong.
///
/// # Errors
/// If the blob is damaged.
pub fn compare_blob(
    (key, zstd): (&Key, &mut Zstd),
    sealed: &mut [u8],
    uncompressed_length: u32,
    plain: &[u8],
) -> std::result::Result<(), String> {
    let content = key.open(sealed).map_err(|damaged| damaged.to_string())?;
    let is_same = if uncompressed_length == 0 { content == plain } else { zstd.holds(content, plain)? };
    if is_same { Ok(()) } else { Err("it holds other content".to_owned()) }
}

/// Returns how many bytes the sealed header and its length take at the end of a pack of `size` bytes that
/// ends with `end`.
fn header_end(end: &[u8], size: u64) -> std::result::Result<u32, String> {
    let length = end.last_chunk::<LENGTH_BYTES>().ok_or("it is too short for a pack")?;
    let length = u32::from_le_bytes(*length);
    let wanted = u64::from(length) + LENGTH_BYTES as u64;
    if (length as usize) < OVERHEAD || length as usize > SEALED_BYTES_MAX || wanted > size {
        return Err(format!("its header cannot have {length} bytes"));
    }
    u32::try_from(wanted).map_err(|_| format!("its header cannot have {length} bytes"))
}

/// Opens the header of a pack of `size` bytes that ends with `end`, which holds the whole header.
pub(super) fn tail(key: &Key, end: &mut [u8], size: u64) -> std::result::Result<Vec<PackedBlob>, String> {
    let wanted = header_end(end, size)?;
    let begin = end.len().checked_sub(wanted as usize).ok_or("its header is incomplete")?;
    let sealed = end.split_at_mut(begin).1.split_last_chunk_mut::<LENGTH_BYTES>();
    let (sealed, _) = sealed.ok_or("it is too short for a pack")?;
    let plain = key.open(sealed).map_err(|damaged| format!("its header cannot be opened: {damaged}"))?;
    let blobs = header::decode(plain)?;
    let blobs_end = blobs.last().map_or(0, |last| u64::from(last.offset) + u64::from(last.length));
    if blobs_end + u64::from(wanted) != size {
        return Err(format!("it has {size} bytes, its header asks for {}", blobs_end + u64::from(wanted)));
    }
    Ok(blobs)
}
