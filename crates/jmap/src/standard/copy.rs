//! /copy (RFC 8620, section 5.4).
//!
//! Input: arguments of a call, or what became of the copies. Output: typed arguments, or the response. Does
//! not know which properties records have.

use super::set::{check_count, errors};
use super::set_error::SetError;
use super::{arguments, map_or_null};
use crate::arguments::Arguments;
use crate::context::Context;
use crate::created::CreatedIds;
use crate::error::MethodError;
use crate::id::{Id, IdReference};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The arguments of /copy.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyArguments {
    /// The account of the originals.
    pub from_account_id: Id,
    /// The state that the originals must be in.
    pub if_from_in_state: Option<String>,
    /// The account of the copies, which is another.
    pub account_id: Id,
    /// The state that the records of that account must be in.
    pub if_in_state: Option<String>,
    /// By creation id, the original and the properties that the copy has instead of the original's. See
    /// [`original`].
    pub create: BTreeMap<Id, Map<String, Value>>,
    /// Whether a /set shall then destroy the originals that were copied. Its response follows this one's.
    pub on_success_destroy_original: bool,
    /// The `ifInState` of that /set.
    pub destroy_from_if_in_state: Option<String>,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl CopyArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /copy.
    ///
    /// # Errors
    /// `invalidArguments`, also if both accounts are the same; `requestTooLarge`, if there are more
    /// objects than `maxObjectsInSet`.
    pub fn read(
        mut arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
    ) -> Result<CopyArguments, MethodError> {
        let from_account_id = arguments.id("fromAccountId")?;
        let if_from_in_state = arguments.optional_string("ifFromInState")?;
        let account_id = arguments.id("accountId")?;
        let if_in_state = arguments.optional_string("ifInState")?;
        let create = arguments.optional_objects("create", |key| Id::new(key))?;
        let create = create.ok_or_else(|| arguments.fault("create", "is missing"))?;
        let on_success_destroy_original = arguments.boolean("onSuccessDestroyOriginal", false)?;
        let destroy_from_if_in_state = arguments.optional_string("destroyFromIfInState")?;
        if account_id == from_account_id {
            return Err(arguments.fault("fromAccountId", "is the account to copy to"));
        }
        let rest = arguments.only(further)?;
        check_count(create.len(), context)?;
        Ok(CopyArguments {
            from_account_id,
            if_from_in_state,
            account_id,
            if_in_state,
            create: create.into_iter().collect(),
            on_success_destroy_original,
            destroy_from_if_in_state,
            rest,
        })
    }
}

/// Takes the id of the original from an object to copy, and leaves the properties that the copy has instead.
///
/// # Errors
/// `invalidProperties`, if the object has no id; `notFound`, if it is a creation id under which nothing was
/// created.
pub fn original(object: &mut Map<String, Value>, created: &CreatedIds) -> Result<Id, SetError> {
    let id = object.remove("id");
    let reference = id.as_ref().and_then(Value::as_str).and_then(IdReference::new);
    let reference = reference.ok_or_else(|| SetError::invalid_properties(["id"]))?;
    created.resolve(&reference).ok_or_else(|| super::SetErrorKind::NotFound.into())
}

/// The response of /copy.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyResponse {
    /// The account of the originals.
    pub from_account_id: Id,
    /// The account of the copies.
    pub account_id: Id,
    /// The state of that account before the call, if it is known.
    pub old_state: Option<String>,
    /// Its state after the call.
    pub new_state: String,
    /// By creation id, the properties of a copy that the server set, such as its id.
    pub created: BTreeMap<Id, Map<String, Value>>,
    /// Why a record was not copied.
    pub not_created: BTreeMap<Id, SetError>,
}

impl From<CopyResponse> for Map<String, Value> {
    fn from(response: CopyResponse) -> Self {
        arguments([
            ("fromAccountId", response.from_account_id.into()),
            ("accountId", response.account_id.into()),
            ("oldState", response.old_state.into()),
            ("newState", response.new_state.into()),
            ("created", map_or_null(response.created.into_iter().map(|(id, object)| (id, object.into())))),
            ("notCreated", errors(response.not_created)),
        ])
    }
}
