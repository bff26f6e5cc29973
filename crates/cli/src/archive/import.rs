//! Imports messages that only the archive still has into the index, so that they can be found after the index
//! was rebuilt.
//!
//! Uses the repository that the environment or the configuration names. If the archive cannot be read, the
//! index is made without it, with a message: its messages can be imported later. Does not know any command.

use super::repository;
use crate::amount::count;
use crate::output;
use crate::progress::Progress;
use crate::remedy;
use crate::session::Session;
use anyhow::Result;
use backup::{ArchivedMessages, MessageArchive};
use index::{Adopted, Root};
use restic::{Repository, Snapshot};

/// Says how to import later what could not be imported now.
const LATER: &str = "\"pneu index --archived\" adds the messages that only the archive has";

/// A repository, and the snapshots of it that have to do with this mailbox.
pub(crate) struct ImportSource {
    repository: Repository,
    snapshots: Vec<Snapshot>,
}

/// What came of asking for the archive.
pub(crate) enum ArchiveImport {
    /// None is named, or none is to be asked.
    None,
    /// It answers.
    From(Box<ImportSource>),
    /// It does not, which was said.
    Failed,
}

/// What was imported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imported {
    adopted: Adopted,
    problems: Vec<String>,
}

impl ImportSource {
    /// Opens the repository, if one is named.
    ///
    /// # Errors
    /// It cannot be opened or read.
    pub(crate) fn open(session: &Session, roots: &[Root]) -> Result<Option<ImportSource>> {
        let Some((_, repository)) = repository::open_if_named(session)? else { return Ok(None) };
        // Before its index is read: what they name is in that then.
        let snapshots = repository.snapshots()?.complete()?;
        let mut snapshots: Vec<Snapshot> = snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
        let (host, roots) = (&repository.surroundings().hostname, backup::resolved_roots(roots));
        snapshots.retain(|snapshot| backup::is_relevant(snapshot, &roots, host));
        repository.index()?;
        Ok(Some(ImportSource { repository, snapshots }))
    }

    /// Returns what it holds.
    pub(crate) fn messages<'a>(
        &'a self,
        session: &'a Session,
        progress: &'a Progress,
    ) -> ArchivedMessages<'a> {
        let archive = MessageArchive { environment: &session.index, repository: &self.repository };
        archive.messages(&self.snapshots, progress)
    }
}

impl ArchiveImport {
    /// Opens the repository, if one is named; says why if it cannot be opened.
    pub(crate) fn if_named(session: &Session, roots: &[Root]) -> ArchiveImport {
        ArchiveImport::of(ImportSource::open(session, roots))
    }

    fn of(opened: Result<Option<ImportSource>>) -> ArchiveImport {
        match opened {
            Ok(Some(source)) => ArchiveImport::From(Box::new(source)),
            Ok(None) => ArchiveImport::None,
            Err(error) => {
                remedy::complain_why(&error);
                output::complain(format!("the archive could not be read; once it can be read, {LATER}"));
                ArchiveImport::Failed
            }
        }
    }

    /// Does the same, but that a repository which was not made yet has nothing, and is no problem.
    pub(crate) fn if_made(session: &Session, roots: &[Root]) -> ArchiveImport {
        match ImportSource::open(session, roots) {
            Err(error) if matches!(error.downcast_ref(), Some(restic::Error::NoRepository { .. })) => {
                ArchiveImport::None
            }
            opened => ArchiveImport::of(opened),
        }
    }
}

impl Imported {
    /// Takes note of what was imported, and of what could not be.
    pub(crate) fn new(adopted: Adopted, messages: &ArchivedMessages<'_>) -> Imported {
        let mut problems = messages.problems();
        problems.sort();
        problems.dedup();
        Imported { adopted, problems }
    }

    /// Says what could not be listed, read or unpacked, and whether there was any such.
    pub(crate) fn complain(&self) -> bool {
        for problem in &self.problems {
            output::complain(problem);
        }
        if !self.problems.is_empty() {
            output::complain(format!("part of the archive could not be read; once it can be read, {LATER}"));
        }
        if self.adopted.damaged > 0 {
            let messages = count(self.adopted.damaged, "message");
            output::complain(format!("{messages} of the archive could not be unpacked"));
        }
        !self.problems.is_empty() || self.adopted.damaged > 0
    }

    /// Returns the line that says what was imported, if anything was.
    pub(crate) fn line(&self) -> Option<String> {
        let number = self.adopted.messages;
        (number > 0).then(|| format!("{} added that only the archive has", count(number, "message")))
    }
}
