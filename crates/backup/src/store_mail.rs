//! Stores all mail: every directory of the layout, from the deepest up, each as a tree.
//!
//! In: the files that the index knows, what the last backup knows, a repository. Out: the tree at the top, what is to be known next
//! time, and what was left out. Of a directory in which nothing changed neither files nor tree are written. Writes no snapshot.

use crate::entry::{Content, Entry, EntryView, Stat, look};
use crate::error::{Error, Problem, Result};
use crate::expected::{self, Expected};
use crate::known::{Changes, Known, KnownDirectory};
use crate::layout::{Directory, Folder, Layout, child, layout, root_of, split};
use crate::messages::{Present, Source, Stored, Whereabouts, store};
use crate::own::{OwnFiles, PATH, StoredOwn, store_own};
use crate::piece_list::{NAME, PieceList};
use crate::settled::settled_folders;
use crate::unchanged::{Unchanged, unchanged};
use archive::Id;
use index::{Inventory, Place};
use mail::Boundary;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
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
        fresh: PieceList::default(),
        problems: Vec::new(),
    };
    source.known.map_or(Ok(()), |known| work.changes.carry(known))?;
    for number in refused {
        let path = inventory.folders().get(number).map_or(PathBuf::new(), |folder| folder.directory.clone());
        work.problems
            .push(Problem { path, what: "it is no plain absolute path, and was left out".to_owned() });
    }
    let done = work.messages()?;
    let mut top = None;
    // What lies in a directory has a longer path than it, so it comes first here.
    for (path, directory) in layout.iter().rev().filter(|(path, _)| !done.contains(*path)) {
        source.progress.check()?;
        if path.is_empty() {
            // All messages are stored by now: it says of what some consist.
            work.own(own)?;
        }
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
            if *found != Some(true) && !inventory.listed(folder, place)?.is_empty() {
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

/// Says whether what lies in the place of a `cur` or `new` may be read: a directory, or a link to one with mail.
fn leads_to_mail(place: &Path, root: &Boundary) -> std::io::Result<bool> {
    Ok(!place.symlink_metadata()?.is_symlink() || root.leads_to_place(place)?)
}

/// Where things lie, for all threads.
struct Site<'a> {
    source: &'a Source<'a>,
    inventory: &'a Inventory,
    layout: &'a Layout,
}

/// What became of a directory.
enum Finished<'a> {
    /// It is not stored: there is nothing in it, or the problem says why.
    Left(Option<Problem>),
    /// It is as the last snapshot has it.
    Unchanged(Stat, Unchanged),
    /// It was stored.
    Stored(Box<StoredDirectory<'a>>),
}

/// A directory that was stored.
struct StoredDirectory<'a> {
    stat: Stat,
    number: Option<u32>,
    tree_before: Option<Id>,
    tree: Id,
    /// Whether that is the tree which the last snapshot has, of which nothing need be noted.
    is_known: bool,
    /// What became of its files, but for themselves: nobody needs them any more.
    stored: Stored<'a>,
}

/// What is under way.
struct Work<'a> {
    site: &'a Site<'a>,
    changes: Changes,
    /// Directories that were stored, by that which holds them.
    children: HashMap<Vec<u8>, Vec<Entry>>,
    counts: Counts,
    /// The pieces of messages that were stored now, cut or compressed.
    fresh: PieceList,
    problems: Vec<Problem>,
}

