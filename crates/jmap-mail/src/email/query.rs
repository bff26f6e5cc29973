//! Email/query (RFC 8621, section 4.4).
//!
//! Input: filters and orders. Output: ids. Only as many results are sorted as the window needs: the newest
//! fifty of a large mailbox cost as much as those of a small one. An anchor, and threads in another order
//! than that of dates, need all of them.

use super::filter::{Condition, changes_with_time, read_filter};
use super::sort::{KeywordOrder, Sort, Whose};
use crate::account::Account;
use crate::conversation::{collapse, collapsing};
use crate::error::failed;
use crate::ids;
use jmap::{Arguments, Context, Id, MethodError, QueryArguments, QueryResponse, Shown};
use pneu::{Hit, NumberSet, Order};
use serde_json::{Map, Value};
use std::ops::Range;

/// The most ids of a response.
const LIMIT_MAX: u64 = 10_000;

/// What was found, in the order of its parts.
pub(super) struct Found {
    /// Each part comes after the one before.
    pub(super) parts: Vec<NumberSet>,
    pub(super) sort: Sort,
}

impl Account<'_> {
    pub(crate) fn email_query(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let mut query = QueryArguments::read(arguments, collapsing(context), context)?;
        self.check(&query.account_id)?;
        let grouping = collapse(&mut query.rest)?;
        let filter =
            query.filter.take().map(|filter| read_filter(filter, &self.view, context)).transpose()?;
        let is_calculable = !filter.as_ref().is_some_and(changes_with_time);
        let sort = Sort::read(query.sort)?;
        let mut found = self.found(filter.as_ref())?;
        let by_date = sort.is_by_date();
        if let Some(grouping) = grouping.filter(|_| by_date) {
            found = self.view.first_by_date(&found, sort.direction, grouping).map_err(failed)?;
        }
        let found = Found { parts: self.divided(found, &sort).map_err(failed)?, sort };
        let listed = (query.window.anchor.is_some() || (grouping.is_some() && !by_date)).then(|| {
            let all = self.listed(&found, 0..usize::MAX)?;
            match grouping {
                Some(grouping) => self.view.first_listed(all, grouping),
                None => Ok(all),
            }
        });
        let listed = listed.transpose().map_err(failed)?;
        let total = listed.as_ref().map_or_else(|| found.count(), Vec::len);
        let place = match (&query.window.anchor, &listed) {
            (Some(anchor), Some(listed)) => self.place(anchor, listed)?,
            _ => None,
        };
        let Shown { position, range, limit } = query.window.show(total, Some(LIMIT_MAX), |_| place)?;
        let hits = match listed {
            Some(listed) => listed.get(range).unwrap_or_default().to_vec(),
            None => self.listed(&found, range).map_err(failed)?,
        };
        let ids = self.view.content_ids(&hits).map_err(failed)?.iter().map(ids::email).collect();
        let response = QueryResponse {
            account_id: query.account_id,
            query_state: self.state()?.to_owned(),
            can_calculate_changes: is_calculable,
            position,
            ids,
            total: query.calculate_total.then_some(total as u64),
            limit,
        };
        Ok(response.into())
    }

    /// Divides a set by keywords.
    pub(super) fn divided(&self, found: NumberSet, sort: &Sort) -> pneu::Result<Vec<NumberSet>> {
        let mut parts = vec![found];
        for order in &sort.keywords {
            let having = self.having(order)?;
            let mut divided = Vec::with_capacity(2 * parts.len());
            for part in parts {
                let (mut with, mut without) = (part.clone(), part);
                with.and(&having);
                without.minus(&having);
                let both = if order.is_ascending { [without, with] } else { [with, without] };
                divided.extend(both.into_iter().filter(|part| !part.is_empty()));
            }
            parts = divided;
        }
        Ok(parts)
    }

    /// Returns the contents that have a keyword, or whose threads have it.
    fn having(&self, order: &KeywordOrder) -> pneu::Result<NumberSet> {
        let keyword = order.keyword.clone();
        let condition = match order.whose {
            Whose::Own => Condition::HasKeyword(keyword),
            Whose::SomeInThread => Condition::SomeInThread(keyword),
            Whose::AllInThread => Condition::AllInThread(keyword),
        };
        self.holding(&condition, &self.view.contents()?)
    }

    /// Returns the results in a range of places.
    pub(super) fn listed(&self, found: &Found, range: Range<usize>) -> pneu::Result<Vec<Hit>> {
        let mut hits = Vec::new();
        let (mut skip, mut left) = (range.start, range.len());
        for part in &found.parts {
            if left == 0 {
                break;
            }
            let count = usize::try_from(part.count()).unwrap_or(usize::MAX);
            if skip >= count {
                skip -= count;
                continue;
            }
            let limit = left.min(count - skip);
            let Sort { key, direction, several, .. } = &found.sort;
            let sorted = if several.is_empty() {
                let (key, direction) = (*key, *direction);
                self.view.sorted(part, &Order { key, direction, offset: skip, limit: Some(limit) })?
            } else {
                self.view.sorted_by_several(part, several, skip..skip + limit)?
            };
            hits.extend(sorted.list);
            (skip, left) = (0, left - limit);
        }
        Ok(hits)
    }

    /// Returns the place of an email among results.
    fn place(&self, id: &Id, hits: &[Hit]) -> Result<Option<usize>, MethodError> {
        let Some(sha256) = ids::email_content(id) else { return Ok(None) };
        let hit = self.view.content_hit(&sha256).map_err(failed)?;
        Ok(hit.and_then(|hit| hits.iter().position(|other| other.number == hit.number)))
    }
}

impl Found {
    fn count(&self) -> usize {
        self.parts.iter().map(|part| usize::try_from(part.count()).unwrap_or(usize::MAX)).sum()
    }
}
