//! SavedQuery/get and SavedQuery/set: queries that the user saved under a name.
//!
//! Input: calls. Output: queries, by their names. The library decides which names and queries there can be.
//! A name stays: who wants another one saves the query anew.

use super::names::id_of;
use super::position::in_utf16;
use super::state_of;
use crate::account::Account;
use crate::error::failed;
use crate::get::wanted;
use crate::write::not_done;
use jmap::{
    Arguments, Context, GetResponse, Id, IdReference, MethodError, SetArguments, SetError, SetErrorKind,
    SetResponse, apply_patch, check_state,
};
use pneu::{Error, IndexError, QueryRemoval};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The properties of a saved query.
const PROPERTIES: [&str; 3] = ["id", "name", "query"];

type Object = Map<String, Value>;

impl Account<'_> {
    pub(super) fn saved_query_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Object, MethodError> {
        let (get, wanted) = self.get(arguments, &[], context, |names| wanted(names, &PROPERTIES))?;
        let queries = self.view.saved_queries().map_err(failed)?;
        let (mut list, mut not_found) = (Vec::new(), get.unknown);
        let all = queries.iter().map(|(name, query)| object(name, query));
        let all = all.map(|mut object| {
            object.retain(|name, _| wanted.contains(&name.as_str()));
            Value::Object(object)
        });
        match get.ids {
            None => list.extend(all),
            Some(ids) => {
                let all: BTreeMap<Id, Value> = queries.keys().map(|name| id_of(name)).zip(all).collect();
                for id in ids {
                    match all.get(&id) {
                        Some(object) => list.push(object.clone()),
                        None => not_found.push(id.into()),
                    }
                }
            }
        }
        list.iter().try_for_each(|object| context.count(object))?;
        Ok(GetResponse { account_id: get.account_id, state: state(queries), list, not_found }.into())
    }

    pub(super) fn saved_query_set(
        &mut self,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Object, MethodError> {
        let set = SetArguments::read(arguments, &[], context)?;
        self.check(&set.account_id)?;
        self.renew()?;
        let old_state = state(self.view.saved_queries().map_err(failed)?);
        check_state(set.if_in_state.as_deref(), &old_state)?;
        let mut response = SetResponse::new(set.account_id, &old_state);
        for (creation, object) in set.create {
            match self.create_query(&object) {
                Ok(id) => {
                    context.created_ids.add(creation.clone(), id.clone());
                    response.created.insert(creation, Map::from_iter([("id".to_owned(), id.into())]));
                }
                Err(error) => _ = response.not_created.insert(creation, error),
            }
        }
        let resolve = |reference: &IdReference| {
            context.created_ids.resolve(reference).ok_or_else(|| SetError::from(SetErrorKind::NotFound))
        };
        for (reference, patch) in set.update {
            let is_destroyed = |id: &Id| set.destroy.iter().any(|other| resolve(other).as_ref() == Ok(id));
            let updated = resolve(&reference).and_then(|id| match is_destroyed(&id) {
                true => Err(SetErrorKind::WillDestroy.into()),
                false => self.update_query(&id, patch).map(|()| id),
            });
            match updated {
                Ok(id) => _ = response.updated.insert(id, None),
                Err(error) => _ = response.not_updated.insert(reference, error),
            }
        }
        for reference in set.destroy {
            match resolve(&reference).and_then(|id| self.destroy_query(&id).map(|()| id)) {
                Ok(id) => response.destroyed.push(id),
                Err(error) => _ = response.not_destroyed.insert(reference, error),
            }
        }
        self.renew()?;
        response.new_state = state(self.view.saved_queries().map_err(failed)?);
        Ok(response.into())
    }

    fn create_query(&self, object: &Object) -> Result<Id, SetError> {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let is_known = |name: &str| ["name", "query"].contains(&name);
        let mut wrong: Vec<&str> = object.keys().map(String::as_str).filter(|name| !is_known(name)).collect();
        wrong.extend(["name", "query"].into_iter().filter(|name| text(name).is_none()));
        let (Some(name), Some(query), []) = (text("name"), text("query"), wrong.as_slice()) else {
            return Err(SetError::invalid_properties(wrong));
        };
        if self.saved()?.contains_key(name) {
            return Err(SetError::already_exists(id_of(name)));
        }
        self.host.save_query(name, query).map_err(|error| refused(&error, query))?;
        Ok(id_of(name))
    }

    fn update_query(&self, id: &Id, patch: Object) -> Result<(), SetError> {
        let (name, query) = self.named(id)?;
        let before = object(&name, &query);
        let after = apply_patch(&before, patch)?;
        let is_wrong = |property: &&String| match property.as_str() {
            "query" => !after.get("query").is_some_and(Value::is_string),
            property => before.get(property) != after.get(property),
        };
        let wrong: BTreeSet<String> = before.keys().chain(after.keys()).filter(is_wrong).cloned().collect();
        let Some(query) = after.get("query").and_then(Value::as_str).filter(|_| wrong.is_empty()) else {
            return Err(SetError::invalid_properties(wrong));
        };
        self.host.save_query(&name, query).map_err(|error| refused(&error, query))
    }

    fn destroy_query(&self, id: &Id) -> Result<(), SetError> {
        let (name, query) = self.named(id)?;
        match self.host.remove_query(&name).map_err(|error| refused(&error, &query))? {
            QueryRemoval::Removed => Ok(()),
            QueryRemoval::Unknown => Err(SetErrorKind::NotFound.into()),
            QueryRemoval::NeededBy(others) => {
                let ids: Vec<String> = others.iter().map(|name| id_of(name).into()).collect();
                let what = format!("it is part of {}", others.join(", "));
                Err(SetError::new(SetErrorKind::Forbidden, what).with("neededBy", ids))
            }
        }
    }

    /// Returns the queries as they are now.
    fn saved(&self) -> Result<BTreeMap<String, String>, SetError> {
        self.host.saved_queries().map_err(|error| refused(&error, ""))
    }

    /// Returns the name and the text of a query.
    fn named(&self, id: &Id) -> Result<(String, String), SetError> {
        let found = self.saved()?.into_iter().find(|(name, _)| id_of(name) == *id);
        found.ok_or_else(|| SetErrorKind::NotFound.into())
    }
}

fn object(name: &str, query: &str) -> Object {
    let properties = [("id", id_of(name).into()), ("name", name.into()), ("query", query.into())];
    properties.map(|(name, value): (_, Value)| (name.to_owned(), value)).into_iter().collect()
}

/// Returns the state of these queries.
pub(crate) fn state(queries: &BTreeMap<String, String>) -> String {
    state_of(queries.iter().flat_map(|(name, query)| [name, query]))
}

/// Says why a query with this text was not saved or removed.
fn refused(error: &Error, text: &str) -> SetError {
    let invalid = |property: &str, what: String| SetError {
        description: Some(what),
        ..SetError::invalid_properties([property])
    };
    match error {
        Error::Parse(error) => {
            // A mistake in another saved query is where that one is named, which may be anywhere.
            let range = if error.query == text { error.span.clone() } else { 0..text.len() };
            let [start, end] = in_utf16(text, &range);
            let mut what = error.problem.to_string();
            if let Some(suggestion) = error.suggestion() {
                what = format!("{what}; {suggestion}");
            }
            invalid("query", what).with("position", json!({ "start": start, "end": end }))
        }
        Error::Index(IndexError::QueryName { what, .. }) => invalid("name", what.clone()),
        Error::Cancelled | Error::Index(IndexError::Disk(_)) => {
            not_done("another process writes at the moment")
        }
        _ => not_done("the saved queries cannot be read or written"),
    }
}
