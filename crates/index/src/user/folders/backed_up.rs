//! Takes what is kept of folders out for backups, and brings it back.
//!
//! Input: the store `user/`, or a text that was found beside some roots. Output: text, or one commit with
//! what the text says of folders in those roots. Replaces nothing. Must not know who keeps the text.

use super::kept::KeptFolders;
use super::text::{ATTACHMENT, BYTES_MAX, encode, parse, read};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::state::Root;
use crate::user::change::Changes;
use crate::user::{snapshot, writer};
use std::path::Path;
use store::Snapshot;

/// Returns what is kept of folders as text. Returns `None` if that is nothing.
///
/// # Errors
/// Damage, a newer version.
pub fn export_folders(environment: &Environment) -> Result<Option<String>> {
    let kept = of(environment)?;
    Ok((kept != KeptFolders::default()).then(|| encode(&kept)))
}

/// Keeps what a text says of folders in these roots, which are known by their names, if nothing is kept of
/// any folder. Returns of how many folders that is.
///
/// # Errors
/// [`Error::KeptText`], with the path that the text has; damage, a full disk: nothing was changed.
pub fn import_folders(environment: &Environment, roots: &[Root], (path, text): (&Path, &str)) -> Result<u64> {
    let is_nothing = |kept: &KeptFolders| *kept == KeptFolders::default();
    if !is_nothing(&of(environment)?) {
        return Ok(0);
    }
    let wrong = |(line, what)| Error::KeptText { of: ATTACHMENT, path: path.to_owned(), line, what };
    let mut taken = parse(text.as_bytes()).map_err(wrong)?;
    let is_root = |name: &str| roots.iter().any(|root| root.name == name);
    taken.0.retain(|place, entry| {
        is_root(&place.root) && entry.before.as_ref().is_none_or(|before| is_root(&before.root))
    });
    let text = encode(&taken);
    if text.len() > BYTES_MAX {
        return Err(wrong((1, "it is too long")));
    }
    let mut writer = writer(environment)?;
    let user = writer.snapshot()?;
    if is_nothing(&taken) || !is_nothing(&read(Some(&user))?) {
        return Ok(0);
    }
    let mut transaction = Changes::new(&user)?.transaction(environment, &user)?;
    transaction.attach(ATTACHMENT, text.into_bytes());
    writer.commit(transaction)?;
    Ok(taken.0.len() as u64)
}

fn of(environment: &Environment) -> Result<KeptFolders> {
    let user: Option<Snapshot> = snapshot(&environment.disk, &environment.user_directory())?;
    read(user.as_ref())
}
