//! The files of found messages, with what tells whether a file is still the one that the index knows.
//!
//! Input: a set of messages. Output: places, names, inodes, sizes and times. Does not look at the disk.

use crate::error::Result;
use crate::rows::{self, Subdirectory};
use crate::search::mailbox::{Mailbox, folder_path};
use crate::set::NumberSet;
use crate::state::Root;
use crate::tables::messages;
use std::path::PathBuf;
use store::{PRIMARY, Value};

/// A file of a message, as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The root that it is in.
    pub root: Root,
    /// The directory of its folder, which holds `cur` and `new`.
    pub folder: PathBuf,
    /// Which of these it is in.
    pub subdirectory: Subdirectory,
    /// Its name, byte for byte.
    pub name: Vec<u8>,
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The SHA-256 of its message.
    pub sha256: [u8; 32],
}

impl FoundFile {
    /// Returns its path.
    pub fn path(&self) -> PathBuf {
        mail::join(&self.folder.join(self.subdirectory.name()), &self.name)
    }
}

impl Mailbox {
    /// Returns the SHA-256 of each message of a set, in the order of their numbers.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_of(&self, found: &NumberSet) -> Result<Vec<[u8; 32]>> {
        let table = self.message_table();
        let mut list = Vec::new();
        for number in found.iter() {
            if let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? {
                list.push(rows::part_of(table, id).id_at(messages::SHA256, id.row)?);
            }
        }
        Ok(list)
    }

    /// Returns all files of a set of messages, sorted by path. Copies are in the set only if they were added.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn found_files(&self, found: &NumberSet) -> Result<Vec<FoundFile>> {
        let table = self.message_table();
        let mut list = Vec::new();
        for number in found.iter() {
            self.check_cancelled()?;
            let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { continue };
            let sha256 = rows::part_of(table, id).id_at(messages::SHA256, id.row)?;
            for file in rows::files_of(self.file_table(), number)? {
                let Some(folder) = self.folder(file.folder) else { continue };
                let Some(root) = self.roots().iter().find(|root| root.name == folder.root) else { continue };
                list.push(FoundFile {
                    root: root.clone(),
                    folder: folder_path(self.roots(), folder),
                    subdirectory: file.subdirectory,
                    name: file.name,
                    inode: file.inode,
                    size_bytes: file.size_bytes,
                    mtime_ns: file.mtime_ns,
                    sha256,
                });
            }
        }
        list.sort_by(|a, b| {
            (&a.folder, a.subdirectory.name(), &a.name).cmp(&(&b.folder, b.subdirectory.name(), &b.name))
        });
        Ok(list)
    }
}
