//! Files and names, each twice: as running programs see them, and as they certainly are after a crash.
//!
//! Input: changes. Output: the visible state. Does not depend on faults; `images.rs` chooses which of the
//! possible disks a crash leaves.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names and their targets.
pub(super) type Names = BTreeMap<PathBuf, Entry>;

/// The target of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Directory,
    /// The number of an inode.
    File(usize),
}

/// A change of names that is not durable.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Add { path: PathBuf, entry: Entry },
    Remove { path: PathBuf, entry: Entry },
    Rename { from: PathBuf, to: PathBuf, entry: Entry },
}

/// The bytes of a file. Shared, so that a fork costs nothing until it is changed.
#[derive(Clone, Default)]
pub(super) struct Inode {
    pub(super) seen: Arc<Vec<u8>>,
    pub(super) durable: Arc<Vec<u8>>,
    /// This many bytes at the front are the same in both. So a sync costs as much as was written since the
    /// last one, not as much as the file's length.
    pub(super) same_bytes: usize,
}

/// The whole state of a disk.
#[derive(Clone, Default)]
pub(super) struct State {
    /// Never shorter, because a process that has a removed file open can still use it.
    pub(super) inodes: Vec<Inode>,
    pub(super) seen: Names,
    pub(super) durable: Names,
    /// The changes that make `seen` of `durable`, in the order of the requests.
    pub(super) pending: Vec<Change>,
    /// The range of the last write.
    pub(super) last_write: Option<(usize, Range<usize>)>,
}

impl Change {
    /// Applies the change to `names`, as far as possible: earlier changes may be missing there.
    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Change::Add { path, entry } => {
                names.insert(path.clone(), *entry);
            }
            Change::Remove { path, entry } => remove_if_same(names, path, *entry),
            Change::Rename { from, to, entry } => {
                remove_if_same(names, from, *entry);
                names.insert(to.clone(), *entry);
            }
        }
    }

    /// Returns the directory whose sync makes it durable.
    fn directory(&self) -> Option<&Path> {
        match self {
            Change::Add { path, .. } | Change::Remove { path, .. } | Change::Rename { to: path, .. } => {
                path.parent()
            }
        }
    }
}

/// Removes `path` if it has this target. It may have an older one, if the change that removed or replaced
/// that was lost.
fn remove_if_same(names: &mut Names, path: &Path, entry: Entry) {
    if names.get(path) == Some(&entry) {
        names.remove(path);
    }
}

/// Returns whether `path` is a directory in `names`.
pub(super) fn is_directory(names: &Names, path: &Path) -> bool {
    let is_root = path.parent().is_none();
    is_root || names.get(path) == Some(&Entry::Directory)
}

impl State {
    /// Returns a disk with these names, where everything is durable. A name without bytes is a directory.
    pub(super) fn of_durable(files: BTreeMap<PathBuf, Option<Arc<Vec<u8>>>>) -> State {
        let mut state = State::default();
        for (path, bytes) in files {
            let entry = bytes.map_or(Entry::Directory, |bytes| state.add_inode(bytes));
            state.seen.insert(path, entry);
        }
        state.durable = state.seen.clone();
        state
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        let is_file = |entry: &Entry| matches!(entry, Entry::File(_));
        self.seen.iter().filter(|(_, entry)| is_file(entry)).map(|(path, _)| path.clone()).collect()
    }

