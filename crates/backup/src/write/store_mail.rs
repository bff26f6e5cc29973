//! Stores all mail: every directory of the layout as a tree, from the deepest up.
//!
//! Input: the files in the index, the cache, a repository. Output: the tree at the top, the update of the
//! cache, and what was left out. For an unchanged directory, neither files nor tree are written. Writes no
//! snapshot.

use crate::blobs::entry::{Content, Entry, EntryView, Stat, look};
use crate::cache::{Cache, CacheUpdate, CachedDirectory};
use crate::error::{Error, Problem, Result};
use crate::names::{PIECES, PNEU_DIRECTORY};
use crate::paths::{child, root_of, split};
use crate::pieces::list::PieceList;
use crate::roots::resolved_folders;
use crate::write::context::BackupContext;
use crate::write::expected::Expected;
use crate::write::files::{FilesOutcome, FilesPlace, PresentFile, StoredFiles, store_files};
use crate::write::layout::{Directory, Folder, Layout, folders_without_directories, layout, levels};
use crate::write::pneu_files::{PneuFiles, StoredPneuFiles, store_pneu_files};
use crate::write::unchanged::{Unchanged, stored};
use index::{Inventory, Subdirectory};
use mail::RootBoundary;
use rayon::prelude::*;
use restic::Id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files and directories a backup has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files whose name the last snapshot does not have.
    pub files_new: u64,
    /// Files that differ from the last snapshot.
    pub files_changed: u64,
    /// Files that are as in the last snapshot.
    pub files_unchanged: u64,
    /// Directories that the last snapshot does not have.
    pub directories_new: u64,
    /// Directories that differ from the last snapshot.
    pub directories_changed: u64,
    /// Directories that are as in the last snapshot.
    pub directories_unchanged: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// The stored mail.
pub(crate) struct StoredMail {
    /// The tree at the top.
    pub tree: Id,
    /// The update of the cache.
    pub changes: CacheUpdate,
    /// Counts of files and directories.
    pub counts: Counts,
    /// What was left out, sorted by path.
    pub problems: Vec<Problem>,
}

/// Stores all mail, and beside it what only this program knows.
///
/// # Errors
/// [`Error::NoMail`] if the index knows no folder, [`Error::NoRoot`]; the repository reports a failure;
/// [`Error::Interrupted`].
pub(crate) fn store_mail(
    context: &BackupContext<'_>,
    inventory: &Inventory,
    pneu_files: &PneuFiles,
) -> Result<StoredMail> {
    expect_roots(inventory)?;
    let directories = resolved_folders(inventory);
    let known = inventory.folders().iter().map(|folder| folder.path.as_slice());
    let folders: Vec<Folder<'_>> = known.zip(directories.iter().map(PathBuf::as_path)).collect();
    let (layout, refused) = layout(&folders);
    if layout.len() < 2 {
        return Err(Error::NoMail);
    }
    context.progress.expect(inventory.file_count(), 0);
    let shared = Shared { context, inventory, layout: &layout };
    let mut work = Work {
        shared: &shared,
        changes: CacheUpdate::new(context.cache),
        children: HashMap::new(),
        counts: Counts::default(),
        new_pieces: PieceList::default(),
        problems: Vec::new(),
    };
    context.cache.map_or(Ok(()), |known| work.changes.carry(known))?;
    for number in refused {
        let path = inventory.folders().get(number).map_or(PathBuf::new(), |folder| folder.directory.clone());
        work.problems.push(Problem::new(path, "it is not a plain absolute path, and was left out"));
    }
    let done = work.messages()?;
    let mut top = None;
    for level in levels(&layout, &done) {
        context.progress.check()?;
        if level.iter().any(|(path, _)| path.is_empty()) {
            // All messages are stored by now: it says of what some consist.
            work.store_pneu_files(pneu_files)?;
        }
        top = work.store_level(level)?.or(top);
    }
    let Work { mut changes, counts, mut problems, .. } = work;
    if let (Some(known), true) = (context.cache, problems.is_empty()) {
        changes.forget_others(known)?;
    }
    problems.sort();
    Ok(StoredMail { tree: top.ok_or(Error::NoMail)?, changes, counts, problems })
}

