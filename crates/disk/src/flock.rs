//! A lock between processes that ends with its holder.
//!
//! Input: a path and the name of the holder. Output: the lock or a share of it, or the name of its present
//! holder. Does not depend on what the lock protects.
//!
//! It uses flock(2) rather than the existence of a file: the system releases the lock when the holder dies,
//! however it dies. The text in the file is for people only. Text that a dead holder left does not block
//! anyone.

use crate::create::create_new;
use crate::{Error, Lock, Result, Wait, limited_read};
use rustix::fs::FlockOperation;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// The maximum length of the holder's text that is read back.
const HOLDER_BYTES_MAX: u64 = 256;

/// Takes the lock kept in the file `path`. The file is created if it is missing, and stays.
pub(crate) fn lock(path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
    let held = hold(path, (FlockOperation::NonBlockingLockExclusive, FlockOperation::LockExclusive), wait)?;
    held.write_holder(holder);
    Ok(Lock::new(held))
}

/// Takes a share of the same lock.
pub(crate) fn share(path: &Path, wait: Wait) -> Result<Lock> {
    hold(path, (FlockOperation::NonBlockingLockShared, FlockOperation::LockShared), wait).map(Lock::new)
}

/// Takes the lock or a share of it: `try_once` does not wait for others, `wait_for` does.
fn hold(
    path: &Path,
    (try_once, wait_for): (FlockOperation, FlockOperation),
    wait: Wait,
) -> Result<LockedFile> {
    let operation = match wait {
        Wait::Refuse => try_once,
        Wait::Block => wait_for,
    };
    loop {
        let file = open(path).map_err(|source| Error::io("write the lock file", path, source))?;
        // An interrupted wait continues.
        match rustix::io::retry_on_intr(|| rustix::fs::flock(&file, operation)) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(Error::Locked { path: path.to_owned(), holder: read_holder(&file) });
            }
            Err(error) => return Err(Error::io("lock", path, error.into())),
        }
        let held = LockedFile(file);
        if held.is_at(path) {
            return Ok(held);
        }
        // Another process removed the file, perhaps with its whole directory, while we opened it or waited.
        // A lock on it would not exclude processes that create a new file.
    }
}

/// Opens the lock file, or creates it with the right mode.
fn open(path: &Path) -> io::Result<fs::File> {
    let created = create_new(path);
    let file = match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?
        }
        _ => created?,
    };
    // Without this, opening a pipe would block until another process writes to it.
    if file.metadata()?.is_file() { Ok(file) } else { Err(limited_read::not_a_file()) }
}

/// Reads what the holder wrote about itself: its first line, without control characters.
fn read_holder(file: &fs::File) -> String {
    let mut bytes = Vec::new();
    // Unreadable text must not hide that the lock is held.
    let _ = file.take(HOLDER_BYTES_MAX).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let line: String = text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    if line.trim().is_empty() { "another process".to_owned() } else { line.trim().to_owned() }
}

/// A file with the lock on it.
struct LockedFile(fs::File);

impl LockedFile {
    /// Returns whether `path` still names the file.
    fn is_at(&self, path: &Path) -> bool {
        let (Ok(ours), Ok(there)) = (self.0.metadata(), fs::metadata(path)) else { return false };
        (ours.dev(), ours.ino()) == (there.dev(), there.ino())
    }

    /// Replaces the text in the file. Failure is no error: a full disk must not block a command that frees
    /// space.
    fn write_holder(&self, holder: &str) {
        let _ = self.0.set_len(0).and_then(|()| self.0.write_all_at(holder.as_bytes(), 0));
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing is not enough: a child between fork and exec has the descriptor too.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hook between opening a lock file and locking it. Tests cannot hit this moment reliably without it.
    #[test]
    fn a_removed_or_replaced_lock_file_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("writer.lock");
        let held = LockedFile(open(&path).unwrap());
        assert!(held.is_at(&path));
        fs::remove_file(&path).unwrap();
        assert!(!held.is_at(&path));
        let other = LockedFile(open(&path).unwrap());
        assert!(!held.is_at(&path));
        assert!(other.is_at(&path));
    }
}
