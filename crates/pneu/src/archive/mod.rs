//! The repository that mail is backed up to, as a source of messages whose files are gone.
//!
//! Input: an open repository, its snapshots, views. Output: views that also find what only the repository
//! has, or that show the mail of an earlier time; messages; files that are back. The front end opens, locks
//! and names the repository. What could not be read is data.

mod back_up;
mod lazy;
mod lost;
mod place;
mod shared;

pub use crate::unopened::Unopened;
pub use back_up::BackedUp;
pub use lazy::{LazyArchive, Lookup, OpenOnce, OpenRepository};
pub use lost::About;
pub use place::{PlaceOptions, RepositoryPlace};
pub use shared::{OpenUnasked, SharedArchive};

use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::view::View;
use backup::{ArchivedMessages, MessageArchive, SnapshotChoice, UndeleteReport, UnindexedMessages};
use index::{Adopted, Hit, Root, Scope, Unknown};
use restic::{Id, Repository, Snapshot};
use std::path::Path;
use work::Progress;

/// A repository that answers for messages whose files are gone.
pub struct Archive<'a> {
    archive: MessageArchive<'a>,
    messages: ArchivedMessages<'a>,
}

/// What could not be read or found in a repository, and so may be missing in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// What could not be listed or read, a sentence each.
    pub problems: Vec<String>,
    /// Messages in packs that no index file names.
    pub unindexed: UnindexedMessages,
}

impl Unread {
    /// Returns whether everything could be read.
    pub fn is_empty(&self) -> bool {
        *self == Unread::default()
    }
}

/// Snapshots, and which of them show the mail of a time.
#[derive(Debug)]
pub struct SnapshotsAt {
    /// All snapshots of the repository, with their ids.
    pub all: Vec<(Id, Snapshot)>,
    /// Which of them are used for which roots, by their places in `all`. `None` if no snapshot is old enough.
    pub chosen: SnapshotChoice,
    snapshots: Vec<Snapshot>,
}

impl SnapshotsAt {
    /// Returns the time of the first snapshot of mail, in seconds since 1970.
    pub fn first_seconds(&self) -> Option<i64> {
        backup::first_snapshot_seconds(&self.snapshots)
    }
}

impl<'a> Archive<'a> {
    /// Takes an open repository. Opens the cache of earlier backups, and reads nothing from the repository.
    pub fn new(
        settings: &'a Settings,
        repository: &'a Repository,
        progress: &'a dyn Progress,
    ) -> Archive<'a> {
        let archive = MessageArchive { environment: &settings.environment, repository };
        Archive { archive, messages: archive.messages(&[], progress) }
    }

    /// Returns the same view, which also finds messages that only the repository has. Reads index files, and
    /// more for messages that these do not name.
    ///
    /// # Errors
    /// The repository cannot be reached; [`Error::Cancelled`]; damage of the index. What of the repository
    /// cannot be read is returned.
    pub fn with_absent(&self, view: View) -> Result<(View, Unread)> {
        let (view, ()) = view
            .try_with_mailbox(|mailbox| Ok((mailbox.with_scope(Scope::WithAbsent(&self.messages))?, ())))?;
        Ok((view, self.unread()?))
    }

    fn unread(&self) -> Result<Unread> {
        Ok(Unread { problems: self.messages.problems(), unindexed: self.messages.unindexed()? })
    }

    /// Returns a message by its content's SHA-256. `None` if the repository does not have it.
    ///
    /// # Errors
    /// [`Error::Unindexed`]; the repository cannot be read.
    pub fn message(&self, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        match self.messages.message(sha256)? {
            None if self.messages.is_unindexed(sha256)? => Err(Error::Unindexed),
            other => Ok(other),
        }
    }

    /// Lists the snapshots, and chooses for each root of the view the latest before `end_seconds`, since
    /// 1970. Prefers those of this host.
    ///
    /// # Errors
    /// A snapshot cannot be read.
    pub fn choose(&self, view: &View, end_seconds: i64) -> Result<SnapshotsAt> {
        let repository = self.archive.repository;
        let all = repository.snapshots()?.complete()?;
        let snapshots: Vec<Snapshot> = all.iter().map(|(_, snapshot)| snapshot.clone()).collect();
        let (roots, host) = (backup::resolved_roots(view.roots()), &repository.surroundings().hostname);
        let chosen = backup::choose_snapshots(&snapshots, &roots, host, end_seconds);
        Ok(SnapshotsAt { all, chosen, snapshots })
    }

    /// Returns the view of the mail that the chosen snapshots have, and how much of it the index does not
    /// know. Walks their trees.
    ///
    /// # Errors
    /// A tree cannot be read; [`Error::Cancelled`]; damage of the index.
    pub fn view_at(
        &self,
        view: View,
        snapshots: &SnapshotsAt,
        progress: &dyn Progress,
    ) -> Result<(View, Unknown)> {
        let moment = self.archive.moment(&snapshots.snapshots, &snapshots.chosen.snapshots, progress)?;
        view.try_with_mailbox(|mailbox| mailbox.at(&moment))
    }

    /// Puts back the files of messages that are gone: where snapshots have them, if that is below a root of
    /// the view, or all into `folder`. List the snapshots before anything else is read of the repository.
    ///
    /// # Errors
    /// A tree cannot be read; [`Error::Cancelled`] before anything is put back. A message that cannot be put
    /// back is a problem in the report.
    pub fn undelete(
        &self,
        (view, hits): (&View, &[Hit]),
        snapshots: &[Snapshot],
        folder: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<UndeleteReport> {
        Ok(self.archive.undelete((view.mailbox(), hits), snapshots, folder, progress)?)
    }
}

/// A repository whose messages are imported into an index, so that they are found there.
pub struct ImportSource {
    repository: Repository,
    snapshots: Vec<Snapshot>,
}

/// The result of an import.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// How many messages were added, and how many could not be unpacked.
    pub adopted: Adopted,
    /// What could not be listed or read, a sentence each.
    pub problems: Vec<String>,
}

impl ImportSource {
    /// Takes an open repository, and lists its snapshots of these roots.
    ///
    /// # Errors
    /// Its snapshots or its index cannot be read.
    pub fn read(repository: Repository, roots: &[Root]) -> Result<ImportSource> {
        // Before its index is read, which then has everything that they name.
        let snapshots = repository.snapshots()?.complete()?;
        let mut snapshots: Vec<Snapshot> = snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
        let (host, roots) = (&repository.surroundings().hostname, backup::resolved_roots(roots));
        snapshots.retain(|snapshot| backup::is_relevant(snapshot, &roots, host));
        repository.index()?;
        Ok(ImportSource { repository, snapshots })
    }

    /// Returns the repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Lends the messages to an import.
    pub(crate) fn import<T>(
        &self,
        settings: &Settings,
        progress: &dyn Progress,
        import: impl FnOnce(&ArchivedMessages<'_>) -> Result<(T, Adopted)>,
    ) -> Result<(T, Imported)> {
        let archive = MessageArchive { environment: &settings.environment, repository: &self.repository };
        let messages = archive.messages(&self.snapshots, progress);
        let (other, adopted) = import(&messages)?;
        let mut problems = messages.problems();
        problems.sort();
        problems.dedup();
        Ok((other, Imported { adopted, problems }))
    }
}
