//! How to import mail, and what an import did.
//!
//! Output: types that the steps of an import share. Does nothing.

use crate::action::LeftAlone;
use crate::error::Error;
use mail::{Dialect, Flags};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

/// Where mail to import is.
pub enum MailInput {
    /// A file or a directory. It may be a link or a pipe: the user named it.
    Path(PathBuf),
    /// A stream, and what it is called in errors.
    Stream(Box<dyn Read>, PathBuf),
}

impl MailInput {
    /// Returns what the user called it.
    pub(super) fn name(&self) -> PathBuf {
        match self {
            MailInput::Path(path) | MailInput::Stream(_, path) => path.clone(),
        }
    }
}

/// How to import mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailImportOptions {
    /// Whether to create the folder if it does not exist. Folders below it are always created.
    pub creates_folder: bool,
    /// Whether all messages go into the folder itself, and none below it.
    pub is_flat: bool,
    /// Flags that all messages get.
    pub flags: Flags,
    /// Tags that all messages get.
    pub tags: BTreeSet<String>,
    /// The dialect of the mbox files.
    pub dialect: Dialect,
    /// Whether to leave out messages that any folder of the index has, not only the one that they go to.
    pub skips_known: bool,
    /// Whether to read everything and write nothing.
    pub is_dry: bool,
}

/// What an import did to one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFolder {
    /// The folder's directory.
    pub path: PathBuf,
    /// What came into it.
    pub counts: ImportCounts,
}

/// Counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Messages that were stored.
    pub imported: u64,
    /// Messages that were there already, or several times in the input.
    pub present: u64,
    /// Messages that the other program had deleted.
    pub deleted: u64,
}

/// What an import did.
#[derive(Debug, Default)]
pub struct MailImported {
    /// The folders that got messages or had them, in order.
    pub folders: Vec<ImportedFolder>,
    /// What could not be read.
    pub problems: Vec<LeftAlone>,
    /// Files in directories that hold no mail.
    pub other_count: u64,
    /// The import was stopped. What was stored by then is there; it is not indexed.
    pub is_interrupted: bool,
    /// Why the messages are stored and not indexed, or not tagged, if so. Another import makes up for it.
    pub unfinished: Option<Error>,
}

impl MailImported {
    /// Returns the counts of all folders.
    pub fn total(&self) -> ImportCounts {
        self.folders.iter().fold(ImportCounts::default(), |sum, folder| sum.plus(folder.counts))
    }
}

impl ImportCounts {
    pub(super) fn plus(self, more: ImportCounts) -> ImportCounts {
        ImportCounts {
            imported: self.imported + more.imported,
            present: self.present + more.present,
            deleted: self.deleted + more.deleted,
        }
    }

    /// Returns how many messages there were.
    pub fn all(self) -> u64 {
        self.imported + self.present + self.deleted
    }
}
