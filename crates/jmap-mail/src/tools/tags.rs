//! Tag/get: the user's tags, with the number of emails that have each.
//!
//! Input: ids. Output: objects. Tags are counted once for each state. Does not know how they are stored.

use super::names::id_of;
use crate::account::Account;
use crate::email::keywords::of_tag;
use crate::error::failed;
use crate::get::wanted;
use jmap::{Arguments, Context, GetResponse, Id, MethodError};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// The properties of a tag.
const PROPERTIES: [&str; 4] = ["id", "name", "keyword", "total"];

impl Account<'_> {
    pub(super) fn tag_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let (get, wanted) = self.get(arguments, &[], context, |names| wanted(names, &PROPERTIES))?;
        let state = self.state()?.to_owned();
        let tags = self.cache.tags(&state, || self.view.content_tags()).map_err(failed)?;
        let all: BTreeMap<Id, (&String, u64)> =
            tags.iter().map(|(name, count)| (id_of(name), (name, *count))).collect();
        let asked = get.ids.unwrap_or_else(|| tags.keys().map(|name| id_of(name)).collect());
        let (mut list, mut not_found, mut seen) = (Vec::new(), get.unknown, HashSet::new());
        for id in asked.into_iter().filter(|id| seen.insert(id.clone())) {
            let Some((name, total)) = all.get(&id) else {
                not_found.push(id.into());
                continue;
            };
            let property = |property: &&str| {
                let value = match *property {
                    "id" => id.clone().into(),
                    "name" => Value::from(name.as_str()),
                    "keyword" => of_tag(name).into(),
                    _ => (*total).into(),
                };
                ((*property).to_owned(), value)
            };
            let object = Value::Object(wanted.iter().map(property).collect());
            context.count(&object)?;
            list.push(object);
        }
        Ok(GetResponse { account_id: get.account_id, state, list, not_found }.into())
    }
}
