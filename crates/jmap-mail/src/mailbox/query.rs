//! Mailbox/query and Mailbox/queryChanges (RFC 8621, sections 2.3 and 2.4).
//!
//! Input: filters and orders. Output: ids. Results of an earlier state are computed again from the mailboxes
//! that the cache kept of it.

use super::list::{Folder, Folders};
use crate::account::Account;
use crate::error::unknown_state;
use jmap::{
    Arguments, Comparator, Context, Filter, Id, MethodError, MethodErrorKind, QueryArguments,
    QueryChangesArguments, QueryChangesResponse, QueryResponse, difference,
};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The arguments that these methods have besides those of each /query.
const FURTHER: [&str; 2] = ["sortAsTree", "filterAsTree"];

/// What a mailbox must be like. What is `None` does not count.
#[derive(Clone, Debug, Default)]
struct Condition {
    parent: Option<Option<Id>>,
    name: Option<String>,
    role: Option<Option<String>>,
    has_any_role: Option<bool>,
    is_subscribed: Option<bool>,
}

/// What is asked for.
struct Question {
    filter: Option<Filter<Condition>>,
    sort: Vec<(Key, bool)>,
    sort_as_tree: bool,
    filter_as_tree: bool,
}

#[derive(Clone, Copy)]
enum Key {
    SortOrder,
    Name,
}

impl Account<'_> {
    pub(crate) fn mailbox_query(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let query = QueryArguments::read(arguments, &FURTHER, context)?;
        self.check(&query.account_id)?;
        let question = Question::read((query.filter, query.sort, query.rest), context)?;
        let found = question.found(self.folders()?);
        let shown = query.window.show(found.len(), None, |id| found.iter().position(|other| other == id))?;
        let response = QueryResponse {
            account_id: query.account_id,
            query_state: self.state()?.to_owned(),
            can_calculate_changes: true,
            position: shown.position,
            ids: found.get(shown.range).unwrap_or_default().to_vec(),
            total: query.calculate_total.then_some(found.len() as u64),
            limit: shown.limit,
        };
        Ok(response.into())
    }

    pub(crate) fn mailbox_query_changes(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let query = QueryChangesArguments::read(arguments, &FURTHER, context)?;
        self.check(&query.account_id)?;
        let question = Question::read((query.filter, query.sort, query.rest), context)?;
        let old = self.cache.get(&query.since_query_state).ok_or_else(unknown_state)?;
        let (old, new) = (question.found(&old), question.found(self.folders()?));
        let response = QueryChangesResponse {
            // `upToId` does not count: all filters and orders depend on what can change (RFC 8620, 5.6).
            difference: difference(&old, &new, None, query.max_changes)?,
            account_id: query.account_id,
            old_query_state: query.since_query_state,
            new_query_state: self.state()?.to_owned(),
            total: query.calculate_total.then_some(new.len() as u64),
        };
        Ok(response.into())
    }
}

impl Question {
    fn read(
        (filter, sort, mut rest): (Option<Map<String, Value>>, Vec<Comparator>, Arguments),
        context: &Context<'_>,
    ) -> Result<Question, MethodError> {
        let (sort_as_tree, filter_as_tree) =
            (rest.boolean("sortAsTree", false)?, rest.boolean("filterAsTree", false)?);
        let filter = filter.map(|filter| Filter::read(filter, context.limits, &mut condition)).transpose()?;
        let sort = sort.into_iter().map(comparator).collect::<Result<_, _>>()?;
        Ok(Question { filter, sort, sort_as_tree, filter_as_tree })
    }

    /// Returns the ids of the mailboxes that match, in order.
    fn found(&self, folders: &Folders) -> Vec<Id> {
        let mut sorted: Vec<&Folder> = folders.list.iter().collect();
        sorted.sort_by(|one, other| self.compare(one, other));
        let is_match = |folder: &Folder| {
            self.filter.as_ref().is_none_or(|filter| filter.matches(&mut |wanted| wanted.holds(folder)))
        };
        let by_id: HashMap<&Id, &Folder> = sorted.iter().map(|folder| (&folder.id, *folder)).collect();
        let above = |folder: &Folder| folder.parent.as_ref().and_then(|parent| by_id.get(parent).copied());
        let is_shown = |folder: &&Folder| {
            let mut next = Some(*folder);
            while let Some(folder) = next {
                if !is_match(folder) {
                    return false;
                }
                next = if self.filter_as_tree { above(folder) } else { None };
            }
            true
        };
        let shown: Vec<&Folder> = if self.sort_as_tree { as_tree(&sorted) } else { sorted.clone() };
        shown.into_iter().filter(is_shown).map(|folder| folder.id.clone()).collect()
    }

    /// Without a difference the order of the list stays.
    fn compare(&self, one: &Folder, other: &Folder) -> Ordering {
        let compare = |(key, is_ascending): &(Key, bool)| {
            let order = match key {
                Key::SortOrder => one.sort_order().cmp(&other.sort_order()),
                Key::Name => one.name.to_lowercase().cmp(&other.name.to_lowercase()),
            };
            if *is_ascending { order } else { order.reverse() }
        };
        self.sort.iter().map(compare).find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
    }
}

/// Returns sorted mailboxes with the children of each right after it.
fn as_tree<'f>(sorted: &[&'f Folder]) -> Vec<&'f Folder> {
    let mut children: HashMap<Option<&Id>, Vec<&Folder>> = HashMap::new();
    for folder in sorted {
        children.entry(folder.parent.as_ref()).or_default().push(folder);
    }
    let mut left: Vec<&Folder> = children.remove(&None).unwrap_or_default();
    left.reverse();
    let mut all = Vec::with_capacity(sorted.len());
    while let Some(folder) = left.pop() {
        all.push(folder);
        left.extend(children.remove(&Some(&folder.id)).unwrap_or_default().into_iter().rev());
    }
    all
}

impl Condition {
    fn holds(&self, folder: &Folder) -> bool {
        let has = |name: &String| folder.name.to_lowercase().contains(&name.to_lowercase());
        self.parent.as_ref().is_none_or(|parent| *parent == folder.parent)
            && self.name.as_ref().is_none_or(has)
            && self.role.as_ref().is_none_or(|role| role.as_deref() == folder.role)
            && self.has_any_role.is_none_or(|has_any| has_any == folder.role.is_some())
            && self.is_subscribed.is_none_or(|wanted| wanted == folder.is_subscribed)
    }
}

fn condition(mut members: Arguments) -> Result<Condition, MethodError> {
    let mut condition = Condition::default();
    // These are different if they are null: then the mailbox must have none.
    if members.has("parentId") {
        condition.parent = Some(members.optional_id("parentId")?);
    }
    if members.has("role") {
        condition.role = Some(members.optional_string("role")?);
    }
    if members.has("name") {
        condition.name = Some(members.string("name")?);
    }
    if members.has("hasAnyRole") {
        condition.has_any_role = Some(members.boolean("hasAnyRole", false)?);
    }
    if members.has("isSubscribed") {
        condition.is_subscribed = Some(members.boolean("isSubscribed", false)?);
    }
    members.finish().map(|()| condition)
}

fn comparator(comparator: Comparator) -> Result<(Key, bool), MethodError> {
    let key = match comparator.property.as_str() {
        "sortOrder" => Key::SortOrder,
        "name" => Key::Name,
        _ => return Err(MethodErrorKind::UnsupportedSort.into()),
    };
    Ok((key, comparator.is_ascending))
}
