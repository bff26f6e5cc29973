//! Stores the bytes of a new email, durably, in all its mailboxes, with its keywords.
//!
//! Input: bytes, and where they go. Output: the email that the next view shows. Does not know where the bytes
//! come from.

use crate::account::Account;
use crate::error::failed;
use crate::ids;
use crate::write::keywords::{KeywordChange, KeywordFault, Spelling, read};
use crate::write::not_done;
use jmap::{Arguments, Context, Date, Id, MethodError, SetError};
use pneu::{ContentEdit, DeliverOptions};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// What a client is told of a new email.
const TOLD: [&str; 4] = ["id", "blobId", "threadId", "size"];

/// The id of a new email, and what a client is told of it.
pub(super) type Stored = (Id, Map<String, Value>);

/// Where a new email goes.
#[derive(Debug, Default)]
pub(super) struct Placing {
    folders: Vec<PathBuf>,
    change: KeywordChange,
    received_seconds: Option<i64>,
}

/// The properties of a new email of which a [`Placing`] is made.
pub(super) const PLACING: [&str; 3] = ["mailboxIds", "keywords", "receivedAt"];

impl Account<'_> {
    /// Reads where a new email goes. The inner error names the properties that are wrong.
    pub(super) fn placing(
        &self,
        object: &mut Map<String, Value>,
        context: &Context<'_>,
        spelling: &mut Spelling,
    ) -> Result<Result<Placing, Vec<String>>, MethodError> {
        let mut wrong: Vec<&str> = Vec::new();
        let mut placing = Placing::default();
        let paths: HashMap<Id, PathBuf> = self
            .folder_ids()
            .map_err(failed)?
            .into_iter()
            .map(|(folder, id)| (id, folder.place.path.components().collect()))
            .collect();
        let is_resolved = context.created_ids.resolve_property(object, "mailboxIds").is_ok();
        let mailboxes = super::update::mailboxes(object.get("mailboxIds"), &paths);
        match mailboxes.filter(|_| is_resolved) {
            Some(ids) => placing.folders = ids.iter().filter_map(|id| paths.get(id).cloned()).collect(),
            None => wrong.push("mailboxIds"),
        }
        let none = BTreeSet::new();
        let keywords = match read(object.get("keywords")) {
            Ok(keywords) => self.keyword_change(None, (&none, &keywords), spelling)?,
            Err(fault) => Err(fault),
        };
        match keywords {
            Ok(change) => placing.change = change,
            Err(KeywordFault::Invalid | KeywordFault::Label) => wrong.push("keywords"),
        }
        match object.get("receivedAt") {
            None | Some(Value::Null) => {}
            Some(value) => match value.as_str().and_then(Date::read_utc) {
                Some(date) => placing.received_seconds = Some(date.seconds),
                None => wrong.push("receivedAt"),
            },
        }
        let wrong: Vec<String> = wrong.into_iter().map(str::to_owned).collect();
        Ok(if wrong.is_empty() { Ok(placing) } else { Err(wrong) })
    }

    /// Stores an email. Returns its id, and what the client is told of it.
    pub(super) fn store(
        &mut self,
        bytes: &[u8],
        placing: &Placing,
        context: &Context<'_>,
    ) -> Result<Result<Stored, SetError>, MethodError> {
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        if self.view.content_hit(&sha256).map_err(failed)?.is_some() {
            return Ok(Err(SetError::already_exists(ids::email(&sha256))));
        }
        let Some((first, others)) = placing.folders.split_first() else {
            return Ok(Err(SetError::invalid_properties(["mailboxIds"])));
        };
        let options = DeliverOptions {
            flags: Some(placing.change.add_flags),
            tags: placing.change.tags.add.clone(),
            received_seconds: placing.received_seconds,
            ..DeliverOptions::default()
        };
        let delivered = self.host.deliver_into(first, &mut &*bytes, &options, &self.patience());
        let Ok(delivered) = delivered else { return Ok(Err(not_done("the email cannot be stored"))) };
        self.renew()?;
        let hits = self.view.mailbox().by_path(&delivered.path).map_err(failed)?;
        let Some(sha256) = self.view.content_ids(&hits).map_err(failed)?.first().copied() else {
            return Ok(Err(not_done("the email is stored, and not indexed yet")));
        };
        if !others.is_empty() {
            let add_to = others.iter().cloned().collect();
            let edit = ContentEdit { sha256, add_to, ..ContentEdit::default() };
            let copied = self.host.edit_contents(&[edit], &self.patience());
            self.renew_after(copied, None)?;
        }
        let id = ids::email(&sha256);
        let get = json!({"accountId": ids::account_id().as_str(), "ids": [id.as_str()], "properties": TOLD});
        let Value::Object(get) = get else { return Ok(Err(not_done("the email is stored"))) };
        let mut found = self.email_get(Arguments::new(get), context)?;
        match found.get_mut("list").and_then(|list| list.get_mut(0)).map(Value::take) {
            Some(Value::Object(told)) => Ok(Ok((id, told))),
            _ => Ok(Err(not_done("the email is stored, and was removed by another program"))),
        }
    }
}