    pub(super) fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.expect_directory(directory)?;
        let inside = self.seen.keys().filter(|path| path.parent() == Some(directory));
        Ok(inside.filter_map(|path| path.file_name()).map(OsString::from).collect())
    }

    pub(super) fn read(&self, path: &Path) -> io::Result<&[u8]> {
        Ok(&self.inodes[self.find(path)?].seen)
    }

    pub(super) fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
        let range = rest.and_then(|rest| rest.get(..length_bytes));
        let needed_bytes = offset.saturating_add(length_bytes as u64);
        range.map(<[u8]>::to_vec).ok_or_else(|| disk::Error::too_short(bytes.len() as u64, needed_bytes))
    }

    /// Returns a file as text, for the holder of a lock.
    pub(super) fn text(&self, path: &Path) -> String {
        self.read(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }

    pub(super) fn create(&mut self, path: &Path) -> io::Result<usize> {
        let directory = path.parent().ok_or(io::ErrorKind::IsADirectory)?;
        self.expect_directory(directory)?;
        if self.seen.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let entry = self.add_inode(Arc::default());
        self.change(Change::Add { path: path.to_owned(), entry });
        self.find(path)
    }

    pub(super) fn write(&mut self, inode: usize, bytes: &[u8]) {
        let seen = Arc::make_mut(&mut self.inodes[inode].seen);
        let start = seen.len();
        seen.extend_from_slice(bytes);
        self.last_write = Some((inode, start..start + bytes.len()));
    }

    pub(super) fn cut(&mut self, inode: usize, length_bytes: usize) {
        let inode = &mut self.inodes[inode];
        Arc::make_mut(&mut inode.seen).truncate(length_bytes);
        inode.same_bytes = inode.same_bytes.min(length_bytes);
    }

    /// Cuts the file to `length_bytes`; the caller syncs it. Returns its inode and the length.
    pub(super) fn cut_for_append(&mut self, path: &Path, length_bytes: u64) -> io::Result<(usize, usize)> {
        let inode = self.find(path)?;
        let found_bytes = self.inodes[inode].seen.len();
        match usize::try_from(length_bytes) {
            Ok(length_bytes) if length_bytes <= found_bytes => {
                self.cut(inode, length_bytes);
                Ok((inode, length_bytes))
            }
            _ => Err(disk::Error::too_short(found_bytes as u64, length_bytes)),
        }
    }

    pub(super) fn sync(&mut self, inode: usize) {
        let Inode { seen, durable, same_bytes } = &mut self.inodes[inode];
        if *same_bytes < durable.len().max(seen.len()) {
            let durable = Arc::make_mut(durable);
            durable.truncate(*same_bytes);
            durable.extend_from_slice(&seen[*same_bytes..]);
            *same_bytes = seen.len();
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let entry = Entry::File(self.find(from)?);
        if is_directory(&self.seen, to) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.change(Change::Rename { from: from.to_owned(), to: to.to_owned(), entry });
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        match self.find(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(inode) => {
                self.change(Change::Remove { path: path.to_owned(), entry: Entry::File(inode) });
                Ok(())
            }
        }
    }

    /// Creates a directory and its missing parents; the caller calls [`State::sync_new_directories`].
    pub(super) fn create_directory(&mut self, directory: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            directory.ancestors().take_while(|path| !is_directory(&self.seen, path)).collect();
        if missing.iter().any(|path| self.seen.contains_key(*path)) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        for path in missing.into_iter().rev() {
            self.change(Change::Add { path: path.to_owned(), entry: Entry::Directory });
        }
        Ok(())
    }

    pub(super) fn sync_new_directories(&mut self) {
        self.settle(|change| matches!(change, Change::Add { entry: Entry::Directory, .. }));
    }

    pub(super) fn sync_directory(&mut self, directory: &Path) {
        self.settle(|change| change.directory() == Some(directory));
    }

    /// Writes a lock's file: creates or replaces it, without making anything durable.
    pub(super) fn replace_unsynced(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let inode = match self.create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.find(path)?,
            created => created?,
        };
        self.cut(inode, 0);
        self.write(inode, bytes);
        Ok(())
    }

    /// Creates or replaces a file, all of it durable.
    pub(super) fn put(&mut self, path: &Path, bytes: &[u8]) {
        let directory = path.parent().expect("a file has a directory");
        assert!(is_directory(&self.seen, directory), "{} is not there", directory.display());
        let entry = self.add_inode(Arc::new(bytes.to_vec()));
        self.change(Change::Add { path: path.to_owned(), entry });
        self.sync_directory(directory);
    }

    /// Adds a file without a name, all of it durable.
    fn add_inode(&mut self, bytes: Arc<Vec<u8>>) -> Entry {
        let same_bytes = bytes.len();
        self.inodes.push(Inode { seen: Arc::clone(&bytes), durable: bytes, same_bytes });
        Entry::File(self.inodes.len() - 1)
    }

    fn expect_directory(&self, path: &Path) -> io::Result<()> {
        match self.seen.get(path) {
            Some(Entry::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None if !is_directory(&self.seen, path) => Err(self.absence(path)),
            _ => Ok(()),
        }
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<usize> {
        match self.seen.get(path) {
            Some(Entry::File(inode)) => Ok(*inode),
            Some(Entry::Directory) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(self.absence(path)),
        }
    }

    /// Returns the error for a missing name.
    fn absence(&self, path: &Path) -> io::Error {
        let is_file = |path: &Path| matches!(self.seen.get(path), Some(Entry::File(_)));
        if path.ancestors().any(is_file) {
            io::ErrorKind::NotADirectory.into()
        } else {
            io::ErrorKind::NotFound.into()
        }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }

    /// Makes those changes of names durable for which `is_chosen` returns true.
    fn settle(&mut self, is_chosen: impl Fn(&Change) -> bool) {
        let durable = &mut self.durable;
        self.pending.retain(|change| {
            let is_chosen = is_chosen(change);
            if is_chosen {
                change.apply(durable);
            }
            !is_chosen
        });
    }
}
