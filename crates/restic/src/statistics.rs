//! Counts how much a repository holds, and how much of it is used.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::FileKind;
use crate::repository::Repository;
use crate::trees::used::mark_used;
use work::Progress;

/// Sums over a repository.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Snapshots.
    pub snapshot_count: u64,
    /// Files of all snapshots; a directory that several share is counted once.
    pub file_count: u64,
    /// Bytes that these files take when they are restored.
    pub file_bytes: u64,
    /// Blobs that snapshots use.
    pub used_blob_count: u64,
    /// Their bytes before they were compressed.
    pub used_plain_bytes: u64,
    /// Their bytes in packs.
    pub used_packed_bytes: u64,
    /// Blobs that nothing uses, and second copies.
    pub unused_blob_count: u64,
    /// Their bytes in packs.
    pub unused_packed_bytes: u64,
    /// Packs that are stored.
    pub pack_count: u64,
    /// Their bytes.
    pub pack_bytes: u64,
    /// Index files.
    pub index_count: u64,
    /// What could not be read.
    pub problems: Vec<Error>,
}

/// Counts everything in a repository.
///
/// # Errors
/// The index cannot be read, storage errors, or [`Error::Interrupted`].
pub fn statistics(repository: &Repository, progress: &dyn Progress) -> Result<Statistics> {
    let listed = repository.snapshots()?;
    let survey = repository.load_index(progress)?.survey()?;
    let roots: Vec<Id> = listed.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let used = mark_used(repository, &survey, &roots, progress)?;
    let packs = repository.storage().list(FileKind::Pack)?;
    let mut statistics = Statistics {
        snapshot_count: roots.len() as u64,
        file_count: used.file_count,
        file_bytes: used.file_bytes,
        pack_count: packs.len() as u64,
        pack_bytes: packs.iter().map(|(_, bytes)| bytes).sum(),
        index_count: repository.storage().list(FileKind::Index)?.len() as u64,
        problems: listed.unread.into_iter().map(|(_, error)| error).collect(),
        ..Statistics::default()
    };
    statistics.problems.extend(used.problems.into_iter().map(|problem| problem.error));
    let mut copies = Vec::new();
    for number in 0..survey.entry_count() {
        let blob = survey.entry(number)?.blob;
        copies.clear();
        if used.marks.has(number) {
            survey.find(blob.kind, &blob.id, &mut copies)?;
        }
        // Of several copies of a blob that is used the first one counts.
        if copies.iter().min() == Some(&number) {
            statistics.used_blob_count += 1;
            statistics.used_plain_bytes += blob.plain_length();
            statistics.used_packed_bytes += u64::from(blob.length);
        } else {
            statistics.unused_blob_count += 1;
            statistics.unused_packed_bytes += u64::from(blob.length);
        }
    }
    Ok(statistics)
}
