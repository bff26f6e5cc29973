//! Looks up the file of every row separately: the slow and obvious way to find out what is gone, for
//! comparison with the pass.
//!
//! Input: rows, and the directories that are known. Output: the rows without a file. Uses only the stat of
//! each file, and no listings, fingerprints or stamps.

use crate::error::Result;
use crate::pass::scan::closer_look::root_of;
use crate::pass::scan::compare::StoredRows;
use crate::pass::scan::file_rows::FileRows;
use crate::pass::scan::scanned::{Outcome, Scan, ScannedFolder};
use crate::pass::summary::{Problem, STAYS};
use crate::rows::{FileRow, Subdirectory};
use mail::RootBoundary;
use std::collections::HashSet;
use std::path::Path;
use work::Progress;

/// The result of looking up files.
#[derive(Debug, Default)]
pub(in crate::pass) struct LookedUp {
    /// Rows whose file is not there.
    pub gone: Vec<FileRow>,
    /// Files whose stat cannot be read. Their rows stay.
    pub problems: Vec<Problem>,
}

impl LookedUp {
    /// Removes some rows from the result: their files are known to be elsewhere.
    pub(in crate::pass) fn without<'a>(mut self, rows: impl Iterator<Item = &'a FileRow>) -> LookedUp {
        let key = |row: &FileRow| (row.folder, row.subdirectory, row.name.clone());
        let left_out: HashSet<_> = rows.map(key).collect();
        self.gone.retain(|row| !left_out.contains(&key(row)));
        self
    }
}

/// Looks up every row in the directories that the scan knows. Rows of other directories stay.
///
/// # Errors
/// Damage in the store.
pub(in crate::pass) fn look_up(scan: &Scan, known: &FileRows, observer: &dyn Progress) -> Result<LookedUp> {
    let mut looked_up = LookedUp::default();
    for folder in scan.folders.iter().filter(|folder| !folder.is_new) {
        for subdirectory in Subdirectory::ALL {
            let is_known = !matches!(folder.directories[subdirectory.index()], Outcome::Unknown);
            if is_known && !observer.is_cancelled() {
                directory(folder, subdirectory, known, &mut looked_up)?;
            }
        }
    }
    Ok(looked_up)
}

fn directory(
    folder: &ScannedFolder,
    subdirectory: Subdirectory,
    known: &FileRows,
    looked_up: &mut LookedUp,
) -> Result<()> {
    let rows = known.directory(folder.row.number, subdirectory)?;
    let mut keys = Vec::new();
    rows.visit(&mut |key, _, _| keys.push(key))?;
    let path = folder.path.join(subdirectory.name());
    for key in keys {
        let row = rows.load(key)?;
        match is_there(folder, &path, &row.name) {
            Ok(true) => {}
            Ok(false) => looked_up.gone.push(row),
            Err(error) => {
                let what = format!("{}{STAYS}", error.reason());
                looked_up.problems.push(Problem::new(error.path().to_owned(), what));
            }
        }
    }
    Ok(())
}

/// Returns whether a message exists. In an excluded folder, for example one with a file `.noindex`, no
/// message exists.
fn is_there(folder: &ScannedFolder, directory: &Path, name: &[u8]) -> mail::Result<bool> {
    if !folder.is_there {
        return Ok(false);
    }
    let path = mail::join(directory, name);
    let is_own = || match path.symlink_metadata() {
        // As in a pass: only links to mail are followed.
        Ok(metadata) if metadata.is_symlink() => {
            RootBoundary::new(root_of(folder)).leads_to_message(&path).unwrap_or(true)
        }
        _ => true,
    };
    match mail::stat_file(&path) {
        Ok(stat) => Ok(stat.is_file() && is_own()),
        Err(error) if error.is_not_found() || error.is_link_loop() => Ok(false),
        Err(error) => Err(error),
    }
}
