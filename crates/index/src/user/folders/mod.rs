//! What the user keeps of folders: an id that stays when a folder is renamed, a place in the order of
//! folders, and whether it is subscribed. One attachment of the store `user/`, as safe as tags are.
//!
//! Input: folders of the index, and directories with other names. Output: ids, orders and subscriptions. Only
//! what differs from the default is kept. An entry is written before its folder gets another name, and names
//! both: the id belongs to whichever of the two the index has, so no crash parts a folder from its id. Must
//! not know what a folder is for, or how it is renamed.

mod backed_up;
mod kept;
mod text;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::user::change::Changes;
use crate::user::{snapshot, writer_for};
pub use backed_up::{export_folders, import_folders};
pub(crate) use kept::KeptFolders;
pub use kept::{FolderId, FolderKey, KeptFolder};
use store::Snapshot;
pub(crate) use text::read;
use text::{ATTACHMENT, BYTES_MAX};
use work::Progress;

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

#[cfg(test)]
mod tests;
