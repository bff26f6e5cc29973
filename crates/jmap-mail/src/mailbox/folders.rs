//! Makes the list of mailboxes of one state: names, roles and counts.
//!
//! Input: a view. Output: the list. Counts come from columns alone, once for each state. Does not know which
//! mailboxes are asked for.

use super::list::{Folder, Folders};
use super::names::{Place, places};
use crate::account::Account;
use crate::error::failed;
use crate::ids;
use jmap::{Id, MethodError};
use pneu::setup::roles::Role;
use pneu::{IndexedFolder, KeptFolder, View};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Each folder with its place in the tree of mailboxes.
pub(crate) type Tree = Vec<(IndexedFolder, Place)>;

impl Folders {
    /// Makes the list of a view.
    ///
    /// # Errors
    /// The request is cancelled; damage.
    pub(crate) fn new(view: &View) -> pneu::Result<Folders> {
        let folders = sorted(view);
        let (roles, counts) = (roles(view, &folders), view.folder_counts()?);
        let kept = view.kept_folders(&folders)?;
        let places = places(&folders, &kept, view.roots().len());
        let folder = |((folder, kept), place): ((&IndexedFolder, &KeptFolder), Place)| Folder {
            own_order: kept.sort_order,
            is_subscribed: kept.is_subscribed,
            role: roles.get(&folder.number).copied(),
            counts: counts.get(&folder.number).copied().unwrap_or_default(),
            is_fixed: View::is_fixed(folder),
            // All others are beside the only root.
            has_children_below: view.roots().len() > 1 || !folder.path.is_empty(),
            id: place.id,
            name: place.name,
            parent: place.parent,
        };
        let mut list: Vec<Folder> = folders.iter().zip(&kept).zip(places).map(folder).collect();
        list.sort_by_cached_key(|folder| {
            (folder.sort_order(), folder.name.to_lowercase(), folder.id.clone())
        });
        Ok(Folders::of(list))
    }
}

impl Account<'_> {
    /// Returns the mailboxes of the view. They are counted by the first request that needs them.
    pub(crate) fn folders(&self) -> Result<&Arc<Folders>, MethodError> {
        if self.folders.get().is_none() {
            let state = self.state()?;
            let folders = match self.cache.get(state) {
                Some(known) => known,
                None => self.cache.put(state, Folders::new(&self.view).map_err(failed)?),
            };
            self.folders.get_or_init(|| folders);
        }
        Ok(self.folders.get().expect("it was just set"))
    }

    /// Returns each folder with its place in the tree of mailboxes. Counts nothing.
    ///
    /// # Errors
    /// The user's data is damaged.
    pub(crate) fn tree(&self) -> Result<Tree, MethodError> {
        let folders = sorted(&self.view);
        let kept = self.view.kept_folders(&folders).map_err(failed)?;
        let places = places(&folders, &kept, self.view.roots().len());
        Ok(folders.into_iter().zip(places).collect())
    }

    /// Returns the ids of mailboxes, by the numbers of folders.
    ///
    /// # Errors
    /// The user's data is damaged.
    pub(crate) fn mailbox_ids(&self) -> pneu::Result<HashMap<u32, Id>> {
        Ok(self.folder_ids()?.into_iter().map(|(folder, id)| (folder.number, id)).collect())
    }

    /// Returns all folders, each with the id of its mailbox.
    ///
    /// # Errors
    /// The user's data is damaged.
    pub(crate) fn folder_ids(&self) -> pneu::Result<Vec<(IndexedFolder, Id)>> {
        let folders = self.view.indexed_folders();
        let ids = self.view.kept_folders(&folders)?;
        Ok(folders.into_iter().zip(ids.iter().map(ids::mailbox)).collect())
    }
}

/// Returns all folders, by roots and paths.
fn sorted(view: &View) -> Vec<IndexedFolder> {
    let mut folders = view.indexed_folders();
    folders.sort_by(|a, b| (&a.root, &a.path).cmp(&(&b.root, &b.path)));
    folders
}

/// Returns the role of each folder that has one, by its number. No two have the same: of several roots the
/// first counts.
fn roles(view: &View, folders: &[IndexedFolder]) -> HashMap<u32, &'static str> {
    let by_path: HashMap<PathBuf, u32> =
        folders.iter().map(|folder| (folder.place.path.clone(), folder.number)).collect();
    let (mut roles, mut given) = (HashMap::new(), HashSet::new());
    if let Some(inbox) = inbox(view, folders) {
        roles.insert(inbox, "inbox");
    }
    for (role, path) in view.folders_with_roles() {
        let Some(number) = by_path.get(&path) else { continue };
        if !roles.contains_key(number) && given.insert(role) {
            roles.insert(*number, role_name(role));
        }
    }
    roles
}

/// Returns the inbox: the first root's own folder, or the one in it that is called so.
fn inbox(view: &View, folders: &[IndexedFolder]) -> Option<u32> {
    let root = view.roots().first()?;
    let mut own = folders.iter().filter(|folder| folder.root == root.name);
    let is_inbox = |path: &[u8]| path.strip_prefix(b".").unwrap_or(path).eq_ignore_ascii_case(b"inbox");
    let named = own.clone().find(|folder| is_inbox(&folder.path));
    own.find(|folder| folder.path.is_empty()).or(named).map(|folder| folder.number)
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Trash => "trash",
        Role::Sent => "sent",
        Role::Drafts => "drafts",
        Role::Archive => "archive",
        Role::Spam => "junk",
    }
}
