//! Threads (RFC 8621, section 3).
//!
//! Input: ids. Output: the emails of each thread, oldest first; what changed of threads. The thread of an
//! email never changes. What a late message joins is a conversation, which is read in the same way.

use crate::account::Account;
use crate::email::maximum;
use crate::error::{failed, unknown_state};
use crate::get::wanted;
use crate::ids;
use jmap::{
    Arguments, ChangesArguments, ChangesResponse, Context, GetResponse, Id, MethodError, MethodErrorKind,
};
use pneu::Grouping;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The properties of a thread, and of a conversation.
const PROPERTIES: [&str; 2] = ["id", "emailIds"];

impl Account<'_> {
    pub(crate) fn thread_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        self.group_get(arguments, context, Grouping::Threads)
    }

    /// Returns threads or conversations with their emails.
    pub(crate) fn group_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
        grouping: Grouping,
    ) -> Result<Map<String, Value>, MethodError> {
        let (get, wanted) = self.get(arguments, &[], context, |names| wanted(names, &PROPERTIES))?;
        let ids = get.ids.ok_or_else(|| {
            MethodError::new(MethodErrorKind::RequestTooLarge, "these can only be read by their ids")
        })?;
        let mut not_found = get.unknown;
        let (mut named, mut names) = (Vec::new(), Vec::new());
        for id in ids {
            match ids::group_name(&id, grouping) {
                Some(name) => {
                    named.push(id);
                    names.push(name);
                }
                None => not_found.push(id.into()),
            }
        }
        let groups = self.view.contents_of_groups(&names, grouping).map_err(failed)?;
        let mut list = Vec::new();
        for (id, hits) in named.into_iter().zip(groups) {
            if hits.is_empty() {
                not_found.push(id.into());
                continue;
            }
            let contents = self.view.content_ids(&hits).map_err(failed)?;
            let mut object = Map::from_iter([("id".to_owned(), Value::from(id))]);
            if wanted.contains(&"emailIds") {
                object.insert("emailIds".to_owned(), contents.iter().map(ids::email).collect());
            }
            let object = Value::Object(object);
            context.count(&object)?;
            list.push(object);
        }
        let state = self.state()?.to_owned();
        Ok(GetResponse { account_id: get.account_id, state, list, not_found }.into())
    }

    pub(crate) fn thread_changes(&self, arguments: Arguments) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        let fates = self.fates(&changes.since_state)?;
        // Those with an email that came or went, and whether one of them went.
        let mut threads: BTreeMap<u64, bool> = BTreeMap::new();
        for (sha256, fate) in fates.iter().filter(|(_, fate)| fate.was_there != fate.is_there) {
            let hit = self.view.known_content(sha256).map_err(failed)?;
            let thread = match (hit, fate.node) {
                (Some(hit), _) => self.view.group_of(&hit, Grouping::Threads),
                (None, Some(node)) => self.view.thread_of_node(node),
                // Older programs did not note the thread of what they removed.
                (None, None) => return Err(unknown_state()),
            };
            let thread = thread.map_err(failed)?;
            *threads.entry(thread).or_default() |= fate.was_there;
        }
        let names: Vec<u64> = threads.keys().copied().collect();
        let (mut created, mut updated, mut destroyed) = (Vec::new(), Vec::new(), Vec::new());
        let contents = self.view.contents_of_groups(&names, Grouping::Threads).map_err(failed)?;
        for (name, hits) in names.iter().zip(contents) {
            let contents = self.view.content_ids(&hits).map_err(failed)?;
            let was_there = |sha256| fates.get(sha256).is_none_or(|fate| fate.was_there);
            let has_lost = threads.get(name).copied().unwrap_or_default();
            let id: Id = ids::thread(*name);
            match (has_lost || contents.iter().any(was_there), contents.is_empty()) {
                (true, true) => destroyed.push(id),
                (true, false) => updated.push(id),
                (false, false) => created.push(id),
                (false, true) => {}
            }
        }
        let response = ChangesResponse {
            account_id: changes.account_id,
            old_state: changes.since_state,
            new_state: self.state()?.to_owned(),
            has_more_changes: false,
            created,
            updated,
            destroyed,
        };
        maximum(&response, changes.max_changes)?;
        Ok(response.into())
    }
}
