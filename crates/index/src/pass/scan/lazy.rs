//! Decides which directories a lazy pass does not read, and finds the drafts in them.
//!
//! Input: stored stamps and rows. Output: whether a directory is unchanged, and which of its files to check
//! anyway. Must not know the contents of directories.

use crate::error::Result;
use crate::pass::scan::compare::{Found, StoredRows};
use crate::pass::scan::file_rows::FileRows;
use crate::pass::scan::scanned::ScannedFolder;
use crate::rows::{FileRow, Subdirectory};
use std::collections::HashMap;

/// Returns whether a directory has the stamp of when it was last read completely. Returns false if its stamp
/// cannot be read; reading the directory then reports the error.
pub(super) fn is_unchanged(folder: &ScannedFolder, subdirectory: Subdirectory) -> bool {
    let stored = &folder.row.directories[subdirectory.index()].stamp;
    !folder.is_new
        && folder.is_there
        && folder.has[subdirectory.index()]
        && stored.has_times()
        && mail::stat_directory(&folder.path.join(subdirectory.name())).is_ok_and(|now| now == *stored)
}

/// Returns whether programs rewrite files in place in this folder.
pub(in crate::pass) fn is_drafts_folder(path: &[u8]) -> bool {
    let last = path.rsplit(|byte| matches!(byte, b'/' | b'.')).next().unwrap_or_default();
    last.eq_ignore_ascii_case(b"drafts") || last.eq_ignore_ascii_case(b"draft")
}

/// Rows of drafts. Programs rewrite drafts in place, which does not change the directory.
#[derive(Default)]
pub(super) struct Drafts {
    by_directory: HashMap<(usize, Subdirectory), Vec<(FileRow, Found)>>,
}

impl Drafts {
    /// Finds them: files with the draft flag, and all files in folders for drafts.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn find(known: &FileRows, folders: &[ScannedFolder]) -> Result<Drafts> {
        let mut drafts = Drafts::default();
        let mut by_number = HashMap::new();
        for (index, folder) in folders.iter().enumerate().filter(|(_, folder)| !folder.is_new) {
            if !is_drafts_folder(&folder.row.path) {
                by_number.insert(folder.row.number, index);
                continue;
            }
            for subdirectory in Subdirectory::ALL {
                let rows = known.directory(folder.row.number, subdirectory)?;
                let mut keys = Vec::new();
                rows.visit(&mut |key, _, _| keys.push(key))?;
                for key in keys {
                    drafts.add(index, rows.load(key)?);
                }
            }
        }
        for row in known.with_draft_flag()? {
            if let Some(index) = by_number.get(&row.folder) {
                drafts.add(*index, row);
            }
        }
        Ok(drafts)
    }

    /// Removes and returns those of one directory.
    pub(super) fn take(&mut self, folder: usize, subdirectory: Subdirectory) -> Vec<(FileRow, Found)> {
        self.by_directory.remove(&(folder, subdirectory)).unwrap_or_default()
    }

    fn add(&mut self, folder: usize, row: FileRow) {
        let found =
            Found { folder, subdirectory: row.subdirectory, name: row.name.clone(), inode: row.inode };
        self.by_directory.entry((folder, row.subdirectory)).or_default().push((row, found));
    }
}
