//! /set (RFC 8620, section 5.3).
//!
//! Input: arguments of a call, or what became of the records. Output: typed arguments, or the response. Does
//! not know which properties records have.

use super::arguments;
use super::map_or_null;
use super::set_error::SetError;
use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::{MethodError, MethodErrorKind};
use crate::id::{Id, IdReference};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// The arguments of /set. Updates and destructions name records by references, because they may mean records
/// that the same call creates: [`CreatedIds::resolve`](crate::CreatedIds::resolve) them after the creations.
#[derive(Clone, Debug, PartialEq)]
pub struct SetArguments {
    /// The account.
    pub account_id: Id,
    /// The state that the records must be in. See [`check_state`].
    pub if_in_state: Option<String>,
    /// New records by creation id. [`creation_order`](crate::creation_order) says which comes first.
    pub create: BTreeMap<Id, Map<String, Value>>,
    /// Patches by record. See [`apply_patch`](crate::apply_patch).
    pub update: Vec<(IdReference, Map<String, Value>)>,
    /// Records that shall vanish, each once.
    pub destroy: Vec<IdReference>,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl SetArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /set.
    ///
    /// # Errors
    /// `invalidArguments`; `requestTooLarge`, if there are more objects than `maxObjectsInSet`.
    pub fn read(
        mut arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
    ) -> Result<SetArguments, MethodError> {
        let account_id = arguments.id("accountId")?;
        let if_in_state = arguments.optional_string("ifInState")?;
        let create = arguments.optional_objects("create", |key| Id::new(key))?.unwrap_or_default();
        let update = arguments.optional_objects("update", IdReference::new)?.unwrap_or_default();
        let mut destroy = arguments.optional_references("destroy")?.unwrap_or_default();
        let rest = arguments.only(further)?;
        let count = create.len().saturating_add(update.len()).saturating_add(destroy.len());
        check_count(count, context)?;
        let mut seen = HashSet::new();
        destroy.retain(|reference| seen.insert(reference.clone()));
        let create = create.into_iter().collect();
        Ok(SetArguments { account_id, if_in_state, create, update, destroy, rest })
    }
}

/// Checks that a call names no more objects than `maxObjectsInSet`.
pub(super) fn check_count(count: usize, context: &Context<'_>) -> Result<(), MethodError> {
    let max = context.limits.max_objects_in_set;
    if count > max {
        let what = format!("there are more than {max} objects to create, update and destroy");
        return Err(MethodError::new(MethodErrorKind::RequestTooLarge, what));
    }
    Ok(())
}

/// Checks the `ifInState` of a call against the `current` state.
///
/// # Errors
/// `stateMismatch`, if they differ.
pub fn check_state(if_in_state: Option<&str>, current: &str) -> Result<(), MethodError> {
    match if_in_state {
        Some(state) if state != current => Err(MethodErrorKind::StateMismatch.into()),
        _ => Ok(()),
    }
}

/// The response of /set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetResponse {
    /// The account.
    pub account_id: Id,
    /// The state before the call, if it is known.
    pub old_state: Option<String>,
    /// The state after it.
    pub new_state: String,
    /// By creation id, the properties of a new record that the client did not send, such as its id.
    pub created: BTreeMap<Id, Map<String, Value>>,
    /// By id, the properties of an updated record that changed without the client's asking, if any did.
    pub updated: BTreeMap<Id, Option<Map<String, Value>>>,
    /// The records that are gone.
    pub destroyed: Vec<Id>,
    /// Why a record was not created.
    pub not_created: BTreeMap<Id, SetError>,
    /// Why a record was not updated.
    pub not_updated: BTreeMap<IdReference, SetError>,
    /// Why a record was not destroyed.
    pub not_destroyed: BTreeMap<IdReference, SetError>,
}

impl SetResponse {
    /// Returns the response to a call that changed nothing so far.
    pub fn new(account_id: Id, state: &str) -> Self {
        SetResponse {
            account_id,
            old_state: Some(state.to_owned()),
            new_state: state.to_owned(),
            created: BTreeMap::new(),
            updated: BTreeMap::new(),
            destroyed: Vec::new(),
            not_created: BTreeMap::new(),
            not_updated: BTreeMap::new(),
            not_destroyed: BTreeMap::new(),
        }
    }
}

impl From<SetResponse> for Map<String, Value> {
    fn from(response: SetResponse) -> Self {
        let destroyed = if response.destroyed.is_empty() { Value::Null } else { response.destroyed.into() };
        arguments([
            ("accountId", response.account_id.into()),
            ("oldState", response.old_state.into()),
            ("newState", response.new_state.into()),
            ("created", map_or_null(response.created.into_iter().map(|(id, object)| (id, object.into())))),
            ("updated", map_or_null(response.updated.into_iter().map(|(id, object)| (id, object.into())))),
            ("destroyed", destroyed),
            ("notCreated", errors(response.not_created)),
            ("notUpdated", errors(response.not_updated)),
            ("notDestroyed", errors(response.not_destroyed)),
        ])
    }
}

/// Returns errors as JSON, or null if there are none.
pub(super) fn errors<K: ToString>(errors: BTreeMap<K, SetError>) -> Value {
    map_or_null(errors.into_iter().map(|(key, error)| (key, error.into_json())))
}
