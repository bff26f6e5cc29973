//! Renames a folder with all folders below it.
//!
//! Input: the name of a folder, and its new one. Output: the directories that get other names, and the index
//! in step with them. In a Maildir++ the folders below are directories beside it. No name leads out of the
//! root, and nothing is ever replaced. Reads no message.

mod names;
mod roles;
#[cfg(test)]
mod tests;

use crate::action::act::AFTER;
use crate::action::carry_out::{LeftAlone, carry_out, conclude};
use crate::action::directories;
use crate::action::follow::ways;
use crate::action::hands::RealHands;
use crate::action::log::{Kind, Log, Place, Step};
use crate::action::role::Known;
use crate::error::{Error, Result};
use crate::host::Host;
use index::{FolderPlace, Root};
pub use names::Renaming;
use names::plan;
pub use roles::RenamedRole;
use std::path::Path;
use work::Progress;

/// What a renaming would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRenaming {
    /// The directories, the folder's own first.
    pub directories: Vec<Renaming>,
    /// The roles that the configuration would have to name anew.
    pub roles: Vec<RenamedRole>,
}

/// What a renaming did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The directories, the folder's own first.
    pub directories: Vec<Renaming>,
    /// How many folders of the index have another name now.
    pub folder_count: u64,
    /// The roles that the configuration has to name anew.
    pub roles: Vec<RenamedRole>,
    /// What could not be read or synced after it.
    pub left: Vec<LeftAlone>,
}

impl Host {
    /// Returns the directories to which [`Host::rename_folder`] would give other names.
    ///
    /// # Errors
    /// As [`Host::rename_folder`].
    pub fn plan_renaming(&self, old: &str, new: &str) -> Result<PlannedRenaming> {
        let view = self.newest_view()?;
        let folders = view.mailbox().folder_places();
        let old = old_name((old, new), &self.known(&folders, view.roots()))?;
        let directories = plan((&old, new), &folders, view.roots())?;
        Ok(PlannedRenaming {
            roles: roles::renamed(&self.known(&folders, view.roots()), &directories),
            directories,
        })
    }

    /// Renames a folder with all folders below it, and brings the index in step without reading a message.
    /// Both names are those of [`Host::deliver`]; the new one is in the same root, and in a Maildir++ beside
    /// the old one. `old` may also be a directory that is on the way to folders and is none itself.
    ///
    /// # Errors
    /// There is no such folder, or several; it is a root or an inbox; there is such a folder as `new`, or it
    /// cannot be a name; the disk or the user's data cannot be written. All folders have their old names
    /// then. The log of actions cannot be written. As [`Host::update`]: the folder has its new name then.
    pub fn rename_folder(&self, old: &str, new: &str, progress: &dyn Progress) -> Result<Renamed> {
        let log = Log::take(&self.settings().environment, progress)?;
        let undone = self.recover(&log, progress)?;
        let view = self.newest_view()?;
        let folders = view.mailbox().folder_places();
        let old = old_name((old, new), &self.known(&folders, view.roots()))?;
        let directories = plan((&old, new), &folders, view.roots())?;
        let roles = roles::renamed(&self.known(&folders, view.roots()), &directories);
        for Renaming { to, .. } in &directories {
            to.parent().map_or(Ok(()), create_all)?;
        }
        let steps = directories.iter().map(step).collect::<Result<_>>()?;
        let mut entry = log.begin(Kind::Rename, steps)?;
        if let Err(error) = self.note_ways(&view, &ways(&entry.steps, |_| true), progress) {
            conclude(&log, &mut entry)?;
            return Err(error);
        }
        let mut left = carry_out(&log, &RealHands, &mut entry)?;
        self.take_ways_back(&view, &ways(&entry.steps, |step| !step.is_done), progress)?;
        if !left.is_empty() && !entry.steps.iter().any(|step| step.is_done) {
            let LeftAlone { path, why } = left.swap_remove(0);
            return Err(Error::FolderStays { path, what: why });
        }
        left.extend(undone.into_iter().flat_map(|undone| undone.left));
        left.extend(self.bring_places_in_step(
            &directories::places_of(&entry.steps, &folders),
            AFTER,
            progress,
        )?);
        // If that cannot be written, the next change does it.
        let _ = self.settle_ways(progress);
        let is_below = |place: &FolderPlace| directories.iter().any(|dir| place.path.starts_with(&dir.from));
        let folder_count = folders.iter().filter(|place| is_below(place)).count() as u64;
        Ok(Renamed { directories, folder_count, roles, left })
    }

    fn known<'a>(&'a self, folders: &'a [FolderPlace], roots: &'a [Root]) -> Known<'a> {
        Known { folders, roots, accounts: &self.settings().configuration.accounts }
    }
}

/// Returns the name of the folder to rename, which may be a role. The new one is none.
fn old_name((old, new): (&str, &str), known: &Known<'_>) -> Result<String> {
    if known.role(new)?.is_some() {
        let what = "it is a role: the configuration says which folder has it";
        return Err(Error::FolderName { name: new.to_owned(), what });
    }
    Ok(match known.role(old)? {
        Some(_) => known.named(old, false)?.path.to_string_lossy().into_owned(),
        None => old.to_owned(),
    })
}

fn step(renaming: &Renaming) -> Result<Step> {
    let stat = mail::stat_entry(&renaming.from).map_err(Error::Delivery)?;
    Ok(Step {
        from: Place(renaming.from.clone()),
        to: Place(renaming.to.clone()),
        inode: stat.inode,
        new_inode: None,
        size_bytes: 0,
        mtime_ns: 0,
        sha256: None,
        is_done: false,
        left: None,
    })
}

/// Creates a directory and those on the way to it, all durable.
fn create_all(directory: &Path) -> Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|part| !part.exists()).collect();
    for part in missing.into_iter().rev() {
        mail::create_directory(part).map_err(Error::Delivery)?;
        part.parent().map_or(Ok(()), mail::sync_directory).map_err(Error::Delivery)?;
    }
    Ok(())
}
