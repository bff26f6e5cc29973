//! Reads whole packs and compares them with the index.
//!
//! Output: what is wrong with each pack and with each blob in it. A pack that looks damaged is read again,
//! because a fault on the way is not a fault of the pack.

use super::choose::ChosenPack;
use crate::blob_index::{Entry, Survey};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::PackedBlob;
use crate::format::compress::Zstd;
use crate::format::pack;
use crate::repository::Repository;
use crate::storage::reread::READ_COUNT_MAX;
use crate::threads::on_all_threads;
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Most faults that are reported for one pack; more would not help.
const FAULT_COUNT_MAX: usize = 16;

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    zstd: Zstd,
    plain: Vec<u8>,
    sealed: Vec<u8>,
}

/// Reads packs and returns their faults.
pub(super) fn read_packs(
    repository: &Repository,
    survey: &Survey<'_>,
    chosen: &[ChosenPack],
    progress: &dyn Progress,
) -> Result<Vec<Error>> {
    progress.expect(chosen.len() as u64, chosen.iter().map(|chosen| chosen.size_bytes).sum());
    let faults = Mutex::new(Vec::new());
    let threads = repository.surroundings().context.threads.count();
    on_all_threads(threads, chosen, |buffers: &mut Buffers, chosen| {
        progress.check()?;
        let mut entries: Vec<Entry> = Vec::new();
        survey.pack_entries(chosen.number, &mut entries)?;
        let blobs: Vec<PackedBlob> = entries.iter().map(|entry| entry.blob).collect();
        let mut found = read_pack(repository, buffers, chosen.id, &blobs)?;
        // Reading a damaged pack yields all of its faults, not a single error, so it is repeated here.
        for _ in 1..READ_COUNT_MAX {
            if found.is_empty() {
                break;
            }
            found = read_pack(repository, buffers, chosen.id, &blobs)?;
        }
        faults.lock().unwrap_or_else(PoisonError::into_inner).append(&mut found);
        progress.add(1, chosen.size_bytes);
        Ok(())
    })?;
    let mut faults = faults.into_inner().unwrap_or_else(PoisonError::into_inner);
    faults.sort_by_cached_key(ToString::to_string);
    Ok(faults)
}

/// Reads one pack and returns its faults.
///
/// # Errors
/// The storage cannot be reached.
fn read_pack(
    repository: &Repository,
    buffers: &mut Buffers,
    id: Id,
    indexed: &[PackedBlob],
) -> Result<Vec<Error>> {
    let name = FileName { kind: FileKind::Pack, id };
    let bytes = match repository.storage().read(name) {
        Ok(bytes) => bytes,
        Err(error) if error.ends_work() => return Err(error),
        Err(error) => return Ok(vec![error]),
    };
    let mut faults = Vec::new();
    match pack::open(repository.key(), id, &bytes) {
        Ok(mut blobs) => {
            blobs.sort_unstable_by_key(|blob| blob.offset);
            if blobs != indexed {
                faults.push(Error::damage(name, "its header names other blobs than the index"));
            }
        }
        Err(error) => faults.push(error),
    }
    for blob in indexed {
        if let Err(what) = read_blob(repository, buffers, &bytes, blob) {
            if faults.len() >= FAULT_COUNT_MAX {
                faults.push(Error::damage(name, "more of its blobs are damaged"));
                break;
            }
            faults.push(Error::damage(format!("{} in {name}", blob.kind.named(&blob.id)), what));
        }
    }
    Ok(faults)
}

fn read_blob(
    repository: &Repository,
    buffers: &mut Buffers,
    bytes: &[u8],
    blob: &PackedBlob,
) -> std::result::Result<(), String> {
    let end = blob.offset as usize + blob.length as usize;
    let sealed = bytes.get(blob.offset as usize..end).ok_or("it lies beyond the end of the pack")?;
    let Buffers { zstd, plain, sealed: copy } = buffers;
    copy.clear();
    copy.extend_from_slice(sealed);
    pack::open_blob((repository.key(), zstd), copy, blob, plain)
}
