//! Looks up one message, folder or file of a mailbox.
//!
//! Input: a message number, a SHA-256, a folder's number, a path. Output: a hit, a number, rows. Must not
//! know queries.

use crate::error::{Error, Result};
use crate::rows::{self, FolderRow, Subdirectory, file_key};
use crate::search::mailbox::folder_names::folder_path;
use crate::search::mailbox::{Hit, Mailbox};
use crate::tables::{files, messages};
use std::collections::HashMap;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use store::{PRIMARY, RowId, Table, Value};

impl Mailbox {
    /// Returns the hit of a message number.
    pub(crate) fn hit(&self, number: u32) -> Result<Option<Hit>> {
        let table = self.message_table();
        let Some(row) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(None) };
        let date = rows::part_of(table, row).i64_at(messages::DATE, row.row)?;
        Ok(Some(Hit { number, row, date }))
    }

    /// Returns a hit with its row in this commit. A hit of another commit is found by its number: rows move
    /// when segments are merged, and are replaced when a message changes.
    ///
    /// # Errors
    /// [`Error::MessageRemoved`]; damage in the store.
    pub(in crate::search) fn located(&self, hit: &Hit) -> Result<Hit> {
        let table = self.message_table();
        let row = hit.row.row;
        let part = table.parts().get(hit.row.part as usize);
        if let Some(part) = part.filter(|part| row < part.row_count() && !part.is_dead(row))
            && part.u32_at(messages::NUMBER, row)? == hit.number
        {
            return Ok(Hit { date: part.i64_at(messages::DATE, row)?, ..*hit });
        }
        self.hit(hit.number)?.ok_or(Error::MessageRemoved { number: hit.number })
    }

    /// Returns the number of a content, whether or not it has a file.
    pub(in crate::search) fn number_of(&self, sha256: &[u8; 32]) -> Result<Option<u32>> {
        let table = self.message_table();
        let Some(row) = table.get(messages::BY_SHA256, &[Value::Id(sha256)])? else { return Ok(None) };
        Ok(Some(rows::part_of(table, row).u32_at(messages::NUMBER, row.row)?))
    }

    /// Returns the number of a content that has a file.
    pub(in crate::search) fn present_number(&self, sha256: &[u8; 32]) -> Result<Option<u32>> {
        let present = self.present()?;
        Ok(self.number_of(sha256)?.filter(|number| present.contains(*number)))
    }

    /// Returns the rows of `files` for a path, absolute or below a root.
    pub(crate) fn rows_at(&self, path: &Path) -> Result<Vec<(RowId, u32)>> {
        let (Some(name), Some(directory)) = (path.file_name(), path.parent()) else { return Ok(Vec::new()) };
        let (Some(subdirectory), Some(folder_directory)) = (directory.file_name(), directory.parent()) else {
            return Ok(Vec::new());
        };
        let Some(subdirectory) =
            Subdirectory::ALL.into_iter().find(|known| known.name().as_bytes() == subdirectory.as_bytes())
        else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for folder in self.folders().iter().filter(|folder| self.is_at(folder, folder_directory)) {
            if let Some(id) =
                self.file_table().get(PRIMARY, &file_key(folder.number, subdirectory, name.as_bytes()))?
            {
                found.push((id, id.row));
            }
        }
        Ok(found)
    }

    /// Returns a function that tells whether a folder has a file whose name has a unique part. It takes the
    /// folder's path. It may say so of a folder with very many names that only begin alike.
    pub fn has_unique_part(&self) -> impl Fn(&Path, &[u8]) -> Result<bool> {
        let numbers: HashMap<PathBuf, u32> =
            self.folders().iter().map(|row| (folder_path(self.roots(), row), row.number)).collect();
        move |folder, unique| {
            let Some(number) = numbers.get(folder) else { return Ok(false) };
            for subdirectory in Subdirectory::ALL {
                if has_in_directory(self.file_table(), (*number, subdirectory), unique)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }

    fn is_at(&self, folder: &FolderRow, directory: &Path) -> bool {
        let relative = directory.strip_prefix(".").unwrap_or(directory);
        folder_path(self.roots(), folder) == directory || relative.as_os_str().as_bytes() == folder.path
    }

    /// Returns a folder by its number.
    pub(crate) fn folder(&self, number: u32) -> Option<&FolderRow> {
        let place = self.folders().binary_search_by_key(&number, |folder| folder.number).ok()?;
        self.folders().get(place)
    }
}

/// The most names with the same beginning that are compared.
const NAMES_ALIKE_MAX: usize = 1000;

fn has_in_directory(
    table: &Table,
    (folder, subdirectory): (u32, Subdirectory),
    unique: &[u8],
) -> Result<bool> {
    let from = file_key(folder, subdirectory, unique);
    let rows = table.range(PRIMARY, Bound::Included(&from), Bound::Included(&from[..2]))?;
    for (count, id) in rows.enumerate() {
        let id = id?;
        let name = rows::part_of(table, id).bytes(files::NAME, id.row)?;
        if !name.starts_with(unique) {
            return Ok(false);
        }
        if mail::parse_name(name).unique == unique || count >= NAMES_ALIKE_MAX {
            return Ok(true);
        }
    }
    Ok(false)
}
