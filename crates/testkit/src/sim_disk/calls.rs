//! The operations of a disk: [`Disk`], one by one.
//!
//! Input: calls. Output: how [`SimDisk`] executes them. Does not depend on faults.

use super::file::SimFile;
use super::operation::Operation;
use super::sim::{Held, SimDisk, Turn};
use disk::{Disk, Error, Lock, Map, Result, Wait};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

impl Disk for SimDisk {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        let turn = self.begin(Operation::List(directory.to_owned()))?;
        Ok(turn.happen(|state| state.list(directory))?.1)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let turn = self.begin(Operation::Read(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(<[u8]>::to_vec))?.1)
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        let turn = self.begin(Operation::ReadRange { path: path.to_owned(), offset, length_bytes })?;
        Ok(turn.happen(|state| state.read_range(path, offset, length_bytes))?.1)
    }

    fn size(&self, path: &Path) -> Result<u64> {
        let turn = self.begin(Operation::Size(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(|bytes| bytes.len() as u64))?.1)
    }

    fn map(&self, path: &Path) -> Result<Map> {
        let turn = self.begin(Operation::Map(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(Map::from))?.1)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn disk::File>> {
        let turn = self.begin(Operation::Create(path.to_owned()))?;
        let (_, inode) = turn.happen(|state| state.create(path))?;
        Ok(Box::new(SimFile::new(self, inode, path, 0)))
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn disk::File>> {
        let turn = self.begin(Operation::Append { path: path.to_owned(), length_bytes })?;
        let (mut turn, (inode, length_bytes)) =
            turn.happen(|state| state.cut_for_append(path, length_bytes))?;
        turn.inner.state.sync(inode);
        Ok(Box::new(SimFile::new(self, inode, path, length_bytes)))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        assert_eq!(from.parent(), to.parent(), "one sync of one directory must make a rename durable");
        let turn = self.begin(Operation::Rename { from: from.to_owned(), to: to.to_owned() })?;
        turn.happen(|state| state.rename(from, to)).map(|_| ())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let turn = self.begin(Operation::Remove(path.to_owned()))?;
        turn.happen(|state| state.remove(path)).map(|_| ())
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        let turn = self.begin(Operation::CreateDirectory(directory.to_owned()))?;
        let (mut turn, ()) = turn.happen(|state| state.create_directory(directory))?;
        turn.inner.state.sync_new_directories();
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        let turn = self.begin(Operation::Sync(path.to_owned()))?;
        let (mut turn, inode) = turn.happen(|state| state.find(path))?;
        turn.inner.state.sync(inode);
        Ok(())
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        let turn = self.begin(Operation::SyncDirectory(directory.to_owned()))?;
        let (mut turn, ()) = turn.happen(|state| state.list(directory).map(|_| ()))?;
        turn.inner.state.sync_directory(directory);
        Ok(())
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        let turn = self.begin(Operation::Lock(path.to_owned()))?;
        if turn.inner.locks.contains_key(path) {
            return Err(turn.refused(path, wait));
        }
        let (mut turn, ()) = turn.happen(|state| state.replace_unsynced(path, holder.as_bytes()))?;
        turn.inner.locks.insert(path.to_owned(), Held::Whole);
        Ok(Lock::new(SimLock { disk: self.clone(), path: path.to_owned() }))
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock> {
        let turn = self.begin(Operation::Lock(path.to_owned()))?;
        let count = match turn.inner.locks.get(path) {
            Some(Held::Whole) => return Err(turn.refused(path, wait)),
            Some(Held::Shares(count)) => *count,
            None => 0,
        };
        // The holders of shares write nothing, but the file is there from now on.
        let (mut turn, ()) = turn.happen(|state| match state.read(path) {
            Ok(_) => Ok(()),
            Err(_) => state.replace_unsynced(path, b""),
        })?;
        turn.inner.locks.insert(path.to_owned(), Held::Shares(count + 1));
        Ok(Lock::new(SimLock { disk: self.clone(), path: path.to_owned() }))
    }
}

impl Turn<'_> {
    /// Returns the error of a lock that is held.
    fn refused(self, path: &Path, wait: Wait) -> Error {
        match wait {
            Wait::Refuse => Error::Locked { path: path.to_owned(), holder: self.inner.state.text(path) },
            Wait::Block => self.operation.error(io::Error::other("it is held, and the wait would never end")),
        }
    }
}

/// A held lock, or a share of it.
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut inner = self.disk.inner();
        match inner.locks.get_mut(&self.path) {
            Some(Held::Shares(count)) if *count > 1 => *count -= 1,
            _ => drop(inner.locks.remove(&self.path)),
        }
    }
}
