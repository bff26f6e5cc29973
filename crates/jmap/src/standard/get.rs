//! /get (RFC 8620, section 5.1).
//!
//! Input: arguments of a call, or records. Output: typed arguments, or the response. Does not know which
//! properties records have.

use super::arguments;
use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::{MethodError, MethodErrorKind};
use crate::id::Id;
use serde_json::{Map, Value};

/// The arguments of /get.
#[derive(Clone, Debug, PartialEq)]
pub struct GetArguments {
    /// The account.
    pub account_id: Id,
    /// The records asked for, each once, or all of the account. If those are more than `maxObjectsInGet`, the
    /// method says `requestTooLarge`.
    pub ids: Option<Vec<Id>>,
    /// The creation ids among the ids under which nothing was created, as the client wrote them: the response
    /// says that they were not found.
    pub unknown: Vec<String>,
    /// The properties asked for, or all. Whether they exist is for the method to check: if not, that is an
    /// invalid argument. The id is returned in any case.
    pub properties: Option<Vec<String>>,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl GetArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /get.
    ///
    /// # Errors
    /// `invalidArguments`; `requestTooLarge`, if there are more ids than `maxObjectsInGet`.
    pub fn read(
        mut arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
    ) -> Result<GetArguments, MethodError> {
        let account_id = arguments.id("accountId")?;
        let ids = arguments.optional_references("ids")?;
        let properties = arguments.optional_strings("properties")?;
        let rest = arguments.only(further)?;
        let max = context.limits.max_objects_in_get;
        if ids.as_ref().is_some_and(|ids| ids.len() > max) {
            let what = format!("there are more than {max} ids");
            return Err(MethodError::new(MethodErrorKind::RequestTooLarge, what));
        }
        let resolved = ids.map(|references| context.created_ids.resolve_all(&references));
        let (ids, unknown) = resolved.map_or((None, Vec::new()), |(ids, unknown)| (Some(ids), unknown));
        let unknown = unknown.iter().map(ToString::to_string).collect();
        Ok(GetArguments { account_id, ids, unknown, properties, rest })
    }
}

/// The response of /get.
#[derive(Clone, Debug, PartialEq)]
pub struct GetResponse {
    /// The account.
    pub account_id: Id,
    /// The state of all records of the type in the account.
    pub state: String,
    /// The records.
    pub list: Vec<Value>,
    /// The ids of records that do not exist, and [`unknown`](GetArguments::unknown) creation ids.
    pub not_found: Vec<String>,
}

impl From<GetResponse> for Map<String, Value> {
    fn from(response: GetResponse) -> Self {
        arguments([
            ("accountId", response.account_id.into()),
            ("state", response.state.into()),
            ("list", response.list.into()),
            ("notFound", response.not_found.into()),
        ])
    }
}
