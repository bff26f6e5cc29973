//! Makes a repository that restic accepts, with any number of blobs: index files, and packs that are holes
//! except for their headers.
//!
//! Input: a directory and a count. Output: a repository with one snapshot. Does not know what is measured
//! with it.
//!
//! `restic check` finds no fault in it; `restic check --read-data` would, since only the blobs of the
//! snapshot's own trees exist.

use super::blobs::{PACK_BLOBS, PASSWORD, blob_id, blob_kind, packed_length, plain_length, storage};
use super::snapshot;
use anyhow::{Context, Result};
use restic::index_file::{BLOB_COUNT_FULL, IndexFileWriter};
use restic::testing::surroundings;
use restic::unpacked::{Parts, Version, save};
use restic::{BlobKind, Cost, FileKind, FileName, Id, PackedBlob, Password, config, key_file};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use testkit::Random;

/// Length of a header's entry of a compressed blob.
const ENTRY_BYTES: usize = 41;

/// Makes the repository, if it is not there.
pub(super) fn make(directory: &Path, blob_count: u64) -> Result<()> {
    let is_made = directory.join("made with a snapshot");
    if is_made.exists() {
        return Ok(());
    }
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    let (storage, surroundings) = (storage(directory), surroundings());
    storage.create()?;
    let (_, key) =
        key_file::create(&*storage, &surroundings, &Password::new(PASSWORD.into()), Cost::default())?;
    let parts = Parts { storage, key: Arc::new(key), surroundings, version: Version::Two };
    config::create(&parts)?;
    let mut file = IndexFileWriter::default();
    for first in (0..blob_count).step_by(usize::try_from(PACK_BLOBS)?) {
        let blobs = pack(first..blob_count.min(first + PACK_BLOBS));
        let mut id = Id::default();
        Random::of(1, 2, first).fill(&mut id.0);
        write_pack(&parts, &directory.join("repository"), id, &blobs)?;
        file.add(&id, &blobs);
        if file.blob_count() >= BLOB_COUNT_FULL {
            save(&parts, FileKind::Index, &std::mem::take(&mut file).finish())?;
        }
    }
    if file.blob_count() > 0 {
        save(&parts, FileKind::Index, &file.finish())?;
    }
    snapshot::save(directory, blob_count)?;
    Ok(fs::write(is_made, "")?)
}

fn pack(numbers: std::ops::Range<u64>) -> Vec<PackedBlob> {
    let mut offset = 0;
    let blob = |number| {
        let length = packed_length(number);
        let blob = PackedBlob {
            kind: blob_kind(number),
            id: blob_id(number),
            offset,
            length,
            uncompressed_length: plain_length(number),
        };
        offset += length;
        blob
    };
    numbers.map(blob).collect()
}

/// Writes a pack: a hole where blobs would be, and its header.
fn write_pack(parts: &Parts, repository: &Path, id: Id, blobs: &[PackedBlob]) -> Result<()> {
    let mut header = Vec::with_capacity(blobs.len() * ENTRY_BYTES);
    for blob in blobs {
        header.push(match blob.kind {
            BlobKind::Data => 2,
            BlobKind::Tree => 3,
        });
        header.extend_from_slice(&blob.length.to_le_bytes());
        header.extend_from_slice(&blob.uncompressed_length.to_le_bytes());
        header.extend_from_slice(&blob.id.0);
    }
    let mut sealed = Vec::new();
    parts.key.seal(&parts.surroundings, &header, &mut sealed);
    sealed.extend_from_slice(&u32::try_from(sealed.len())?.to_le_bytes());
    let path = repository.join(FileName { kind: FileKind::Pack, id }.path());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    file.seek(SeekFrom::Start(blobs.iter().map(|blob| u64::from(blob.length)).sum()))?;
    Ok(file.write_all(&sealed)?)
}
