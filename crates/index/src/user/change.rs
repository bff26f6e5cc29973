//! Adds tags to messages and removes them.
//!
//! Input: messages of one commit of the index, and the change. Output: one commit of `user/`. The change
//! applies to the newest commit of `user/`, under its lock. The index and the mail are not touched.

use crate::changes::{Group, Log};
use crate::environment::Environment;
use crate::error::Result;
use crate::rows::RecordReader;
use crate::search::{Duplicates, Hit, Mailbox, TaggedMessage};
use crate::set::NumberSet;
use crate::user::tables::{contents, tags};
use crate::user::{ATTACHMENT, Tags, check_tag, merge, version_bytes, writer, writer_for};
use std::collections::btree_map::Entry;
use std::collections::btree_set::Difference;
use std::collections::{BTreeMap, BTreeSet};
use store::{OwnedValue, Rows, Snapshot, Transaction, Value};
use work::Progress;

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
            changes.write(message, own, (&before, &after))?;
        }
    }
    if !changed.is_empty() {
        summary.changed = mailbox.distinct(&changed, Duplicates::Copies, None)?.count();
        writer.commit(changes.transaction(environment, &snapshot)?)?;
        drop(writer);
        merge(environment)?;
    }
    Ok(summary)
}

/// What edits did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagEdits {
    /// Messages that were named; copies count once.
    pub messages: u64,
    /// The numbers of messages whose tags changed. Of copies, the lowest number stands for all.
    pub changed: BTreeSet<u32>,
}

/// What is done to the tags of some messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagEdit {
    /// Adds and removes tags.
    Change(TagChange),
    /// Gives them exactly these tags.
    Exactly(BTreeSet<String>),
}

/// Edits the tags of many messages, each in its own way, and of all their copies, in one commit. Later edits
/// see what earlier ones did. The observer may end a wait for another process.
///
/// # Errors
/// As [`change_tags`].
pub fn edit_tags(
    environment: &Environment,
    mailbox: &Mailbox,
    edits: &[(Vec<Hit>, TagEdit)],
    observer: &dyn Progress,
) -> Result<TagEdits> {
    for (_, edit) in edits {
        let (first, second) = match edit {
            TagEdit::Change(TagChange { add, remove }) => (add, Some(remove)),
            TagEdit::Exactly(tags) => (tags, None),
        };
        for tag in first.iter().chain(second.into_iter().flatten()) {
            check_tag(tag).map_err(|what| crate::Error::Tag { tag: tag.clone(), what })?;
        }
    }
    let mut reader = RecordReader::new();
    let mut writer = writer_for(environment, observer)?;
    let snapshot = writer.snapshot()?;
    let now = Tags::new(&snapshot)?;
    let mut edited: BTreeMap<u32, Edited> = BTreeMap::new();
    // The first copy stands for all of them.
    let mut named: BTreeSet<u32> = BTreeSet::new();
    for (hits, edit) in edits {
        for hit in hits {
            let copies = mailbox.copies_of(hit.number)?;
            named.extend(copies.iter().min());
            for number in copies {
                let content = match edited.entry(number) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => match Edited::read((mailbox, &now), number, &mut reader)? {
                        Some(read) => place.insert(read),
                        None => continue,
                    },
                };
                edit.apply(&mut content.after);
            }
        }
    }
    let mut changes = Changes::new(&snapshot)?;
    let mut changed: BTreeSet<u32> = BTreeSet::new();
    for (number, Edited { message, own, before, after }) in edited {
        if after != before {
            changed.extend(mailbox.copies_of(number)?.iter().min());
            changes.write(&message, own, (&before, &after))?;
        }
    }
    if !changed.is_empty() {
        writer.commit(changes.transaction(environment, &snapshot)?)?;
        drop(writer);
        merge(environment)?;
    }
    Ok(TagEdits { messages: named.len() as u64, changed })
}

/// A content whose tags are edited.
pub(super) struct Edited {
    pub(super) message: TaggedMessage,
    pub(super) own: Option<BTreeSet<String>>,
    pub(super) before: BTreeSet<String>,
    pub(super) after: BTreeSet<String>,
}

impl Edited {
    /// Reads the tags that a content has before all edits. Returns `None` if it was removed from the index.
    pub(super) fn read(
        (mailbox, now): (&Mailbox, &Tags),
        number: u32,
        reader: &mut RecordReader,
    ) -> Result<Option<Edited>> {
        let Some(message) = mailbox.tagged_message(number, reader)? else { return Ok(None) };
        let own = now.own(&message.sha256)?;
        let before = match &own {
            Some(own) => own.clone(),
            None => mailbox.inherited_tags(now, message.message_id_hash)?,
        };
        Ok(Some(Edited { message, own, after: before.clone(), before }))
    }
}

impl TagEdit {
    pub(super) fn apply(&self, tags: &mut BTreeSet<String>) {
        match self {
            TagEdit::Change(TagChange { add, remove }) => {
                tags.retain(|tag| !remove.contains(tag));
                tags.extend(add.iter().cloned());
            }
            TagEdit::Exactly(exactly) => tags.clone_from(exactly),
        }
    }
}

/// Tags that are added, and those that are removed.
type Done = (Vec<String>, Vec<String>);

/// Rows that are to be written and deleted.
pub(super) struct Changes {
    contents: Rows,
    tags: Rows,
    deletes: Vec<(String, Vec<OwnedValue>)>,
    /// For the change log: the contents by what is done to them.
    log: BTreeMap<Done, Vec<[u8; 32]>>,
}

impl Changes {
    /// Returns changes with no rows.
    pub(super) fn new(snapshot: &Snapshot) -> Result<Changes> {
        let empty = |table| Ok(Rows::new(snapshot.table(table)?.schema()));
        let contents: Result<Rows> = empty(contents::TABLE);
        Ok(Changes {
            contents: contents?,
            tags: empty(tags::TABLE)?,
            deletes: Vec::new(),
            log: BTreeMap::new(),
        })
    }

    /// Gives a message these tags in place of its own ones, if it has any. `before` are those that it showed.
    pub(super) fn write(
        &mut self,
        message: &TaggedMessage,
        own: Option<BTreeSet<String>>,
        (before, after): (&BTreeSet<String>, &BTreeSet<String>),
    ) -> Result<()> {
        if own.is_none() {
            self.contents.push(&[
                Value::Id(&message.sha256),
                Value::U64(message.message_id_hash),
                Value::Bytes(message.message_id.as_bytes()),
            ])?;
        }
        let own = own.unwrap_or_default();
        let of = |tags: Difference<'_, String>| tags.cloned().collect::<Vec<_>>();
        let done: Done = (of(after.difference(before)), of(before.difference(after)));
        self.log.entry(done).or_default().push(message.sha256);
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
    ///
    /// # Errors
    /// Damage; a limit of the store.
    pub(super) fn transaction(self, environment: &Environment, snapshot: &Snapshot) -> Result<Transaction> {
        let groups: Vec<Group> = (self.log.into_iter())
            .map(|((added, removed), contents)| Group::Tags { added, removed, contents })
            .collect();
        let mut transaction = Transaction { deletes: self.deletes, ..Transaction::default() };
        for rows in [self.contents, self.tags] {
            if !rows.is_empty() {
                transaction.put(rows);
            }
        }
        if snapshot.attachment(ATTACHMENT) != Some(&version_bytes()) {
            transaction.attach(ATTACHMENT, version_bytes());
        }
        Log::append(environment, snapshot, &groups, &mut transaction)?;
        Ok(transaction)
    }
}
