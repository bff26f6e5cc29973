//! Email/queryChanges (RFC 8621, section 4.5).
//!
//! Input: a query, and the state of its results that a client has. Output: what to take out of that list and
//! what to put in where. Earlier results are not kept. What the change log names may have come, gone or
//! moved, and so may the emails of its threads if the query asks about whole threads: all of them are taken
//! out, and those that are results now are put in again (RFC 8620, section 5.6).

use super::changes::Fate;
use super::filter::{Condition, Conditions, changes_with_time, read_filter};
use super::query::Found;
use super::sort::Sort;
use crate::account::Account;
use crate::conversation::{collapse, collapsing};
use crate::error::{failed, unknown_state};
use crate::ids;
use jmap::{
    Arguments, Context, Difference, Filter, Id, MethodError, MethodErrorKind, QueryChangesArguments,
    QueryChangesResponse,
};
use pneu::{Grouping, Hit, NumberSet};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Account<'_> {
    pub(crate) fn email_query_changes(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let mut query = QueryChangesArguments::read(arguments, collapsing(context), context)?;
        self.check(&query.account_id)?;
        let grouping = collapse(&mut query.rest)?;
        let filter = query.filter.map(|filter| read_filter(filter, &self.view, context)).transpose()?;
        if filter.as_ref().is_some_and(changes_with_time) {
            return Err(unknown_state());
        }
        let sort = Sort::read(query.sort)?;
        let fates = self.fates(&query.since_query_state)?;
        let mut removed: BTreeSet<[u8; 32]> =
            fates.iter().filter(|(_, fate)| fate.was_there).map(|(sha256, _)| *sha256).collect();
        let of_threads = sort.is_of_threads() || filter.as_ref().is_some_and(is_of_threads);
        let touched = self.touched(&fates, grouping.or(of_threads.then_some(Grouping::Threads)))?;
        for sha256 in self.contents_of(&touched)? {
            // One that is new was in no earlier result.
            if fates.get(&sha256).is_none_or(|fate| fate.was_there) {
                removed.insert(sha256);
            }
        }
        let found = self.found(filter.as_ref())?;
        let found = Found { parts: self.divided(found, &sort).map_err(failed)?, sort };
        let mut results = self.listed(&found, 0..usize::MAX).map_err(failed)?;
        if let Some(grouping) = grouping {
            results = self.view.first_listed(results, grouping).map_err(failed)?;
        }
        let is_touched = |(_, hit): &(usize, &Hit)| touched.contains(hit.number);
        let (places, hits): (Vec<usize>, Vec<Hit>) =
            results.iter().enumerate().filter(is_touched).map(|(place, hit)| (place, *hit)).unzip();
        let added = self.view.content_ids(&hits).map_err(failed)?;
        let removed: Vec<Id> = removed.iter().map(ids::email).collect();
        let added: Vec<(Id, usize)> = added.iter().map(ids::email).zip(places).collect();
        let count = (removed.len() + added.len()) as u64;
        if query.max_changes.is_some_and(|max| count > max) {
            return Err(MethodErrorKind::TooManyChanges.into());
        }
        let response = QueryChangesResponse {
            account_id: query.account_id,
            old_query_state: query.since_query_state,
            new_query_state: self.state()?.to_owned(),
            total: query.calculate_total.then_some(results.len() as u64),
            difference: Difference { removed, added },
        };
        Ok(response.into())
    }

    /// Returns the contents that there still are, and with a grouping all others of the threads or
    /// conversations that these are in, or were in.
    fn touched(
        &self,
        fates: &BTreeMap<[u8; 32], Fate>,
        grouping: Option<Grouping>,
    ) -> Result<NumberSet, MethodError> {
        let mut numbers = NumberSet::new(self.view.contents().map_err(failed)?.bound());
        for (sha256, fate) in fates {
            match self.view.known_content(sha256).map_err(failed)? {
                Some(hit) => {
                    numbers.grow(hit.number.saturating_add(1));
                    numbers.insert(hit.number);
                }
                // Of a content that was forgotten nobody knows the thread.
                None if fate.was_there && grouping.is_some() => return Err(unknown_state()),
                None => {}
            }
        }
        match grouping.filter(|_| !numbers.is_empty()) {
            Some(grouping) => self.view.contents_related(&numbers, grouping).map_err(failed),
            None => Ok(numbers),
        }
    }

    /// Returns the SHA-256 of each content of a set.
    fn contents_of(&self, set: &NumberSet) -> Result<Vec<[u8; 32]>, MethodError> {
        let hits = self.view.sorted(set, &pneu::Order::default()).map_err(failed)?.list;
        self.view.content_ids(&hits).map_err(failed)
    }
}

/// Returns whether a filter may ask about more than the email itself.
fn is_of_threads(filter: &Filter<Conditions>) -> bool {
    match filter {
        Filter::And(filters) | Filter::Or(filters) | Filter::Not(filters) => {
            filters.iter().any(is_of_threads)
        }
        Filter::Condition(conditions) => !conditions.iter().all(is_of_email),
    }
}

/// Returns whether a condition asks about the email itself.
fn is_of_email(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::InMailbox(_)
            | Condition::InOther(_)
            | Condition::HasKeyword(_)
            | Condition::NotKeyword(_)
            | Condition::Text { .. }
            | Condition::Query(_)
    )
}