/// Fails if a root is missing. Its disk may not be mounted, and a snapshot without it would look as if
/// everything in it had been deleted. The mount point itself exists without the disk, so at least one
/// directory with messages in the index must exist.
fn expect_roots(inventory: &Inventory) -> Result<()> {
    let mut is_there: BTreeMap<&Path, Option<bool>> = BTreeMap::new();
    for folder in inventory.folders() {
        let Some(root) = root_of(&folder.path, &folder.directory) else { continue };
        let found = is_there.entry(root).or_default();
        for subdirectory in Subdirectory::ALL {
            if *found != Some(true) && !inventory.listed(folder, subdirectory)?.is_empty() {
                *found = Some(
                    look(&folder.directory.join(subdirectory.name())).is_ok_and(|stat| stat.is_directory()),
                );
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

/// Returns whether a `cur` or `new` may be read: it is a directory, or a link to one with mail.
fn leads_to_mail(place: &Path, root: &RootBoundary) -> std::io::Result<bool> {
    Ok(!place.symlink_metadata()?.is_symlink() || root.leads_to_place(place)?)
}

/// What all threads share.
struct Shared<'a> {
    context: &'a BackupContext<'a>,
    inventory: &'a Inventory,
    layout: &'a Layout,
}

/// The result of storing a directory.
enum Finished<'a> {
    /// It is not stored: it is empty, or the problem says why.
    Skipped(Option<Problem>),
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
    /// Whether this is the tree of the last snapshot, so that nothing need be recorded.
    is_known: bool,
    /// The outcome of its files. The files themselves are no longer needed.
    stored: StoredFiles<'a>,
}

/// The state of a backup.
struct Work<'a> {
    shared: &'a Shared<'a>,
    changes: CacheUpdate,
    /// Directories that were stored, by the path of their parent.
    children: HashMap<Vec<u8>, Vec<Entry>>,
    counts: Counts,
    /// The pieces of messages that were stored now, cut or compressed.
    new_pieces: PieceList,
    problems: Vec<Problem>,
}

impl<'a> Shared<'a> {
    /// Stores a directory that already has `entries`, and that should have files that were renamed into it
    /// meanwhile.
    fn store_directory(
        &self,
        path: &[u8],
        directory: &Directory,
        entries: Vec<Entry>,
        renamed: Vec<Expected<'a>>,
    ) -> Result<Finished<'a>> {
        let place = if path.is_empty() { PathBuf::from("/") } else { PathBuf::from(OsStr::from_bytes(path)) };
        let stat = match look(&place) {
            Ok(stat) if stat.is_directory() => stat,
            Ok(_) => return Ok(skipped(place, "it is no longer a directory")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && entries.is_empty() => {
                return Ok(if self.is_empty(directory)? {
                    Finished::Skipped(None)
                } else {
                    skipped(place, "it no longer exists")
                });
            }
            Err(error) => return Ok(skipped(place, &error.to_string())),
        };
        let root = RootBoundary::new(Path::new(OsStr::from_bytes(directory.root(path))));
        if directory.messages.is_some() {
            match leads_to_mail(&place, &root) {
                Ok(true) => {}
                Ok(false) => {
                    return Ok(skipped(
                        place,
                        "it is a link to a directory outside the mail; it is not followed",
                    ));
                }
                Err(error) => return Ok(skipped(place, &error.to_string())),
            }
        }
        if entries.is_empty()
            && renamed.is_empty()
            && let Some(unchanged) = self.seen_unchanged(path, directory)?
        {
            return Ok(Finished::Unchanged(stat, unchanged));
        }
        let before = self.context.cache.map(|known| known.directory(path)).transpose()?.unwrap_or_default();
        let other = self.other_path(path, directory).map(|other| PathBuf::from(OsStr::from_bytes(&other)));
        let files = FilesPlace {
            directory,
            here: &place,
            has_directories: !entries.is_empty(),
            other: other.as_deref(),
            root: &root,
            seen: self.context.seen.get(path),
        };
        let stored = match store_files(self.context, self.inventory, &files, renamed, &before) {
            Ok(FilesOutcome::Unchanged(unchanged)) => return Ok(Finished::Unchanged(stat, unchanged)),
            Ok(FilesOutcome::Stored(stored)) => stored,
            Err(error @ (Error::Io { .. } | Error::Mail(_))) => {
                let what = match error {
                    Error::Io { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                if entries.is_empty() {
                    return Ok(skipped(place, &what));
                }
                // The directories in it could be read.
                let problem = Problem::new(place.clone(), format!("{what}; the files in it were left out"));
                StoredFiles { problems: vec![problem], ..StoredFiles::default() }
            }
            Err(error) => return Err(error),
        };
        self.tree_of(stat, entries, &before, stored)
    }

    /// Returns the contents of a directory with messages that the look ahead has seen unchanged.
    fn seen_unchanged(&self, path: &[u8], directory: &Directory) -> Result<Option<Unchanged>> {
        let (Some((number, _)), Some(seen), Some(cache)) =
            (directory.messages, self.context.seen.get(path), self.context.cache)
        else {
            return Ok(None);
        };
        // Where the index does not look, it does not know which files there are.
        let is_followed = self.inventory.folders().get(number).is_some_and(|folder| !folder.no_update);
        if directory.has_extras || !is_followed || !seen.is_unchanged {
            return Ok(None);
        }
        stored(self.context, cache, path)
    }

    /// Writes the tree of a directory, if the last snapshot does not have it.
    fn tree_of(
        &self,
        stat: Stat,
        entries: Vec<Entry>,
        before: &CachedDirectory<'a>,
        mut stored: StoredFiles<'a>,
    ) -> Result<Finished<'a>> {
        let unchanged_count = stored.difference.unchanged_count;
        let is_same = entries.is_empty()
            && stored.problems.is_empty()
            && unchanged_count == before.files.len() as u64
            && unchanged_count == stored.files.len() as u64;
        let known_tree = match before.tree {
            Some(tree) if is_same && self.context.writer.has_tree(&tree)? => Some(tree),
            _ => None,
        };
        let tree = match known_tree {
            Some(tree) => tree,
            None => {
                let directories = entries.iter().map(Entry::view);
                let mut all: Vec<EntryView<'_>> =
                    directories.chain(stored.files.iter().map(PresentFile::entry)).collect();
                // Files are sorted already, each once.
                if !entries.is_empty() {
                    all.sort_by(|a, b| a.name.cmp(b.name));
                    all.dedup_by(|a, b| a.name == b.name);
                }
                self.context.writer.save_tree(&all)?
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

    /// Returns whether nothing is missing if a directory is: a folder may have only one of `cur` and `new`,
    /// and no `tmp`.
    fn is_empty(&self, directory: &Directory) -> Result<bool> {
        let Some((number, subdirectory)) = directory.messages else { return Ok(directory.is_optional) };
        let Some(folder) = self.inventory.folders().get(number) else { return Ok(true) };
        Ok(self.inventory.listed(folder, subdirectory)?.is_empty())
    }

    /// Returns the folder's other directory with messages, if that is still to be stored: `cur` comes after
    /// `new` here.
    fn other_path(&self, path: &[u8], directory: &Directory) -> Option<Vec<u8>> {
        let (_, Subdirectory::New) = directory.messages? else { return None };
        let other = child(split(path)?.0, Subdirectory::Cur.name().as_bytes());
        self.layout.contains_key(&other).then_some(other)
    }
}

/// Returns the result for a directory that is left out.
fn skipped<'a>(path: PathBuf, what: &str) -> Finished<'a> {
    Finished::Skipped(Some(Problem::new(path, format!("{what}; it was left out"))))
}

impl Work<'_> {
    /// Stores the directories with messages, folders at the same time as others; returns which these are.
    fn messages(&mut self) -> Result<HashSet<Vec<u8>>> {
        let shared = self.shared;
        let folders = folders_without_directories(shared.layout);
        let work = Mutex::new(self);
        folders.par_iter().try_for_each(|folder| {
            let mut renamed = Vec::new();
            for (path, directory) in folder {
                shared.context.progress.check()?;
                let finished =
                    shared.store_directory(path, directory, Vec::new(), std::mem::take(&mut renamed))?;
                if let Finished::Stored(stored) = &finished {
                    renamed.clone_from(&stored.stored.moved);
                }
                work.lock().unwrap_or_else(PoisonError::into_inner).take(path, finished)?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(folders.into_iter().flatten().map(|(path, _)| path.clone()).collect())
    }

    /// Stores directories of which none is in another; returns the tree if the top is among them.
    fn store_level(&mut self, level: Vec<(&Vec<u8>, &Directory)>) -> Result<Option<Id>> {
        let shared = self.shared;
        let (with_messages, others): (Vec<_>, Vec<_>) =
            level.into_iter().partition(|(_, directory)| directory.messages.is_some());
        let mut top = None;
        // Files that were renamed from `new` into the folder's `cur`, which comes later, by folder.
        let mut renamed: HashMap<usize, Vec<Expected<'_>>> = HashMap::new();
        for (path, directory) in with_messages {
            shared.context.progress.check()?;
            let entries = self.children.remove(path).unwrap_or_default();
            let number = directory.messages.map(|(number, _)| number);
            let expected = number.and_then(|number| renamed.remove(&number)).unwrap_or_default();
            let finished = shared.store_directory(path, directory, entries, expected)?;
            if let (Finished::Stored(stored), Some(number)) = (&finished, number) {
                renamed.insert(number, stored.stored.moved.clone());
            }
            top = self.take(path, finished)?.or(top);
        }
        let waiting: Vec<(&Vec<u8>, &Directory, Vec<Entry>)> = others
            .into_iter()
            .map(|(path, directory)| (path, directory, self.children.remove(path).unwrap_or_default()))
            .collect();
        let stored: Vec<Result<(&Vec<u8>, Finished<'_>)>> = waiting
            .into_par_iter()
            .map(|(path, directory, entries)| {
                shared.context.progress.check()?;
                Ok((path, shared.store_directory(path, directory, entries, Vec::new())?))
            })
            .collect();
        for finished in stored {
            let (path, finished) = finished?;
            top = self.take(path, finished)?.or(top);
        }
        Ok(top)
    }

    /// Records a directory, and returns the tree if it is the top one.
    fn take(&mut self, path: &[u8], finished: Finished<'_>) -> Result<Option<Id>> {
        let (stat, tree) = match finished {
            Finished::Skipped(problem) => {
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
                self.update_cache(path, &stored)?;
                self.count(&stored);
                let StoredDirectory { stat, tree, stored, .. } = *stored;
                self.problems.extend(stored.problems);
                (stat, tree)
            }
        };
        Ok(self.add_to_parent(path, &stat, tree))
    }

    /// Stores what only this program knows.
    fn store_pneu_files(&mut self, pneu_files: &PneuFiles) -> Result<()> {
        let mut pneu_files = pneu_files.clone();
        pneu_files.files.extend(self.piece_list()?.text().map(|text| (PIECES.to_owned(), text.into_bytes())));
        if pneu_files.files.is_empty() {
            return Ok(());
        }
        let context = self.shared.context;
        let before =
            context.cache.map(|known| known.directory(PNEU_DIRECTORY)).transpose()?.unwrap_or_default();
        let StoredPneuFiles { entries, difference, stat } =
            store_pneu_files(context.writer, &pneu_files, &before)?;
        let entries: Vec<EntryView<'_>> = entries.iter().map(Entry::view).collect();
        let tree = context.writer.save_tree(&entries)?;
        self.changes.directory(PNEU_DIRECTORY, tree, (before.number, before.tree), &difference)?;
        self.add_to_parent(PNEU_DIRECTORY, &stat, tree);
        Ok(())
    }

    /// Returns the pieces of all messages that are cut or compressed and in the archive, whichever snapshot
    /// has them.
    fn piece_list(&mut self) -> Result<PieceList> {
        let context = self.shared.context;
        let mut list = context.cache.map(Cache::list).transpose()?.unwrap_or_default();
        let asked: Vec<Id> = list.0.values().flatten().copied().collect();
        let mut has = context.writer.has_pieces(&asked)?.into_iter();
        // The results for every piece must be consumed, even after a missing one.
        list.0.retain(|_, pieces| has.by_ref().take(pieces.len()).filter(|has| !has).count() == 0);
        // Newly stored pieces may not be in the repository yet.
        list.0.append(&mut self.new_pieces.0);
        Ok(list)
    }

    /// Adds a directory to the update of the cache.
    fn update_cache(&mut self, path: &[u8], directory: &StoredDirectory<'_>) -> Result<()> {
        let StoredDirectory { number, tree_before, tree, stored, .. } = directory;
        if directory.is_known {
            self.changes.unchanged(path);
        } else {
            self.changes.directory(path, *tree, (*number, *tree_before), &stored.difference)?;
        }
        let known = self.shared.context.cache;
        for (content, pieces) in &stored.pieces {
            if known.map(|known| known.knows_pieces(*content)).transpose()? != Some(true) {
                self.changes.pieces(*content, pieces)?;
            }
            self.new_pieces.0.insert(*content, pieces.clone());
        }
        for (message, content) in &stored.compressed {
            let known = known.map(|known| known.compressed_content(message)).transpose()?.flatten();
            if known != Some(*content) {
                self.changes.compressed(*message, *content)?;
            }
            let pieces = self.new_pieces.0.get(content).cloned().unwrap_or_else(|| vec![Id(*content)]);
            self.new_pieces.0.insert(*message, pieces);
        }
        // Only now: several files may have the same compressed content.
        for (_, content) in &stored.compressed {
            self.new_pieces.0.remove(content);
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

    /// Adds a directory to the entries of its parent. Returns the tree if the directory is the top.
    fn add_to_parent(&mut self, path: &[u8], stat: &Stat, tree: Id) -> Option<Id> {
        let Some((parent, name)) = split(path) else { return Some(tree) };
        let entry = Entry { name: name.to_vec(), stat: *stat, content: Content::Directory(tree) };
        self.children.entry(parent.to_vec()).or_default().push(entry);
        None
    }
}
