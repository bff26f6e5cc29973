//! The names that a query may use: folders, and tags that the user gave.
//!
//! Input: an environment. Output: sorted names. For completion while somebody types, so it reads two small
//! tables, whatever the size of the mailbox, and never a message.

use crate::environment::Environment;
use crate::error::Result;
use crate::open;
use crate::rows;
use crate::search::{disk_name, folder_name};
use crate::user::{self, Tags};
use std::collections::BTreeSet;

/// Returns the folders of all roots as people read them: `/` for a root, `/lists/rust` below it.
///
/// # Errors
/// [`crate::Error::NoIndex`] if there is no index; damage; a newer version.
pub fn folder_names(environment: &Environment) -> Result<BTreeSet<String>> {
    let folders = rows::folders(&open::snapshot(environment)?)?;
    Ok(folders.iter().map(folder_name).collect())
}

/// Returns the directories of all folders as they are on the disk, below their roots and with a slash before
/// them. Leaves out those whose names are no UTF-8.
///
/// # Errors
/// As [`folder_names`].
pub fn folder_directories(environment: &Environment) -> Result<BTreeSet<String>> {
    let folders = rows::folders(&open::snapshot(environment)?)?;
    let is_text = |path: &[u8]| std::str::from_utf8(path).is_ok();
    Ok(folders.iter().filter(|folder| is_text(&folder.path)).map(disk_name).collect())
}

/// Returns the tags that the user gave, also to messages that are gone.
///
/// # Errors
/// Damage, a newer version.
pub fn tag_names(environment: &Environment) -> Result<Vec<String>> {
    match user::snapshot(&environment.disk, &environment.user_directory())? {
        Some(user) => Tags::new(&user)?.names(),
        None => Ok(Vec::new()),
    }
}
