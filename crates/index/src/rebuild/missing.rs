//! Finds what a rebuilt index lacks: directories that could not be read or whose disk is not mounted, and how
//! many messages the old index had of them.
//!
//! Input: the contents of the old index and of the new one, and the problems of the pass. Output: sentences.
//! Must not know how an index is made.

use crate::environment::Environment;
use crate::error::Result;
use crate::pass::{Problem, STAYS, is_unmounted};
use crate::remedy::Remedy;
use crate::rows::{self, FolderRow, Subdirectory};
use crate::search::Inventory;
use crate::{open, state::Root};
use std::path::{Path, PathBuf};

/// The directories of an index.
#[derive(Debug, Default)]
pub(super) struct Indexed {
    /// Directories with messages, and the number of files in each.
    directories: Vec<(PathBuf, u64)>,
    /// Folders, each with its root.
    folders: Vec<(Root, FolderRow)>,
}

/// Returns the directories of an index, or `None` if it cannot be read because it is damaged or of another
/// version.
pub(super) fn indexed(environment: &Environment) -> Option<Indexed> {
    read(environment).ok()
}

fn read(environment: &Environment) -> Result<Indexed> {
    let mut indexed = Indexed::default();
    let inventory = Inventory::open(environment)?;
    for folder in inventory.folders() {
        for subdirectory in Subdirectory::ALL {
            let count = inventory.files(folder, subdirectory)?.len() as u64;
            indexed.directories.push((folder.directory.join(subdirectory.name()), count));
        }
    }
    let snapshot = open::snapshot(environment)?;
    let roots = open::state(&snapshot, &environment.index_directory())?.roots;
    for row in rows::folders(&snapshot)? {
        if let Some(root) = roots.iter().find(|root| root.name == row.root) {
            indexed.folders.push((root.clone(), row));
        }
    }
    Ok(indexed)
}

/// Adds problems for missing folders that the pass could not notice, and completes the problems with
/// directories by what the new index lacks. `before` is the old index, if it could be read.
pub(super) fn tell(problems: &mut Vec<Problem>, before: Option<&Indexed>, after: &Indexed) {
    if let Some(before) = before {
        let unseen = unseen(before, after, problems);
        problems.extend(unseen);
    }
    for problem in problems {
        // A problem with a single file needs no addition.
        let Some(what) = problem.what.strip_suffix(STAYS) else { continue };
        let lacking =
            before.map(|before| before.below(&problem.path).saturating_sub(after.below(&problem.path)));
        problem.remedy = Some(Remedy::RunPass).filter(|_| lacking != Some(0));
        problem.what = match lacking {
            Some(0) => format!("{what}; nothing of it was indexed"),
            Some(1) => format!("{what}; 1 message of it was indexed and is not in the new index"),
            Some(count) => {
                format!("{what}; {count} messages of it were indexed and are not in the new index")
            }
            None => format!("{what}; what it holds is not in the new index"),
        };
    }
}

/// Returns problems with folders that the old index has and the new one lacks, although they may still exist:
/// behind a dangling link, or on a device that is not mounted now.
fn unseen(before: &Indexed, after: &Indexed, problems: &[Problem]) -> Vec<Problem> {
    let mut unseen: Vec<Problem> = Vec::new();
    for (root, row) in &before.folders {
        let path = mail::join(&root.path, &row.path);
        let is_told = problems.iter().chain(&unseen).any(|problem| path.starts_with(&problem.path));
        if is_told || before.below(&path) == 0 || after.below(&path) > 0 {
            continue;
        }
        if let Some(link) = dangling(&path, &root.path) {
            let what = format!("the link {} leads nowhere; is a disk not mounted?{STAYS}", link.display());
            unseen.push(Problem::new(link.to_owned(), what));
        } else if is_unmounted(&path, &root.path, row) {
            let what = format!("does not exist, and was on another device: is it not mounted?{STAYS}");
            unseen.push(Problem::new(path, what));
        }
    }
    unseen
}

/// Returns the dangling link in a folder's path, not counting its root.
fn dangling<'a>(path: &'a Path, root: &Path) -> Option<&'a Path> {
    let is_dangling = |part: &&Path| part.is_symlink() && !part.exists();
    path.ancestors().take_while(|part| part.starts_with(root)).find(is_dangling)
}

impl Indexed {
    /// Returns how many files are indexed at and below a path.
    fn below(&self, path: &Path) -> u64 {
        let below = self.directories.iter().filter(|(directory, _)| directory.starts_with(path));
        below.map(|(_, count)| count).sum()
    }
}
