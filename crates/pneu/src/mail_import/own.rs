//! Leaves out the Maildirs of the index itself: their mail is indexed where it is, and each import would copy
//! all of it once more.
//!
//! Input: sources, and the folders of the index. Output: the sources without those folders, and which these
//! are. Other files in a root, such as an mbox, are sources like any other.

use crate::action::LeftAlone;
use crate::mail_import::sources::Sources;
use index::FolderPlace;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Removes sources that are in folders of the index, by whatever path. Returns those folders.
pub(super) fn leave_out_own(sources: &mut Sources, folders: &[FolderPlace]) -> Vec<LeftAlone> {
    let own: HashSet<(u64, u64)> = folders.iter().filter_map(|folder| identity(&folder.path)).collect();
    let mut found: BTreeMap<PathBuf, bool> = BTreeMap::new();
    for list in sources.by_folder.values_mut() {
        list.retain(|source| {
            let maildir = source.path.parent().and_then(Path::parent).filter(|_| source.is_of_maildir);
            let Some(maildir) = maildir else { return true };
            if let Some(is_own) = found.get(maildir) {
                return !is_own;
            }
            let is_own = identity(maildir).is_some_and(|identity| own.contains(&identity));
            found.insert(maildir.to_owned(), is_own);
            !is_own
        });
    }
    sources.by_folder.retain(|_, list| !list.is_empty());
    let why = "it is a folder of the index already, and is left out";
    let left = found.into_iter().filter(|(_, is_own)| *is_own);
    left.map(|(path, _)| LeftAlone { path, why: why.to_owned() }).collect()
}

fn identity(directory: &Path) -> Option<(u64, u64)> {
    mail::stat_directory(directory).ok().map(|stamp| (stamp.device, stamp.inode))
}
