//! Stores all mail: every directory of the layout, from the deepest up, each as a tree.
//!
//! In: the files that the index knows, what the last backup knows, a repository. Out: the tree at the top, what is to be known next
//! time, and what was left out. Of a directory in which nothing changed neither files nor tree are written. Writes no snapshot.

use crate::compare::{IndexRow, Row};
use crate::entry::{Content, Entry, Stat, look};
use crate::error::{Error, Problem, Result};
use crate::extras::is_stored;
use crate::known::{Changes, KnownDirectory};
use crate::layout::{Directory, Folder, Layout, layout, root_of, split};
use crate::messages::{Expected, Source, Stored, Whereabouts, store};
use crate::own::{OwnFiles, PATH, StoredOwn, store_own};
use archive::Id;
use index::{Inventory, Place};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
    let folders: Vec<Folder<'_>> = inventory
        .folders()
        .iter()
        .map(|folder| (folder.path.as_slice(), folder.directory.as_path()))
        .collect();
    let (layout, refused) = layout(&folders);
    if layout.len() < 2 {
        return Err(Error::NoMail);
    }
    expect_roots(&folders)?;
    let mut work = Work {
        source,
        inventory,
        layout: &layout,
        changes: Changes::new(source.known),
        children: HashMap::new(),
        renamed: HashMap::new(),
        counts: Counts::default(),
        problems: Vec::new(),
    };
    for number in refused {
        let path = inventory.folders().get(number).map_or(PathBuf::new(), |folder| folder.directory.clone());
        work.problems
            .push(Problem { path, what: "it is no plain absolute path, and was left out".to_owned() });
    }
    work.own(own)?;
    let mut top = None;
    // What lies in a directory has a longer path than it, so it comes first here.
    for (path, directory) in layout.iter().rev() {
        source.progress.check()?;
        top = work.directory(path, directory)?.or(top);
    }
    let Work { mut changes, counts, mut problems, .. } = work;
    if let (Some(known), true) = (source.known, problems.is_empty()) {
        changes.forget_others(known)?;
    }
    problems.sort();
    Ok(StoredMail { tree: top.ok_or(Error::NoMail)?, changes, counts, problems })
}

/// Refuses to go on without a root: what is in it may be on a disk that is not mounted, and a snapshot without it would look as if all of it
/// had been deleted.
fn expect_roots(folders: &[Folder<'_>]) -> Result<()> {
    let mut roots: Vec<&Path> =
        folders.iter().filter_map(|(below, directory)| root_of(below, directory)).collect();
    roots.sort_unstable();
    roots.dedup();
    for root in roots {
        if !look(root).is_ok_and(|stat| stat.is_directory()) {
            return Err(Error::NoRoot { path: root.to_owned() });
        }
    }
    Ok(())
}

/// What is under way.
struct Work<'a> {
    source: &'a Source<'a>,
    inventory: &'a Inventory,
    layout: &'a Layout,
    changes: Changes,
    /// Directories that were stored, by that which holds them.
    children: HashMap<Vec<u8>, Vec<Entry>>,
    /// Files that were renamed into another directory meanwhile.
    renamed: HashMap<Vec<u8>, Vec<Expected>>,
    counts: Counts,
    problems: Vec<Problem>,
}

