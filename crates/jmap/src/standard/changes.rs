//! /changes (RFC 8620, section 5.2).
//!
//! Input: arguments of a call, or what changed. Output: typed arguments, or the response. Does not know how
//! changes are found.

use super::arguments;
use crate::arguments::Arguments;
use crate::error::MethodError;
use crate::id::Id;
use serde_json::{Map, Value};
use std::num::NonZeroU64;

/// The arguments of /changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesArguments {
    /// The account.
    pub account_id: Id,
    /// The state of the client.
    pub since_state: String,
    /// How many ids the response may have in all.
    pub max_changes: Option<NonZeroU64>,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl ChangesArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /changes.
    ///
    /// # Errors
    /// `invalidArguments`, also if `maxChanges` is 0.
    pub fn read(mut arguments: Arguments, further: &[&str]) -> Result<ChangesArguments, MethodError> {
        let account_id = arguments.id("accountId")?;
        let since_state = arguments.string("sinceState")?;
        let max_changes = match arguments.optional_unsigned("maxChanges")? {
            Some(count) => Some(
                NonZeroU64::new(count)
                    .ok_or_else(|| arguments.fault("maxChanges", "is not greater than 0"))?,
            ),
            None => None,
        };
        Ok(ChangesArguments { account_id, since_state, max_changes, rest: arguments.only(further)? })
    }
}

/// The response of /changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesResponse {
    /// The account.
    pub account_id: Id,
    /// `sinceState` of the call.
    pub old_state: String,
    /// The state of the client after these changes.
    pub new_state: String,
    /// Whether there are more.
    pub has_more_changes: bool,
    /// The records that are new.
    pub created: Vec<Id>,
    /// The records that are not as they were.
    pub updated: Vec<Id>,
    /// The records that are gone.
    pub destroyed: Vec<Id>,
}

impl ChangesResponse {
    /// Returns the response that nothing has changed since a state.
    pub fn unchanged(account_id: Id, state: String) -> ChangesResponse {
        ChangesResponse {
            account_id,
            old_state: state.clone(),
            new_state: state,
            has_more_changes: false,
            created: Vec::new(),
            updated: Vec::new(),
            destroyed: Vec::new(),
        }
    }
}

impl From<ChangesResponse> for Map<String, Value> {
    fn from(response: ChangesResponse) -> Self {
        arguments([
            ("accountId", response.account_id.into()),
            ("oldState", response.old_state.into()),
            ("newState", response.new_state.into()),
            ("hasMoreChanges", response.has_more_changes.into()),
            ("created", response.created.into()),
            ("updated", response.updated.into()),
            ("destroyed", response.destroyed.into()),
        ])
    }
}
