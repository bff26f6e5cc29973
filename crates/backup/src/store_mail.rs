//! Stores all mail: every directory of the layout, from the deepest up, each as a tree.
//!
//! In: the files that the index knows, what the last backup knows, a repository. Out: the tree at the top, what is to be known next
//! time, and what was left out. Of a directory in which nothing changed neither files nor tree are written. Writes no snapshot.

use crate::compare::{IndexRow, Row};
use crate::entry::{Content, Entry, Stat, look};
use crate::error::{Error, Problem, Result};
use crate::extras::is_stored;
use crate::known::{Changes, KnownDirectory};
use crate::layout::{Directory, Folder, Layout, child, layout, root_of, split};
use crate::messages::{Expected, Source, Stored, Whereabouts, store};
use crate::own::{OwnFiles, PATH, StoredOwn, store_own};
use crate::settled::settled_folders;
use crate::unchanged::{Unchanged, unchanged};
use archive::Id;
use index::{Inventory, Place, StoredFile};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files and directories a backup had to do with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that the last snapshot did not have under their name.
    pub files_new: u64,
    /// Files that it had otherwise.
    pub files_changed: u64,
    /// Files that it had as they are.
    pub files_unchanged: u64,
    /// Directories that it did not have.
    pub directories_new: u64,
    /// Directories that it had otherwise.
    pub directories_changed: u64,
    /// Directories that it had as they are.
    pub directories_unchanged: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// What was stored.
pub(crate) struct StoredMail {
    /// The tree at the top.
    pub tree: Id,
    /// What is to be known next time.
    pub changes: Changes,
    /// How much it was.
    pub counts: Counts,
    /// What was left out, in order of paths.
    pub problems: Vec<Problem>,
}

/// Stores all mail, and beside it what only this program knows.
///
/// # Errors
/// [`Error::NoMail`] if the index knows no folder, [`Error::NoRoot`]; what the archive says; [`Error::Interrupted`].
pub(crate) fn store_mail(source: &Source<'_>, inventory: &Inventory, own: &OwnFiles) -> Result<StoredMail> {
    expect_roots(inventory)?;
    let directories = settled_folders(inventory);
    let known = inventory.folders().iter().map(|folder| folder.path.as_slice());
    let folders: Vec<Folder<'_>> = known.zip(directories.iter().map(PathBuf::as_path)).collect();
    let (layout, refused) = layout(&folders);
    if layout.len() < 2 {
        return Err(Error::NoMail);
    }
    let site = Site { source, inventory, layout: &layout };
    let mut work = Work {
        site: &site,
        changes: Changes::new(source.known),
        children: HashMap::new(),
        counts: Counts::default(),
        problems: Vec::new(),
    };
    for number in refused {
        let path = inventory.folders().get(number).map_or(PathBuf::new(), |folder| folder.directory.clone());
        work.problems
            .push(Problem { path, what: "it is no plain absolute path, and was left out".to_owned() });
    }
    work.own(own)?;
    let done = work.messages()?;
    let mut top = None;
    // What lies in a directory has a longer path than it, so it comes first here.
    for (path, directory) in layout.iter().rev().filter(|(path, _)| !done.contains(*path)) {
        source.progress.check()?;
        let entries = work.children.remove(path).unwrap_or_default();
        let finished = site.store(path, directory, entries, Vec::new())?;
        top = work.take(path, finished)?.or(top);
    }
    let Work { mut changes, counts, mut problems, .. } = work;
    if let (Some(known), true) = (source.known, problems.is_empty()) {
        changes.forget_others(known)?;
    }
    problems.sort();
    Ok(StoredMail { tree: top.ok_or(Error::NoMail)?, changes, counts, problems })
}

/// Refuses to go on without a root: what is in it may be on a disk that is not mounted, and a snapshot without it would look as if all of it
/// had been deleted. The directory where a disk is mounted is there without it: so one directory that the index knows messages in must be.
fn expect_roots(inventory: &Inventory) -> Result<()> {
    let mut is_there: BTreeMap<&Path, Option<bool>> = BTreeMap::new();
    for folder in inventory.folders() {
        let Some(root) = root_of(&folder.path, &folder.directory) else { continue };
        let found = is_there.entry(root).or_default();
        for place in Place::ALL {
            if *found != Some(true) && !inventory.names(folder, place)?.is_empty() {
                *found =
                    Some(look(&folder.directory.join(place.name())).is_ok_and(|stat| stat.is_directory()));
            }
        }
    }
    for (root, found) in is_there {
        if found == Some(false) || !look(root).is_ok_and(|stat| stat.is_directory()) {
            return Err(Error::NoRoot { path: root.to_owned() });
        }
    }
    Ok(())
}

