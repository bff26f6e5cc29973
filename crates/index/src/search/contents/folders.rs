//! Folders as lists of contents, and how many contents and threads each has.
//!
//! Input: a mailbox. Output: folders with their numbers and paths, sets, counts. Counting reads columns only:
//! flags, folders and nodes. Must not know what a folder is for.

use crate::edges::Grouping;
use crate::error::Result;
use crate::rows::FolderRow;
use crate::search::answer::folder_files;
use crate::search::mailbox::{FolderPlace, Mailbox};
use crate::set::NumberSet;
use crate::tables::{files, messages};
use crate::user::{self, FolderKey, KeptFolder, KeptIdentities};
use mail::Flags;
use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

/// A folder of the index, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedFolder {
    /// Its number. A rebuilt index assigns new numbers.
    pub number: u32,
    /// The root's name.
    pub root: String,
    /// Its path below the root, as bytes; empty for the root itself.
    pub path: Vec<u8>,
    /// Its names, and where it is.
    pub place: FolderPlace,
}

impl From<&IndexedFolder> for FolderKey {
    fn from(folder: &IndexedFolder) -> FolderKey {
        FolderKey { root: folder.root.clone(), path: folder.path.clone() }
    }
}

/// What a folder has. A content with several files in it counts once, copies count each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderCounts {
    /// Contents.
    pub contents: u64,
    /// Those that no file says were seen, and none that they are drafts.
    pub unread: u64,
    /// Threads with a content in the folder.
    pub threads: u64,
    /// Those of them with an unread content, in any folder.
    pub unread_threads: u64,
}

impl Mailbox {
    /// Returns all folders, in the order in which they were found.
    pub fn indexed_folders(&self) -> Vec<IndexedFolder> {
        let indexed = |row: &FolderRow| {
            let root = self.roots().iter().find(|root| root.name == row.root);
            let place = FolderPlace::below(root.map_or(Path::new(""), |root| &root.path), &row.path);
            IndexedFolder { number: row.number, root: row.root.clone(), path: row.path.clone(), place }
        };
        self.folders().iter().map(indexed).collect()
    }

    /// Returns what is kept of folders, in their order. They are all folders of this mailbox.
    ///
    /// # Errors
    /// Damage.
    pub fn kept_folders(&self, folders: &[IndexedFolder]) -> Result<Vec<KeptFolder>> {
        let keys: Vec<FolderKey> = folders.iter().map(FolderKey::from).collect();
        Ok(user::folders::read(self.user_snapshot()?)?.of(&keys))
    }

    /// Returns what the user changed of identities.
    ///
    /// # Errors
    /// Damage.
    pub fn kept_identities(&self) -> Result<KeptIdentities> {
        user::identities::read(self.user_snapshot()?)
    }

    /// Returns the contents that have a file in a folder. None, if there is no folder with this number.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_in(&self, folder: u32) -> Result<NumberSet> {
        let mut found = self.empty();
        if let Some(row) = self.folder(folder) {
            folder_files(self, row, None, &mut found)?;
        }
        found.and(self.present()?);
        Ok(found)
    }

    /// Returns the contents that nobody has read: without the flags of a seen message and of a draft.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn unread_contents(&self) -> Result<NumberSet> {
        let mut unread = self.present()?.clone();
        unread.minus(&self.contents_with_flag(Flags::SEEN)?);
        unread.minus(&self.contents_with_flag(Flags::DRAFT)?);
        Ok(unread)
    }

    /// Returns what each folder has, by their numbers.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; damage in the store.
    pub fn folder_counts(&self) -> Result<BTreeMap<u32, FolderCounts>> {
        let (present, unread) = (self.present()?, self.unread_contents()?);
        let roots = self.roots_by_number()?;
        let root_of = |number: u32| roots.get(number as usize).copied().unwrap_or(u32::MAX);
        let mut unread_roots = NumberSet::new(self.forest_of(Grouping::Threads)?.bound());
        unread.iter().for_each(|number| unread_roots.insert(root_of(number)));
        // Of each content and of each thread, the last folder that counted it.
        let mut counted_in = vec![u32::MAX; self.bound() as usize];
        let mut thread_counted_in = vec![u32::MAX; unread_roots.bound() as usize];
        let is_new = |list: &mut Vec<u32>, place: u32, folder: u32| {
            list.get_mut(place as usize).is_some_and(|last| mem::replace(last, folder) != folder)
        };
        let by_folder = self.messages_by_folder()?;
        let mut all = BTreeMap::new();
        for folder in self.folders() {
            self.check_cancelled()?;
            let mut counts = FolderCounts::default();
            for &number in by_folder.get(&folder.number).map_or(&[][..], Vec::as_slice) {
                if !present.contains(number) || !is_new(&mut counted_in, number, folder.number) {
                    continue;
                }
                counts.contents += 1;
                counts.unread += u64::from(unread.contains(number));
                let root = root_of(number);
                if is_new(&mut thread_counted_in, root, folder.number) {
                    counts.threads += 1;
                    counts.unread_threads += u64::from(unread_roots.contains(root));
                }
            }
            all.insert(folder.number, counts);
        }
        Ok(all)
    }

    /// Returns the message of each file, by folders.
    fn messages_by_folder(&self) -> Result<BTreeMap<u32, Vec<u32>>> {
        let mut by_folder: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for part in self.file_table().parts() {
            self.check_cancelled()?;
            let folders = part.u32s(files::FOLDER, 0..part.row_count())?;
            let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
            let rows: Vec<(u32, u32)> = part
                .live_values(folders.iter().zip(numbers.iter()))
                .map(|(_, (folder, number))| (*folder, *number))
                .collect();
            // Rows of a folder lie side by side.
            for run in rows.chunk_by(|(one, _), (next, _)| one == next) {
                let Some((folder, _)) = run.first() else { continue };
                by_folder.entry(*folder).or_default().extend(run.iter().map(|(_, number)| number));
            }
        }
        Ok(by_folder)
    }

    /// Returns the head of each message's thread, by the numbers of messages. Others have [`u32::MAX`].
    fn roots_by_number(&self) -> Result<Vec<u32>> {
        let forest = self.forest_of(Grouping::Threads)?;
        let mut roots = vec![u32::MAX; self.bound() as usize];
        for part in self.message_table().parts() {
            self.check_cancelled()?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            let nodes = part.u32s(messages::NODE, 0..part.row_count())?;
            for (_, (number, node)) in part.live_values(numbers.iter().zip(nodes.iter())) {
                if let Some(slot) = roots.get_mut(*number as usize) {
                    *slot = forest.of(*node);
                }
            }
        }
        Ok(roots)
    }
}
