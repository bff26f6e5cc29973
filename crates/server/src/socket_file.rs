//! A socket in the file system that only its user can reach. Input: its path. Output: a listener, and the
//! file, which is removed at the end. Does not know what is said over it.

use crate::error::{Error, Result};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The file of a socket. Is removed when this value goes, unless another file has taken its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

/// Listens on a path, whose directory is made if it does not exist.
///
/// Whoever can reach the file can connect, so the directory is closed to others, from before the file exists.
/// Servers that start at the same time take turns by a lock on the directory; otherwise one could take the
/// other's new socket for a stale one.
pub(crate) fn bind(path: &Path) -> Result<(UnixListener, SocketFile)> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = open_directory(parent)?;
    rustix::fs::flock(&directory, FlockOperation::LockExclusive).map_err(|error| in_file(parent, error))?;
    remove_stale(path)?;
    let listener = UnixListener::bind(path).map_err(|source| io_error(path, source))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(|source| io_error(path, source))?;
    let stat = rustix::fs::lstat(path).map_err(|error| in_file(path, error))?;
    Ok((listener, SocketFile { path: path.to_owned(), identity: identity(&stat) }))
}

/// Opens the socket's directory, if nobody else can reach what is in it.
fn open_directory(path: &Path) -> Result<OwnedFd> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(io_error(path, error)),
        _ => {}
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let wrong = |what: String| Error::Directory { path: path.to_owned(), what };
    let directory = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(wrong("is not a directory itself".to_owned())),
        other => other.map_err(|error| in_file(path, error))?,
    };
    let stat = rustix::fs::fstat(&directory).map_err(|error| in_file(path, error))?;
    judge(&stat, rustix::process::geteuid().as_raw()).map_err(wrong)?;
    Ok(directory)
}

/// Says what is wrong with a directory of the user `own`.
fn judge(stat: &Stat, own: u32) -> std::result::Result<(), String> {
    if stat.st_uid != own {
        return Err(format!("belongs to user {}", stat.st_uid));
    }
    match stat.st_mode & 0o777 {
        0o700 => Ok(()),
        mode => Err(format!("has mode {mode:04o}")),
    }
}

/// Removes a socket that nobody listens on.
fn remove_stale(path: &Path) -> Result<()> {
    match rustix::fs::lstat(path) {
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(in_file(path, error)),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Socket => {}
        Ok(_) => return Err(Error::NotSocket { path: path.to_owned() }),
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|source| io_error(path, source))
        }
        // A full queue (EAGAIN) is one that somebody listens to.
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(io_error(path, error)),
        _ => Err(Error::InUse { path: path.to_owned() }),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let stat = rustix::fs::lstat(&self.path);
        if stat.is_ok_and(|stat| identity(&stat) == self.identity) {
            // If it stays, the next server finds that nobody listens on it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn in_file(path: &Path, error: Errno) -> Error {
    io_error(path, io::Error::from(error))
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_somebody_else_or_for_others_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        let stat = |mode| {
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).unwrap();
            rustix::fs::lstat(directory.path()).unwrap()
        };
        assert_eq!(judge(&stat(0o700), own), Ok(()));
        assert_eq!(judge(&stat(0o750), own), Err("has mode 0750".to_owned()));
        assert_eq!(judge(&stat(0o600), own), Err("has mode 0600".to_owned()));
        assert_eq!(judge(&stat(0o700), own + 1), Err(format!("belongs to user {own}")));
    }
}
