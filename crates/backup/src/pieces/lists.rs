//! Reads the lists of pieces in snapshots.
//!
//! Each list has everything that its writer knew and that the repository had at the time. Therefore only the
//! newest snapshot of each machine and its roots is read. All snapshots of deleted messages are read, as each
//! names only its own messages.

use crate::blobs::entry::Content;
use crate::blobs::reader::{BlobReader, content};
use crate::error::{Error, Result};
use crate::names::{PIECES, PNEU_DIRECTORY, keeps_deleted};
use crate::pieces::list::PieceList;
use restic::{Id, Snapshot};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Most bytes of a list: enough for a million large messages.
const LIST_BYTES_MAX: u64 = 256 << 20;

/// All lists of a repository, merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PieceLists {
    /// Pieces by message.
    pub list: PieceList,
    messages: HashMap<Vec<Id>, [u8; 32]>,
    /// Lists that could not be read and that no older one replaces, a sentence each.
    pub problems: Vec<String>,
}

impl PieceLists {
    /// Adds a list.
    pub(crate) fn add(&mut self, list: PieceList) {
        for (message, pieces) in list.0 {
            self.messages.insert(pieces.clone(), message);
            self.list.0.insert(message, pieces);
        }
    }

    /// Returns the message in a file of these pieces.
    pub(crate) fn message_of(&self, pieces: &[Id]) -> Option<[u8; 32]> {
        self.messages.get(pieces).copied()
    }
}

/// Snapshots of which only the newest list is read: a host, its paths, and an index if the snapshot is a
/// group of its own.
type Group<'a> = (&'a str, &'a [String], Option<usize>);

/// Reads the lists in snapshots.
///
/// # Errors
/// The storage cannot be reached; [`Error::Interrupted`]. A damaged list is a problem, unless an older
/// snapshot of the group can be read.
pub(crate) fn read_lists(reader: &dyn BlobReader, snapshots: &[Snapshot]) -> Result<PieceLists> {
    let mut newest: Vec<&Snapshot> = snapshots.iter().collect();
    newest.sort_by_key(|snapshot| Reverse(snapshot.time.ns()));
    let mut groups: BTreeMap<Group<'_>, Vec<Id>> = BTreeMap::new();
    for (place, snapshot) in newest.into_iter().enumerate() {
        let own_group = keeps_deleted(snapshot).then_some(place);
        groups.entry((&snapshot.hostname, &snapshot.paths, own_group)).or_default().push(snapshot.tree);
    }
    let mut lists = PieceLists::default();
    for trees in groups.into_values() {
        let mut fault = None;
        for tree in trees {
            match of_tree(reader, &tree) {
                Ok(list) => {
                    fault = None;
                    lists.add(list);
                    break;
                }
                Err(error) if error.is_of_a_part() => fault = fault.or(Some(error.to_string())),
                Err(error) => return Err(error),
            }
        }
        lists.problems.extend(fault);
    }
    Ok(lists)
}

/// Reads the list of a snapshot; an empty one if it has none.
fn of_tree(reader: &dyn BlobReader, tree: &Id) -> Result<PieceList> {
    let name = PNEU_DIRECTORY.strip_prefix(b"/").unwrap_or(PNEU_DIRECTORY);
    let in_tree = |tree: &Id, name: &[u8]| -> Result<Option<Content>> {
        Ok(reader.tree(tree)?.into_iter().find(|entry| entry.name == name).map(|entry| entry.content))
    };
    let Some(Content::Directory(directory)) = in_tree(tree, name)? else {
        return Ok(PieceList::default());
    };
    let Some(Content::File(pieces)) = in_tree(&directory, PIECES.as_bytes())? else {
        return Ok(PieceList::default());
    };
    let text = content(reader, &pieces, LIST_BYTES_MAX)?;
    PieceList::parse(&text).map_err(|what| Error::PieceList { what })
}
