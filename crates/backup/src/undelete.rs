//! Puts messages back into the folders that they were deleted from.
//!
//! In: messages, and where the newest snapshot has them. Out: files in `cur`, durable, with the name, the flags and the time that they had. A
//! file is written in `tmp` and gets its name when it is whole; none that is there is replaced. The index sees them at its next pass.

use crate::error::{Error, Result};
use crate::lost::original;
use crate::places::Kept;
use crate::vault::{Vault, content};
use index::Place;
use rustix::fs::{CWD, Mode, OFlags, Timespec, Timestamps};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many names are tried for one message.
const NAME_COUNT_MAX: u32 = 100;

/// A message that is back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeleted {
    /// Its file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// Puts one message back. `folder` is where, if not where it lay.
///
/// # Errors
/// A piece cannot be read; the folder cannot be written.
pub(crate) fn put_back(vault: &dyn Vault, kept: &Kept, folder: Option<&Path>) -> Result<Undeleted> {
    let own = PathBuf::from(OsStr::from_bytes(original(&kept.folder)));
    let folder = folder.unwrap_or(&own);
    let bytes = content(vault, &kept.pieces)?;
    for name in [Place::Cur.name(), Place::New.name(), "tmp"] {
        let directory = folder.join(name);
        std::fs::DirBuilder::new().recursive(true).create(&directory).map_err(|source| Error::Io {
            action: "create",
            path: directory,
            source,
        })?;
    }
    let (temporary, file) = begin(&folder.join("tmp"), &kept.name)?;
    let written = write(file, &bytes, kept)
        .map_err(|source| Error::Io { action: "write", path: temporary.clone(), source })
        .and_then(|()| give_name(&temporary, &folder.join(Place::Cur.name()), &kept.name));
    // It has its name in `cur` by now, or is not whole.
    let _ = std::fs::remove_file(&temporary);
    Ok(Undeleted { path: written?, size_bytes: bytes.len() as u64 })
}

/// Creates a file that nobody else writes.
fn begin(directory: &Path, name: &[u8]) -> Result<(PathBuf, File)> {
    let unique = mail::parse_name(name).unique;
    for number in 0..NAME_COUNT_MAX {
        let path = mail::join(directory, &[unique, format!(".pneu{number}").as_bytes()].concat());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, &path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((path, file.into())),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(Error::Io { action: "create", path, source: error.into() }),
        }
    }
    let source = std::io::ErrorKind::AlreadyExists.into();
    Err(Error::Io { action: "create", path: mail::join(directory, name), source })
}

fn write(mut file: File, bytes: &[u8], kept: &Kept) -> std::io::Result<()> {
    file.write_all(bytes)?;
    // Only rights that a message needs: none to run it, none to act as somebody else.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(kept.stat.mode & 0o666))?;
    let time = Timespec {
        tv_sec: kept.stat.mtime_ns.div_euclid(1_000_000_000),
        tv_nsec: kept.stat.mtime_ns.rem_euclid(1_000_000_000),
    };
    rustix::fs::futimens(&file, &Timestamps { last_access: time, last_modification: time })?;
    file.sync_all()
}

/// Links the file into `cur` under its name, or one with the same flags and another unique part.
fn give_name(temporary: &Path, cur: &Path, name: &[u8]) -> Result<PathBuf> {
    let unique_bytes = mail::parse_name(name).unique.len();
    let (unique, rest) = name.split_at_checked(unique_bytes).unwrap_or((name, &[]));
    let rest = if rest.is_empty() { b":2," } else { rest };
    for number in 0..NAME_COUNT_MAX {
        let other = if number == 0 { String::new() } else { format!(".{number}") };
        let path = mail::join(cur, &[unique, other.as_bytes(), rest].concat());
        match std::fs::hard_link(temporary, &path) {
            Ok(()) => {
                let sync = File::open(cur).and_then(|directory| directory.sync_all());
                return sync.map(|()| path).map_err(|source| Error::Io {
                    action: "sync",
                    path: cur.to_owned(),
                    source,
                });
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Error::Io { action: "create", path, source }),
        }
    }
    let source = std::io::ErrorKind::AlreadyExists.into();
    Err(Error::Io { action: "create", path: mail::join(cur, name), source })
}
