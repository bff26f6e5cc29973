//! A repository in a directory.
//!
//! Stores files so that they survive a crash, laid out as restic lays them out.
//!
//! Files appear by `disk::publish` with mode 0600, directories with 0700. restic makes its files 0400, to
//! protect them from accidental writes. It neither needs nor checks that; each program can read and remove
//! the other's files, because removing a file needs rights on its directory only. As in restic, a config
//! that its group may read means that a group shares the repository: then new files are readable by the
//! group too. What an interrupted write leaves has no name of 64 digits, so it is not a file of the
//! repository. No later write has the same name; prune removes it.

use super::{Storage, absent, check_size};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use disk::Disk;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// What `disk::publish` adds to the name of a file until it is whole.
const UNFINISHED: &str = ".new";

/// Of a repository that a group shares: everybody in it may read files, and make and remove them.
const SHARED_FILE: u32 = 0o640;
const SHARED_DIRECTORY: u32 = 0o770;
const GROUP_READS: u32 = 0o040;
/// Files in such a directory get its group.
const GROUP_OF_DIRECTORY: u32 = 0o2000;

/// A directory that keeps a repository.
#[derive(Debug)]
pub struct LocalStorage {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    /// Directories that are there, durably: as this process made sure.
    ready: Mutex<BTreeSet<PathBuf>>,
    /// Whether a group shares the repository, once that was looked up.
    is_shared: OnceLock<bool>,
    /// Directories in which files were removed, not yet durably.
    removed: Mutex<BTreeSet<(FileKind, PathBuf)>>,
}

impl LocalStorage {
    /// Returns the storage in the directory `root`, which need not be there before [`Storage::create`].
    pub fn new(disk: Arc<dyn Disk>, root: PathBuf) -> LocalStorage {
        // Another process may have removed files whose removal is not durable yet; a crash would bring them
        // back.
        let of_others = [FileKind::Snapshot, FileKind::Index].map(|kind| (kind, root.join(kind.directory())));
        let removed = Mutex::new(of_others.into_iter().collect());
        LocalStorage { disk, root, ready: Mutex::default(), is_shared: OnceLock::new(), removed }
    }

    /// Returns the directory that a file lies in, and its name there.
    fn place(&self, name: FileName) -> (PathBuf, String) {
        let path = name.path();
        match path.rsplit_once('/') {
            Some((directory, file)) => (self.root.join(directory), file.to_owned()),
            None => (self.root.clone(), path),
        }
    }

    fn path(&self, name: FileName) -> PathBuf {
        self.root.join(name.path())
    }

    /// Creates a directory that may be missing: copies of repositories often lack the empty ones.
    ///
    /// Does nothing else: if no file of the repository exists, its disk is probably not mounted, and new
    /// files would be hidden under the mount point.
    fn make_ready(&self, directory: &Path) -> Result<()> {
        if locked(&self.ready).contains(directory) {
            return Ok(());
        }
        if self.names_in(&self.root)?.is_empty() {
            return Err(Error::NoRepository { address: self.address() });
        }
        let is_new = self.is_shared() && self.disk.list(directory).is_err_and(|error| error.is_not_found());
        // Also for an existing one: the process that created it may have been killed before its name was
        // durable.
        self.disk.create_directory(directory)?;
        if is_new {
            // New entries may inherit the group of their directory.
            let above = directory.parent().map_or(Ok(None), |above| self.disk.mode(above))?;
            self.disk.set_mode(directory, SHARED_DIRECTORY | above.unwrap_or(0) & GROUP_OF_DIRECTORY)?;
        }
        locked(&self.ready).insert(directory.to_owned());
        Ok(())
    }

    /// Returns whether a group shares the repository.
    fn is_shared(&self) -> bool {
        *self.is_shared.get_or_init(|| {
            let mode = self.disk.mode(&self.path(FileName::CONFIG)).ok().flatten();
            mode.is_some_and(|mode| mode & GROUP_READS != 0)
        })
    }

    /// Lists a directory; one that is missing is empty.
    fn names_in(&self, directory: &Path) -> Result<Vec<OsString>> {
        match self.disk.list(directory) {
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            other => Ok(other?),
        }
    }

