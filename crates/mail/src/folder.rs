//! Finds the folders below a root, without looking at any message file.
//!
//! Comes in: a root directory. Goes out: every Maildir in it, at any depth, each once; and what could not be read, so that nobody takes
//! the unknown for empty. This file must not know what lies in `cur` and `new`.
//!
//! A folder is a directory that holds a directory `cur` or `new` or both. Any other directory in it may be a folder too: nested
//! folders, and Maildir++'s `.Folder.Sub`. Real directories come first, in order of their paths, and symbolic links after them, so
//! that of two ways to one folder the real one counts.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::scan::{Directory, EntryKind, ScanBuffer};
use crate::stamp::stat_file;
use crate::{Error, Result, Stamp};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file that leaves a folder out, with everything below it.
const NO_INDEX: &[u8] = b".noindex";
/// The file that keeps a folder and everything below it as it is in the index.
const NO_UPDATE: &[u8] = b".noupdate";
/// Directories of other programs with thousands of directories inside; not entered unless they are folders themselves, because
/// Maildir++ has folders of such names too.
const FOREIGN: [&[u8]; 8] =
    [b".bzr", b".git", b".hg", b".jj", b".nnmaildir", b".notmuch", b".snapshots", b".svn"];

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
    let mut walk = Walk {
        root,
        limits,
        buffer: ScanBuffer::new(),
        seen: HashMap::new(),
        pending: Vec::new(),
        links: BTreeMap::new(),
        found: Folders::default(),
    };
    walk.enter_root()?;
    loop {
        if let Some(candidate) = walk.pending.pop() {
            walk.enter(candidate);
        } else if let Some((path, no_update)) = walk.links.pop_first() {
            walk.follow(Candidate { path, no_update });
        } else {
            break;
        }
    }
    let mut found = walk.found;
    found.folders.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.problems.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    found.excluded.sort_unstable();
    Ok(found)
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
        !matches!(self.kind, FolderProblemKind::Loop)
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

/// A directory still to be read: its path relative to the root, and what it inherits.
struct Candidate {
    path: Vec<u8>,
    no_update: bool,
}

/// What one directory holds, as far as it matters here.
#[derive(Default)]
struct Listing {
    directories: Vec<Vec<u8>>,
    links: Vec<Vec<u8>>,
    no_index: bool,
    no_update: bool,
}

struct Walk<'a> {
    root: &'a Path,
    limits: FolderLimits,
    buffer: ScanBuffer,
    /// By device and inode, the path at which a directory was first seen.
    seen: HashMap<(u64, u64), Vec<u8>>,
    /// A stack: the last is the next.
    pending: Vec<Candidate>,
    /// Symbolic links and what they inherit, for when no real directory is left.
    links: BTreeMap<Vec<u8>, bool>,
    found: Folders,
}

