//! A disk that writes each file of one directory twice: first to `copy/` below the directory, then to the
//! directory itself.
//!
//! Input: a disk and a store's directory. Output: a disk that writes to both directories. Does not depend
//! on the content of files. `write/second_copy.rs` explains the second copy.
//!
//! Each operation is done in the second directory first, and a sync syncs both. So at any moment each
//! directory is a store that keeps the rules of writing and holds all acknowledged commits. They differ
//! only in what was being written. Reads use the first directory.

use crate::file::names;
use disk::{Disk, File, Lock, Map, Result, Wait};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A disk on which the files in one directory are written twice.
#[derive(Debug)]
pub(crate) struct Mirror {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    second: PathBuf,
}

/// A file that is written twice.
struct MirrorFile {
    second: Box<dyn File>,
    own: Box<dyn File>,
}

impl Mirror {
    /// Returns a disk that writes the files in `directory` twice.
    pub(crate) fn new(disk: &Arc<dyn Disk>, directory: &Path) -> Mirror {
        Mirror {
            disk: Arc::clone(disk),
            directory: directory.to_owned(),
            second: directory.join(names::SECOND),
        }
    }

    /// Returns the path of the second copy of a file, if the file is in the directory.
    fn second(&self, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?;
        (path.parent() == Some(&self.directory)).then(|| self.second.join(name))
    }
}

impl Disk for Mirror {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        let mut names = self.disk.list(directory)?;
        if directory == self.directory {
            // A file that a crash left in only one of them has no meaning but takes the name. It is removed
            // too.
            match self.disk.list(&self.second) {
                Ok(others) => {
                    let others = others.into_iter().filter(|other| !names.contains(other));
                    let others: Vec<OsString> = others.collect();
                    names.extend(others);
                }
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(names)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        self.disk.read_range(path, offset, length_bytes)
    }

    fn size(&self, path: &Path) -> Result<u64> {
        self.disk.size(path)
    }

    fn map(&self, path: &Path) -> Result<Map> {
        self.disk.map(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        let Some(second) = self.second(path) else { return self.disk.create(path) };
        let second = self.disk.create(&second)?;
        Ok(Box::new(MirrorFile { second, own: self.disk.create(path)? }))
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn File>> {
        let Some(second) = self.second(path) else { return self.disk.append(path, length_bytes) };
        let second = self.disk.append(&second, length_bytes)?;
        Ok(Box::new(MirrorFile { second, own: self.disk.append(path, length_bytes)? }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        if let Some((from, to)) = self.second(from).zip(self.second(to)) {
            self.disk.rename(&from, &to)?;
        }
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        if let Some(second) = self.second(path) {
            self.disk.remove(&second)?;
        }
        self.disk.remove(path)
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        self.disk.create_directory(directory)
    }

    fn mode(&self, path: &Path) -> Result<Option<u32>> {
        self.disk.mode(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        self.disk.set_mode(path, mode)
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        self.disk.sync_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        if directory == self.directory {
            self.disk.sync_directory(&self.second)?;
        }
        self.disk.sync_directory(directory)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        self.disk.lock(path, holder, wait)
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock> {
        self.disk.share_lock(path, wait)
    }
}

impl File for MirrorFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.second.write(bytes)?;
        self.own.write(bytes)
    }

    fn sync(&mut self) -> Result<()> {
        self.second.sync()?;
        self.own.sync()
    }
}
