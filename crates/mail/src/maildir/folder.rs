//! Folders below a root, and the problems found on the way to them.
//!
//! A folder is a directory that has a subdirectory `cur` or `new` or both. Any other subdirectory may be a
//! folder too: nested folders, and Maildir++'s `.Folder.Sub`.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use crate::maildir::stamp::Stamp;
use std::fmt;
use std::path::PathBuf;

/// Limits of a walk.
#[derive(Clone, Copy, Debug)]
pub struct FolderLimits {
    /// Depth of a directory below the root.
    pub depth_max: usize,
    /// Directories read in one walk, folders or not.
    pub directory_count_max: usize,
}

/// What was found below a root.
#[derive(Debug, Default)]
pub struct Folders {
    /// The folders, sorted by path. If this and `problems` are empty, the root has no mail.
    pub folders: Vec<Folder>,
    /// Everything that could not be read, sorted by path.
    pub problems: Vec<FolderProblem>,
    /// Directories excluded by a file `.noindex`, relative to the root, sorted.
    pub excluded: Vec<Vec<u8>>,
    /// All directories that were looked at, relative to the root, in no order: folders, those on the way to
    /// folders, and excluded ones. Without `cur`, `new` and `tmp` of folders.
    pub directories: Vec<Vec<u8>>,
    /// The root's own stamp.
    pub stamp: Stamp,
}

/// A Maildir.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The path relative to the root, without `/` at either end; empty for the root itself. See
    /// [`join`](crate::join).
    pub path: Vec<u8>,
    /// Whether it has a directory `cur`, or a link of that name that is not known to lead to anything else.
    pub has_cur: bool,
    /// The same for `new`.
    pub has_new: bool,
    /// Whether a file `.noupdate` here or above tells the index to leave it as it is.
    pub no_update: bool,
    /// Whether it has a `dovecot-keywords` that is not a link.
    pub has_keywords: bool,
    /// The stamp of the folder's own directory, taken before the directory was read.
    pub stamp: Stamp,
}

/// A directory that was not read, or not to its end.
#[derive(Debug)]
pub struct FolderProblem {
    /// The directory or the symbolic link.
    pub path: PathBuf,
    /// The reason.
    pub kind: FolderProblemKind,
}

/// Why a directory was not read.
#[derive(Debug)]
pub enum FolderProblemKind {
    /// It cannot be opened or read.
    Unreadable(Error),
    /// A dangling symbolic link, perhaps to a disk that is not mounted. Worth reporting only where a folder
    /// was known, because programs keep locks and other data in such links.
    Dangling,
    /// A symbolic link or a mount that leads back to a directory above it.
    Loop,
    /// A symbolic link named `cur` or `new` to a directory of another name, outside the root.
    OutsideRoot,
    /// It is deeper than [`FolderLimits::depth_max`].
    TooDeep,
    /// There are more directories than [`FolderLimits::directory_count_max`]; the path is the root's.
    TooMany,
}

impl Default for FolderLimits {
    /// 64 levels, more than any mail program nests, and 2^20 directories, which takes seconds: more means a
    /// link to something that is not mail.
    fn default() -> FolderLimits {
        FolderLimits { depth_max: 64, directory_count_max: 1 << 20 }
    }
}

impl FolderProblem {
    /// Returns whether there may be folders at or below the path that were not seen. These are unknown:
    /// neither present nor gone.
    pub fn hides_folders(&self) -> bool {
        !matches!(self.kind, FolderProblemKind::Loop | FolderProblemKind::OutsideRoot)
    }
}

impl fmt::Display for FolderProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            FolderProblemKind::Unreadable(error) => write!(formatter, "{error}"),
            FolderProblemKind::Dangling => {
                write!(formatter, "the link {path} leads nowhere; is a disk not mounted?")
            }
            FolderProblemKind::Loop => {
                write!(formatter, "{path} leads back to a directory above it; not followed")
            }
            FolderProblemKind::OutsideRoot => {
                write!(formatter, "the link {path} leads to a directory outside the mail; it is not followed")
            }
            FolderProblemKind::TooDeep => {
                write!(formatter, "{path} is too deep below its root; it is not read")
            }
            FolderProblemKind::TooMany => {
                write!(
                    formatter,
                    "{path} holds too many directories; leave some out with a file .noindex in them"
                )
            }
        }
    }
}
