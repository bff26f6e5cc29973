//! What the user keeps of folders: an id that stays when a folder is renamed, a place in the order of
//! folders, and whether it is subscribed. One attachment of the store `user/`, as safe as tags are.
//!
//! Input: folders of the index, and directories with other names. Output: ids, orders and subscriptions. Only
//! what differs from the default is kept. An entry is written before its folder gets another name, and names
//! both: the id belongs to whichever of the two the index has, so no crash parts a folder from its id. Must
//! not know what a folder is for, or how it is renamed.

mod backed_up;
mod text;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::rows::FolderRow;
use crate::search::IndexedFolder;
use crate::user::change::Changes;
use crate::user::{snapshot, writer_for};
pub use backed_up::{export_folders, import_folders};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use store::Snapshot;
pub(crate) use text::read;
use work::Progress;

/// The attachment's name.
const ATTACHMENT: &str = "folders";
/// Bytes of the id of a folder.
const FOLDER_ID_BYTES: usize = 16;
/// Most bytes of the attachment, which each change writes anew. Beyond it, folders that the index does not
/// have are forgotten.
const BYTES_MAX: usize = 1 << 20;

/// The id of a folder: no other one has it, and a folder that is renamed keeps it.
pub type FolderId = [u8; FOLDER_ID_BYTES];

/// Which folder is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderKey {
    /// The root's name.
    pub root: String,
    /// The path below the root, as bytes; empty for the root itself.
    pub path: Vec<u8>,
}

/// What is kept of a folder, or the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptFolder {
    /// Its id.
    pub id: FolderId,
    /// Its place among folders; `None` if the user gave it none.
    pub sort_order: Option<u32>,
    /// Whether the user wants to see it.
    pub is_subscribed: bool,
}

/// All that differs from the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptFolders(BTreeMap<FolderKey, Entry>);

/// What is kept of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// Its id, if it is not the one that its path gives.
    id: Option<FolderId>,
    sort_order: Option<u32>,
    is_unsubscribed: bool,
    /// Where the folder was, until the index has it at its new place. The entry is that of the old place as
    /// long as only that one is there.
    before: Option<FolderKey>,
}

impl From<&IndexedFolder> for FolderKey {
    fn from(folder: &IndexedFolder) -> FolderKey {
        FolderKey { root: folder.root.clone(), path: folder.path.clone() }
    }
}

impl From<&FolderRow> for FolderKey {
    fn from(row: &FolderRow) -> FolderKey {
        FolderKey { root: row.root.clone(), path: row.path.clone() }
    }
}

/// Notes, before folders get other names, that what is kept of each goes with it: from the first place of a
/// pair to the second. `folders` are those of the index. The observer may end a wait for another process.
///
/// # Errors
/// [`Error::Interrupted`]; damage, a full disk, a data directory that cannot be written: nothing was changed.
pub fn follow_folders(
    to: (&Environment, &dyn Progress),
    folders: &[FolderKey],
    pairs: &[(FolderKey, FolderKey)],
) -> Result<()> {
    edit(to, folders, &|kept| kept.follow(folders, pairs))
}

/// Takes back what [`follow_folders`] noted, for folders that keep their names.
///
/// # Errors
/// As [`follow_folders`].
pub fn keep_folders_back(
    to: (&Environment, &dyn Progress),
    folders: &[FolderKey],
    has_stayed: &dyn Fn(&FolderKey, &FolderKey) -> bool,
) -> Result<()> {
    edit(to, folders, &|kept| kept.take_back(has_stayed))
}

/// Forgets where folders were that the index has at their new places.
///
/// # Errors
/// As [`follow_folders`].
pub fn settle_folders(to: (&Environment, &dyn Progress), folders: &[FolderKey]) -> Result<()> {
    edit(to, folders, &|_| {})
}

/// Gives a folder a place in the order, and says whether it is subscribed.
///
/// # Errors
/// As [`follow_folders`].
pub fn change_folder(
    to: (&Environment, &dyn Progress),
    folders: &[FolderKey],
    folder: &FolderKey,
    (sort_order, is_subscribed): (Option<u32>, bool),
) -> Result<()> {
    edit(to, folders, &|kept| {
        let place = kept.place_of(folder, folders);
        let entry = kept.0.entry(place).or_default();
        (entry.sort_order, entry.is_unsubscribed) = (sort_order, !is_subscribed);
    })
}

