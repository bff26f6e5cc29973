//! What comes back from an archive: messages, mailboxes as they stood, deleted mail, tags.
//!
//! In: an open repository, its snapshots, a mailbox. Out: what the index searches and what lies on the disk again. Snapshots must have been
//! listed before the repository's index was read.

use crate::error::{Problem, Result};
use crate::held::Held;
use crate::joined::ReadingFrom;
use crate::known::{Known, place};
use crate::lost::{LostReport, Trees, lost};
use crate::moment::moment;
use crate::places::newest;
use crate::undelete::{Undeleted, put_back};
use archive::{BlobKind, Id, Progress, Repository, Snapshot};
use index::{Environment, Hit, Mailbox, Moment, PayloadReader, Root};
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
    /// Messages that could not be put back.
    pub problems: Vec<Problem>,
}

impl<'a> Archive<'a> {
    /// Returns the messages of the archive, for searches ([`index::Scope::WithAbsent`]), for showing and for making an index anew. Only the
    /// latter needs snapshots.
    pub fn held(&self, snapshots: &[Snapshot], progress: &'a dyn Progress) -> Held<'a> {
        let vault = Box::new(ReadingFrom::new(self.repository));
        Held::new(vault, self.known(), trees(snapshots), progress)
    }

    /// Returns what lay where in a snapshot, for [`Mailbox::at`]. Paths of the snapshot that are no root of the index count as roots
    /// by their last names.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`].
    pub fn moment(&self, snapshot: &Snapshot, roots: &[Root], progress: &dyn Progress) -> Result<Moment> {
        let mut all = roots.to_vec();
        for path in snapshot.paths.iter().map(PathBuf::from) {
            if !roots.iter().any(|root| root.path == path) {
                let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
                all.push(Root { name, path });
            }
        }
        let known = self.known();
        moment(&ReadingFrom::new(self.repository), known.as_ref(), &snapshot.tree, &all, progress)
    }

    /// Puts absent messages back where the newest snapshot has them, or all into `folder`.
    ///
    /// # Errors
    /// A tree cannot be read; [`crate::Error::Interrupted`]. What a single message says is a problem.
    pub fn undelete(
        &self,
        (mailbox, hits): (&Mailbox, &[Hit]),
        snapshots: &[Snapshot],
        folder: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<UndeleteReport> {
        let mut report = UndeleteReport::default();
        let mut reader = PayloadReader::new();
        let (mut wanted, mut order) = (HashSet::new(), Vec::new());
        for hit in hits {
            if !mailbox.is_absent(hit)? {
                report.present_count += 1;
                continue;
            }
            let message = mailbox.message(hit, &mut reader)?;
            if wanted.insert(message.sha256) {
                order.push((message.sha256, message.rest.message_id));
            }
        }
        let mut newest_first: Vec<&Snapshot> = snapshots.iter().collect();
        newest_first.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.time.ns()));
        let trees: Vec<Id> = newest_first.into_iter().map(|snapshot| snapshot.tree).collect();
        let (vault, known) = (ReadingFrom::new(self.repository), self.known());
        let places = newest(&vault, known.as_ref(), &trees, &wanted, progress)?;
        for (sha256, message_id) in order {
            progress.check()?;
            let back = match places.get(&sha256) {
                Some(kept) => put_back(&vault, kept, folder).map_err(|error| error.to_string()),
                None => Err("no snapshot has it any more; until a prune \"pneu view --format raw\" shows it"
                    .to_owned()),
            };
            match back {
                Ok(undeleted) => report.done.push(undeleted),
                Err(what) => report.problems.push(Problem { path: format!("<{message_id}>").into(), what }),
            }
        }
        Ok(report)
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
        let (vault, known) = (ReadingFrom::new(self.repository), self.known());
        let (going, staying) = (trees(going), trees(staying));
        let trees = Trees { going: &going, staying: &staying, all: all.as_deref() };
        lost((&vault, known.as_ref()), &trees, &is_present, progress)
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

    fn known(&self) -> Option<Known> {
        Known::open(&self.environment.disk, &place(&self.environment.data, &self.repository.id()))
    }
}

fn trees(snapshots: &[Snapshot]) -> Vec<Id> {
    snapshots.iter().map(|snapshot| snapshot.tree).collect()
}
