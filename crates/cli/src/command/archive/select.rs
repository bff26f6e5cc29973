//! Finds the snapshot that the user names.
//!
//! In: `latest` or the beginning of an id, and perhaps a path behind a colon. Out: the snapshot. Must not know what is done with it.

use crate::exit::NotFound;
use anyhow::{Result, bail};
use archive::{Id, Repository, Snapshot, snapshot};

/// Returns the one snapshot that `text` names, and the path behind it.
///
/// # Errors
/// None is named so, or several are; or one that cannot be read might be meant.
pub(super) fn one(repository: &Repository, text: &str) -> Result<(Id, Snapshot, Vec<u8>)> {
    let (name, path) = text.split_once(':').unwrap_or((text, ""));
    let threads = repository.surroundings().thread_count;
    let mut listed = snapshot::list(repository.storage(), repository.key(), threads)?;
    if let Some(place) =
        listed.unread.iter().position(|(id, _)| name == "latest" || id.to_string().starts_with(name))
    {
        return Err(listed.unread.swap_remove(place).1.into());
    }
    if name == "latest" {
        let newest = listed.snapshots.pop();
        let (id, snapshot) = newest.ok_or_else(|| NotFound("there is no snapshot yet".to_owned()))?;
        return Ok((id, snapshot, path.into()));
    }
    let mut named = listed.snapshots.into_iter().filter(|(id, _)| id.to_string().starts_with(name));
    match (named.next(), named.next()) {
        (Some((id, snapshot)), None) => Ok((id, snapshot, path.into())),
        (None, _) => {
            Err(NotFound(format!("no snapshot is called {name}; see: pneu archive snapshots")).into())
        }
        (Some(_), Some(_)) => bail!("several snapshots begin with {name}: say more of the id"),
    }
}
