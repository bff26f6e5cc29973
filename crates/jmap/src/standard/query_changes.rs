//! /queryChanges (RFC 8620, section 5.6).
//!
//! Input: arguments of a call, or how results changed. Output: typed arguments, or the response. Does not
//! know how results are found.

use super::arguments;
use super::comparator::Comparator;
use super::difference::Difference;
use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::MethodError;
use crate::id::Id;
use serde_json::{Map, Value};

/// The arguments of /queryChanges.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryChangesArguments {
    /// The account.
    pub account_id: Id,
    /// The filter of the /query.
    pub filter: Option<Map<String, Value>>,
    /// The order of the /query.
    pub sort: Vec<Comparator>,
    /// The state of the client's results.
    pub since_query_state: String,
    /// How many ids the response may have in all.
    pub max_changes: Option<u64>,
    /// The last result that the client knows.
    pub up_to_id: Option<Id>,
    /// Whether the number of all results is wanted.
    pub calculate_total: bool,
    /// The further arguments that the method has.
    pub rest: Arguments,
}

impl QueryChangesArguments {
    /// Reads them. `further` names the arguments that the method has besides those of each /queryChanges.
    ///
    /// # Errors
    /// `invalidArguments`; `unsupportedSort`, if a collation is not offered.
    pub fn read(
        mut arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
    ) -> Result<QueryChangesArguments, MethodError> {
        let account_id = arguments.id("accountId")?;
        let filter = arguments.optional_object("filter")?;
        let since_query_state = arguments.string("sinceQueryState")?;
        let max_changes = arguments.optional_unsigned("maxChanges")?;
        let up_to_id = arguments.optional_id("upToId")?;
        let calculate_total = arguments.boolean("calculateTotal", false)?;
        let sort = Comparator::read_all(&mut arguments, &context.limits.collation_algorithms)?;
        let rest = arguments.only(further)?;
        Ok(QueryChangesArguments {
            account_id,
            filter,
            sort,
            since_query_state,
            max_changes,
            up_to_id,
            calculate_total,
            rest,
        })
    }
}

/// The response of /queryChanges.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryChangesResponse {
    /// The account.
    pub account_id: Id,
    /// `sinceQueryState` of the call.
    pub old_query_state: String,
    /// The state of the results after these changes.
    pub new_query_state: String,
    /// The number of all results, if the call asks for it.
    pub total: Option<u64>,
    /// What changed.
    pub difference: Difference<Id>,
}

impl From<QueryChangesResponse> for Map<String, Value> {
    fn from(response: QueryChangesResponse) -> Self {
        let Difference { removed, added } = response.difference;
        let item =
            |(id, index): (Id, usize)| Value::from(arguments([("id", id.into()), ("index", index.into())]));
        let mut arguments = arguments([
            ("accountId", response.account_id.into()),
            ("oldQueryState", response.old_query_state.into()),
            ("newQueryState", response.new_query_state.into()),
            ("removed", removed.into()),
            ("added", added.into_iter().map(item).collect()),
        ]);
        if let Some(total) = response.total {
            arguments.insert("total".to_owned(), total.into());
        }
        arguments
    }
}