/// Forgets a folder that was removed for good.
///
/// # Errors
/// As [`follow_folders`].
pub fn forget_folder(
    to: (&Environment, &dyn Progress),
    folders: &[FolderKey],
    folder: &FolderKey,
) -> Result<()> {
    let others: Vec<FolderKey> = folders.iter().filter(|other| *other != folder).cloned().collect();
    // No other folder is to get what was kept of it.
    settle_folders(to, std::slice::from_ref(folder))?;
    edit(to, &others, &|kept| _ = kept.0.remove(folder))
}

/// Makes a change in one commit, if it is one. The ids of all folders of the index stay.
fn edit(
    (environment, observer): (&Environment, &dyn Progress),
    folders: &[FolderKey],
    change: &dyn Fn(&mut KeptFolders),
) -> Result<()> {
    let user = snapshot(&environment.disk, &environment.user_directory())?;
    if edited(user.as_ref(), folders, change)?.is_none() {
        return Ok(());
    }
    let mut writer = writer_for(environment, observer)?;
    let user = writer.snapshot()?;
    if let Some(text) = edited(Some(&user), folders, change)? {
        let mut transaction = Changes::new(&user)?.transaction(environment, &user)?;
        transaction.attach(ATTACHMENT, text.into_bytes());
        writer.commit(transaction)?;
    }
    Ok(())
}

/// Returns the text after a change; `None` if it stays as it is.
fn edited(
    user: Option<&Snapshot>,
    folders: &[FolderKey],
    change: &dyn Fn(&mut KeptFolders),
) -> Result<Option<String>> {
    let before = read(user)?;
    let mut after = before.clone();
    change(&mut after);
    after.settle(folders);
    after.keep_ids(&before, folders);
    after.simplify();
    if after == before {
        return Ok(None);
    }
    let mut text = text::encode(&after);
    if text.len() > BYTES_MAX {
        after.forget_others(folders);
        text = text::encode(&after);
    }
    match text.len() > BYTES_MAX {
        true => Err(Error::Limit { what: "the size of what is kept of folders", limit: BYTES_MAX as u64 }),
        false => Ok(Some(text)),
    }
}

impl KeptFolders {
    /// Returns what is kept of each of these folders, which are all that there are.
    pub(crate) fn of(&self, folders: &[FolderKey]) -> Vec<KeptFolder> {
        let places = self.places(folders);
        let taken = self.ids();
        let kept = |folder: &FolderKey| {
            let entry = places.get(folder).and_then(|place| self.0.get(*place));
            KeptFolder {
                id: entry.and_then(|entry| entry.id).unwrap_or_else(|| free_id(folder, &taken)),
                sort_order: entry.and_then(|entry| entry.sort_order),
                is_subscribed: entry.is_none_or(|entry| !entry.is_unsubscribed),
            }
        };
        folders.iter().map(kept).collect()
    }

