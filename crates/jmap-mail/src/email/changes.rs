//! Email/changes (RFC 8621, section 4.3), and what became of each content since a state.
//!
//! Input: a state. Output: contents that are new, changed or gone, from the change log. What happened to one
//! in between does not count: one that came and went is in no list. The log tells commits as a whole, so
//! there is no state between two.

use crate::account::Account;
use crate::error::{failed, unknown_state};
use crate::ids;
use jmap::{Arguments, ChangesArguments, ChangesResponse, Id, MethodError};
use pneu::{Error, Happened, IndexError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// How many changes are told at once. A client that missed more reads everything again.
const CHANGES_MAX: usize = 10_000;

/// What became of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// Whether it had a file.
    pub(crate) was_there: bool,
    /// Whether it has one.
    pub(crate) is_there: bool,
    /// Whether its mailboxes or keywords may have changed.
    pub(crate) is_changed: bool,
    /// Its node among threads, if it was forgotten and the log has it.
    pub(crate) node: Option<u32>,
}

impl Account<'_> {
    pub(crate) fn email_changes(&self, arguments: Arguments) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        let fates = self.fates(&changes.since_state)?;
        let with = |is_meant: fn(&Fate) -> bool| -> Vec<Id> {
            fates.iter().filter(|(_, fate)| is_meant(fate)).map(|(sha256, _)| ids::email(sha256)).collect()
        };
        let response = ChangesResponse {
            account_id: changes.account_id,
            old_state: changes.since_state,
            new_state: self.state()?.to_owned(),
            has_more_changes: false,
            created: with(|fate| !fate.was_there && fate.is_there),
            updated: with(|fate| fate.was_there && fate.is_there && fate.is_changed),
            destroyed: with(|fate| fate.was_there && !fate.is_there),
        };
        maximum(&response, changes.max_changes)?;
        Ok(response.into())
    }

    /// Returns what became of each content of which the change log tells since a state.
    ///
    /// # Errors
    /// `cannotCalculateChanges`, if the state is none of this index, or too old; if there are too many
    /// contents; if a content that was there is in another thread now, because the first index was not
    /// complete then.
    pub(crate) fn fates(&self, since: &str) -> Result<BTreeMap<[u8; 32], Fate>, MethodError> {
        let changes = match self.view.changes(Some(since)) {
            Err(Error::Index(IndexError::Token { .. })) => return Err(unknown_state()),
            changes => changes.map_err(failed)?,
        };
        // For each content: whether it had a file, if that is told; and whether it has others now.
        let mut told: BTreeMap<[u8; 32], (Option<bool>, bool)> = BTreeMap::new();
        let mut nodes: BTreeMap<[u8; 32], u32> = BTreeMap::new();
        let mut has_unknown = false;
        let mut tags_may_differ = Vec::new();
        let each = changes.each(self.view.mailbox(), |change| -> pneu::Result<()> {
            let Some(sha256) = change.sha256 else {
                has_unknown = true;
                return Ok(());
            };
            if told.len() > CHANGES_MAX {
                return Ok(());
            }
            if let Happened::Forgotten { node: Some(node) } = change.what {
                nodes.insert(sha256, node);
            }
            let (was_there, is_changed) = match change.what {
                Happened::Added(_) | Happened::Archived | Happened::Back(_) | Happened::Forgotten { .. } => {
                    (Some(false), true)
                }
                Happened::Renamed(_) | Happened::Text => (Some(true), false),
                Happened::Tags { .. } => (None, true),
                _ => (Some(true), true),
            };
            if !matches!(change.what, Happened::Moved { .. } | Happened::Flags { .. }) && is_changed {
                tags_may_differ.push(sha256);
            }
            let of_content = told.entry(sha256).or_default();
            of_content.0 = of_content.0.or(was_there);
            of_content.1 |= is_changed;
            Ok(())
        });
        each.map_err(failed)?;
        check_count(told.len(), None)?;
        if has_unknown || changes.have_threads_changed {
            return Err(unknown_state());
        }
        // A content without tags of its own has those of one with its Message-ID that is gone.
        for sha256 in tags_may_differ {
            for other in self.view.contents_with_same_id(&sha256).map_err(failed)? {
                told.entry(other).or_default().1 = true;
            }
        }
        let mut fates = BTreeMap::new();
        for (sha256, (was_there, is_changed)) in told {
            let is_there = self.view.content_hit(&sha256).map_err(failed)?.is_some();
            let was_there = was_there.unwrap_or(is_there);
            let node = nodes.get(&sha256).copied();
            fates.insert(sha256, Fate { was_there, is_there, is_changed, node });
        }
        Ok(fates)
    }
}

/// Checks that a response does not have more than a client wants, or any is told.
///
/// # Errors
/// `cannotCalculateChanges`: there is no state in between.
pub(crate) fn maximum(response: &ChangesResponse, max: Option<NonZeroU64>) -> Result<(), MethodError> {
    let count = response.created.len() + response.updated.len() + response.destroyed.len();
    check_count(count, max)
}

fn check_count(count: usize, max: Option<NonZeroU64>) -> Result<(), MethodError> {
    let is_too_many = count > CHANGES_MAX || max.is_some_and(|max| count as u64 > max.get());
    if is_too_many { Err(unknown_state()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_changes_are_told_than_the_limit_and_the_client_s() {
        let is_told = |count, max| check_count(count, NonZeroU64::new(max)).is_ok();
        assert!(is_told(CHANGES_MAX, 0) && is_told(3, 3));
        assert!(!is_told(CHANGES_MAX + 1, 0) && !is_told(4, 3));
        assert!(!is_told(CHANGES_MAX + 1, u64::MAX));
    }
}
