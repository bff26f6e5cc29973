//! All files of the mailbox in the order of their directories, for a backup.
//!
//! Input: one commit. Output: folders by root and path; the files of each by name, with their stat when they
//! were last read and the SHA-256 of their message. Columns are read in place. One scan makes a table of
//! message rows (12 bytes per message), so no row is looked up. Must not know what a backup does with it.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::rows::{self, FolderRow, Subdirectory};
use crate::search::mailbox::folder_path;
use crate::state::Root;
use crate::tables::{files, messages};
use mail::Flags;
use std::path::PathBuf;
use store::{Part, RowId, Table, Value};

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFolder {
    /// The root's name.
    pub root: String,
    /// The path below the root, as bytes; empty for the root itself.
    pub path: Vec<u8>,
    /// Its directory on disk.
    pub directory: PathBuf,
    /// Whether a file `.noupdate` kept the last pass from reading its messages. If so, messages may have been
    /// added or removed since.
    pub no_update: bool,
    number: u32,
}

/// A file that holds a message, as it was when it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFile<'a> {
    /// Its name, byte for byte.
    pub name: &'a [u8],
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes. For a compressed file this is not the size of its message.
    pub size_bytes: u64,
    /// Its time of modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its time of status change in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Its Maildir flags.
    pub flags: Flags,
    /// The number of its message, as in [`crate::Hit::number`].
    pub message: u32,
    /// SHA-256 of its message, decompressed.
    pub sha256: [u8; 32],
    /// Size of its message in bytes, decompressed.
    pub message_bytes: u64,
}

/// A file that holds a message, with its name. The rest is read on request.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Its name, byte for byte.
    pub name: &'a [u8],
    inventory: &'a Inventory,
    part: &'a Part,
    row: u32,
}

/// All files of one commit.
#[derive(Debug)]
pub struct Inventory {
    roots: Vec<Root>,
    folders: Vec<StoredFolder>,
    files: Table,
    messages: Table,
    /// The row of each message, by its number.
    message_rows: Vec<Option<RowId>>,
    directory: PathBuf,
}

impl StoredFolder {
    fn new(row: FolderRow, roots: &[Root]) -> StoredFolder {
        StoredFolder {
            directory: folder_path(roots, &row),
            root: row.root,
            path: row.path,
            no_update: row.no_update,
            number: row.number,
        }
    }
}

impl Inventory {
    /// Opens the newest commit. Does not open the text index, which is not needed and takes longer than
    /// everything else.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if there is none; damage; a newer version.
    pub fn open(environment: &Environment) -> Result<Inventory> {
        let directory = environment.index_directory();
        let snapshot = open::snapshot(environment)?;
        let state = open::state(&snapshot, &directory)?;
        let rows = rows::folders(&snapshot)?.into_iter();
        let mut folders: Vec<StoredFolder> = rows.map(|row| StoredFolder::new(row, &state.roots)).collect();
        folders.sort_unstable_by(|a, b| (&a.root, &a.path).cmp(&(&b.root, &b.path)));
        let messages = snapshot.table(messages::TABLE)?;
        let message_rows = message_rows(&messages, state.next_message)?;
        let files = snapshot.table(files::TABLE)?;
        Ok(Inventory { roots: state.roots, folders, files, messages, message_rows, directory })
    }

    /// Returns the roots of the last pass.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns the folders in byte order of root and path.
    pub fn folders(&self) -> &[StoredFolder] {
        &self.folders
    }

    /// Returns the number of all files.
    pub fn file_count(&self) -> u64 {
        self.files.row_count()
    }

    /// Returns the files in `cur` or `new` of a folder, in byte order of their names.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn files(&self, folder: &StoredFolder, subdirectory: Subdirectory) -> Result<Vec<StoredFile<'_>>> {
        self.listed(folder, subdirectory)?.iter().map(Listed::file).collect()
    }

    /// Returns the names of the files in `cur` or `new` of a folder, in byte order. The rest is read on
    /// request, as most backups need it for few files.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn listed(&self, folder: &StoredFolder, subdirectory: Subdirectory) -> Result<Vec<Listed<'_>>> {
        let key = [Value::U32(folder.number), Value::U8(subdirectory.number())];
        let mut list = Vec::new();
        let mut sources = 0;
        for part in self.files.parts() {
            let before = list.len();
            for row in part.primary_range(&key)? {
                list.push(Listed { name: part.bytes(files::NAME, row)?, inventory: self, part, row });
            }
            sources += usize::from(list.len() > before);
        }
        // Each part returns its rows in order, and a stable sort merges what is sorted already.
        if sources > 1 {
            list.sort_by_key(|file| file.name);
        }
        Ok(list)
    }

    fn file<'a>(&'a self, part: &'a Part, row: u32) -> Result<StoredFile<'a>> {
        let (of_message, message_row) = self.message(part, row)?;
        Ok(StoredFile {
            name: part.bytes(files::NAME, row)?,
            inode: part.u64_at(files::INODE, row)?,
            size_bytes: part.u64_at(files::SIZE, row)?,
            mtime_ns: part.i64_at(files::MTIME, row)?,
            ctime_ns: part.i64_at(files::CTIME, row)?,
            flags: Flags::from_bits(part.u16_at(files::FLAGS, row)?),
            message: part.u32_at(files::MESSAGE, row)?,
            sha256: of_message.id_at(messages::SHA256, message_row)?,
            message_bytes: of_message.u64_at(messages::SIZE, message_row)?,
        })
    }

    /// Returns the row of a file's message.
    fn message(&self, part: &Part, row: u32) -> Result<(&Part, u32)> {
        let message = part.u32_at(files::MESSAGE, row)?;
        let id = self.message_rows.get(message as usize).copied().flatten();
        let id =
            id.ok_or_else(|| Error::Damaged { path: self.directory.clone(), what: "a file's message" })?;
        Ok((rows::part_of(&self.messages, id), id.row))
    }
}

impl<'a> Listed<'a> {
    /// Returns the file with all its fields.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn file(&self) -> Result<StoredFile<'a>> {
        self.inventory.file(self.part, self.row)
    }

    /// Returns the size of its message in bytes, decompressed.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn message_bytes(&self) -> Result<u64> {
        let (of_message, row) = self.inventory.message(self.part, self.row)?;
        Ok(of_message.u64_at(messages::SIZE, row)?)
    }
}

fn message_rows(table: &Table, bound: u32) -> Result<Vec<Option<RowId>>> {
    let mut found = vec![None; bound as usize];
    for (number, part) in (0u32..).zip(table.parts()) {
        let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
        for (row, message) in part.live_values(numbers.iter()) {
            if let Some(slot) = found.get_mut(*message as usize) {
                *slot = Some(RowId { part: number, row });
            }
        }
    }
    Ok(found)
}