/// Where things lie, for all threads.
struct Site<'a> {
    source: &'a Source<'a>,
    inventory: &'a Inventory,
    layout: &'a Layout,
}

/// What became of a directory.
enum Finished {
    /// It is not stored: there is nothing in it, or the problem says why.
    Left(Option<Problem>),
    /// It is as the last snapshot has it.
    Unchanged(Stat, Unchanged),
    /// It was stored.
    Stored(Box<StoredDirectory>),
}

/// A directory that was stored.
struct StoredDirectory {
    stat: Stat,
    before: KnownDirectory,
    tree: Id,
    /// Whether that is the tree which the last snapshot has, of which nothing need be noted.
    is_known: bool,
    stored: Stored,
}

/// What is under way.
struct Work<'a> {
    site: &'a Site<'a>,
    changes: Changes,
    /// Directories that were stored, by that which holds them.
    children: HashMap<Vec<u8>, Vec<Entry>>,
    counts: Counts,
    problems: Vec<Problem>,
}

impl Site<'_> {
    /// Stores a directory in which there are `entries` already, and in which files are expected that were renamed into it meanwhile.
    fn store(
        &self,
        path: &[u8],
        directory: &Directory,
        entries: Vec<Entry>,
        renamed: Vec<Expected>,
    ) -> Result<Finished> {
        let place = if path.is_empty() { PathBuf::from("/") } else { PathBuf::from(OsStr::from_bytes(path)) };
        let stat = match look(&place) {
            Ok(stat) if stat.is_directory() => stat,
            Ok(_) => return Ok(left(place, "it is no directory any more")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && entries.is_empty() => {
                return Ok(if self.is_empty(directory)? {
                    Finished::Left(None)
                } else {
                    left(place, "it is not there any more")
                });
            }
            Err(error) => return Ok(left(place, &error.to_string())),
        };
        if entries.is_empty()
            && renamed.is_empty()
            && !directory.has_extras
            && let Some(unchanged) = self.unchanged((path, &place), directory)?
        {
            return Ok(Finished::Unchanged(stat, unchanged));
        }
        let expected = match self.expected(&place, directory, renamed) {
            Ok(expected) => expected,
            Err(Error::Io { source, .. }) => return Ok(left(place, &source.to_string())),
            Err(Error::Mail(error)) => return Ok(left(place, &error.to_string())),
            Err(error) => return Err(error),
        };
        let before = self.source.known.map(|known| known.directory(path)).transpose()?.unwrap_or_default();
        let stored = if expected.is_empty() {
            Stored::default()
        } else {
            let other =
                self.other_path(path, directory).map(|other| PathBuf::from(OsStr::from_bytes(&other)));
            let places = Whereabouts { here: &place, other: other.as_deref() };
            match store(self.source, &places, expected, &before) {
                Err(Error::Io { source, .. }) => return Ok(left(place, &source.to_string())),
                other => other?,
            }
        };
        self.tree_of(stat, entries, before, stored)
    }

    /// Writes the tree of a directory, if the last snapshot does not have it.
    fn tree_of(
        &self,
        stat: Stat,
        mut entries: Vec<Entry>,
        before: KnownDirectory,
        mut stored: Stored,
    ) -> Result<Finished> {
        let is_same = entries.is_empty()
            && stored.problems.is_empty()
            && stored.unchanged_count == before.nodes.len() as u64
            && stored.unchanged_count == stored.entries.len() as u64;
        let known_tree = match before.tree {
            Some(tree) if is_same && self.source.depot.has_tree(&tree)? => Some(tree),
            _ => None,
        };
        let tree = match known_tree {
            Some(tree) => tree,
            None => {
                entries.append(&mut stored.entries);
                entries.sort_by(|a, b| a.name.cmp(&b.name));
                entries.dedup_by(|a, b| a.name == b.name);
                self.source.depot.save_tree(&entries)?
            }
        };
        stored.entries = Vec::new();
        let is_known = known_tree.is_some();
        Ok(Finished::Stored(Box::new(StoredDirectory { stat, before, tree, is_known, stored })))
    }

    /// Says whether the messages of a directory are as the last snapshot has them.
    fn unchanged(&self, path: (&[u8], &Path), directory: &Directory) -> Result<Option<Unchanged>> {
        let Some((number, place)) = directory.messages else { return Ok(None) };
        let Some(folder) = self.inventory.folders().get(number) else { return Ok(None) };
        if folder.no_update {
            let Ok(there) = listed(path.1) else { return Ok(None) };
            let names: Vec<&[u8]> = there.iter().map(Vec::as_slice).collect();
            return unchanged(self.source, path, &names);
        }
        unchanged(self.source, path, &self.inventory.names(folder, place)?)
    }

    /// Says whether nothing is missing if a directory is: a folder may have only one of `cur` and `new`, and no `tmp`.
    fn is_empty(&self, directory: &Directory) -> Result<bool> {
        let Some((number, place)) = directory.messages else { return Ok(directory.is_optional) };
        let Some(folder) = self.inventory.folders().get(number) else { return Ok(true) };
        Ok(self.inventory.names(folder, place)?.is_empty())
    }

    /// Returns the files that should be in a directory, in the order of their names.
    fn expected(&self, path: &Path, directory: &Directory, renamed: Vec<Expected>) -> Result<Vec<Expected>> {
        let mut expected = renamed;
        if let Some((number, place)) = directory.messages
            && let Some(folder) = self.inventory.folders().get(number)
        {
            let known = self.inventory.files(folder, place)?.into_iter().map(of_index);
            if folder.no_update {
                let there: BTreeSet<Vec<u8>> = listed(path)?.into_iter().collect();
                expected.extend(known.filter(|file| there.contains(&file.name)));
                expected.extend(there.into_iter().map(|name| Expected { name, index: None }));
            } else {
                expected.extend(known);
            }
        }
        if directory.has_extras {
            expected.extend(extras(path)?.into_iter().map(|name| Expected { name, index: None }));
        }
        expected.sort_by(|a, b| a.name.cmp(&b.name));
        expected.dedup_by(|a, b| a.name == b.name);
        Ok(expected)
    }

    /// Returns the folder's other directory with messages, if that is still to be stored: `cur` comes after `new` here.
    fn other_path(&self, path: &[u8], directory: &Directory) -> Option<Vec<u8>> {
        let (_, Place::New) = directory.messages? else { return None };
        let other = child(split(path)?.0, Place::Cur.name().as_bytes());
        self.layout.contains_key(&other).then_some(other)
    }

    /// Returns the folders whose directories with messages hold no other directories: the directories of each, `new` before `cur`.
    fn folders(&self) -> Vec<Vec<(&Vec<u8>, &Directory)>> {
        let mut folders: BTreeMap<usize, Vec<(&Vec<u8>, &Directory)>> = BTreeMap::new();
        for (path, directory) in self.layout.iter().rev() {
            if let Some((number, _)) = directory.messages {
                folders.entry(number).or_default().push((path, directory));
            }
        }
        let holds_none = |path: &&Vec<u8>| {
            let below = child(path, b"");
            self.layout.range(below.clone()..).next().is_none_or(|(next, _)| !next.starts_with(&below))
        };
        folders.into_values().filter(|folder| folder.iter().map(|(path, _)| path).all(holds_none)).collect()
    }
}

