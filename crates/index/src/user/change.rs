//! Adds tags to messages and removes them.
//!
//! Input: messages of one commit of the index, and the change. Output: one commit of `user/`. The change
//! applies to the newest commit of `user/`, under its lock. The index and the mail are not touched.

use crate::environment::Environment;
use crate::error::Result;
use crate::search::{Duplicates, Mailbox, TaggedMessage};
use crate::set::NumberSet;
use crate::user::tables::{contents, tags};
use crate::user::{ATTACHMENT, Tags, check_tag, merge, version_bytes, writer};
use std::collections::BTreeSet;
use store::{OwnedValue, Rows, Snapshot, Transaction, Value};

/// A change to the tags of messages. A tag that is in both sets is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChange {
    /// Tags to add.
    pub add: BTreeSet<String>,
    /// Tags to remove.
    pub remove: BTreeSet<String>,
}

/// What a change did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagSummary {
    /// Messages that were selected; copies count once.
    pub messages: u64,
    /// Messages whose tags changed; copies count once.
    pub changed: u64,
}

/// Changes the tags of a set of messages, and of all their copies.
///
/// # Errors
/// An invalid tag; damage, a full disk, a data directory that cannot be written: nothing was changed.
pub fn change_tags(
    environment: &Environment,
    mailbox: &Mailbox,
    found: &NumberSet,
    change: &TagChange,
) -> Result<TagSummary> {
    for tag in change.add.iter().chain(&change.remove) {
        check_tag(tag).map_err(|what| crate::Error::Tag { tag: tag.clone(), what })?;
    }
    let mut summary = TagSummary {
        messages: mailbox.distinct(found, Duplicates::Copies, None)?.count(),
        ..TagSummary::default()
    };
    if summary.messages == 0 {
        return Ok(summary);
    }
    let messages = mailbox.tagged_messages(found)?;
    let mut writer = writer(environment)?;
    let snapshot = writer.snapshot()?;
    let mut changes = Changes::new(&snapshot)?;
    let now = Tags::new(&snapshot)?;
    let mut changed = NumberSet::new(found.bound());
    for (number, message) in &messages {
        let own = now.own(&message.sha256)?;
        let before = match &own {
            Some(own) => own.clone(),
            None => mailbox.inherited_tags(&now, message.message_id_hash)?,
        };
        let mut after: BTreeSet<String> = before.difference(&change.remove).cloned().collect();
        after.extend(change.add.iter().cloned());
        if after != before {
            changed.insert(*number);
            changes.write(message, own, &after)?;
        }
    }
    if !changed.is_empty() {
        summary.changed = mailbox.distinct(&changed, Duplicates::Copies, None)?.count();
        writer.commit(changes.transaction(&snapshot))?;
        drop(writer);
        merge(environment)?;
    }
    Ok(summary)
}

/// Rows that are to be written and deleted.
pub(super) struct Changes {
    contents: Rows,
    tags: Rows,
    deletes: Vec<(String, Vec<OwnedValue>)>,
}

impl Changes {
    /// Returns changes with no rows.
    pub(super) fn new(snapshot: &Snapshot) -> Result<Changes> {
        let empty = |table| Ok(Rows::new(snapshot.table(table)?.schema()));
        let contents: Result<Rows> = empty(contents::TABLE);
        Ok(Changes { contents: contents?, tags: empty(tags::TABLE)?, deletes: Vec::new() })
    }

    /// Gives a message these tags in place of its own ones, if it has any.
    pub(super) fn write(
        &mut self,
        message: &TaggedMessage,
        own: Option<BTreeSet<String>>,
        after: &BTreeSet<String>,
    ) -> Result<()> {
        if own.is_none() {
            self.contents.push(&[
                Value::Id(&message.sha256),
                Value::U64(message.message_id_hash),
                Value::Bytes(message.message_id.as_bytes()),
            ])?;
        }
        let own = own.unwrap_or_default();
        for tag in after.difference(&own) {
            self.tags.push(&[Value::Bytes(tag.as_bytes()), Value::Id(&message.sha256)])?;
        }
        for tag in own.difference(after) {
            let key = vec![OwnedValue::Bytes(tag.clone().into_bytes()), OwnedValue::Id(message.sha256)];
            self.deletes.push((tags::TABLE.to_owned(), key));
        }
        Ok(())
    }

    /// Returns all changes as one commit.
    pub(super) fn transaction(self, snapshot: &Snapshot) -> Transaction {
        let mut transaction = Transaction { deletes: self.deletes, ..Transaction::default() };
        for rows in [self.contents, self.tags] {
            if !rows.is_empty() {
                transaction.put(rows);
            }
        }
        if snapshot.attachment(ATTACHMENT).is_none() {
            transaction.attach(ATTACHMENT, version_bytes());
        }
        transaction
    }
}