    /// Adds the files of one directory whose name begins with `digits`, with their sizes.
    fn list_into(&self, directory: &Path, digits: &str, files: &mut Vec<(Id, u64)>) -> Result<()> {
        for name in self.names_in(directory)? {
            let Some(id) =
                name.to_str().filter(|name| name.starts_with(digits)).and_then(|name| name.parse().ok())
            else {
                continue;
            };
            match self.disk.size(&directory.join(&name)) {
                Ok(size) => files.push((id, size)),
                // It was removed meanwhile, or it is not a file.
                Err(error) if error.is_not_found() || is_of(&error, ErrorKind::IsADirectory) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Makes removals of files of other kinds durable.
    ///
    /// A prune removes snapshots, then index files, then packs. It relies on this: no crash brings back a
    /// file that refers to a removed one. Files of one kind never refer to each other, so their removals are
    /// made durable together. Removals that no other kind follows are never made durable: a file that comes
    /// back then refers to nothing that was removed. Locks refer to nothing, and nothing refers to them.
    fn settle_removals_before(&self, kind: FileKind) -> Result<()> {
        if kind == FileKind::Lock {
            return Ok(());
        }
        // Held until all is durable: another thread's removal must wait for that too.
        let mut removed = locked(&self.removed);
        let others: Vec<_> = removed.iter().filter(|(other, _)| *other != kind).cloned().collect();
        for other in others {
            match self.disk.sync_directory(&other.1) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => removed.remove(&other),
            };
        }
        Ok(())
    }

    /// Returns the remains of killed writes, except of keys and locks, which are written without a lock.
    fn unfinished(&self) -> Result<Vec<PathBuf>> {
        let [snapshots, indexes, packs] = [FileKind::Snapshot, FileKind::Index, FileKind::Pack]
            .map(|kind| self.root.join(kind.directory()));
        let names = self.names_in(&packs)?;
        let digits = names.iter().filter_map(|name| name.to_str().filter(|name| is_two_digits(name)));
        let mut found = Vec::new();
        for directory in [snapshots, indexes].into_iter().chain(digits.map(|digits| packs.join(digits))) {
            let names = self.names_in(&directory)?;
            let left = names.iter().filter(|name| name.to_str().is_some_and(is_unfinished));
            found.extend(left.map(|name| directory.join(name)));
        }
        Ok(found)
    }

    /// Words an error of the disk for a file of the repository.
    fn failed(&self, name: FileName, error: disk::Error) -> Error {
        match error {
            error if error.is_not_found() => absent(name, self.address()),
            disk::Error::Io { path, source, .. } if source.kind() == ErrorKind::UnexpectedEof => {
                Error::damage(path.display(), source.to_string())
            }
            error => error.into(),
        }
    }
}

impl Storage for LocalStorage {
    fn address(&self) -> String {
        self.root.display().to_string()
    }

    fn create(&self) -> Result<()> {
        for kind in FileKind::MANY {
            self.disk.create_directory(&self.root.join(kind.directory()))?;
        }
        Ok(())
    }

    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>> {
        let directory = self.root.join(kind.directory());
        let mut files = Vec::new();
        match kind {
            FileKind::Config => {
                files.extend(self.size(FileName::CONFIG)?.map(|size| (FileName::CONFIG.id, size)));
            }
            FileKind::Pack => {
                for name in self.names_in(&directory)? {
                    if let Some(digits) = name.to_str().filter(|name| is_two_digits(name)) {
                        self.list_into(&directory.join(digits), digits, &mut files)?;
                    }
                }
            }
            _ => self.list_into(&directory, "", &mut files)?,
        }
        Ok(files)
    }

    fn read(&self, name: FileName) -> Result<Vec<u8>> {
        let path = self.path(name);
        check_size(name, self.disk.size(&path).map_err(|error| self.failed(name, error))?)?;
        self.disk.read(&path).map_err(|error| self.failed(name, error))
    }

    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        let bytes = self.disk.read_range(&self.path(name), offset, length as usize);
        bytes.map_err(|error| self.failed(name, error))
    }

    fn size(&self, name: FileName) -> Result<Option<u64>> {
        match self.disk.size(&self.path(name)) {
            Err(error) if error.is_not_found() => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()> {
        let (directory, file) = self.place(name);
        self.make_ready(&directory)?;
        let published = disk::publish(&*self.disk, &directory, &file, bytes);
        if published.is_ok() && self.is_shared() {
            // Not every file system has modes; the file is written completely all the same.
            let _ = self.disk.set_mode(&directory.join(&file), SHARED_FILE);
        }
        published.map_err(|error| {
            // A full disk must not stay full of useless files. If the removal fails as well, the first error
            // says more.
            let _ = self.disk.remove(&directory.join(format!("{file}{UNFINISHED}")));
            error.into()
        })
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.settle_removals_before(name.kind)?;
        let result = self.disk.remove(&self.path(name));
        // Noted only after the removal: settling before it would achieve nothing. Noted even after an error,
        // because the file may be gone nevertheless.
        if name.kind != FileKind::Lock {
            locked(&self.removed).insert((name.kind, self.place(name).0));
        }
        Ok(result?)
    }

    /// A list made after a file was published contains it. Of two processes that write and then look, at
    /// least one sees the other, so waiting would add nothing.
    fn settle_time(&self) -> Duration {
        Duration::ZERO
    }

    fn unfinished_count(&self) -> Result<u64> {
        Ok(self.unfinished()?.len() as u64)
    }

    fn remove_unfinished(&self) -> Result<u64> {
        let unfinished = self.unfinished()?;
        for path in &unfinished {
            self.disk.remove(path)?;
        }
        Ok(unfinished.len() as u64)
    }
}

/// Returns whether a file has the temporary name that `disk::publish` uses.
fn is_unfinished(name: &str) -> bool {
    name.strip_suffix(UNFINISHED).is_some_and(|digits| digits.parse::<Id>().is_ok())
}

fn is_of(error: &disk::Error, kind: ErrorKind) -> bool {
    matches!(error, disk::Error::Io { source, .. } if source.kind() == kind)
}

/// Returns whether it is the name of a directory of packs.
fn is_two_digits(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'a'..=b'f'))
}

/// What these locks protect is complete at any time, even after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
