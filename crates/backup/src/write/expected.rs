//! Lists the files that should be in a directory: messages that the index knows, files that were renamed into
//! it, and other files.
//!
//! Input: the index, or the directory itself where the index does not look. Output: names, sorted, and the
//! state of each in the index. Does not look at the files.

use crate::blobs::entry::Stat;
use crate::cache::FileState;
use crate::error::{Error, Result};
use crate::write::compare::IndexedState;
use crate::write::extras::is_stored;
use crate::write::layout::Directory;
use index::{Inventory, Listed, StoredFile};
use mail::RootBoundary;
use std::borrow::Cow;
use std::fs::FileType;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file that should be in a directory.
#[derive(Clone, Debug)]
pub(crate) struct Expected<'a> {
    /// Its name.
    pub name: Cow<'a, [u8]>,
    /// The file in the index; `None` if it is not a message, or the index does not know it.
    pub listed: Option<Listed<'a>>,
    /// Whether the index knows it under another name, which it had until now.
    pub is_renamed: bool,
}

impl Expected<'_> {
    /// Returns the state of the file in the index. `now` is the file's present metadata.
    pub(crate) fn of_index(&self, now: &Stat) -> Result<Option<IndexedState>> {
        let Some(listed) = &self.listed else { return Ok(None) };
        let mut index = index_row(&listed.file()?);
        let row = &mut index.row;
        // A rename changes nothing but ctime.
        if self.is_renamed
            && (row.inode, row.size_bytes, row.mtime_ns) == (now.inode, now.size_bytes, now.mtime_ns)
        {
            row.ctime_ns = now.ctime_ns;
        }
        Ok(Some(index))
    }
}

fn index_row(file: &StoredFile<'_>) -> IndexedState {
    let row = FileState {
        inode: file.inode,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        ctime_ns: file.ctime_ns,
        content: file.sha256,
    };
    IndexedState { row, message_bytes: file.message_bytes }
}

/// Returns the messages that should be in a directory, sorted by name: those in the index, or those on disk
/// where a file `.noupdate` keeps the index from looking.
///
/// # Errors
/// Damage in the index; such a directory cannot be read.
pub(crate) fn messages<'a>(
    inventory: &'a Inventory,
    directory: &Directory,
    (path, root): (&Path, &RootBoundary),
) -> Result<Vec<Expected<'a>>> {
    let Some((number, subdirectory)) = directory.messages else { return Ok(Vec::new()) };
    let Some(folder) = inventory.folders().get(number) else { return Ok(Vec::new()) };
    let known = inventory.listed(folder, subdirectory)?.into_iter();
    let known = known.map(|listed| Expected {
        name: Cow::Borrowed(listed.name),
        listed: Some(listed),
        is_renamed: false,
    });
    if !folder.no_update {
        return Ok(known.collect());
    }
    let there = on_disk(path, root)?;
    let mut expected: Vec<Expected<'a>> =
        known.filter(|file| there.binary_search_by(|name| (**name).cmp(&file.name)).is_ok()).collect();
    expected.extend(there.into_iter().map(unknown));
    Ok(in_order(expected))
}

/// Returns the files that should be in a directory, sorted by name: messages, those that were
/// renamed into it, and what mail programs keep there.
///
/// # Errors
/// It cannot be read.
pub(crate) fn all<'a>(
    messages: Vec<Expected<'a>>,
    renamed: Vec<Expected<'a>>,
    directory: &Directory,
    (path, root): (&Path, &RootBoundary),
) -> Result<Vec<Expected<'a>>> {
    if renamed.is_empty() && !directory.has_extras {
        return Ok(messages);
    }
    let mut expected = renamed;
    expected.extend(messages);
    if directory.has_extras {
        expected.extend(extras(path, root)?.into_iter().map(unknown));
    }
    Ok(in_order(expected))
}

fn unknown<'a>(name: Vec<u8>) -> Expected<'a> {
    Expected { name: Cow::Owned(name), listed: None, is_renamed: false }
}

/// Sorts by names; of two with one name the first stays.
fn in_order(mut expected: Vec<Expected<'_>>) -> Vec<Expected<'_>> {
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    expected.dedup_by(|a, b| a.name == b.name);
    expected
}

/// Returns the names of the messages in a directory, in order.
fn on_disk(place: &Path, root: &RootBoundary) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    mail::read_directory(place, &mut mail::ScanBuffer::new(), |entry| {
        // If an entry cannot be checked, the reason is reported later.
        if entry.is_message_file(root).unwrap_or(true) {
            names.push(entry.name.to_vec());
        }
    })?;
    names.sort_unstable();
    Ok(names)
}

/// Returns the names of files in a directory that are stored besides messages. Returns none if a link leads
/// to a directory outside the root, which may contain anything.
fn extras(place: &Path, root: &RootBoundary) -> Result<Vec<Vec<u8>>> {
    let wrap = |source| Error::Io { action: "read", path: place.to_owned(), source };
    let mut names = Vec::new();
    if !root.holds(place).map_err(wrap)? {
        return Ok(names);
    }
    for entry in std::fs::read_dir(place).map_err(wrap)? {
        let entry = entry.map_err(wrap)?;
        let name = entry.file_name().as_bytes().to_vec();
        let is_own = |kind: FileType| !kind.is_symlink() || root.holds(&entry.path()).unwrap_or(false);
        let is_file = || std::fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file());
        if is_stored(&name) && is_file() && entry.file_type().is_ok_and(is_own) {
            names.push(name);
        }
    }
    Ok(names)
}