/// Leaves a directory out.
fn left(path: PathBuf, what: &str) -> Finished {
    Finished::Left(Some(Problem { path, what: format!("{what}; it was left out") }))
}

impl Work<'_> {
    /// Stores the directories with messages, folders at the same time as others; returns which these are.
    fn messages(&mut self) -> Result<HashSet<Vec<u8>>> {
        let site = self.site;
        let folders = site.folders();
        let work = Mutex::new(self);
        folders.par_iter().try_for_each(|folder| {
            let mut renamed = Vec::new();
            for (path, directory) in folder {
                site.source.progress.check()?;
                let finished = site.store(path, directory, Vec::new(), std::mem::take(&mut renamed))?;
                if let Finished::Stored(stored) = &finished {
                    renamed.clone_from(&stored.stored.elsewhere);
                }
                work.lock().unwrap_or_else(PoisonError::into_inner).take(path, finished)?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(folders.into_iter().flatten().map(|(path, _)| path.clone()).collect())
    }

    /// Takes note of a directory, and returns the tree if it is the one at the top.
    fn take(&mut self, path: &[u8], finished: Finished) -> Result<Option<Id>> {
        let (stat, tree) = match finished {
            Finished::Left(problem) => {
                self.problems.extend(problem);
                return Ok(None);
            }
            Finished::Unchanged(stat, unchanged) => {
                self.changes.unchanged(path);
                self.counts.files_unchanged += unchanged.file_count;
                self.counts.bytes += unchanged.bytes;
                self.counts.directories_unchanged += 1;
                (stat, unchanged.tree)
            }
            Finished::Stored(stored) => {
                self.note(path, &stored)?;
                self.count(&stored);
                let StoredDirectory { stat, tree, stored, .. } = *stored;
                self.problems.extend(stored.problems);
                (stat, tree)
            }
        };
        Ok(self.hand_up(path, &stat, tree))
    }

    /// Stores what only this program knows.
    fn own(&mut self, own: &OwnFiles) -> Result<()> {
        if own.files.is_empty() {
            return Ok(());
        }
        let source = self.site.source;
        let before = source.known.map(|known| known.directory(PATH)).transpose()?.unwrap_or_default();
        let StoredOwn { entries, nodes, stat } = store_own(source.depot, own, &before)?;
        let tree = source.depot.save_tree(&entries)?;
        self.changes.directory(PATH, tree, &before, &nodes)?;
        self.hand_up(PATH, &stat, tree);
        Ok(())
    }

    /// Takes note of a directory for the next backup.
    fn note(&mut self, path: &[u8], directory: &StoredDirectory) -> Result<()> {
        let StoredDirectory { before, tree, stored, .. } = directory;
        if directory.is_known {
            self.changes.unchanged(path);
        } else {
            self.changes.directory(path, *tree, before, &stored.nodes)?;
        }
        let known = self.site.source.known;
        for (content, pieces) in &stored.pieces {
            if known.map(|known| known.knows_pieces(*content)).transpose()? != Some(true) {
                self.changes.pieces(*content, pieces)?;
            }
        }
        for (message, content) in &stored.compressed {
            let known = known.map(|known| known.compressed_content(message)).transpose()?.flatten();
            if known != Some(*content) {
                self.changes.compressed(*message, *content)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, directory: &StoredDirectory) {
        let (counts, stored) = (&mut self.counts, &directory.stored);
        counts.files_new += stored.new_count;
        counts.files_changed += stored.changed_count;
        counts.files_unchanged += stored.unchanged_count;
        counts.bytes += stored.bytes;
        match directory.before.tree {
            None => counts.directories_new += 1,
            Some(before) if before == directory.tree => counts.directories_unchanged += 1,
            Some(_) => counts.directories_changed += 1,
        }
    }

    /// Makes a directory an entry of the one that holds it; returns the tree of the one at the top.
    fn hand_up(&mut self, path: &[u8], stat: &Stat, tree: Id) -> Option<Id> {
        let Some((parent, name)) = split(path) else { return Some(tree) };
        let entry = Entry { name: name.to_vec(), stat: *stat, content: Content::Directory(tree) };
        self.children.entry(parent.to_vec()).or_default().push(entry);
        None
    }
}

/// Returns what the index says of a file.
fn of_index(file: StoredFile<'_>) -> Expected {
    let row = Row {
        inode: file.inode,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        ctime_ns: file.ctime_ns,
        content: file.sha256,
    };
    Expected { name: file.name.to_vec(), index: Some(IndexRow { row, message_bytes: file.message_bytes }) }
}

/// Returns the names of the messages in a directory, in order: of one that the index does not look at.
fn listed(place: &Path) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    mail::read_directory(place, &mut mail::ScanBuffer::new(), |entry| {
        // Of what cannot be looked at it is said later why.
        if entry.is_message_file().unwrap_or(true) {
            names.push(entry.name.to_vec());
        }
    })?;
    names.sort_unstable();
    Ok(names)
}

/// Returns the names of files in a directory that are stored besides messages.
fn extras(place: &Path) -> Result<Vec<Vec<u8>>> {
    let wrap = |source| Error::Io { action: "read", path: place.to_owned(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(place).map_err(wrap)? {
        let entry = entry.map_err(wrap)?;
        let name = entry.file_name().as_bytes().to_vec();
        // Links are looked through, as everywhere; what they lead to must be a file.
        if is_stored(&name) && std::fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file()) {
            names.push(name);
        }
    }
    Ok(names)
}
