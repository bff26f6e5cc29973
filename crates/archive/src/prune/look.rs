//! Looks at all of a repository before anything is removed from it.
//!
//! Comes in: a repository. Goes out: what is there, what is used, and which packs are stored. Whatever snapshots need and cannot be had is
//! an error: a fault in the storage or in an index file must never look like something nobody uses.

use crate::again::verified;
use crate::blob_index::{PackSummary, Survey};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::snapshot::{self, Listed};
use crate::storage::{FileKind, FileName};
use crate::used::{Used, mark_used};
use crate::walk::shown_path;
use std::collections::{BTreeSet, HashMap};

/// What there is.
pub(super) struct Look<'a> {
    pub(super) survey: Survey<'a>,
    /// By number: what index files say of them.
    pub(super) packs: Vec<PackSummary>,
    /// The packs that are stored, with their sizes in bytes.
    pub(super) stored: HashMap<Id, u64>,
    pub(super) used: Used,
}

impl Look<'_> {
    /// Says whether a pack is stored as index files say.
    pub(super) fn is_good(&self, pack: &PackSummary) -> bool {
        self.stored.get(&pack.id) == Some(&pack.size_bytes)
    }
}

/// Looks at everything but the snapshots `going`: snapshots first, so that all that they name is in the
/// index.
pub(super) fn look<'a>(
    repository: &'a Repository,
    going: &[Id],
    progress: &dyn Progress,
) -> Result<Look<'a>> {
    let mut listed = snapshots(repository)?;
    listed.snapshots.retain(|(id, _)| !going.contains(id));
    if let Some((_, error)) = listed.unread.into_iter().next() {
        return Err(error);
    }
    let roots: Vec<Id> = listed.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let survey = repository.load_index(progress)?.survey()?;
    let packs = survey.packs()?;
    if let Some(pack) = packs.iter().find(|pack| pack.is_split) {
        let file = FileName { kind: FileKind::Pack, id: pack.id };
        return Err(Error::damage(file, "no index file has all of its blobs; see: pneu archive check"));
    }
    let mut used = mark_used(repository, &survey, &roots, progress)?;
    if !used.problems.is_empty() {
        let count = used.problems.len() + used.untold_count;
        let first = used.problems.swap_remove(0);
        let first = format!("{}: {}", shown_path(&first.path), first.error);
        return Err(Error::Needed { first, count });
    }
    let stored = repository.storage().list(FileKind::Pack)?.into_iter().collect();
    Ok(Look { survey, packs, stored, used })
}

/// Returns all snapshots. What they need goes if one is not seen, and nothing verifies a list: so it has to
/// be the same twice.
fn snapshots(repository: &Repository) -> Result<Listed> {
    let threads = repository.surroundings().thread_count;
    verified(|| {
        let listed = snapshot::list(repository.storage(), repository.key(), threads)?;
        let (sound, unread) =
            (listed.snapshots.iter().map(|(id, _)| *id), listed.unread.iter().map(|(id, _)| *id));
        let first: BTreeSet<Id> = sound.chain(unread).collect();
        let again: BTreeSet<Id> =
            repository.storage().list(FileKind::Snapshot)?.into_iter().map(|(id, _)| id).collect();
        if first == again {
            return Ok(listed);
        }
        Err(Error::damage("the list of snapshots", "it is not the same twice, and nothing was removed"))
    })
}
