//! What is kept of each folder, and where that goes when folders get other names.
//!
//! Input: folders, and pairs of places. Output: entries: only what differs from the default. Must not know
//! how entries are stored.

use crate::rows::FolderRow;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of the id of a folder.
pub(super) const FOLDER_ID_BYTES: usize = 16;
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
pub(crate) struct KeptFolders(pub(super) BTreeMap<FolderKey, Entry>);

/// What is kept of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its id, if it is not the one that its path gives.
    pub(super) id: Option<FolderId>,
    pub(super) sort_order: Option<u32>,
    pub(super) is_unsubscribed: bool,
    /// Where the folder was, until the index has it at its new place. The entry is that of the old place as
    /// long as only that one is there.
    pub(super) before: Option<FolderKey>,
}

impl From<&FolderRow> for FolderKey {
    fn from(row: &FolderRow) -> FolderKey {
        FolderKey { root: row.root.clone(), path: row.path.clone() }
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

    pub(super) fn place_of(&self, folder: &FolderKey, folders: &[FolderKey]) -> FolderKey {
        self.places(folders).get(folder).map_or(folder, |place| *place).clone()
    }

    fn ids(&self) -> HashSet<FolderId> {
        self.0.values().filter_map(|entry| entry.id).collect()
    }

    pub(super) fn follow(&mut self, folders: &[FolderKey], pairs: &[(FolderKey, FolderKey)]) {
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

    pub(super) fn take_back(&mut self, has_stayed: &dyn Fn(&FolderKey, &FolderKey) -> bool) {
        let is_back = |place: &FolderKey, entry: &mut Entry| {
            entry.before.as_ref().is_some_and(|before| has_stayed(before, place))
        };
        let back: Vec<Entry> = self.0.extract_if(.., is_back).map(|(_, entry)| entry).collect();
        for entry in back {
            let Some(before) = entry.before else { continue };
            self.0.insert(before, Entry { before: None, ..entry });
        }
    }

    pub(super) fn settle(&mut self, folders: &[FolderKey]) {
        for folder in folders {
            if let Some(entry) = self.0.get_mut(folder) {
                entry.before = None;
            }
        }
    }

    /// Gives folders that would have other ids than before those that they had.
    pub(super) fn keep_ids(&mut self, before: &KeptFolders, folders: &[FolderKey]) {
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
    pub(super) fn simplify(&mut self) {
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
    pub(super) fn forget_others(&mut self, folders: &[FolderKey]) {
        let there: HashSet<&FolderKey> = folders.iter().collect();
        self.0.retain(|place, entry| {
            there.contains(place) || entry.before.as_ref().is_some_and(|before| there.contains(before))
        });
    }
}

/// Returns the id of a folder without one: the first that its place gives and that no entry has.
pub(super) fn free_id(folder: &FolderKey, taken: &HashSet<FolderId>) -> FolderId {
    let ids = (0..=u64::MAX).map(|number| id_of(folder, number));
    ids.into_iter().find(|id| !taken.contains(id)).unwrap_or_default()
}

/// Returns an id that a place gives.
pub(super) fn id_of(FolderKey { root, path }: &FolderKey, number: u64) -> FolderId {
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
