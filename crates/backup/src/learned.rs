//! Which blobs are which message, where a blob's name alone does not say it: of messages that the archive cut, and of compressed files.
//!
//! In: the tables of backups made here; the lists that lie in snapshots, which are read where the tables lack something. Out: pieces of a
//! message, and the message of pieces. Must not know what is done with them.
//!
//! Each list has all that its writer knew and the archive then had, so of each machine and its roots the newest snapshot is read; of those that keep
//! deleted messages all are, since each names only its own.

use crate::entry::{Content, PIECE_BYTES_MIN};
use crate::error::{Error, Result};
use crate::known::Known;
use crate::lost::KEPT;
use crate::own::PATH;
use crate::piece_list::{NAME, PieceList};
use crate::vault::{Vault, content};
use archive::{Id, Snapshot};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// A list is read up to so many bytes: a million large messages.
const LIST_BYTES_MAX: u64 = 256 << 20;

/// Reads the lists of an archive.
pub(crate) type Reader<'a> = Box<dyn Fn() -> Result<Lists> + Send + Sync + 'a>;

/// What is known of which blobs are which message.
pub(crate) struct Learned<'a> {
    tables: Option<Known>,
    read: Reader<'a>,
    lists: OnceLock<Lists>,
}

/// The lists of an archive, put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    /// Pieces by message.
    pub list: PieceList,
    messages: HashMap<Vec<Id>, [u8; 32]>,
    /// Lists that could not be read, a sentence each, and nothing older in their place.
    pub problems: Vec<String>,
}

impl<'a> Learned<'a> {
    /// Knows what the tables know; `read` gives what the archive has besides, when that is first needed.
    pub(crate) fn new(tables: Option<Known>, read: Reader<'a>) -> Learned<'a> {
        Learned { tables, read, lists: OnceLock::new() }
    }

    /// Returns the lists of the archive.
    ///
    /// # Errors
    /// The archive cannot be reached; [`Error::Interrupted`].
    pub(crate) fn lists(&self) -> Result<&Lists> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let read = (self.read)()?;
        Ok(self.lists.get_or_init(|| read))
    }

    /// Returns what could not be read of the lists so far, a sentence each.
    pub(crate) fn problems(&self) -> &[String] {
        self.lists.get().map_or(&[], |lists| &lists.problems)
    }

    /// Returns the pieces of the file of a message that is cut, or compressed, as the tables know it.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn pieces_of(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = Vec::new();
        if let Some(known) = &self.tables {
            ways.extend(known.pieces(*message, PIECE_BYTES_MIN)?);
            if let Some(content) = known.compressed_content(message)? {
                ways.push(known.pieces_or_itself(content)?);
            }
        }
        Ok(ways)
    }

    /// Returns the message in a file of these pieces, if that is known: of a file in one piece that is its name, unless it is compressed.
    ///
    /// # Errors
    /// Damage in the tables; as [`Learned::lists`].
    pub(crate) fn message_of(&self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        let known = match (&self.tables, pieces) {
            (Some(known), pieces) => known.message_of(pieces)?,
            (None, [piece]) => Some(piece.0),
            (None, _) => None,
        };
        match (known, pieces) {
            // The tables know nothing of it that its name does not say.
            (Some(message), [piece]) if message == piece.0 => {
                Ok(Some(self.lists()?.messages.get(pieces).copied().unwrap_or(message)))
            }
            (Some(message), _) => Ok(Some(message)),
            (None, _) => Ok(self.lists()?.messages.get(pieces).copied()),
        }
    }
}

impl Lists {
    /// Puts a list to the others.
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

/// Snapshots whose newest list is enough: a host, its paths, and a place if the snapshot stands for itself.
type Group<'a> = (&'a str, &'a [String], Option<usize>);

/// Reads the lists that lie in snapshots.
///
/// # Errors
/// The archive cannot be reached; [`Error::Interrupted`]. What is damaged is a problem, unless an older snapshot can be read in its place.
pub(crate) fn lists(vault: &dyn Vault, snapshots: &[Snapshot]) -> Result<Lists> {
    let mut newest: Vec<&Snapshot> = snapshots.iter().collect();
    newest.sort_by_key(|snapshot| Reverse(snapshot.time.ns()));
    let mut groups: BTreeMap<Group<'_>, Vec<Id>> = BTreeMap::new();
    for (place, snapshot) in newest.into_iter().enumerate() {
        let own = snapshot.tags.iter().any(|tag| tag == KEPT).then_some(place);
        groups.entry((&snapshot.hostname, &snapshot.paths, own)).or_default().push(snapshot.tree);
    }
    let mut lists = Lists::default();
    for trees in groups.into_values() {
        let mut fault = None;
        for tree in trees {
            match of_tree(vault, &tree) {
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
fn of_tree(vault: &dyn Vault, tree: &Id) -> Result<PieceList> {
    let own = PATH.strip_prefix(b"/").unwrap_or(PATH);
    let in_tree = |tree: &Id, name: &[u8]| -> Result<Option<Content>> {
        Ok(vault.tree(tree)?.into_iter().find(|entry| entry.name == name).map(|entry| entry.content))
    };
    let Some(Content::Directory(directory)) = in_tree(tree, own)? else { return Ok(PieceList::default()) };
    let Some(Content::File(pieces)) = in_tree(&directory, NAME.as_bytes())? else {
        return Ok(PieceList::default());
    };
    let text = content(vault, &pieces, LIST_BYTES_MAX)?;
    PieceList::parse(&text).map_err(|what| Error::PieceList { what })
}
