//! Sets a mailbox back to a moment in the past: a list replaces the folders and files of today.
//!
//! Input: the folders and files of that moment. Output: the same commit with other tables of folders and
//! files. Flags, folders, paths, keywords, times of change and whether a message exists come from the list.
//! Messages, threads and tags come from the index as it is today. Must not know where the list comes from.

use crate::error::{Error, Result};
use crate::rows::{self, FileRow, FolderRow, Subdirectory};
use crate::search::mailbox::{Mailbox, Past};
use crate::state::Root;
use std::collections::HashSet;
use store::{Rows, Table};

/// The folders and files at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The roots and their paths.
    pub roots: Vec<Root>,
    /// The folders.
    pub folders: Vec<MomentFolder>,
    /// The files in them.
    pub files: Vec<MomentFile>,
}

/// A folder at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MomentFolder {
    /// The root's name.
    pub root: String,
    /// The path below the root, as bytes; empty for the root itself.
    pub path: Vec<u8>,
    /// The content of its file `dovecot-keywords`; empty if there is none.
    pub keywords: Vec<u8>,
}

/// A file at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentFile {
    /// The index of its folder in the list.
    pub folder: u32,
    /// `cur` or `new`.
    pub subdirectory: Subdirectory,
    /// Its name, byte for byte.
    pub name: Vec<u8>,
    /// SHA-256 of its message, decompressed.
    pub sha256: [u8; 32],
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its time of modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its time of status change in nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// The part of a moment that the index does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Messages without a row in the index. No query finds them.
    pub messages: u64,
    /// Files that hold them.
    pub files: u64,
}

impl Mailbox {
    /// Returns the same commit with the files of a moment. Messages that are absent today count as present if
    /// the moment has a file of them. Messages of today without such a file do not. The scope is
    /// [`Scope::Present`](crate::Scope::Present), applied to that moment.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] if a file names a folder that is not in the list; a limit of the store; damage
    /// in the store.
    pub fn at(self, moment: &Moment) -> Result<(Mailbox, Unknown)> {
        let mut list = Rows::new(self.file_table().schema());
        let mut present = self.empty();
        let (mut unknown, mut unknown_ids) = (Unknown::default(), HashSet::new());
        for file in &moment.files {
            if file.folder as usize >= moment.folders.len() {
                return Err(Error::Inconsistent { what: "a file of the moment is in no folder" });
            }
            match self.number_of(&file.sha256)? {
                Some(message) => {
                    present.insert(message);
                    rows::push_file(&mut list, &file_row(file, message))?;
                }
                None => {
                    unknown.files += 1;
                    unknown_ids.insert(file.sha256);
                }
            }
        }
        unknown.messages = unknown_ids.len() as u64;
        let folders = (0u32..).zip(&moment.folders).map(|(number, folder)| folder_row(number, folder));
        let past = Past {
            roots: moment.roots.clone(),
            folders: folders.collect(),
            files: Table::in_memory(list),
            present,
        };
        Ok((self.with_past(past), unknown))
    }
}

fn file_row(file: &MomentFile, message: u32) -> FileRow {
    let name = mail::parse_name(&file.name);
    FileRow {
        folder: file.folder,
        subdirectory: file.subdirectory,
        name: file.name.clone(),
        // Nothing in a mailbox reads it.
        inode: 0,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        ctime_ns: file.ctime_ns,
        flags: file.subdirectory.flags(name.flags),
        keywords: name.keywords,
        message,
    }
}

fn folder_row(number: u32, folder: &MomentFolder) -> FolderRow {
    FolderRow {
        number,
        root: folder.root.clone(),
        path: folder.path.clone(),
        keyword_names: mail::keyword_names(&folder.keywords),
        ..FolderRow::default()
    }
}
