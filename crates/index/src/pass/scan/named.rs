//! Looks at single files of a directory, by name, without reading the directory.
//!
//! Input: names, and the rows of files with these names. Output: the same outcome as of a directory that was
//! read, for these files alone. Other files and their rows stay as they are. Must not know who names them.

use crate::error::{Error, Result};
use crate::pass::scan::closer_look::{look_closer, root_of};
use crate::pass::scan::compare::{Closer, Listing, StoredRows, Visit, compare};
use crate::pass::scan::file_rows::FileRows;
use crate::pass::scan::scanned::{Directory, Extent, Outcome, ScannedFolder};
use crate::pass::summary::{Problem, STAYS};
use crate::rows::{DirectoryState, FileRow, Subdirectory, file_key};
use mail::RootBoundary;

/// Rows that were looked up one by one.
struct NamedRows(Vec<FileRow>);

impl StoredRows for NamedRows {
    type Key = usize;
    type Error = Error;

    fn visit(&self, visit: Visit<'_, usize>) -> Result<()> {
        self.0.iter().enumerate().for_each(|(index, row)| visit(index, &row.name, row.inode));
        Ok(())
    }

    fn load(&self, index: usize) -> Result<FileRow> {
        self.0.get(index).cloned().ok_or(Error::Inconsistent { what: "a row was looked up and is not there" })
    }
}

/// Looks at the files with these names in `cur` or `new` of the scan's folder `index`. The directory is
/// unknown if it cannot be opened, or is on another device than before: a whole pass decides what that means.
///
/// # Errors
/// Damage in the store.
pub(super) fn look_at_named(
    (folder, index): (&ScannedFolder, usize),
    subdirectory: Subdirectory,
    names: &[&[u8]],
    known: &FileRows,
) -> Result<(Outcome, Vec<Problem>)> {
    let path = folder.path.join(subdirectory.name());
    let unknown = |problem: Option<Problem>| Ok((Outcome::Unknown, problem.into_iter().collect()));
    if names.is_empty() || !folder.is_there || !folder.has[subdirectory.index()] {
        return unknown(None);
    }
    let opened = match mail::Directory::open(&path) {
        Ok(opened) => opened,
        Err(error) if error.is_not_found() => return unknown(None),
        Err(error) => return unknown(Some(Problem::new(path, format!("{}{STAYS}", error.reason())))),
    };
    let device = folder.row.directories[subdirectory.index()].stamp.device;
    if device != 0 && device != opened.stamp().device {
        return unknown(None);
    }
    let root = RootBoundary::new(root_of(folder));
    let (mut listing, mut rows, mut problems) = (Listing::default(), Vec::new(), Vec::new());
    for name in names.iter().filter(|name| !name.starts_with(b".")) {
        let mut is_message = Ok(false);
        let looked = opened.visit_named(name, |entry| {
            is_message = entry.is_message_file(&root);
            if matches!(is_message, Ok(true)) {
                listing.push(entry.name, entry.inode);
            }
        });
        if let Err(error) = looked.and(is_message) {
            problems.push(Problem::new(error.path().to_owned(), format!("{}{STAYS}", error.reason())));
            continue;
        }
        rows.extend(known.file(&file_key(folder.row.number, subdirectory, name))?);
    }
    let mut directory = Directory {
        state: DirectoryState { stamp: opened.stamp(), ..DirectoryState::default() },
        file_count: listing.len() as u64,
        extent: Extent::Named,
        ..Directory::default()
    };
    let difference = compare(&listing, (index, subdirectory), Closer::All, &NamedRows(rows))?;
    look_closer(&folder.path, (difference, Closer::All), &mut directory);
    Ok((Outcome::Read(Box::new(directory)), problems))
}
