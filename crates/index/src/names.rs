//! The names that a query may use: folders, and the user's tags.
//!
//! Input: an environment. Output: sorted names. Serves completion while the user types, so it reads two small
//! tables and no message, whatever the size of the mailbox.

use crate::environment::Environment;
use crate::error::Result;
use crate::open;
use crate::rows;
use crate::search::{disk_name, folder_name};
use crate::user::{self, Tags};
use std::collections::BTreeSet;

/// Returns the folders of all roots as they are shown: `/` for a root, `/lists/rust` below it.
///
/// # Errors
/// [`crate::Error::NoIndex`] if there is no index; damage; a newer version.
pub fn folder_names(environment: &Environment) -> Result<BTreeSet<String>> {
    let folders = rows::folders(&open::snapshot(environment)?)?;
    Ok(folders.iter().map(folder_name).collect())
}

/// Returns the directories of all folders as they are on disk: the path below the root, with a leading slash.
/// Leaves out names that are not UTF-8.
///
/// # Errors
/// As [`folder_names`].
pub fn folder_directories(environment: &Environment) -> Result<BTreeSet<String>> {
    let folders = rows::folders(&open::snapshot(environment)?)?;
    let is_text = |path: &[u8]| std::str::from_utf8(path).is_ok();
    Ok(folders.iter().filter(|folder| is_text(&folder.path)).map(disk_name).collect())
}

/// Returns whether a message has a tag of the user, or had it when it went.
///
/// # Errors
/// Damage, a newer version.
pub fn is_tag(environment: &Environment, tag: &str) -> Result<bool> {
    match user::snapshot(&environment.disk, &environment.user_directory())? {
        Some(user) => Ok(!Tags::new(&user)?.tagged(tag)?.is_empty()),
        None => Ok(false),
    }
}

/// Returns all tags, including tags of messages that are gone.
///
/// # Errors
/// Damage, a newer version.
pub fn tag_names(environment: &Environment) -> Result<Vec<String>> {
    match user::snapshot(&environment.disk, &environment.user_directory())? {
        Some(user) => Tags::new(&user)?.names(),
        None => Ok(Vec::new()),
    }
}
