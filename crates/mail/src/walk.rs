//! Walks the directories below a root in search of folders.
//!
//! Comes in: a root directory and limits. Goes out: what was found, as `folder.rs` describes it. This file must not know what is done
//! about it.
//!
//! Real directories come first, in order of their paths, and symbolic links after them, so that of two ways to one folder the real
//! one counts. Each directory costs an open, an fstat, two getdents64 and a close, whatever lies in it.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::folder::{Folder, FolderLimits, FolderProblem, FolderProblemKind, Folders, join};
use crate::keywords::KEYWORDS_FILE;
use crate::link::Boundary;
use crate::scan::{Directory, EntryKind, ScanBuffer};
use crate::stamp::stat_file;
use crate::{Error, Result, Stamp};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The file that leaves a folder out, with everything below it.
const NO_INDEX: &[u8] = b".noindex";
/// The file that keeps a folder and everything below it as it is in the index.
const NO_UPDATE: &[u8] = b".noupdate";
/// What programs other than mail programs keep: thousands of directories, or copies of all mail. What is in them is left alone unless
/// they are folders themselves, because Maildir++ has folders of such names too.
const FOREIGN: [&[u8]; 8] =
    [b".bzr", b".git", b".hg", b".jj", b".nnmaildir", b".notmuch", b".snapshots", b".svn"];
/// Where file systems put what was lost; on every disk of its own, and only root may read it.
const LOST_AND_FOUND: &[u8] = b"lost+found";

/// What a file `.noindex` means to a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoIndex {
    /// The folder is left out, with everything below it.
    LeavesOut,
    /// Nothing: what is left out is looked for.
    MeansNothing,
}

/// Finds all folders at and below `root`.
pub(crate) fn walk(root: &Path, limits: FolderLimits, no_index: NoIndex) -> Result<Folders> {
    let mut walk = Walk {
        root,
        boundary: Boundary::new(root),
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
    has_keywords: bool,
}

struct Walk<'a> {
    root: &'a Path,
    boundary: Boundary,
    limits: FolderLimits,
    no_index: NoIndex,
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
            let has_keywords = listing.has_keywords;
            self.found.folders.push(Folder { path, has_cur, has_new, no_update, has_keywords, stamp });
        }
    }

    /// Says whether a directory has one of a folder's own. A link there counts unless it is known to lead to something else: whoever
    /// reads it then finds out, and does not take the folder for empty.
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
                    Ok(false) => FolderProblemKind::Elsewhere,
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
        // Dovecot makes no link of it.
        listing.has_keywords |= entry.name == KEYWORDS_FILE && !matches!(kind, Ok(EntryKind::Link));
        match kind {
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
