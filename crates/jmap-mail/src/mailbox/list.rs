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
    /// The place that the user gave it.
    pub(super) own_order: Option<u32>,
    pub(super) is_subscribed: bool,
    /// Whether it keeps its name and its place.
    pub(super) is_fixed: bool,
    /// Whether other folders can lie below it.
    pub(super) has_children_below: bool,
    pub(super) counts: FolderCounts,
}

/// The roles of RFC 8621, section 2, in the order in which clients show them.
const ROLES: [&str; 6] = ["inbox", "drafts", "sent", "archive", "junk", "trash"];

impl Folder {
    /// Returns its place in the list: the one that the user gave it, or its first one.
    pub(super) fn sort_order(&self) -> u32 {
        self.own_order.unwrap_or_else(|| first_order(self.role))
    }
}

/// Returns the place of a mailbox to which the user gave none: those with a role come first.
pub(crate) fn first_order(role: Option<&str>) -> u32 {
    ROLES.iter().take_while(|known| Some(**known) != role).fold(1, |order, _| order + 1)
}

impl Folders {
    pub(super) fn of(list: Vec<Folder>) -> Folders {
        let by_id = list.iter().enumerate().map(|(place, folder)| (folder.id.clone(), place)).collect();
        Folders { list, by_id }
    }

    /// Returns the place that the user gave a mailbox, and its role.
    pub(crate) fn order_and_role(&self, id: &Id) -> (Option<u32>, Option<&'static str>) {
        self.find(id).map_or((None, None), |folder| (folder.own_order, folder.role))
    }

    pub(super) fn find(&self, id: &Id) -> Option<&Folder> {
        self.list.get(*self.by_id.get(id)?)
    }
}