impl Work<'_> {
    /// Stores a directory, and returns the tree if it is the one at the top.
    fn directory(&mut self, path: &[u8], directory: &Directory) -> Result<Option<Id>> {
        let place = if path.is_empty() { PathBuf::from("/") } else { PathBuf::from(OsStr::from_bytes(path)) };
        let mut entries = self.children.remove(path).unwrap_or_default();
        let stat = match look(&place) {
            Ok(stat) if stat.is_directory() => stat,
            Ok(_) => return self.leave(place, "it is no directory any more"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && entries.is_empty() => {
                return if self.is_empty(directory)? {
                    Ok(None)
                } else {
                    self.leave(place, "it is not there any more")
                };
            }
            Err(error) => return self.leave(place, &error.to_string()),
        };
        let expected = match self.expected(path, &place, directory) {
            Ok(expected) => expected,
            Err(Error::Io { source, .. }) => return self.leave(place, &source.to_string()),
            Err(error) => return Err(error),
        };
        let before = self.known(path)?;
        let stored = if expected.is_empty() {
            Stored::default()
        } else {
            let other = self.other_place(path, directory);
            let places = Whereabouts { here: &place, other: other.as_deref() };
            store(self.source, &places, expected, &before)?
        };
        let is_same = entries.is_empty()
            && stored.problems.is_empty()
            && stored.unchanged_count == before.nodes.len() as u64
            && stored.unchanged_count == stored.entries.len() as u64;
        let Stored { entries: files, elsewhere, problems, .. } = &stored;
        if let Some(other) = self.other_path(path, directory) {
            self.renamed.entry(other).or_default().extend(elsewhere.iter().cloned());
        }
        self.problems.extend(problems.iter().cloned());
        entries.extend(files.iter().cloned());
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries.dedup_by(|a, b| a.name == b.name);
        let known_tree = match before.tree {
            Some(tree) if is_same && self.source.depot.has_tree(&tree)? => Some(tree),
            _ => None,
        };
        let tree = match known_tree {
            Some(tree) => tree,
            None => self.source.depot.save_tree(&entries)?,
        };
        self.note(path, &stored, (tree, known_tree.is_some()), &before)?;
        self.count(&stored, before.tree, tree);
        Ok(self.hand_up(path, &stat, tree))
    }

    /// Stores what only this program knows.
    fn own(&mut self, own: &OwnFiles) -> Result<()> {
        if own.files.is_empty() {
            return Ok(());
        }
        let before = self.known(PATH)?;
        let StoredOwn { entries, nodes, stat } = store_own(self.source.depot, own, &before)?;
        let tree = self.source.depot.save_tree(&entries)?;
        self.changes.directory(PATH, tree, &before, &nodes)?;
        self.hand_up(PATH, &stat, tree);
        Ok(())
    }

    fn known(&self, path: &[u8]) -> Result<KnownDirectory> {
        Ok(self.source.known.map(|known| known.directory(path)).transpose()?.unwrap_or_default())
    }

    /// Takes note of a directory for the next backup.
    fn note(
        &mut self,
        path: &[u8],
        stored: &Stored,
        (tree, is_same): (Id, bool),
        before: &KnownDirectory,
    ) -> Result<()> {
        if is_same {
            self.changes.unchanged(path);
        } else {
            self.changes.directory(path, tree, before, &stored.nodes)?;
        }
        for (content, pieces) in &stored.pieces {
            if self.source.known.map(|known| known.knows_pieces(*content)).transpose()? != Some(true) {
                self.changes.pieces(*content, pieces)?;
            }
        }
        for (message, content) in &stored.compressed {
            let known =
                self.source.known.map(|known| known.compressed_content(message)).transpose()?.flatten();
            if known != Some(*content) {
                self.changes.compressed(*message, *content)?;
            }
        }
        Ok(())
    }

    /// Leaves a directory out.
    fn leave(&mut self, path: PathBuf, what: &str) -> Result<Option<Id>> {
        self.problems.push(Problem { path, what: format!("{what}; it was left out") });
        Ok(None)
    }

    /// Says whether nothing is missing if a directory is: a folder may have only one of `cur` and `new`, and no `tmp`.
    fn is_empty(&self, directory: &Directory) -> Result<bool> {
        let Some((number, place)) = directory.messages else { return Ok(directory.is_optional) };
        let Some(folder) = self.inventory.folders().get(number) else { return Ok(true) };
        Ok(self.inventory.files(folder, place)?.is_empty())
    }

    /// Returns the files that should be in a directory, in the order of their names.
    fn expected(&mut self, path: &[u8], place: &Path, directory: &Directory) -> Result<Vec<Expected>> {
        let mut expected = self.renamed.remove(path).unwrap_or_default();
        if let Some((number, place)) = directory.messages
            && let Some(folder) = self.inventory.folders().get(number)
        {
            expected.extend(self.inventory.files(folder, place)?.into_iter().map(|file| Expected {
                name: file.name.to_vec(),
                index: Some(IndexRow {
                    row: Row {
                        inode: file.inode,
                        size_bytes: file.size_bytes,
                        mtime_ns: file.mtime_ns,
                        ctime_ns: file.ctime_ns,
                        content: file.sha256,
                    },
                    message_bytes: file.message_bytes,
                }),
            }));
        }
        if directory.has_extras {
            expected.extend(extras(place)?.into_iter().map(|name| Expected { name, index: None }));
        }
        expected.sort_by(|a, b| a.name.cmp(&b.name));
        expected.dedup_by(|a, b| a.name == b.name);
        Ok(expected)
    }

    /// Returns the folder's other directory with messages, if that is still to be stored: `cur` comes after `new` here.
    fn other_path(&self, path: &[u8], directory: &Directory) -> Option<Vec<u8>> {
        let (_, Place::New) = directory.messages? else { return None };
        let other = crate::layout::child(split(path)?.0, Place::Cur.name().as_bytes());
        self.layout.contains_key(&other).then_some(other)
    }

    fn other_place(&self, path: &[u8], directory: &Directory) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(&self.other_path(path, directory)?)))
    }

    fn count(&mut self, stored: &Stored, before: Option<Id>, now: Id) {
        let counts = &mut self.counts;
        counts.files_new += stored.new_count;
        counts.files_changed += stored.changed_count;
        counts.files_unchanged += stored.unchanged_count;
        counts.bytes += stored.bytes;
        match before {
            None => counts.directories_new += 1,
            Some(before) if before == now => counts.directories_unchanged += 1,
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
