//! What comes back from an archive: messages, mailboxes as they stood, deleted mail, tags.
//!
//! In: an open repository, its snapshots, a mailbox. Out: what the index searches and what lies on the disk again. Snapshots must have been
//! listed before the repository's index was read.

use crate::error::{Problem, Result};
use crate::held::{Doubt, Held};
use crate::joined::ReadingFrom;
use crate::known::{Known, place};
use crate::learned::{Learned, lists};
use crate::lost::{LostReport, Trees, lost};
use crate::moment::moment;
use crate::places::{Kept, best, sources};
use crate::settled::settled;
use crate::standing::Standing;
use crate::undelete::{Back, Folders, Undeleted, put_back};
use archive::{BlobKind, Id, Progress, Repository, Snapshot};
use index::{Environment, Hit, Inventory, Mailbox, Moment, MomentFile, PayloadReader, Root};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A repository beside a mailbox.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a> {
    /// Where the index and what is known of backups lie.
    pub environment: &'a Environment,
    /// The repository.
    pub repository: &'a Repository,
}

/// What becomes of what snapshots left that were forgotten earlier, and that nothing names any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// It stays for now.
    Stay,
    /// It goes, too.
    Go,
}

/// What an undelete did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndeleteReport {
    /// Messages that are back.
    pub done: Vec<Undeleted>,
    /// Messages that were not gone.
    pub present_count: u64,
    /// Files that hold a message already which the index takes for gone: it does not look there.
    pub unindexed: Vec<PathBuf>,
    /// Messages that could not be put back.
    pub problems: Vec<Problem>,
    /// Whether somebody asked to stop before all was done.
    pub is_interrupted: bool,
}

