//! Walks the directories below a root in search of folders.
//!
//! Input: a root directory and limits. Output: [`Folders`].
//!
//! Real directories are read first, sorted by path, and symbolic links after them, so that a folder reachable
//! both ways is found under its real path. Each directory costs an open, an fstat, two getdents64 and a
//! close, however many entries it has.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::maildir::folder::{Folder, FolderLimits, FolderProblem, FolderProblemKind, Folders};
use crate::maildir::keywords::KEYWORDS_FILE;
use crate::maildir::link::RootBoundary;
use crate::maildir::path::join;
use crate::maildir::scan::{Directory, EntryKind, ScanBuffer};
use crate::maildir::stamp::{Stamp, stat_file};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A file of this name excludes its folder and everything below it.
pub(crate) const NO_INDEX: &[u8] = b".noindex";
/// A file with this name keeps the index from updating its folder and everything below.
pub(crate) const NO_UPDATE: &[u8] = b".noupdate";
/// Directories of programs other than mail programs: thousands of directories, or copies of all mail. They
/// are not entered unless they are folders themselves, because Maildir++ has folders of such names too.
const OTHER_PROGRAMS: [&[u8]; 8] =
    [b".bzr", b".git", b".hg", b".jj", b".nnmaildir", b".notmuch", b".snapshots", b".svn"];
/// Every file system has one, and only root can read it.
const LOST_AND_FOUND: &[u8] = b"lost+found";

/// Whether a walk obeys `.noindex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoIndex {
    /// It excludes its folder and everything below it.
    LeavesOut,
    /// The file has no effect, so that the directories that it would exclude are found.
    MeansNothing,
}

/// Returns whether a file of this name tells the index to leave out its directory, or to leave it as it is.
pub fn is_folder_setting(name: &[u8]) -> bool {
    name == NO_INDEX || name == NO_UPDATE
}

/// Finds all folders at and below `root`.
pub(crate) fn walk(root: &Path, limits: FolderLimits, no_index: NoIndex) -> Result<Folders> {
    let mut walk = Walk {
        root,
        boundary: RootBoundary::new(root),
        limits,
        no_index,
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

/// A directory still to be read: its path relative to the root, and the setting it inherits.
struct Candidate {
    path: Vec<u8>,
    no_update: bool,
}

/// The entries of one directory that matter here.
#[derive(Default)]
struct Listing {
    directories: Vec<Vec<u8>>,
    links: Vec<Vec<u8>>,
    no_index: bool,
    no_update: bool,
    has_keywords: bool,
}

struct Walk<'a> {
    root: &'a Path,
    boundary: RootBoundary,
    limits: FolderLimits,
    no_index: NoIndex,
    buffer: ScanBuffer,
    /// The path at which each directory was first seen, by device and inode.
    seen: HashMap<(u64, u64), Vec<u8>>,
    /// A stack: the last one is read next.
    pending: Vec<Candidate>,
    /// Symbolic links and the setting they inherit. They are followed when no real directory is left.
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

    /// Returns whether a directory is seen for the first time. If it is one of those above, that is a
    /// problem.
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

    /// Adds a directory if it is a folder, and queues its subdirectories.
    fn take(&mut self, candidate: Candidate, stamp: Stamp, mut listing: Listing) {
        let Candidate { path, no_update } = candidate;
        self.found.directories.push(path.clone());
        if listing.no_index && self.no_index == NoIndex::LeavesOut {
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
        } else if OTHER_PROGRAMS.contains(&last_name(&path)) {
            return;
        }
        // The stack returns the last one first.
        listing.directories.sort_unstable_by(|a, b| b.cmp(a));
        let below = |name: &Vec<u8>| {
            if path.is_empty() { name.clone() } else { [&path, name.as_slice()].join(&b'/') }
        };
        self.pending
            .extend(listing.directories.iter().map(|name| Candidate { path: below(name), no_update }));
        self.links.extend(listing.links.iter().map(|name| (below(name), no_update)));
        if is_folder {
            let has_keywords = listing.has_keywords;
            self.found.folders.push(Folder { path, has_cur, has_new, no_update, has_keywords, stamp });
        }
    }

    /// Returns whether a directory has a subdirectory `name`, which is `cur` or `new`. A link counts unless
    /// it is known to lead to something else: reading it later reports the error, so that the folder does not
    /// count as empty.
    fn has(&mut self, path: &[u8], listing: &Listing, name: &[u8]) -> bool {
        let is_it = |other: &Vec<u8>| other == name;
        if listing.directories.iter().any(is_it) {
            return true;
        }
        let link = join(&join(self.root, path), name);
        if !listing.links.iter().any(is_it) {
            return false;
        }
        match stat_file(&link) {
            Ok(stat) if !stat.is_directory() => false,
            Err(_) => true,
            Ok(_) => {
                let kind = match self.boundary.leads_to_place(&link) {
                    Ok(true) => return true,
                    Ok(false) => FolderProblemKind::OutsideRoot,
                    Err(error) => FolderProblemKind::Unreadable(Error::io("follow the link", &link, error)),
                };
                self.found.problems.push(FolderProblem { path: link, kind });
                false
            }
        }
    }

    fn problem(&mut self, path: &[u8], kind: FolderProblemKind) {
        self.found.problems.push(FolderProblem { path: join(self.root, path), kind });
    }
}

fn list(directory: &Directory, buffer: &mut ScanBuffer) -> Result<Listing> {
    let mut listing = Listing::default();
    directory.read(buffer, |entry| {
        if entry.name == LOST_AND_FOUND {
            return;
        }
        listing.no_index |= entry.name == NO_INDEX;
        listing.no_update |= entry.name == NO_UPDATE;
        let kind = entry.resolve_kind();
        // Dovecot never makes it a link.
        listing.has_keywords |= entry.name == KEYWORDS_FILE && !matches!(kind, Ok(EntryKind::Link));
        match kind {
            // An entry of unknown kind is opened, which reports the reason.
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
