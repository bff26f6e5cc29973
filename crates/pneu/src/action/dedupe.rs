//! Moves duplicate files to the trash: those of a folder that have the same bytes as another file there.
//!
//! Input: folders. Output: a plan, and what was done, as for any other action: `undo` moves the files back. A
//! file is a duplicate only if its bytes on disk are those of the file that stays, compared one by one.

use crate::action::act::Acted;
use crate::action::folder::Chosen;
use crate::action::log::Kind;
use crate::action::plan::{Action, Plan};
use crate::error::{Error, Result};
use crate::host::Host;
use index::{FoundFile, Inventory, StoredFile, StoredFolder, Subdirectory};
use mail::Flags;
use std::cmp::Reverse;

use std::collections::{BTreeMap, HashSet};
use work::Progress;

impl Host {
    /// Returns which files [`Host::dedupe`] would move to the trash, and where. Of files with the same bytes
    /// one that is not marked for deletion stays; of these the one with the most flags, then one in `cur`,
    /// and then the oldest.
    ///
    /// # Errors
    /// There is no such folder, or no trash; a file cannot be read.
    pub fn plan_dedupe(&self, folders: &[String]) -> Result<Plan> {
        let mut paths = Vec::new();
        for name in folders {
            let Chosen { path, .. } = self.choose_folder(name, false)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let view = self.newest_view()?;
        let inventory = Inventory::open(&self.settings().environment)?;
        let mut duplicates = Vec::new();
        for path in paths {
            let found = inventory.folders().iter().find(|folder| folder.directory == path);
            let folder = found.ok_or_else(|| Error::NotIndexed { path })?;
            duplicates.extend(duplicates_in(&inventory, folder)?);
        }
        self.plan_files(&view, duplicates, &Action::Delete)
    }

    /// Moves duplicate files of folders to the trash: see [`Host::plan_dedupe`].
    ///
    /// # Errors
    /// As [`Host::plan_dedupe`] and [`Host::act`].
    pub fn dedupe(&self, folders: &[String], progress: &dyn Progress) -> Result<Acted> {
        self.act_as_planned((Kind::Delete, None), &|| self.plan_dedupe(folders), progress)
    }
}

/// Returns the files of a folder whose bytes another file there has, too, without that one.
fn duplicates_in(inventory: &Inventory, folder: &StoredFolder) -> Result<Vec<FoundFile>> {
    let Some(root) = inventory.roots().iter().find(|root| root.name == folder.root) else {
        return Ok(Vec::new());
    };
    let mut by_content: BTreeMap<[u8; 32], Vec<FoundFile>> = BTreeMap::new();
    for subdirectory in [Subdirectory::Cur, Subdirectory::New] {
        for file in inventory.files(folder, subdirectory)? {
            let StoredFile { name, inode, size_bytes, mtime_ns, sha256, .. } = file;
            by_content.entry(sha256).or_default().push(FoundFile {
                root: root.clone(),
                folder: folder.directory.clone(),
                subdirectory,
                name: name.to_vec(),
                inode,
                size_bytes,
                mtime_ns,
                sha256,
            });
        }
    }
    let mut duplicates = Vec::new();
    for mut files in by_content.into_values().filter(|files| files.len() > 1) {
        files.sort_by_cached_key(rank);
        let mut kept: Vec<FoundFile> = Vec::new();
        // One file may be there twice, by a symbolic link, a link to its directory, or a hard link. It is no
        // duplicate of itself, and without it a link would lead nowhere.
        let mut seen = HashSet::new();
        for file in files {
            let path = file.path();
            let mut is_file =
                |stat: &mail::FileStat| !stat.is_link() && seen.insert((stat.device, stat.inode));
            if !mail::stat_entry(&path).is_ok_and(|stat| is_file(&stat)) {
                continue;
            }
            // A file that is compressed in another way has other bytes. One that changed or is gone has none.
            let is_same = |other: &FoundFile| mail::have_same_bytes(&other.path(), &path).unwrap_or(false);
            if kept.iter().any(is_same) {
                duplicates.push(file);
            } else {
                kept.push(file);
            }
        }
    }
    duplicates.sort_by_cached_key(FoundFile::path);
    Ok(duplicates)
}

/// Returns what decides which of some equal files stays: the lowest. One that is marked for deletion stays
/// only if all are: a mail program removes it next.
fn rank(file: &FoundFile) -> (bool, Reverse<usize>, bool, i64, Vec<u8>) {
    let flags = mail::parse_name(&file.name).flags;
    let is_deleted = flags.contains(Flags::TRASHED);
    let is_new = file.subdirectory == Subdirectory::New;
    (is_deleted, Reverse(flags.letters().count()), is_new, file.mtime_ns, file.name.clone())
}