    /// Returns, for each of these folders that has an entry, where that is: at the folder's own place, or at
    /// the one that it is about to get.
    fn places<'a>(&'a self, folders: &'a [FolderKey]) -> HashMap<&'a FolderKey, &'a FolderKey> {
        let there: HashSet<&FolderKey> = folders.iter().collect();
        let absent = self.0.iter().filter(|(place, _)| !there.contains(place));
        let mut places: HashMap<&FolderKey, &FolderKey> =
            absent.filter_map(|(place, entry)| Some((entry.before.as_ref()?, place))).collect();
        places.extend(
            folders.iter().filter_map(|folder| self.0.get_key_value(folder)).map(|(own, _)| (own, own)),
        );
        places
    }

    fn place_of(&self, folder: &FolderKey, folders: &[FolderKey]) -> FolderKey {
        self.places(folders).get(folder).map_or(folder, |place| *place).clone()
    }

    fn ids(&self) -> HashSet<FolderId> {
        self.0.values().filter_map(|entry| entry.id).collect()
    }

    fn follow(&mut self, folders: &[FolderKey], pairs: &[(FolderKey, FolderKey)]) {
        let is_noted = |(old, new): &&(FolderKey, FolderKey)| {
            self.0.get(new).is_some_and(|entry| entry.before.as_ref() == Some(old))
        };
        let pairs: Vec<&(FolderKey, FolderKey)> = pairs.iter().filter(|pair| !is_noted(pair)).collect();
        let all: Vec<FolderKey> = folders.iter().chain(pairs.iter().map(|(old, _)| old)).cloned().collect();
        let ids: HashMap<&FolderKey, FolderId> =
            all.iter().zip(self.of(&all)).map(|(folder, kept)| (folder, kept.id)).collect();
        let mut moved = Vec::new();
        for (old, new) in pairs {
            let entry = self.0.remove(&self.place_of(old, &all)).unwrap_or_default();
            moved
                .push((new.clone(), Entry { id: ids.get(old).copied(), before: Some(old.clone()), ..entry }));
        }
        self.0.extend(moved);
    }

    fn take_back(&mut self, has_stayed: &dyn Fn(&FolderKey, &FolderKey) -> bool) {
        let is_back = |place: &FolderKey, entry: &mut Entry| {
            entry.before.as_ref().is_some_and(|before| has_stayed(before, place))
        };
        let back: Vec<Entry> = self.0.extract_if(.., is_back).map(|(_, entry)| entry).collect();
        for entry in back {
            let Some(before) = entry.before else { continue };
            self.0.insert(before, Entry { before: None, ..entry });
        }
    }

    fn settle(&mut self, folders: &[FolderKey]) {
        for folder in folders {
            if let Some(entry) = self.0.get_mut(folder) {
                entry.before = None;
            }
        }
    }

    /// Gives folders that would have other ids than before those that they had.
    fn keep_ids(&mut self, before: &KeptFolders, folders: &[FolderKey]) {
        let settled = self.0.iter().filter(|(_, entry)| entry.before.is_none());
        let all: HashSet<&FolderKey> = folders.iter().chain(settled.map(|(place, _)| place)).collect();
        let all: Vec<FolderKey> = all.into_iter().cloned().collect();
        let ids = before.of(&all).into_iter().zip(self.of(&all)).zip(&all);
        let changed: Vec<(FolderKey, FolderId)> = ids
            .filter(|((before, after), _)| before.id != after.id)
            .map(|((before, _), folder)| (folder.clone(), before.id))
            .collect();
        for (folder, id) in changed {
            self.0.entry(folder).or_default().id = Some(id);
        }
    }

    /// Leaves out what is the default.
    fn simplify(&mut self) {
        let mut taken = self.ids();
        for (folder, entry) in &mut self.0 {
            let Some(id) = entry.id.filter(|_| entry.before.is_none()) else { continue };
            taken.remove(&id);
            if free_id(folder, &taken) == id {
                entry.id = None;
            } else {
                taken.insert(id);
            }
        }
        self.0.retain(|_, entry| *entry != Entry::default());
    }

    /// Forgets folders that are not among these.
    fn forget_others(&mut self, folders: &[FolderKey]) {
        let there: HashSet<&FolderKey> = folders.iter().collect();
        self.0.retain(|place, entry| {
            there.contains(place) || entry.before.as_ref().is_some_and(|before| there.contains(before))
        });
    }
}

/// Returns the id of a folder without one: the first that its place gives and that no entry has.
fn free_id(folder: &FolderKey, taken: &HashSet<FolderId>) -> FolderId {
    let ids = (0..=u64::MAX).map(|number| id_of(folder, number));
    ids.into_iter().find(|id| !taken.contains(id)).unwrap_or_default()
}

/// Returns an id that a place gives.
fn id_of(FolderKey { root, path }: &FolderKey, number: u64) -> FolderId {
    let mut hash = Sha256::new();
    hash.update(root.as_bytes());
    hash.update([0]);
    hash.update(path);
    if number > 0 {
        // No path has this byte.
        hash.update([0]);
        hash.update(number.to_le_bytes());
    }
    let mut id = FolderId::default();
    id.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    id
}

#[cfg(test)]
mod tests;
