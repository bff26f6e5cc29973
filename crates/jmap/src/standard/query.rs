//! /query (RFC 8620, section 5.5).
//!
//! Input: arguments of a call, or results. Output: typed arguments, or the response. Does not know how
//! results are found.

use super::arguments;
use super::comparator::Comparator;
use super::window::Window;
use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::MethodError;
use crate::id::Id;
use serde_json::{Map, Value};

/// The arguments of /query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryArguments {
    /// The account.
    pub account_id: Id,
    /// What results must be like. [`Filter::read`](crate::Filter::read) reads it.
    pub filter: Option<Map<String, Value>>,
    /// How they are sorted. Without any, the order is the server's choice.
    pub sort: Vec<Comparator>,
    /// The part of them that is wanted.
    pub window: Window,
    /// Whether the number of all is wanted.
    pub calculate_total: bool,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl QueryArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /query.
    ///
    /// # Errors
    /// `invalidArguments`; `unsupportedSort`, if a collation is not offered.
    pub fn read(
        mut arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
    ) -> Result<QueryArguments, MethodError> {
        let account_id = arguments.id("accountId")?;
        let filter = arguments.optional_object("filter")?;
        let window = Window::read(&mut arguments)?;
        let calculate_total = arguments.boolean("calculateTotal", false)?;
        let sort = Comparator::read_all(&mut arguments, &context.limits.collation_algorithms)?;
        let rest = arguments.only(further)?;
        Ok(QueryArguments { account_id, filter, sort, window, calculate_total, rest })
    }
}

/// The response of /query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResponse {
    /// The account.
    pub account_id: Id,
    /// The state of the results.
    pub query_state: String,
    /// Whether /queryChanges works for this filter and order.
    pub can_calculate_changes: bool,
    /// The place of the first id among all results: [`Shown::position`](crate::Shown::position).
    pub position: u64,
    /// The ids.
    pub ids: Vec<Id>,
    /// The number of all results, if the call asks for it.
    pub total: Option<u64>,
    /// The limit of the server, if it is not the client's: [`Shown::limit`](crate::Shown::limit).
    pub limit: Option<u64>,
}

impl From<QueryResponse> for Map<String, Value> {
    fn from(response: QueryResponse) -> Self {
        let mut arguments = arguments([
            ("accountId", response.account_id.into()),
            ("queryState", response.query_state.into()),
            ("canCalculateChanges", response.can_calculate_changes.into()),
            ("position", response.position.into()),
            ("ids", response.ids.into()),
        ]);
        let further = [("total", response.total), ("limit", response.limit)];
        let given = further.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        arguments.extend(given);
        arguments
    }
}
