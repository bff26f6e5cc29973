//! Finds the folder that a name stands for, if it may be that of a role: `:archive`, `:work/archive`.
//!
//! Input: a name or a role, folders, roots and what the configuration says of them. Output: a path. Of a role
//! that the configuration does not name, the folder with the most usual name is taken. Creates nothing.

use crate::action::folder::{Chosen, choose};
use crate::error::{Error, Result};
use crate::setup::account::Account;
use crate::setup::roles::{self, Role, RoleName, UnknownRole};
use index::{FolderPlace, Root};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The folders among which one is chosen.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// All folders of the index.
    pub folders: &'a [FolderPlace],
    /// Its roots.
    pub roots: &'a [Root],
    /// What the configuration says of them, by their names.
    pub accounts: &'a BTreeMap<String, Account>,
}

impl Known<'_> {
    /// Returns the folder for a name, as [`choose`] does. A role means that of its root, or of the only one.
    ///
    /// # Errors
    /// As [`choose`] and [`Known::with_role`]; there is no such role or root, or it is not said which.
    pub(crate) fn named(&self, name: &str, creates: bool) -> Result<Chosen> {
        let Some(role) = self.role(name)? else { return choose(name, self.folders, self.roots, creates) };
        let what =
            "there are several roots: put the name of one and a slash before the role, as in :work/spam";
        let refused = || Error::FolderName { name: name.to_owned(), what };
        let root = match (&role.root, self.roots) {
            (Some(root), roots) => roots.iter().find(|known| known.name == *root),
            (None, [root]) => Some(root),
            (None, _) => None,
        };
        self.with_role(root.ok_or_else(refused)?, role.role, creates)
    }

    /// Returns the role that a name stands for, if it is one.
    ///
    /// # Errors
    /// There is no such role or root.
    pub(crate) fn role(&self, name: &str) -> Result<Option<RoleName>> {
        let refused = |what| Error::FolderName { name: name.to_owned(), what };
        let role = roles::parse(name).transpose().map_err(|UnknownRole| refused(roles::UNKNOWN))?;
        let root = role.as_ref().and_then(|role| role.root.as_ref());
        match root.is_some_and(|root| !self.roots.iter().any(|known| known.name == *root)) {
            true => Err(refused("there is no root of that name")),
            false => Ok(role),
        }
    }

    /// Returns the folder of a root with a role. With `creates`, it may be a new one.
    ///
    /// # Errors
    /// There is none; as [`choose`].
    pub(crate) fn with_role(&self, root: &Root, role: Role, creates: bool) -> Result<Chosen> {
        let own = self.folders_of(root);
        let only = std::slice::from_ref(root);
        if let Some(name) = self.accounts.get(&root.name).and_then(|account| account.folders.get(&role)) {
            return choose(name, &own, if creates { only } else { self.roots }, creates);
        }
        let has_other = |folder: &FolderPlace| self.has_other_role(root, role, folder);
        let free: Vec<FolderPlace> = own.iter().filter(|folder| !has_other(folder)).cloned().collect();
        match usual(role, &free) {
            Some(path) => Ok(Chosen { path, is_new: false }),
            None if creates => choose(role.new_folder(), &own, only, true),
            None => Err(Error::NoRole { root: root.clone(), role }),
        }
    }

    /// Returns whether the configuration gives a folder of a root another role. It has no further one by its
    /// name then.
    fn has_other_role(&self, root: &Root, role: Role, folder: &FolderPlace) -> bool {
        let Some(account) = self.accounts.get(&root.name) else { return false };
        let is_it = |name: &String| {
            choose(name, std::slice::from_ref(folder), std::slice::from_ref(root), false).is_ok()
        };
        account.folders.iter().any(|(other, name)| *other != role && is_it(name))
    }

    fn folders_of(&self, root: &Root) -> Vec<FolderPlace> {
        self.folders.iter().filter(|folder| folder.path.starts_with(&root.path)).cloned().collect()
    }

    /// Returns the folders that a name means in a query, if it is that of a role: of all roots, or of one.
    /// Roots without such a folder have none.
    ///
    /// # Errors
    /// There is no such role or root.
    pub(crate) fn all_named(&self, name: &str) -> Result<Option<Vec<PathBuf>>> {
        let Some(RoleName { root, role }) = self.role(name)? else { return Ok(None) };
        let wanted = self.roots.iter().filter(|known| root.as_ref().is_none_or(|root| *root == known.name));
        Ok(Some(wanted.filter_map(|root| Some(self.with_role(root, role, false).ok()?.path)).collect()))
    }
}

fn usual(role: Role, folders: &[FolderPlace]) -> Option<PathBuf> {
    let name = role.usual(folders.iter().map(|folder| folder.name.as_str()))?;
    folders.iter().find(|folder| folder.name == name).map(|folder| folder.path.clone())
}
