//! Which messages are there already: the SHA-256 of each, by folder.
//!
//! Input: the index, brought in step. Output: sets, which the import adds to. Takes 32 bytes for a message.

use crate::error::{Error, Result};
use crate::mail_import::model::MailImportOptions;
use index::{Environment, Inventory, StoredFolder, Subdirectory};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Contents of messages.
pub(super) type Contents = HashSet<[u8; 32]>;

/// The contents that are there already.
#[derive(Debug, Default)]
pub(super) struct Known {
    by_folder: HashMap<PathBuf, Contents>,
    /// Of all folders, if that counts.
    anywhere: Contents,
}

/// The contents that are not wanted in a folder.
pub(super) struct KnownOf<'k> {
    folder: &'k mut Contents,
    anywhere: &'k Contents,
}

impl Known {
    /// Reads what folders have.
    ///
    /// # Errors
    /// A folder is not indexed, or not kept in step: nobody knows what it has. Damage.
    pub(super) fn read(
        environment: &Environment,
        folders: &[PathBuf],
        options: &MailImportOptions,
    ) -> Result<Known> {
        let inventory = Inventory::open(environment)?;
        let mut known = Known::default();
        for path in folders {
            let folder = inventory.folders().iter().find(|folder| folder.directory == *path);
            let Some(folder) = folder.filter(|folder| !folder.no_update) else {
                return Err(Error::NotIndexed { path: path.clone() });
            };
            known.by_folder.insert(path.clone(), contents(&inventory, folder)?);
        }
        if options.skips_known {
            for folder in inventory.folders() {
                known.anywhere.extend(contents(&inventory, folder)?);
            }
        }
        Ok(known)
    }

    /// Returns what is there of a folder.
    pub(super) fn of(&mut self, folder: &Path) -> KnownOf<'_> {
        KnownOf { folder: self.by_folder.entry(folder.to_owned()).or_default(), anywhere: &self.anywhere }
    }
}

impl KnownOf<'_> {
    /// Adds a content. Returns whether it was not there.
    pub(super) fn add(&mut self, sha256: [u8; 32]) -> bool {
        !self.anywhere.contains(&sha256) && self.folder.insert(sha256)
    }
}

fn contents(inventory: &Inventory, folder: &StoredFolder) -> Result<Contents> {
    let mut contents = Contents::new();
    for subdirectory in [Subdirectory::Cur, Subdirectory::New] {
        contents.extend(inventory.files(folder, subdirectory)?.iter().map(|file| file.sha256));
    }
    Ok(contents)
}