impl<'a> Site<'a> {
    /// Stores a directory in which there are `entries` already, and in which files are expected that were renamed into it meanwhile.
    fn store(
        &self,
        path: &[u8],
        directory: &Directory,
        entries: Vec<Entry>,
        renamed: Vec<Expected<'a>>,
    ) -> Result<Finished<'a>> {
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
        let root = Boundary::new(Path::new(OsStr::from_bytes(directory.root(path))));
        if directory.messages.is_some() {
            match leads_to_mail(&place, &root) {
                Ok(true) => {}
                Ok(false) => {
                    return Ok(left(
                        place,
                        "it is a link to a directory that is no mail; it is not followed",
                    ));
                }
                Err(error) => return Ok(left(place, &error.to_string())),
            }
        }
        let before = self.source.known.map(|known| known.directory(path)).transpose()?.unwrap_or_default();
        let expected = expected::messages(self.inventory, directory, (&place, &root));
        if let (Ok(expected), true) =
            (&expected, entries.is_empty() && renamed.is_empty() && !directory.has_extras)
            && directory.messages.is_some()
            && let Some(unchanged) = unchanged(self.source, &place, expected, &before)?
        {
            return Ok(Finished::Unchanged(stat, unchanged));
        }
        let expected =
            expected.and_then(|messages| expected::all(messages, renamed, directory, (&place, &root)));
        let expected = match expected {
            Ok(expected) => expected,
            Err(Error::Io { source, .. }) => return Ok(left(place, &source.to_string())),
            Err(Error::Mail(error)) => return Ok(left(place, &error.to_string())),
            Err(error) => return Err(error),
        };
        let stored = if expected.is_empty() {
            Stored::default()
        } else {
            let other =
                self.other_path(path, directory).map(|other| PathBuf::from(OsStr::from_bytes(&other)));
            let places = Whereabouts { here: &place, other: other.as_deref(), root: &root };
            match store(self.source, &places, expected, &before) {
                Err(Error::Io { source, .. }) => return Ok(left(place, &source.to_string())),
                other => other?,
            }
        };
        self.tree_of(stat, entries, &before, stored)
    }

    /// Writes the tree of a directory, if the last snapshot does not have it.
    fn tree_of(
        &self,
        stat: Stat,
        entries: Vec<Entry>,
        before: &KnownDirectory<'a>,
        mut stored: Stored<'a>,
    ) -> Result<Finished<'a>> {
        let unchanged_count = stored.difference.unchanged_count;
        let is_same = entries.is_empty()
            && stored.problems.is_empty()
            && unchanged_count == before.files.len() as u64
            && unchanged_count == stored.files.len() as u64;
        let known_tree = match before.tree {
            Some(tree) if is_same && self.source.depot.has_tree(&tree)? => Some(tree),
            _ => None,
        };
        let tree = match known_tree {
            Some(tree) => tree,
            None => {
                let directories = entries.iter().map(Entry::view);
                let mut all: Vec<EntryView<'_>> =
                    directories.chain(stored.files.iter().map(Present::entry)).collect();
                all.sort_by(|a, b| a.name.cmp(b.name));
                all.dedup_by(|a, b| a.name == b.name);
                self.source.depot.save_tree(&all)?
            }
        };
        stored.files = Vec::new();
        Ok(Finished::Stored(Box::new(StoredDirectory {
            stat,
            number: before.number,
            tree_before: before.tree,
            tree,
            is_known: known_tree.is_some(),
            stored,
        })))
    }

    /// Says whether nothing is missing if a directory is: a folder may have only one of `cur` and `new`, and no `tmp`.
    fn is_empty(&self, directory: &Directory) -> Result<bool> {
        let Some((number, place)) = directory.messages else { return Ok(directory.is_optional) };
        let Some(folder) = self.inventory.folders().get(number) else { return Ok(true) };
        Ok(self.inventory.listed(folder, place)?.is_empty())
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
fn left<'a>(path: PathBuf, what: &str) -> Finished<'a> {
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
    fn take(&mut self, path: &[u8], finished: Finished<'_>) -> Result<Option<Id>> {
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
        let mut own = own.clone();
        own.files.extend(self.piece_list()?.text().map(|text| (NAME.to_owned(), text.into_bytes())));
        if own.files.is_empty() {
            return Ok(());
        }
        let source = self.site.source;
        let before = source.known.map(|known| known.directory(PATH)).transpose()?.unwrap_or_default();
        let StoredOwn { entries, difference, stat } = store_own(source.depot, &own, &before)?;
        let entries: Vec<EntryView<'_>> = entries.iter().map(Entry::view).collect();
        let tree = source.depot.save_tree(&entries)?;
        self.changes.directory(PATH, tree, (before.number, before.tree), &difference)?;
        self.hand_up(PATH, &stat, tree);
        Ok(())
    }

    /// Returns the pieces of all messages that are cut or compressed and in the archive, whichever snapshot has them.
    fn piece_list(&mut self) -> Result<PieceList> {
        let source = self.site.source;
        let mut list = source.known.map(Known::list).transpose()?.unwrap_or_default();
        let asked: Vec<Id> = list.0.values().flatten().copied().collect();
        let mut has = source.depot.has_pieces(&asked)?.into_iter();
        // Each is asked of, whatever the one before said.
        list.0.retain(|_, pieces| has.by_ref().take(pieces.len()).filter(|has| !has).count() == 0);
        // What was stored now may be on its way.
        list.0.append(&mut self.fresh.0);
        Ok(list)
    }

    /// Takes note of a directory for the next backup.
    fn note(&mut self, path: &[u8], directory: &StoredDirectory<'_>) -> Result<()> {
        let StoredDirectory { number, tree_before, tree, stored, .. } = directory;
        if directory.is_known {
            self.changes.unchanged(path);
        } else {
            self.changes.directory(path, *tree, (*number, *tree_before), &stored.difference)?;
        }
        let known = self.site.source.known;
        for (content, pieces) in &stored.pieces {
            if known.map(|known| known.knows_pieces(*content)).transpose()? != Some(true) {
                self.changes.pieces(*content, pieces)?;
            }
            self.fresh.0.insert(*content, pieces.clone());
        }
        for (message, content) in &stored.compressed {
            let known = known.map(|known| known.compressed_content(message)).transpose()?.flatten();
            if known != Some(*content) {
                self.changes.compressed(*message, *content)?;
            }
            let pieces = self.fresh.0.remove(content).unwrap_or_else(|| vec![Id(*content)]);
            self.fresh.0.insert(*message, pieces);
        }
        Ok(())
    }

    fn count(&mut self, directory: &StoredDirectory<'_>) {
        let (counts, difference) = (&mut self.counts, &directory.stored.difference);
        counts.files_new += difference.new_count;
        counts.files_changed += difference.changed_count;
        counts.files_unchanged += difference.unchanged_count;
        counts.bytes += directory.stored.bytes;
        match directory.tree_before {
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
