//! Recognises a file that was seen before, and changes no other.
//!
//! Input: a path, and what was seen there. Output: the open file, or a refusal. Does not depend on what the
//! file means.

use crate::limited_read::not_a_file;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A file as it was seen once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    device: u64,
    inode: u64,
    /// Its length.
    pub(crate) length_bytes: u64,
}

impl Seen {
    pub(crate) fn of(metadata: &Metadata) -> Seen {
        Seen { device: metadata.dev(), inode: metadata.ino(), length_bytes: metadata.len() }
    }
}

/// Opens a file for writing, without following a link. If it was seen before, it must still be the same.
pub(crate) fn open(path: &Path, seen: Option<Seen>) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = OpenOptions::new().write(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => is_link(),
        _ => error,
    })?;
    check(&file.metadata()?, seen)?;
    Ok(file)
}

/// Checks what a path refers to, without following a link.
pub(crate) fn check_path(path: &Path, seen: Option<Seen>) -> io::Result<()> {
    check(&fs::symlink_metadata(path)?, seen)
}

fn check(metadata: &Metadata, seen: Option<Seen>) -> io::Result<()> {
    if metadata.is_symlink() {
        return Err(is_link());
    }
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    let Some(seen) = seen else { return Ok(()) };
    let found = Seen::of(metadata);
    let changed = |what: String| Err(io::Error::other(format!("{what}; run the command again")));
    if (found.device, found.inode) != (seen.device, seen.inode) {
        return changed("it is not the file that was read before".to_owned());
    }
    if found.length_bytes != seen.length_bytes {
        let (was, is) = (seen.length_bytes, found.length_bytes);
        return changed(format!("its length has changed from {was} to {is} bytes"));
    }
    Ok(())
}

fn is_link() -> io::Error {
    io::Error::other("it is a link, which is not followed; put the file itself in its place")
}
