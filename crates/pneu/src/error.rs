//! The errors of the library: what happened, where, and a remedy that a front end puts into words.

use crate::message_file::FileError;
use crate::remedy::Remedy;
use crate::setup::roles::Role;
use crate::unopened::Unopened;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A failure of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A query cannot be understood.
    #[error(transparent)]
    Parse(#[from] query::Error),
    /// A query was understood and cannot be answered.
    #[error("{what}")]
    Query {
        /// The place in the text of the query, in bytes.
        span: Range<usize>,
        /// What is wrong.
        what: String,
        /// The remedy, if one is known.
        remedy: Option<index::Remedy>,
    },
    /// No message has this name, and none matches it as a query.
    #[error("there is no message {handle}, and no message matches it as a query")]
    NoMatch {
        /// The name or query.
        handle: String,
    },
    /// A query must match one message, but matches several.
    #[error("{count} messages match {handle}")]
    SeveralMessages {
        /// The query.
        handle: String,
        /// How many messages match.
        count: u64,
    },
    /// A query must match messages of one thread, but matches messages of several.
    #[error("messages of {count} conversations match {handle}")]
    SeveralThreads {
        /// The query.
        handle: String,
        /// How many threads match.
        count: u64,
    },
    /// An action names a folder that there is not.
    #[error("there is no folder {name}")]
    NoFolder {
        /// The name.
        name: String,
        /// A folder with a similar name, if there is one.
        nearest: Option<String>,
    },
    /// An action names a folder by a name that several have.
    #[error("several folders are called {name}: {}", shown(paths))]
    SeveralFolders {
        /// The name.
        name: String,
        /// Their paths.
        paths: Vec<PathBuf>,
    },
    /// A text cannot be the name of a new folder.
    #[error("{name:?} cannot be the name of a folder: {what}")]
    FolderName {
        /// The text.
        name: String,
        /// Why not.
        what: &'static str,
    },
    /// A folder cannot be renamed.
    #[error("{} cannot be renamed: {what}", path.display())]
    FolderStays {
        /// Its path.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// A root has no folder with a role.
    #[error("there is no {} in {}", role.noun(), root.path.display())]
    NoRole {
        /// The root.
        root: index::Root,
        /// The role.
        role: Role,
    },
    /// A line of tags cannot be understood.
    #[error("line {line}: {what}")]
    TagLine {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The log of actions cannot be read.
    #[error("{} is damaged: {what}; if you remove it, that action can no longer be undone", path.display())]
    ActionLog {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An action was logged by a newer version.
    #[error(
        "{} was written by a newer pneu: it has version {version}; this one reads up to {newest}",
        path.display()
    )]
    NewerActionLog {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The newest that this program reads.
        newest: u32,
    },
    /// A new folder is there already.
    #[error("the folder {} exists", path.display())]
    FolderExists {
        /// Its path.
        path: PathBuf,
    },
    /// A pass did not index a file, and no error says why: its folder is excluded.
    #[error("{} is not indexed: its folder is excluded, or another program moved the file", path.display())]
    NotIndexed {
        /// The file.
        path: PathBuf,
    },
    /// A message or a folder could not be stored.
    #[error(transparent)]
    Delivery(mail::Error),
    /// A file or a directory that a pass could not read.
    #[error("{}: {}", .0.path.display(), .0.what)]
    Problem(index::Problem),
    /// The request was cancelled, or its deadline passed.
    #[error("interrupted")]
    Cancelled,
    /// No file of a message can be read as it is indexed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A message is in the repository and cannot be read from there.
    #[error("the archive has the message in a pack that no index file names")]
    Unindexed,
    /// The repository is not opened, because nobody can be asked.
    #[error("the archive cannot be read: {0}")]
    Unopened(#[from] Unopened),
    /// The index reports a failure.
    #[error(transparent)]
    Index(index::Error),
    /// The saved queries cannot be read. A view keeps the reason for as long as it is held.
    #[error(transparent)]
    SavedQueries(Arc<index::Error>),
    /// The repository reports a failure.
    #[error(transparent)]
    Repository(restic::Error),
    /// Reading mail from the repository failed.
    #[error(transparent)]
    Backup(backup::Error),
}

/// The result of the library's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the remedy, if one is known.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Parse(error) => {
                matches!(error.problem, query::Problem::UnknownQuery { nearest: None, .. })
                    .then_some(Remedy::SaveQuery)
            }
            Error::Query { remedy, .. } => remedy.map(Remedy::Index),
            Error::SeveralMessages { .. } | Error::SeveralThreads { .. } => Some(Remedy::NarrowQuery),
            Error::Index(error) => error.remedy().map(Remedy::Index),
            Error::SavedQueries(error) => error.remedy().map(Remedy::Index),
            Error::File(error) => error.remedy(),
            Error::Unindexed => Some(Remedy::RepairRepositoryIndex),
            Error::Repository(error) => error.remedy().map(Remedy::Repository),
            Error::Backup(error) => error.remedy().map(Remedy::Backup),
            Error::Problem(problem) => problem.remedy.map(Remedy::Index),
            Error::NoFolder { nearest: None, .. } => Some(Remedy::CreateFolder),
            Error::SeveralFolders { .. } => Some(Remedy::NameByPath),
            Error::NoRole { role, .. } => Some(Remedy::NameRole(*role)),
            Error::NoFolder { .. }
            | Error::ActionLog { .. }
            | Error::NewerActionLog { .. }
            | Error::TagLine { .. }
            | Error::FolderExists { .. }
            | Error::FolderStays { .. }
            | Error::NotIndexed { .. }
            | Error::FolderName { .. }
            | Error::Delivery(_)
            | Error::NoMatch { .. }
            | Error::Unopened(_)
            | Error::Cancelled => None,
        }
    }
}

/// Returns paths as one text.
fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>().join(", ")
}

impl From<index::Error> for Error {
    fn from(error: index::Error) -> Error {
        match error {
            index::Error::Query { span, what, remedy } => Error::Query { span, what, remedy },
            index::Error::Interrupted => Error::Cancelled,
            // An error of the repository that the index was asked to read.
            index::Error::Archive(source) => match source.downcast::<backup::Error>() {
                Ok(error) => (*error).into(),
                Err(source) => Error::Index(index::Error::Archive(source)),
            },
            other => Error::Index(other),
        }
    }
}

impl From<restic::Error> for Error {
    fn from(error: restic::Error) -> Error {
        match error {
            restic::Error::Interrupted => Error::Cancelled,
            other => Error::Repository(other),
        }
    }
}

impl From<backup::Error> for Error {
    fn from(error: backup::Error) -> Error {
        match error {
            backup::Error::Interrupted => Error::Cancelled,
            backup::Error::Index(error) => error.into(),
            other => Error::Backup(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_repository_keeps_its_meaning_on_its_way_through_the_index() {
        let through = |error: backup::Error| Error::from(index::Error::archive(error));
        assert!(matches!(through(backup::Error::Interrupted), Error::Cancelled));
        let locked = restic::Error::Locked { address: "here".into(), by: "by ana".into() };
        let remedy = backup::Remedy::Repository(restic::Remedy::RemoveStaleLocks);
        assert_eq!(through(locked.into()).remedy(), Some(Remedy::Backup(remedy)));
        let no_index = || index::Error::NoIndex { path: "/data".into() };
        assert_eq!(through(no_index().into()).remedy(), Error::from(no_index()).remedy());
        let other = Error::from(index::Error::archive("another archive's"));
        assert_eq!(other.to_string(), "another archive's");
    }
}
