//! Access to the rows of `files` for the scan: by directory, without copying names.
//!
//! Input: a snapshot. Output: rows of one directory, or one row. Must not know the disk.

use crate::error::{Error, Result};
use crate::pass::scan::compare::{StoredRows, Visit};
use crate::rows::{self, FileRow, Subdirectory};
use crate::tables::files;
use mail::{FileStat, Flags};
use store::{PRIMARY, Part, Snapshot, Table, Value};

/// The table `files` of one snapshot.
pub(in crate::pass) struct FileRows {
    table: Table,
}

impl FileRows {
    /// Opens the table of a snapshot.
    ///
    /// # Errors
    /// The table is missing.
    pub(in crate::pass) fn new(snapshot: &Snapshot) -> Result<FileRows> {
        Ok(FileRows { table: snapshot.table(files::TABLE)? })
    }

    /// Returns how many files one directory has in the table.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn count(&self, folder: u32, subdirectory: Subdirectory) -> Result<u64> {
        let mut count = 0;
        for part in self.table.parts() {
            count += part.primary_range(&directory_key(folder, subdirectory))?.count() as u64;
        }
        Ok(count)
    }

    /// Returns an upper bound of [`FileRows::count`]. Cheap: reads no row.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn count_at_most(&self, folder: u32, subdirectory: Subdirectory) -> Result<u64> {
        let mut count = 0;
        for part in self.table.parts() {
            count +=
                part.primary_range(&directory_key(folder, subdirectory))?.size_hint().1.unwrap_or(0) as u64;
        }
        Ok(count)
    }

    /// Returns how many files the table has.
    pub(in crate::pass) fn row_count(&self) -> u64 {
        self.table.row_count()
    }

    /// Returns the rows with the draft flag.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn with_draft_flag(&self) -> Result<Vec<FileRow>> {
        let mut found = Vec::new();
        for part in self.table.parts() {
            let flags = part.u16s(files::FLAGS, 0..part.row_count())?;
            for (row, flags) in part.live_values(flags.iter()) {
                if Flags::from_bits(*flags).contains(Flags::DRAFT) {
                    found.push(rows::file(part, row)?);
                }
            }
        }
        Ok(found)
    }

    /// Returns one file's row.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn file(&self, key: &[Value<'_>]) -> Result<Option<FileRow>> {
        match self.table.get(PRIMARY, key)? {
            Some(id) => Ok(Some(rows::file(rows::part_of(&self.table, id), id.row)?)),
            None => Ok(None),
        }
    }

    /// Returns the rows of one directory.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn directory(
        &self,
        folder: u32,
        subdirectory: Subdirectory,
    ) -> Result<DirectoryRows<'_>> {
        Ok(DirectoryRows { parts: self.table.parts(), folder, subdirectory })
    }
}

fn directory_key<'v>(folder: u32, subdirectory: Subdirectory) -> [Value<'v>; 2] {
    [Value::U32(folder), Value::U8(subdirectory.number())]
}

/// Which values of a file indicate that its content may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum Telling {
    /// Its size and both of its times.
    SizeAndTimes,
    /// Its size and the time of its last modification. Renaming a file changes only the other time.
    SizeAndModification,
}

/// The rows of one directory.
pub(in crate::pass) struct DirectoryRows<'a> {
    parts: &'a [Part],
    folder: u32,
    subdirectory: Subdirectory,
}

impl DirectoryRows<'_> {
    /// Returns the rows whose file has a size or times that differ from the row, as far as `telling`
    /// considers them. `look` returns the stat of the file with a name; files without one are left out. Only
    /// the returned rows are read completely.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn outdated(
        &self,
        telling: Telling,
        mut look: impl FnMut(&[u8]) -> Option<FileStat>,
    ) -> Result<Vec<FileRow>> {
        let mut outdated = Vec::new();
        for part in self.parts {
            for row in part.primary_range(&directory_key(self.folder, self.subdirectory))? {
                let Some(stat) = look(part.bytes(files::NAME, row)?) else { continue };
                let is_same = part.u64_at(files::SIZE, row)? == stat.size_bytes
                    && part.i64_at(files::MTIME, row)? == stat.mtime_ns
                    && (telling == Telling::SizeAndModification
                        || part.i64_at(files::CTIME, row)? == stat.ctime_ns);
                if !is_same {
                    outdated.push(rows::file(part, row)?);
                }
            }
        }
        Ok(outdated)
    }
}

impl StoredRows for DirectoryRows<'_> {
    type Key = (u32, u32);
    type Error = Error;

    fn visit(&self, visit: Visit<'_, (u32, u32)>) -> Result<()> {
        for (number, part) in (0u32..).zip(self.parts) {
            for row in part.primary_range(&directory_key(self.folder, self.subdirectory))? {
                visit((number, row), part.bytes(files::NAME, row)?, part.u64_at(files::INODE, row)?);
            }
        }
        Ok(())
    }

    fn load(&self, (part, row): (u32, u32)) -> Result<FileRow> {
        rows::file(&self.parts[part as usize], row)
    }
}

/// A directory that has no rows yet.
pub(in crate::pass) struct NoRows;

impl StoredRows for NoRows {
    type Key = ();
    type Error = Error;

    fn visit(&self, _visit: Visit<'_, ()>) -> Result<()> {
        Ok(())
    }

    fn load(&self, (): ()) -> Result<FileRow> {
        unreachable!("there is no row to load")
    }
}
