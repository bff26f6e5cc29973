//! Imports messages that only the archive still has into the index, so that they can be found after the index
//! was rebuilt.
//!
//! Uses the repository that the environment or the configuration names. If the archive cannot be read, the
//! index is built without it, with a message: its messages can be imported later. Does not know any command.

use super::repository;
use crate::amount::count;
use crate::output;
use crate::remedy;
use crate::session::Session;
use anyhow::Result;
use pneu::archive::{ImportSource, Imported};
use pneu::{Error, Root};

/// Says how to import later what could not be imported now.
const LATER: &str = "\"pneu index --archived\" adds the messages that only the archive has";

/// The result of opening the archive.
pub(crate) enum ArchiveImport {
    /// None is named, or it is not wanted.
    None,
    /// It is open.
    From(Box<ImportSource>),
    /// It cannot be opened, which was reported.
    Failed,
}

/// Opens the repository, if one is named.
///
/// # Errors
/// It cannot be opened or read.
pub(crate) fn open(session: &Session, roots: &[Root]) -> Result<Option<ImportSource>> {
    let Some(repository) = repository::open_if_named(session)? else { return Ok(None) };
    Ok(Some(ImportSource::read(repository, roots)?))
}

impl ArchiveImport {
    /// Opens the repository, if one is named; says why if it cannot be opened.
    pub(crate) fn if_named(session: &Session, roots: &[Root]) -> ArchiveImport {
        ArchiveImport::of(open(session, roots))
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

    /// Returns the source, if there is one.
    pub(crate) fn source(&self) -> Option<&ImportSource> {
        match self {
            ArchiveImport::From(source) => Some(source),
            ArchiveImport::None | ArchiveImport::Failed => None,
        }
    }

    /// Does the same, but a repository that does not exist yet counts as empty and is not a problem.
    pub(crate) fn if_made(session: &Session, roots: &[Root]) -> ArchiveImport {
        match open(session, roots) {
            Err(error) if is_no_repository(&error) => ArchiveImport::None,
            opened => ArchiveImport::of(opened),
        }
    }
}

fn is_no_repository(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Repository(restic::Error::NoRepository { .. })))
}

/// Reports what could not be listed, read or unpacked. Returns whether there was any.
pub(crate) fn complain(Imported { adopted, problems }: &Imported) -> bool {
    for problem in problems {
        output::complain(problem);
    }
    if !problems.is_empty() {
        output::complain(format!("part of the archive could not be read; once it can be read, {LATER}"));
    }
    if adopted.damaged > 0 {
        let messages = count(adopted.damaged, "message");
        output::complain(format!("{messages} of the archive could not be unpacked"));
    }
    !problems.is_empty() || adopted.damaged > 0
}

/// Returns the line that says what was imported, if anything was.
pub(crate) fn line(imported: &Imported) -> Option<String> {
    let number = imported.adopted.messages;
    (number > 0).then(|| format!("{} added that only the archive has", count(number, "message")))
}
