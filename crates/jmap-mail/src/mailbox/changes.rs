//! Mailbox/changes (RFC 8621, section 2.2).
//!
//! Input: a state. Output: what differs from the mailboxes of that state, which the cache kept. A state that
//! it does not have any more cannot be compared: the change log does not tell of folders without messages.

use super::list::Folder;
use crate::account::Account;
use crate::email::maximum;
use crate::error::unknown_state;
use jmap::{Arguments, ChangesArguments, ChangesResponse, MethodError};
use pneu::FolderCounts;
use serde_json::{Map, Value, json};

/// The properties that change without any other.
const COUNTS: [&str; 4] = ["totalEmails", "unreadEmails", "totalThreads", "unreadThreads"];

impl Account<'_> {
    pub(crate) fn mailbox_changes(&self, arguments: Arguments) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        let new = self.folders()?;
        let old = self.cache.get(&changes.since_state).ok_or_else(unknown_state)?;
        let mut response = ChangesResponse {
            account_id: changes.account_id,
            old_state: changes.since_state,
            new_state: self.state()?.to_owned(),
            has_more_changes: false,
            created: Vec::new(),
            updated: Vec::new(),
            destroyed: Vec::new(),
        };
        let mut only_counts = true;
        for folder in &new.list {
            match old.find(&folder.id) {
                None => response.created.push(folder.id.clone()),
                Some(before) if before != folder => {
                    only_counts &= without_counts(before) == without_counts(folder);
                    response.updated.push(folder.id.clone());
                }
                Some(_) => {}
            }
        }
        let gone = old.list.iter().filter(|folder| new.find(&folder.id).is_none());
        response.destroyed.extend(gone.map(|folder| folder.id.clone()));
        maximum(&response, changes.max_changes)?;
        let updated_properties = if only_counts { json!(COUNTS) } else { Value::Null };
        let mut response: Map<String, Value> = response.into();
        response.insert("updatedProperties".to_owned(), updated_properties);
        Ok(response)
    }
}

fn without_counts(folder: &Folder) -> Folder {
    Folder { counts: FolderCounts::default(), ..folder.clone() }
}
