//! What the index takes in from the archive: messages that are on no disk any more, so that they stay findable after it was made anew.
//!
//! In: the repository that the environment or the configuration names. Out: what it holds of this mailbox, or nothing and a sentence. An archive
//! that cannot be asked is no reason to have no index: what it holds can be taken in later. Must not know commands.

use crate::amount::count;
use crate::archived;
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use archive::{Repository, Snapshot};
use backup::{Archive, Held};
use index::{Adopted, Root};

/// Says how to take in later what could not be taken in now.
const LATER: &str = "\"pneu index --archived\" takes in what only the archive has";

/// A repository, and the snapshots of it that have to do with this mailbox.
pub(crate) struct Shelf {
    repository: Repository,
    snapshots: Vec<Snapshot>,
}

/// What came of asking for the archive.
pub(crate) enum Asked {
    /// None is named, or none is to be asked.
    Nobody,
    /// It answers.
    Shelf(Box<Shelf>),
    /// It does not, which was said.
    Failed,
}

/// What was taken in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    adopted: Adopted,
    problems: Vec<String>,
}

impl Shelf {
    /// Opens the repository, if one is named.
    ///
    /// # Errors
    /// It cannot be opened or read.
    pub(crate) fn open(session: &Session, roots: &[Root]) -> Result<Option<Shelf>> {
        let Some((_, repository)) = archived::open_named(session)? else { return Ok(None) };
        // Before its index is read: what they name is in that then.
        let mut snapshots = archived::snapshots(&repository)?;
        let (host, roots) = (&repository.surroundings().hostname, backup::settled(roots));
        snapshots.retain(|snapshot| backup::concerns(snapshot, &roots, host));
        repository.index()?;
        Ok(Some(Shelf { repository, snapshots }))
    }

    /// Returns what it holds.
    pub(crate) fn held<'a>(&'a self, session: &'a Session, progress: &'a Progress) -> Held<'a> {
        let archive = Archive { environment: &session.index, repository: &self.repository };
        archive.held(&self.snapshots, progress)
    }
}

impl Asked {
    /// Opens the repository, if one is named; says why if it cannot be opened.
    pub(crate) fn whoever_is_named(session: &Session, roots: &[Root]) -> Asked {
        Asked::of(Shelf::open(session, roots))
    }

    fn of(opened: Result<Option<Shelf>>) -> Asked {
        match opened {
            Ok(Some(shelf)) => Asked::Shelf(Box::new(shelf)),
            Ok(None) => Asked::Nobody,
            Err(error) => {
                output::complain_why(&error);
                output::complain(format!("the archive could not be asked; once it can be, {LATER}"));
                Asked::Failed
            }
        }
    }

    /// Does the same, but that a repository which was not made yet has nothing, and is no problem.
    pub(crate) fn whoever_is_there(session: &Session, roots: &[Root]) -> Asked {
        match Shelf::open(session, roots) {
            Err(error) if matches!(error.downcast_ref(), Some(archive::Error::NoRepository { .. })) => {
                Asked::Nobody
            }
            opened => Asked::of(opened),
        }
    }
}

impl Taken {
    /// Takes note of what was taken in, and of what could not be.
    pub(crate) fn new(adopted: Adopted, held: &Held<'_>) -> Taken {
        let mut problems = held.problems();
        problems.sort();
        problems.dedup();
        Taken { adopted, problems }
    }

    /// Says what could not be listed, read or unpacked, and whether there was any such.
    pub(crate) fn complain(&self) -> bool {
        for problem in &self.problems {
            output::complain(problem);
        }
        if !self.problems.is_empty() {
            output::complain(format!("something of the archive could not be read; once it can be, {LATER}"));
        }
        if self.adopted.damaged > 0 {
            let messages = count(self.adopted.damaged, "message");
            output::complain(format!("{messages} of the archive could not be unpacked"));
        }
        !self.problems.is_empty() || self.adopted.damaged > 0
    }

    /// Returns the line that says what was taken in, if anything was.
    pub(crate) fn line(&self) -> Option<String> {
        let number = self.adopted.messages;
        (number > 0).then(|| format!("{} taken in that only the archive has", count(number, "message")))
    }
}
