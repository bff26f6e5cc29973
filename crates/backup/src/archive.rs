//! Reads from a repository: single messages, a mailbox as of a date, deleted mail, and messages that would be
//! lost.
//!
//! Input: an open repository and its snapshots. Output: what the index searches, and files in the Maildirs.
//! List the snapshots before the repository's index is read: all that they name is then in that index.

use crate::blobs::repository::RepositoryReader;
use crate::cache::{Cache, cache_directory};
use crate::choose::ChosenSnapshot;
use crate::error::{Problem, Result};
use crate::lost::find::{LostReport, Trees, find_lost};
use crate::pieces::lists::read_lists;
use crate::read::lookup::PieceLookup;
use crate::read::messages::{ArchivedMessages, IfUnreadable};
use crate::read::moment::moment;
use crate::remedy::Remedy;
use crate::roots::resolved_roots;
use crate::undelete::candidates::{SnapshotFile, best_files, search_order};
use crate::undelete::put_back::{Back, TargetFolders, Undeleted, put_back};
use index::{Environment, Hit, Inventory, Mailbox, Moment, MomentFile, RecordReader, Root};
use restic::{BlobKind, Id, Repository, Snapshot};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use work::Progress;

/// A repository, together with the index of the mailbox that is backed up into it. Cheap to make and to copy.
#[derive(Clone, Copy, Debug)]
pub struct MessageArchive<'a> {
    /// Where the index and the cache of earlier backups lie.
    pub environment: &'a Environment,
    /// The repository.
    pub repository: &'a Repository,
}

/// What happens to trees that no snapshot names any more, because the snapshots were forgotten earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreferenced {
    /// They stay for now.
    Keep,
    /// They are removed too.
    Remove,
}

/// What an undelete did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndeleteReport {
    /// Messages that are back.
    pub done: Vec<Undeleted>,
    /// Messages that were not gone.
    pub present_count: u64,
    /// Files that already hold a message which the index considers deleted, because it does not look there.
    pub unindexed: Vec<PathBuf>,
    /// Messages that could not be put back.
    pub problems: Vec<Problem>,
    /// Whether the user interrupted the operation.
    pub is_interrupted: bool,
}

