//! Where messages lay, by the newest snapshot that has them.
//!
//! In: SHA-256 of messages, trees of snapshots, the newest first. Out: for each the folder and name of its file, with its pieces and times. Must
//! not know what is done with them.

use crate::entry::{Content, Stat};
use crate::error::Result;
use crate::known::Known;
use crate::layout::split;
use crate::vault::{Again, Vault, Walk, message_of, message_place};
use archive::{Id, Progress};
use std::collections::{HashMap, HashSet};

/// A message file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The directory of its folder, absolute.
    pub folder: Vec<u8>,
    /// Its name.
    pub name: Vec<u8>,
    /// What it said of itself.
    pub stat: Stat,
    /// Its pieces.
    pub pieces: Vec<Id>,
}

/// Returns the newest file of each message that any snapshot has.
///
/// # Errors
/// A tree cannot be read; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn newest(
    vault: &dyn Vault,
    known: Option<&Known>,
    trees: &[Id],
    wanted: &HashSet<[u8; 32]>,
    progress: &dyn Progress,
) -> Result<HashMap<[u8; 32], Kept>> {
    let mut found = HashMap::new();
    let mut walk = Walk::new(vault, progress, Again::Pass);
    for tree in trees {
        if found.len() == wanted.len() {
            break;
        }
        walk.run(tree, &mut |directory, entry| {
            let Content::File(pieces) = &entry.content else { return Ok(()) };
            if message_place(directory).is_none() {
                return Ok(());
            }
            let key = message_of(known, pieces)?;
            if let Some(key) = key.filter(|key| wanted.contains(key)) {
                let folder = split(directory).map_or(&[][..], |(folder, _)| folder).to_vec();
                let kept =
                    || Kept { folder, name: entry.name.clone(), stat: entry.stat, pieces: pieces.clone() };
                found.entry(key).or_insert_with(kept);
            }
            Ok(())
        })?;
    }
    Ok(found)
}
