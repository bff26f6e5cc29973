//! What all threads of a backup share, and how they look at the disk.
//!
//! Output: open directories, and the metadata of files in them; never that of a link's target.

use crate::blobs::entry::Stat;
use crate::blobs::writer::BlobWriter;
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::write::seen::SeenFiles;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use work::Progress;

/// What the backup of all directories shares.
pub(crate) struct BackupContext<'a> {
    /// Where blobs are written.
    pub writer: &'a dyn BlobWriter,
    /// The cache of the last backup.
    pub cache: Option<&'a Cache>,
    /// What is known of files that `cache` has.
    pub seen: &'a SeenFiles,
    /// The progress of the backup.
    pub progress: &'a dyn Progress,
}

/// Opens a directory.
pub(crate) fn open(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Error::Io {
        action: "open",
        path: path.to_owned(),
        source: error.into(),
    })
}

/// Looks at a file in an open directory; `None` if it is a symbolic link.
pub(crate) fn look(directory: &OwnedFd, name: &[u8]) -> rustix::io::Result<Option<Stat>> {
    let stat = rustix::fs::statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
    let is_link = FileType::from_raw_mode(stat.st_mode).is_symlink();
    Ok((!is_link).then(|| Stat::from(stat)))
}
