//! Takes inventory of a repository before anything is removed from it.
//!
//! Output: the snapshots' blobs, which of them are used, and which packs are stored. Anything that snapshots
//! need and that cannot be read is an error: a fault in the storage or in an index file must never look like
//! unused data.

use crate::blob_index::{PackSummary, Survey};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::repository::Repository;
use crate::snapshots::snapshot::SnapshotList;
use crate::storage::reread::verified;
use crate::trees::used::{Used, mark_used};
use crate::trees::walk::shown_path;
use std::collections::{BTreeSet, HashMap};
use work::Progress;

/// The contents of a repository.
pub(super) struct Inventory<'a> {
    pub(super) survey: Survey<'a>,
    /// By number: what index files say of them.
    pub(super) packs: Vec<PackSummary>,
    /// The packs that are stored, with their sizes in bytes.
    pub(super) stored: HashMap<Id, u64>,
    pub(super) used: Used,
}

impl Inventory<'_> {
    /// Returns whether a pack is stored with the size that index files say.
    pub(super) fn is_good(&self, pack: &PackSummary) -> bool {
        self.stored.get(&pack.id) == Some(&pack.size_bytes)
    }
}

/// Takes inventory, leaving out the snapshots `going`. Snapshots are read first, so that everything they name
/// is in the index.
pub(super) fn take<'a>(
    repository: &'a Repository,
    going: &[Id],
    progress: &dyn Progress,
) -> Result<Inventory<'a>> {
    let mut listed = snapshots(repository)?;
    listed.snapshots.retain(|(id, _)| !going.contains(id));
    let roots: Vec<Id> = listed.complete()?.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let survey = repository.load_index(progress)?.survey()?;
    let packs = survey.packs()?;
    if let Some(pack) = packs.iter().find(|pack| pack.is_split) {
        let file = FileName { kind: FileKind::Pack, id: pack.id };
        return Err(Error::SplitPack { file });
    }
    let mut used = mark_used(repository, &survey, &roots, progress)?;
    if !used.problems.is_empty() {
        let count = used.problems.len() + used.untold_count;
        let first = used.problems.swap_remove(0);
        let first = format!("{}: {}", shown_path(&first.path), first.error);
        return Err(Error::Needed { first, count });
    }
    let stored = repository.storage().list(FileKind::Pack)?.into_iter().collect();
    Ok(Inventory { survey, packs, stored, used })
}

/// Returns all snapshots. Prune would remove what an overlooked snapshot needs, and nothing verifies a list,
/// so two lists must agree.
fn snapshots(repository: &Repository) -> Result<SnapshotList> {
    verified(|| {
        let listed = repository.snapshots()?;
        let (sound, unread) =
            (listed.snapshots.iter().map(|(id, _)| *id), listed.unread.iter().map(|(id, _)| *id));
        let first: BTreeSet<Id> = sound.chain(unread).collect();
        let again: BTreeSet<Id> =
            repository.storage().list(FileKind::Snapshot)?.into_iter().map(|(id, _)| id).collect();
        if first == again {
            return Ok(listed);
        }
        Err(Error::damage("the list of snapshots", "it differed when it was read again; nothing was removed"))
    })
}
