//! Finds the folders below a root, without looking at any message file.
//!
//! Comes in: a root directory. Goes out: every Maildir in it, at any depth, each once; and what could not be read, so that nobody takes
//! the unknown for empty. This file must not know what lies in `cur` and `new`.
//!
//! A folder is a directory that holds a directory `cur` or `new` or both. Any other directory in it may be a folder too: nested
//! folders, and Maildir++'s `.Folder.Sub`. How they are found stands in `walk.rs`.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::scan::{Directory, EntryKind, ScanBuffer};
use crate::walk::{NoIndex, walk};
use crate::{Error, Result, Stamp};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct FolderLimits {
    /// Names in the path of a directory below the root.
    pub depth_max: usize,
    /// Directories read in one walk, folders or not.
    pub directory_count_max: usize,
}

/// What is below a root.
#[derive(Debug, Default)]
pub struct Folders {
    /// The folders, in order of their paths. None at all, and no problem: nothing of mail is there.
    pub folders: Vec<Folder>,
    /// What could not be read, in order of paths.
    pub problems: Vec<FolderProblem>,
    /// Paths, relative to the root, of directories left out because of a file `.noindex`; in order.
    pub excluded: Vec<Vec<u8>>,
    /// The root itself.
    pub stamp: Stamp,
}

/// A Maildir.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The path relative to the root, without `/` at either end; empty for the root itself. [`join`] makes it a path.
    pub path: Vec<u8>,
    /// Whether it has a directory `cur`, or a link there that does not lead to something else.
    pub has_cur: bool,
    /// The same for `new`.
    pub has_new: bool,
    /// Whether a file `.noupdate` here or above says that the index should leave it alone.
    pub no_update: bool,
    /// Whether something in it is called `dovecot-keywords`, and is no link.
    pub has_keywords: bool,
    /// The folder's own directory, before it was read.
    pub stamp: Stamp,
}

/// A directory that was not entered, or not read to its end.
#[derive(Debug)]
pub struct FolderProblem {
    /// The directory or the symbolic link.
    pub path: PathBuf,
    /// What kept us out.
    pub kind: FolderProblemKind,
}

/// Why a directory was not entered.
#[derive(Debug)]
pub enum FolderProblemKind {
    /// It cannot be opened or read.
    Unreadable(Error),
    /// A symbolic link that leads nowhere: perhaps to a disk that is not mounted. Worth telling only where a folder was known,
    /// because programs keep locks and other things in such links.
    Dangling,
    /// A symbolic link, or a mount, that leads back to a directory above it.
    Loop,
    /// A symbolic link in the place of `cur` or `new` that leads to a directory of another name, outside of the
    /// root.
    Elsewhere,
    /// It lies deeper than [`FolderLimits::depth_max`].
    TooDeep,
    /// There are more directories than [`FolderLimits::directory_count_max`]; the path is the root's.
    TooMany,
}

/// Finds all folders at and below `root`.
///
/// # Errors
/// [`Error::Io`] if the root itself is missing, no directory, or cannot be read.
pub fn find_folders(root: &Path) -> Result<Folders> {
    find_folders_within(root, FolderLimits::default())
}

/// Does what [`find_folders`] does, within other limits.
///
/// # Errors
/// As [`find_folders`].
pub fn find_folders_within(root: &Path, limits: FolderLimits) -> Result<Folders> {
    walk(root, limits, NoIndex::LeavesOut)
}

/// Returns the folders that a file `.noindex` in `directory` leaves out, itself and those below, as far as they hold mail of their own: links to mail that
/// lies elsewhere are none, nor is what cannot be read. In order of their paths.
pub fn folders_left_out(directory: &Path) -> Vec<PathBuf> {
    let found = walk(directory, FolderLimits::default(), NoIndex::MeansNothing).unwrap_or_default();
    let mut buffer = ScanBuffer::new();
    let mut has_mail = |folder: &PathBuf| {
        [b"cur", b"new"].iter().any(|place| has_files(&join(folder, *place), &mut buffer).unwrap_or(false))
    };
    found.folders.iter().map(|folder| join(directory, &folder.path)).filter(|path| has_mail(path)).collect()
}

fn has_files(directory: &Path, buffer: &mut ScanBuffer) -> Result<bool> {
    Directory::open(directory)?.has(buffer, |entry| {
        let is_file = entry.resolve_kind().is_ok_and(|kind| kind == EntryKind::File);
        is_file && !entry.name.starts_with(b".")
    })
}

/// Returns the path of what lies at `relative` below `root`; the root itself if that is empty.
pub fn join(root: &Path, relative: &[u8]) -> PathBuf {
    if relative.is_empty() { root.to_owned() } else { root.join(OsStr::from_bytes(relative)) }
}

impl Default for FolderLimits {
    /// 64 levels, more than any mail program nests; 2^20 directories, which is seconds: a link into something that is no mail at all.
    fn default() -> FolderLimits {
        FolderLimits { depth_max: 64, directory_count_max: 1 << 20 }
    }
}

impl FolderProblem {
    /// Says whether folders at or below the path may be there unseen: they are then unknown, neither there nor gone.
    pub fn hides_folders(&self) -> bool {
        !matches!(self.kind, FolderProblemKind::Loop | FolderProblemKind::Elsewhere)
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
            FolderProblemKind::Elsewhere => {
                write!(formatter, "the link {path} leads to a directory that is no mail; not followed")
            }
            FolderProblemKind::TooDeep => write!(formatter, "{path} lies too deep below its root; not read"),
            FolderProblemKind::TooMany => {
                write!(
                    formatter,
                    "{path} holds too many directories; leave some out with a file .noindex in them"
                )
            }
        }
    }
}