impl Walk<'_> {
    fn enter_root(&mut self) -> Result<()> {
        let directory = Directory::open(self.root)?;
        self.found.stamp = directory.stamp();
        let listing = list(&directory, &mut self.buffer)?;
        let candidate = Candidate { path: Vec::new(), no_update: false };
        self.remember(&directory, &candidate);
        self.take(candidate, directory.stamp(), listing);
        Ok(())
    }

    /// Reads one directory and notes what is in it.
    fn enter(&mut self, candidate: Candidate) {
        if depth(&candidate.path) > self.limits.depth_max {
            return self.problem(&candidate.path, FolderProblemKind::TooDeep);
        }
        if self.seen.len() >= self.limits.directory_count_max {
            self.pending.clear();
            self.links.clear();
            return self.problem(b"", FolderProblemKind::TooMany);
        }
        let directory = match Directory::open(&join(self.root, &candidate.path)) {
            Ok(directory) => directory,
            Err(error) => return self.problem(&candidate.path, FolderProblemKind::Unreadable(error)),
        };
        if !self.remember(&directory, &candidate) {
            return;
        }
        match list(&directory, &mut self.buffer) {
            Ok(listing) => self.take(candidate, directory.stamp(), listing),
            Err(error) => self.problem(&candidate.path, FolderProblemKind::Unreadable(error)),
        }
    }

    /// Says whether a directory is met for the first time. If it is one of those above, that is worth telling.
    fn remember(&mut self, directory: &Directory, candidate: &Candidate) -> bool {
        let identity = (directory.stamp().device, directory.stamp().inode);
        match self.seen.get(&identity).map(|first| is_at_or_below(&candidate.path, first)) {
            Some(true) => self.problem(&candidate.path, FolderProblemKind::Loop),
            Some(false) => {}
            None => {
                self.seen.insert(identity, candidate.path.clone());
                return true;
            }
        }
        false
    }

    /// Follows a symbolic link, if it leads to a directory.
    fn follow(&mut self, link: Candidate) {
        match stat_file(&join(self.root, &link.path)) {
            Ok(stat) if stat.is_directory() => self.pending.push(link),
            Ok(_) => {}
            Err(error) if error.is_not_found() => self.problem(&link.path, FolderProblemKind::Dangling),
            Err(error) if error.is_link_loop() => self.problem(&link.path, FolderProblemKind::Loop),
            Err(error) => self.problem(&link.path, FolderProblemKind::Unreadable(error)),
        }
    }

    /// Notes a directory if it is a folder, and what is to be read below it.
    fn take(&mut self, candidate: Candidate, stamp: Stamp, mut listing: Listing) {
        let Candidate { path, no_update } = candidate;
        if listing.no_index {
            self.found.excluded.push(path);
            return;
        }
        let no_update = no_update || listing.no_update;
        let has_cur = self.has(&path, &listing, b"cur");
        let has_new = self.has(&path, &listing, b"new");
        let is_folder = has_cur || has_new;
        if is_folder {
            let is_other = |name: &Vec<u8>| !matches!(name.as_slice(), b"cur" | b"new" | b"tmp");
            listing.directories.retain(is_other);
            listing.links.retain(is_other);
        } else if FOREIGN.contains(&last_name(&path)) {
            return;
        }
        // The stack gives back the last first.
        listing.directories.sort_unstable_by(|a, b| b.cmp(a));
        let below = |name: &Vec<u8>| {
            if path.is_empty() { name.clone() } else { [&path, name.as_slice()].join(&b'/') }
        };
        self.pending
            .extend(listing.directories.iter().map(|name| Candidate { path: below(name), no_update }));
        self.links.extend(listing.links.iter().map(|name| (below(name), no_update)));
        if is_folder {
            self.found.folders.push(Folder { path, has_cur, has_new, no_update, stamp });
        }
    }

    /// Says whether a directory has one of a folder's own. A link there counts unless it is known to lead to something else: whoever
    /// reads it then finds out, and does not take the folder for empty.
    fn has(&self, path: &[u8], listing: &Listing, name: &[u8]) -> bool {
        let is_it = |other: &Vec<u8>| other == name;
        let leads_to_directory =
            || stat_file(&join(&join(self.root, path), name)).map_or(true, |stat| stat.is_directory());
        listing.directories.iter().any(is_it) || (listing.links.iter().any(is_it) && leads_to_directory())
    }

    fn problem(&mut self, path: &[u8], kind: FolderProblemKind) {
        self.found.problems.push(FolderProblem { path: join(self.root, path), kind });
    }
}

fn list(directory: &Directory, buffer: &mut ScanBuffer) -> Result<Listing> {
    let mut listing = Listing::default();
    directory.read(buffer, |entry| {
        listing.no_index |= entry.name == NO_INDEX;
        listing.no_update |= entry.name == NO_UPDATE;
        match entry.resolve_kind() {
            // What cannot be told is entered, so that the reason is found and told.
            Ok(EntryKind::Directory | EntryKind::Unknown) | Err(_) => {
                listing.directories.push(entry.name.to_vec());
            }
            Ok(EntryKind::Link) => listing.links.push(entry.name.to_vec()),
            Ok(EntryKind::File | EntryKind::Other) => {}
        }
    })?;
    Ok(listing)
}

fn depth(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count()
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    path.strip_prefix(above).is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
}
