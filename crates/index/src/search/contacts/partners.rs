//! With whom the user exchanges mail: people who wrote to the user in person, and people whom the user wrote
//! to.
//!
//! Input: the user's addresses, and to whom the user wrote. Output: addresses in lower case. Reads the column
//! of senders, and no message.

use crate::error::Result;
use crate::search::contacts::written::Written;
use crate::search::mailbox::{Mailbox, address_of};
use crate::text::ValueField;
use std::collections::{HashMap, HashSet};

/// Returns the addresses of these people, in mail that a search can find.
///
/// # Errors
/// Damage in the store or the text index; [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn partners(mailbox: &Mailbox, written: &HashMap<String, Written>) -> Result<HashSet<String>> {
    let mut to_user = mailbox.personal()?.clone();
    to_user.and(mailbox.live()?);
    let mut partners: HashSet<String> = written.keys().cloned().collect();
    if to_user.is_empty() {
        return Ok(partners);
    }
    // Each value of the column, and whether a message to the user has it.
    let mut senders: Vec<(String, bool)> = Vec::new();
    let mut wrote: Vec<u32> = Vec::new();
    let is_cancelled = || mailbox.is_cancelled();
    let mut name = |value: &str| {
        senders.push((address_of(value).to_lowercase(), false));
        u32::try_from(senders.len() - 1).unwrap_or(u32::MAX)
    };
    let mut add = |sender: u32, number: u32| {
        if to_user.contains(number) && wrote.last() != Some(&sender) {
            wrote.push(sender);
        }
    };
    mailbox.text().group_by_value(ValueField::From, &is_cancelled, (&mut name, &mut add))?;
    mailbox.check_cancelled()?;
    for sender in wrote {
        if let Some((address, is_partner)) = senders.get_mut(sender as usize).filter(|(_, told)| !told) {
            *is_partner = true;
            partners.insert(std::mem::take(address));
        }
    }
    Ok(partners)
}