impl<'a> MessageArchive<'a> {
    /// Returns the messages of the archive: to search them ([`index::Scope::WithAbsent`]), to show them, or
    /// to rebuild an index. Only a rebuild needs `snapshots`. Opens the cache of earlier backups, and reads
    /// nothing from the repository.
    pub fn messages(&self, snapshots: &[Snapshot], progress: &'a dyn Progress) -> ArchivedMessages<'a> {
        let reader = Box::new(RepositoryReader::new(self.repository));
        ArchivedMessages::new(reader, (self.lookup(), IfUnreadable::Absent), trees(snapshots), progress)
    }

    /// Does what [`messages`](MessageArchive::messages) does, for a caller that forgets messages which the
    /// archive does not have: if part of the archive cannot be read, so that a message may be there, asking
    /// for it is an error.
    pub fn messages_strict(&self, progress: &'a dyn Progress) -> ArchivedMessages<'a> {
        let reader = Box::new(RepositoryReader::new(self.repository));
        ArchivedMessages::new(reader, (self.lookup(), IfUnreadable::Fail), Vec::new(), progress)
    }

    /// Returns the former place of each message, for [`Mailbox::at`]. Uses for each root the snapshot that
    /// [`crate::choose_snapshots`] chose for it. Walks the trees of these snapshots.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`].
    pub fn moment(
        &self,
        snapshots: &[Snapshot],
        chosen: &[ChosenSnapshot],
        progress: &dyn Progress,
    ) -> Result<Moment> {
        let (reader, lookup) = (RepositoryReader::new(self.repository), self.lookup());
        let mut all = Moment::default();
        for ChosenSnapshot { snapshot, roots } in chosen {
            let Some(snapshot) = snapshots.get(*snapshot) else { continue };
            let one = moment(&reader, &lookup, &snapshot.tree, roots, progress)?;
            let before = u32::try_from(all.folders.len()).unwrap_or(u32::MAX);
            all.roots.extend(one.roots);
            all.folders.extend(one.folders);
            all.files.extend(one.files.into_iter().map(|file| {
                let folder = file.folder.saturating_add(before);
                MomentFile { folder, ..file }
            }));
        }
        Ok(all)
    }

    /// Puts deleted messages back: into the folders where snapshots have them, if these are below a root of
    /// the index, or all into `folder`. Prefers snapshots of this host, then newer ones. Writes nothing below
    /// a root that is not there. Walks the trees of the snapshots until every message is found.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`] before anything is put back. A message that
    /// cannot be put back is a problem in the report.
    pub fn undelete(
        &self,
        (mailbox, hits): (&Mailbox, &[Hit]),
        snapshots: &[Snapshot],
        folder: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<UndeleteReport> {
        let mut report = UndeleteReport::default();
        let order = self.absent(mailbox, hits, &mut report)?;
        let wanted: HashSet<[u8; 32]> = order.iter().map(|(sha256, _)| *sha256).collect();
        let (reader, lookup) = (RepositoryReader::new(self.repository), self.lookup());
        let host = &self.repository.surroundings().hostname;
        let roots: Vec<Root> = resolved_roots(mailbox.roots());
        let sources = search_order(snapshots, &roots, host, &|path| path.is_dir());
        let places = best_files(&reader, &lookup, &sources, &wanted, progress)?;
        let missing = missing_roots(self.environment, &roots)?;
        let mut folders = TargetFolders::default();
        // Each directory is synced once, at the end, before the report is returned.
        for (sha256, message_id) in order {
            if progress.is_cancelled() {
                report.is_interrupted = true;
                break;
            }
            let back = destination(places.get(&sha256), folder, &missing).and_then(|(kept, folder)| {
                put_back(&reader, kept, folder, &mut folders)
                    .map_err(|error| (error.to_string(), error.remedy()))
            });
            match back {
                Ok(Back::Put(undeleted)) => report.done.push(undeleted),
                Ok(Back::Present(path)) => report.unindexed.push(path),
                Err((what, remedy)) => {
                    let path = format!("<{message_id}>").into();
                    report.problems.push(Problem { path, what, remedy });
                }
            }
        }
        for (path, error) in folders.sync() {
            let what =
                format!("cannot sync it, so restored messages may be lost if the power fails: {error}");
            report.problems.push(Problem::new(path, what));
        }
        Ok(report)
    }

    /// Returns the deleted ones of these messages, each once, with their Message-IDs, and counts the others.
    fn absent(
        &self,
        mailbox: &Mailbox,
        hits: &[Hit],
        report: &mut UndeleteReport,
    ) -> Result<Vec<([u8; 32], String)>> {
        let mut reader = RecordReader::new();
        let (mut seen, mut order) = (HashSet::new(), Vec::new());
        for hit in hits {
            if !mailbox.is_absent(hit)? {
                report.present_count += 1;
                continue;
            }
            let message = mailbox.message(hit, &mut reader)?;
            if seen.insert(message.sha256) {
                order.push((message.sha256, message.rest.message_id));
            }
        }
        Ok(order)
    }

    /// Returns the messages that would exist nowhere if the snapshots `going` were removed and only `staying`
    /// stayed. Without a mailbox, returns those that no snapshot would have any more. Walks the trees of all
    /// these snapshots.
    ///
    /// # Errors
    /// The storage cannot be reached; damage in the index; [`crate::Error::Interrupted`]. Trees that cannot
    /// be read are problems in the report.
    pub fn lost_messages(
        &self,
        mailbox: Option<&Mailbox>,
        (going, staying): (&[Snapshot], &[Snapshot]),
        forgotten: Unreferenced,
        progress: &dyn Progress,
    ) -> Result<LostReport> {
        let is_present = |ids: &[[u8; 32]]| match mailbox {
            Some(mailbox) => Ok(mailbox.has_files(ids)?),
            None => Ok(vec![false; ids.len()]),
        };
        let all = match forgotten {
            Unreferenced::Keep => None,
            Unreferenced::Remove => Some(self.all_trees()?),
        };
        let (reader, lookup) = (RepositoryReader::new(self.repository), self.lookup());
        let (going, staying) = (trees(going), trees(staying));
        let trees = Trees { going: &going, staying: &staying, all: all.as_deref() };
        find_lost((&reader, &lookup), &trees, &is_present, progress)
    }

    fn all_trees(&self) -> Result<Vec<Id>> {
        let mut trees = Vec::new();
        self.repository.index()?.survey()?.for_each(|entry| {
            if entry.blob.kind == BlobKind::Tree {
                trees.push(entry.blob.id);
            }
        })?;
        Ok(trees)
    }

    /// Returns the lookup of pieces: the cache, and the lists in snapshots for what the cache lacks.
    pub(crate) fn lookup(&self) -> PieceLookup<'a> {
        let repository = self.repository;
        let tables =
            Cache::open(&self.environment.disk, &cache_directory(&self.environment.data, &repository.id()));
        let read = move || {
            let listed = repository.snapshots()?;
            let snapshots: Vec<Snapshot> =
                listed.snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
            let mut lists = read_lists(&RepositoryReader::new(repository), &snapshots)?;
            // A snapshot that cannot be read may hold the only list that names a message. One that another
            // process has removed meanwhile holds none.
            let unread = listed.unread.into_iter().map(|(_, error)| error);
            let unread = unread.filter(|error| !matches!(error, restic::Error::Missing { .. }));
            lists.problems.extend(unread.map(|error| error.to_string()));
            Ok(lists)
        };
        PieceLookup::new(tables.cache(), Box::new(read))
    }
}

/// Returns the roots that are not there: the directory is missing, or it holds none of the folders that the
/// index knows in it, as when a disk is not mounted.
fn missing_roots(environment: &Environment, roots: &[Root]) -> Result<Vec<PathBuf>> {
    let inventory = Inventory::open(environment)?;
    let is_missing = |root: &&Root| {
        let mut folders = inventory.folders().iter().filter(|folder| folder.root == root.name).peekable();
        let has_any = folders.peek().is_none() || folders.any(|folder| folder.directory.join("cur").is_dir());
        !root.path.is_dir() || !has_any
    };
    Ok(roots.iter().filter(is_missing).map(|root| root.path.clone()).collect())
}

/// Returns a message's file and its target folder, or why it cannot be put back.
fn destination<'a>(
    kept: Option<&'a SnapshotFile>,
    folder: Option<&'a Path>,
    missing: &[PathBuf],
) -> std::result::Result<(&'a SnapshotFile, &'a Path), (String, Option<Remedy>)> {
    let kept = kept.ok_or_else(|| ("no snapshot has it any more".to_owned(), Some(Remedy::ShowMessage)))?;
    let Some(folder) = folder.or(kept.here.as_deref()) else {
        let lay = String::from_utf8_lossy(&kept.folder);
        let what = format!("it lay in {lay}, which is below no root of this index");
        return Err((what, Some(Remedy::ChooseFolder)));
    };
    match missing.iter().find(|root| folder.starts_with(root)) {
        Some(root) => {
            let what = format!("{} does not exist, or has no folder; is a disk not mounted?", root.display());
            Err((what, None))
        }
        None => Ok((kept, folder)),
    }
}

fn trees(snapshots: &[Snapshot]) -> Vec<Id> {
    snapshots.iter().map(|snapshot| snapshot.tree).collect()
}