impl<'a> Archive<'a> {
    /// Returns the messages of the archive, for searches ([`index::Scope::WithAbsent`]), for showing and for making an index anew. Only the
    /// latter needs snapshots.
    pub fn held(&self, snapshots: &[Snapshot], progress: &'a dyn Progress) -> Held<'a> {
        let vault = Box::new(ReadingFrom::new(self.repository));
        Held::new(vault, (self.learned(), Doubt::IsNo), trees(snapshots), progress)
    }

    /// Returns the same for who forgets messages that the archive does not have: it is an error if nobody can say.
    pub fn held_for_sure(&self, progress: &'a dyn Progress) -> Held<'a> {
        let vault = Box::new(ReadingFrom::new(self.repository));
        Held::new(vault, (self.learned(), Doubt::IsAnError), Vec::new(), progress)
    }

    /// Returns what lay where, for [`Mailbox::at`]: of each root as the snapshot has it that [`crate::standing`] chose of these.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`].
    pub fn moment(
        &self,
        snapshots: &[Snapshot],
        chosen: &[Standing],
        progress: &dyn Progress,
    ) -> Result<Moment> {
        let (vault, learned) = (ReadingFrom::new(self.repository), self.learned());
        let mut all = Moment::default();
        for Standing { snapshot, roots } in chosen {
            let Some(snapshot) = snapshots.get(*snapshot) else { continue };
            let one = moment(&vault, &learned, &snapshot.tree, roots, progress)?;
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

    /// Puts absent messages back into the folders where snapshots have them, if these are below a root of the index; or all into `folder`.
    /// Snapshots of this host are believed before others, newer before older ones. Nothing is written below a root that is not there.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`] before anything is put back. What a single message says is a problem.
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
        let (vault, learned) = (ReadingFrom::new(self.repository), self.learned());
        let host = &self.repository.surroundings().hostname;
        let roots: Vec<Root> = settled(mailbox.roots());
        let sources = sources(snapshots, &roots, host, &|path| path.is_dir());
        let places = best(&vault, &learned, &sources, &wanted, progress)?;
        let missing = missing_roots(self.environment, &roots)?;
        let mut folders = Folders::default();
        // Each directory is made durable once, at the end: what is back is said after that.
        for (sha256, message_id) in order {
            if progress.is_interrupted() {
                report.is_interrupted = true;
                break;
            }
            let back = destination(places.get(&sha256), folder, &missing).and_then(|(kept, folder)| {
                put_back(&vault, kept, folder, &mut folders).map_err(|error| error.to_string())
            });
            match back {
                Ok(Back::Put(undeleted)) => report.done.push(undeleted),
                Ok(Back::Present(path)) => report.unindexed.push(path),
                Err(what) => report.problems.push(Problem { path: format!("<{message_id}>").into(), what }),
            }
        }
        for (path, error) in folders.sync() {
            let what = format!("what is back in it may go with a power failure: {error}");
            report.problems.push(Problem { path, what });
        }
        Ok(report)
    }

    /// Returns the absent ones of these messages, each once, with their Message-IDs, and counts the others.
    fn absent(
        &self,
        mailbox: &Mailbox,
        hits: &[Hit],
        report: &mut UndeleteReport,
    ) -> Result<Vec<([u8; 32], String)>> {
        let mut reader = PayloadReader::new();
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

    /// Returns the messages that would exist nowhere if the snapshots `going` were removed and only `staying` stayed. Without a mailbox,
    /// those that no snapshot would have any more.
    ///
    /// # Errors
    /// The storage cannot be reached; damage in the index; [`crate::Error::Interrupted`]. Trees that cannot be read are problems.
    pub fn lost(
        &self,
        mailbox: Option<&Mailbox>,
        (going, staying): (&[Snapshot], &[Snapshot]),
        forgotten: Forgotten,
        progress: &dyn Progress,
    ) -> Result<LostReport> {
        let is_present = |ids: &[[u8; 32]]| match mailbox {
            Some(mailbox) => Ok(mailbox.has_files(ids)?),
            None => Ok(vec![false; ids.len()]),
        };
        let all = match forgotten {
            Forgotten::Stay => None,
            Forgotten::Go => Some(self.all_trees()?),
        };
        let (vault, learned) = (ReadingFrom::new(self.repository), self.learned());
        let (going, staying) = (trees(going), trees(staying));
        let trees = Trees { going: &going, staying: &staying, all: all.as_deref() };
        lost((&vault, &learned), &trees, &is_present, progress)
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

    /// Returns what tables know, and where they lack something the lists in snapshots.
    fn learned(&self) -> Learned<'a> {
        let repository = self.repository;
        let tables = Known::open(&self.environment.disk, &place(&self.environment.data, &repository.id()));
        let read = move || {
            let threads = repository.surroundings().thread_count;
            let listed = archive::snapshot::list(repository.storage(), repository.key(), threads)?;
            let snapshots: Vec<Snapshot> =
                listed.snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
            lists(&ReadingFrom::new(repository), &snapshots)
        };
        Learned::new(tables.known(), Box::new(read))
    }
}

/// Returns the roots that are not there: of each the directory is missing, or it holds not one of the folders that the index knows in it, as where a
/// disk is not mounted.
fn missing_roots(environment: &Environment, roots: &[Root]) -> Result<Vec<PathBuf>> {
    let inventory = Inventory::open(environment)?;
    let is_missing = |root: &&Root| {
        let mut folders = inventory.folders().iter().filter(|folder| folder.root == root.name).peekable();
        let has_any = folders.peek().is_none() || folders.any(|folder| folder.directory.join("cur").is_dir());
        !root.path.is_dir() || !has_any
    };
    Ok(roots.iter().filter(is_missing).map(|root| root.path.clone()).collect())
}

/// Returns a message's file and the folder that it belongs into, or why it cannot be put back.
fn destination<'a>(
    kept: Option<&'a Kept>,
    folder: Option<&'a Path>,
    missing: &[PathBuf],
) -> std::result::Result<(&'a Kept, &'a Path), String> {
    let kept =
        kept.ok_or("no snapshot has it any more; until a prune \"pneu view --format raw\" shows it")?;
    let Some(folder) = folder.or(kept.here.as_deref()) else {
        let lay = String::from_utf8_lossy(&kept.folder);
        return Err(format!(
            "it lay in {lay}, which is below no root of this index; say where to with --to DIR"
        ));
    };
    match missing.iter().find(|root| folder.starts_with(root)) {
        Some(root) => {
            Err(format!("{} is not there, or has no folder; is a disk not mounted?", root.display()))
        }
        None => Ok((kept, folder)),
    }
}

fn trees(snapshots: &[Snapshot]) -> Vec<Id> {
    snapshots.iter().map(|snapshot| snapshot.tree).collect()
}
