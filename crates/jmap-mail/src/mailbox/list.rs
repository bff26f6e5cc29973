//! The list of mailboxes of one state.
//!
//! Must not know how it is made, or what is asked of it.

use jmap::Id;
use pneu::FolderCounts;
use std::collections::HashMap;

/// All mailboxes, by sort order and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    pub(super) list: Vec<Folder>,
    /// Their places in the list.
    by_id: HashMap<Id, usize>,
}

/// A mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) id: Id,
    pub(super) name: String,
    pub(super) parent: Option<Id>,
    pub(super) role: Option<&'static str>,
    /// Whether it keeps its name and its place.
    pub(super) is_fixed: bool,
    /// Whether other folders can lie below it.
    pub(super) has_children_below: bool,
    pub(super) counts: FolderCounts,
}

/// The roles of RFC 8621, section 2, in the order in which clients show them.
const ROLES: [&str; 6] = ["inbox", "drafts", "sent", "archive", "junk", "trash"];

impl Folder {
    /// Returns its place in the list: those with a role come first.
    pub(super) fn sort_order(&self) -> usize {
        let place = self.role.and_then(|role| ROLES.iter().position(|known| *known == role));
        place.unwrap_or(ROLES.len()) + 1
    }
}

impl Folders {
    pub(super) fn of(list: Vec<Folder>) -> Folders {
        let by_id = list.iter().enumerate().map(|(place, folder)| (folder.id.clone(), place)).collect();
        Folders { list, by_id }
    }

    pub(super) fn find(&self, id: &Id) -> Option<&Folder> {
        self.list.get(*self.by_id.get(id)?)
    }
}
