//! The directory to restore into. No call here can reach outside it.
//!
//! Creates directories and files by their names below the target. Does not depend on repositories.
//!
//! Every step below the target is opened on its own and must be a real directory. A symbolic link on the way
//! is refused, whether it existed before or appears during the restore. Every name must be a single name.

use crate::format::tree::name_fault;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most directories that are kept open: far below the usual limit of 1,024 files.
const OPEN_COUNT_MAX: usize = 256;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The mode of a file until it is complete. No file has the sticky bit otherwise, so a file that still has it
/// was left by a killed restore. Giving each of a million small files a temporary name would add a fifth to
/// the time of restoring them.
pub(super) const UNFINISHED_FILE: Mode = PRIVATE_FILE.union(Mode::SVTX);
const PRIVATE_DIRECTORY: Mode = Mode::RWXU;

/// The directory, and some of those below it.
#[derive(Debug)]
pub(super) struct Target {
    top: Arc<OwnedFd>,
    /// By path below the target.
    open: Mutex<HashMap<Vec<u8>, Arc<OwnedFd>>>,
}

/// Whether a directory existed before this restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It was created by this restore and is empty.
    Now,
    /// It existed.
    Before,
}

impl Target {
    /// Opens the target. Creates it and its parents if it does not exist.
    pub(super) fn open(path: &Path) -> io::Result<Target> {
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), PRIVATE_DIRECTORY.bits());
        builder.create(path)?;
        // The target itself may be a link: the user named it.
        let top = rustix::fs::openat(CWD, path, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty())?;
        Ok(Target { top: Arc::new(top), open: Mutex::default() })
    }

    /// Opens the directory at `path` ("/cur", "" for the target itself). Each component must be a real
    /// directory.
    pub(super) fn directory(&self, path: &[u8]) -> io::Result<Arc<OwnedFd>> {
        if let Some(known) = self.known().get(path) {
            return Ok(Arc::clone(known));
        }
        let mut directory = Arc::clone(&self.top);
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            directory = Arc::new(open_directory(&directory, name)?);
        }
        let mut known = self.known();
        if known.len() >= OPEN_COUNT_MAX {
            known.clear();
        }
        known.insert(path.to_owned(), Arc::clone(&directory));
        Ok(directory)
    }

    /// Creates a directory that only its owner may use. An existing one is kept; it must be a real directory.
    pub(super) fn make_directory(&self, path: &[u8], name: &[u8]) -> io::Result<Made> {
        let parent = self.directory(path)?;
        match rustix::fs::mkdirat(&*parent, single(name)?, PRIVATE_DIRECTORY) {
            Ok(()) => Ok(Made::Now),
            Err(Errno::EXIST) => open_directory(&parent, name).map(|_| Made::Before),
            Err(error) => Err(error.into()),
        }
    }

    /// A panic leaves only complete entries.
    fn known(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<OwnedFd>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a new file that only its owner may read; an existing one is [`io::ErrorKind::AlreadyExists`].
pub(super) fn create_file(directory: &OwnedFd, name: &[u8]) -> io::Result<std::fs::File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, single(name)?, flags, UNFINISHED_FILE)?;
    Ok(file.into())
}

/// Opens a file of this restore again, to write another part of it.
pub(super) fn open_file(directory: &OwnedFd, name: &[u8]) -> io::Result<std::fs::File> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, OsStr::from_bytes(name), flags, Mode::empty())?.into())
}

/// Renames `from` to `to`, replacing what has that name.
pub(super) fn rename(directory: &OwnedFd, from: &[u8], to: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::renameat(directory, OsStr::from_bytes(from), directory, OsStr::from_bytes(to))?)
}

/// Renames `from` to `to`, which must not exist.
pub(super) fn rename_new(directory: &OwnedFd, from: &[u8], to: &[u8]) -> io::Result<()> {
    let (old, new) = (OsStr::from_bytes(from), OsStr::from_bytes(to));
    match rustix::fs::renameat_with(directory, old, directory, new, RenameFlags::NOREPLACE) {
        // Not every file system can refuse; there `to` was looked for before.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if status(directory, to)?.is_none() => {
            rename(directory, from, to)
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(Errno::EXIST.into()),
        other => Ok(other?),
    }
}

