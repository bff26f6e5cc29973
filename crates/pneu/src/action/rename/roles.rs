//! Finds the roles of a renamed folder that the configuration still gives to its old name.
//!
//! Input: the folders before the renaming, what the configuration says of them, and the directories that get
//! other names. Output: roles with what the configuration should name. Changes nothing.

use crate::action::rename::Renaming;
use crate::action::role::Known;
use crate::setup::roles::Role;
use index::Root;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A folder with a role that has another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedRole {
    /// The name of its root.
    pub root: String,
    /// Its role.
    pub role: Role,
    /// The old name, as the configuration has it.
    pub old: String,
    /// The new name, as the configuration should have it.
    pub new: String,
}

impl RenamedRole {
    /// Returns the line that the configuration has.
    pub fn old_line(&self) -> String {
        line(self.role, &self.old)
    }

    /// Returns the line that the configuration should have.
    pub fn new_line(&self) -> String {
        line(self.role, &self.new)
    }
}

fn line(role: Role, folder: &str) -> String {
    format!("{role} = {}", toml::Value::String(folder.to_owned()))
}

/// Returns the roles that the configuration has to name anew after a renaming.
pub(super) fn renamed(known: &Known<'_>, directories: &[Renaming]) -> Vec<RenamedRole> {
    let accounts = known.roots.iter().filter_map(|root| Some((root, known.accounts.get(&root.name)?)));
    let named = accounts.flat_map(|(root, account)| {
        account.folders.iter().map(move |(role, folder)| (root, *role, folder.clone()))
    });
    let renamed = |(root, role, old): (&Root, Role, String)| {
        let path = known.with_role(root, role, false).ok()?.path;
        let new = name_in(root, &new_path(&path, directories)?)?;
        Some(RenamedRole { root: root.name.clone(), role, old, new })
    };
    named.filter_map(renamed).collect()
}

/// Returns the path that a folder has after a renaming; `None` if it keeps its own.
fn new_path(path: &Path, directories: &[Renaming]) -> Option<PathBuf> {
    directories.iter().find_map(|renaming| {
        let below = path.strip_prefix(&renaming.from).ok()?;
        // `join` would end the path in a slash.
        Some(renaming.to.join(below).components().collect())
    })
}

/// Returns the name of a folder of a root, without a slash before it.
fn name_in(root: &Root, path: &Path) -> Option<String> {
    let below = path.strip_prefix(&root.path).ok()?;
    Some(mail::readable_folder(below.as_os_str().as_bytes()).into_owned())
}