/// Removes a file, a link or a pipe; never a directory. A missing one is no error.
pub(super) fn remove(directory: &OwnedFd, name: &[u8]) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, OsStr::from_bytes(name), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a symbolic link.
pub(super) fn link_to(directory: &OwnedFd, name: &[u8], content: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::symlinkat(OsStr::from_bytes(content), directory, OsStr::from_bytes(name))?)
}

/// Makes a pipe, or a device of that number.
pub(super) fn make_special(directory: &OwnedFd, name: &[u8], kind: FileType, device: u64) -> io::Result<()> {
    Ok(rustix::fs::mknodat(directory, OsStr::from_bytes(name), kind, PRIVATE_FILE, device)?)
}

/// Removes the regular files of a directory whose names `is_left` says are left from before. Whatever cannot
/// be removed stays.
pub(super) fn remove_left(directory: &OwnedFd, is_left: &dyn Fn(&[u8]) -> bool) -> io::Result<()> {
    // Once more opened, so that no other reader's place in it moves.
    let listing = rustix::fs::openat(directory, ".", DIRECTORY, Mode::empty())?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::new(listing)? {
        let entry = entry?;
        if is_left(entry.file_name().to_bytes()) {
            names.push(entry.file_name().to_bytes().to_vec());
        }
    }
    for name in names {
        drop(remove(directory, &name));
    }
    Ok(())
}

/// Creates a hard link.
pub(super) fn link(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> io::Result<()> {
    let (from, to) = ((from.0, OsStr::from_bytes(from.1)), (to.0, OsStr::from_bytes(to.1)));
    Ok(rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?)
}

/// Returns what a name refers to.
pub(super) fn status(directory: &OwnedFd, name: &[u8]) -> io::Result<Option<rustix::fs::Stat>> {
    match rustix::fs::statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(status) => Ok(Some(status)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn open_directory(parent: &OwnedFd, name: &[u8]) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(parent, single(name)?, DIRECTORY, Mode::empty())?)
}

/// Returns a name if it names something within one directory, and nothing else. Trees with others are not
/// even read: this is for the day when something else makes a mistake.
fn single(name: &[u8]) -> io::Result<&OsStr> {
    match name_fault(name) {
        None => Ok(OsStr::from_bytes(name)),
        Some(fault) => Err(io::Error::new(io::ErrorKind::InvalidInput, fault)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_told() {
        let place = tempfile::tempdir().unwrap();
        let target = Target::open(place.path()).unwrap();
        let top = target.directory(b"").unwrap();
        for name in [b"".as_slice(), b".", b"..", b"a/b", b"/", b"a\0"] {
            let refused = [
                target.make_directory(b"", name).map(|_| ()).unwrap_err(),
                create_file(&top, name).map(|_| ()).unwrap_err(),
            ];
            assert!(refused.iter().all(|error| error.kind() == io::ErrorKind::InvalidInput), "{refused:?}");
        }
        target.directory(b"/..").unwrap_err();
        for name in [b"...".as_slice(), b"a", b"\xff", b"1.a:2,S", b" "] {
            target.make_directory(b"", name).unwrap();
        }
    }

    #[test]
    fn links_on_the_way_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let target = Target::open(&place.path().join("a/target")).unwrap();
        target.make_directory(b"", b"in").unwrap();
        target.make_directory(b"", b"in").expect("one that is there is kept");
        std::os::unix::fs::symlink(place.path(), place.path().join("a/target/out")).unwrap();
        std::os::unix::fs::symlink("in", place.path().join("a/target/near")).unwrap();
        for name in ["out", "near"] {
            target.make_directory(b"", name.as_bytes()).unwrap_err();
            target.make_directory(format!("/{name}").as_bytes(), b"x").unwrap_err();
        }
        create_file(&target.directory(b"/in").unwrap(), b"file").unwrap();
        create_file(&target.directory(b"/in").unwrap(), b"file").unwrap_err();
        assert!(place.path().join("a/target/in/file").is_file() && !place.path().join("x").exists());
    }
}
