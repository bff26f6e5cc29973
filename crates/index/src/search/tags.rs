//! Tags of messages: the user's tags, and the labels in the message itself.
//!
//! Input: patterns, hits. Output: message numbers, tags. A message has the tags of its content. A content
//! whose tags were never changed inherits the tags of contents with the same Message-ID, unless one of those
//! still has a file: its headers changed on the way.

use crate::error::Result;
use crate::rows::{self, FolderRow, RecordReader};
use crate::search::commit::FileFlag;
use crate::search::mailbox::{Duplicates, Hit, Mailbox};
use crate::set::NumberSet;
use crate::state::Root;
use crate::tables::{message_id_hash, messages};
use crate::user::Tags;
use mail::Flags;
use query::fold::fold;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use store::Value;

/// The fields of a message by which its tags are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaggedMessage {
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
    /// The hash of its Message-ID.
    pub message_id_hash: u64,
    /// Its Message-ID.
    pub message_id: String,
}

impl Mailbox {
    /// Returns all tags of the user, each with the number of its messages; copies count once.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn tags(&self) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        let mut count = |name: String, mut found: NumberSet| -> Result<()> {
            self.check_cancelled()?;
            self.add_copies(&mut found)?;
            found.and(self.live()?);
            let count = self.distinct(&found, Duplicates::Copies, None)?.count();
            if count > 0 {
                counts.insert(name, count);
            }
            Ok(())
        };
        for tag in self.meaning().flag_tags.all() {
            let mut found = self.empty();
            let flag = if tag.is_set { FileFlag::Has(tag.flag) } else { FileFlag::Unread };
            self.add_flagged(flag, &mut found)?;
            count(tag.name.to_owned(), found)?;
        }
        let Some(tags) = self.user_tags()? else { return Ok(counts) };
        for name in tags.names()?.into_iter().filter(|name| !self.is_flag_tag(name)) {
            let mut found = self.empty();
            self.with_tag(tags, &name, &mut found)?;
            count(name, found)?;
        }
        Ok(counts)
    }

    /// Returns whether a tag stands for a flag.
    pub(super) fn is_flag_tag(&self, tag: &str) -> bool {
        self.meaning().flag_tags.find(tag).is_some()
    }

    /// Returns the user's tags of a hit and of its copies.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn tags_of(&self, hit: &Hit) -> Result<BTreeSet<String>> {
        let stored = self.stored_tags_of(hit)?;
        if self.meaning().flag_tags.all().is_empty() {
            return Ok(stored);
        }
        let mut flags = Vec::new();
        for number in self.copies_of(hit.number)? {
            flags.extend(rows::files_of(self.file_table(), number)?.into_iter().map(|file| file.flags));
        }
        Ok(self.tags_with_flags(stored, flags))
    }

    /// Returns tags with those that stand for flags: as the files of the message have the flags, whatever
    /// is stored.
    pub(super) fn tags_with_flags(
        &self,
        mut tags: BTreeSet<String>,
        files: impl IntoIterator<Item = Flags>,
    ) -> BTreeSet<String> {
        let flag_tags = self.meaning().flag_tags.all();
        if !flag_tags.is_empty() {
            tags.retain(|tag| !self.is_flag_tag(tag));
            for flags in files {
                let has = flag_tags.iter().filter(|tag| flags.contains(tag.flag) == tag.is_set);
                tags.extend(has.map(|tag| tag.name.to_owned()));
            }
        }
        tags
    }

    /// Returns what the user's store has of a hit and of its copies.
    pub(super) fn stored_tags_of(&self, hit: &Hit) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let Some(tags) = self.user_tags()? else { return Ok(found) };
        let table = self.message_table();
        for copy in self.copies_of_hit(&self.located(hit)?)? {
            let part = rows::part_of(table, copy.row);
            let row = copy.row.row;
            found.extend(match tags.own(&part.id_at(messages::SHA256, row)?)? {
                Some(own) => own,
                None => self.inherited_tags(tags, part.u64_at(messages::MESSAGE_ID_HASH, row)?)?,
            });
        }
        Ok(found)
    }

    /// Adds the messages with a tag of the user for whose folded name `wanted` returns true.
    pub(super) fn tagged(&self, wanted: impl Fn(&str) -> bool, found: &mut NumberSet) -> Result<()> {
        let Some(tags) = self.user_tags()? else { return Ok(()) };
        for name in tags.names()?.into_iter().filter(|name| !self.is_flag_tag(name)) {
            if wanted(&fold(&name)) {
                self.with_tag(tags, &name, found)?;
            }
        }
        Ok(())
    }

    /// Returns the tags that a message inherits from contents with its Message-ID, if its own tags were never
    /// changed. Returns none if one of those contents still has a file: then it is a different message.
    pub(crate) fn inherited_tags(&self, tags: &Tags, message_id_hash: u64) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for sha256 in tags.with_message_id(message_id_hash)? {
            if self.present_number(&sha256)?.is_some() {
                return Ok(BTreeSet::new());
            }
            found.extend(tags.own(&sha256)?.unwrap_or_default());
        }
        Ok(found)
    }

    /// Returns the messages of a set and all their copies, with the fields by which tags are stored.
    pub(crate) fn tagged_messages(&self, found: &NumberSet) -> Result<Vec<(u32, TaggedMessage)>> {
        let mut numbers = found.clone();
        self.add_copies(&mut numbers)?;
        let mut reader = RecordReader::new();
        let mut messages = Vec::new();
        for number in numbers.iter() {
            messages.extend(self.tagged_message(number, &mut reader)?.map(|message| (number, message)));
        }
        Ok(messages)
    }

    /// Returns the message with this content, with the fields by which tags are stored, if it has a file in
    /// one of these roots.
    pub(crate) fn tagged_in(&self, sha256: &[u8; 32], roots: &[Root]) -> Result<Option<TaggedMessage>> {
        let Some(number) = self.present_number(sha256)? else { return Ok(None) };
        let is_in = |folder: &FolderRow| roots.iter().any(|root| root.name == folder.root);
        let files = rows::files_of(self.file_table(), number)?;
        if !files.iter().any(|file| self.folder(file.folder).is_some_and(is_in)) {
            return Ok(None);
        }
        self.tagged_message(number, &mut RecordReader::new())
    }

    pub(crate) fn tagged_message(
        &self,
        number: u32,
        reader: &mut RecordReader,
    ) -> Result<Option<TaggedMessage>> {
        let Some(hit) = self.hit(number)? else { return Ok(None) };
        let table = self.message_table();
        let (part, row) = (rows::part_of(table, hit.row), hit.row.row);
        let message_id = rows::rest(part, row, reader, self.directory())?.message_id;
        let sha256 = part.ids(messages::SHA256, row..row + 1)?.first().copied().unwrap_or_default();
        Ok(Some(TaggedMessage { sha256, message_id_hash: message_id_hash(&message_id), message_id }))
    }

    /// Adds the messages that have a tag.
    pub(super) fn with_tag(&self, tags: &Tags, tag: &str, found: &mut NumberSet) -> Result<()> {
        let tagged = tags.tagged(tag)?;
        let numbers = |sha256: &[u8; 32]| {
            self.check_cancelled()?;
            self.numbers_of(tags, sha256)
        };
        let numbers: Vec<Vec<u32>> = tagged.par_iter().map(numbers).collect::<Result<_>>()?;
        numbers.iter().flatten().for_each(|number| found.insert(*number));
        Ok(())
    }

    /// Returns the message with a content. If it is gone, and so are all other tagged contents with its
    /// Message-ID, also returns the messages that have the Message-ID.
    fn numbers_of(&self, tags: &Tags, sha256: &[u8; 32]) -> Result<Vec<u32>> {
        let present = self.present()?;
        let number = self.number_of(sha256)?;
        let mut numbers: Vec<u32> = number.into_iter().collect();
        if number.is_some_and(|number| present.contains(number)) {
            return Ok(numbers);
        }
        let Some(message_id_hash) = tags.message_id_hash(sha256)? else { return Ok(numbers) };
        for other in tags.with_message_id(message_id_hash)? {
            if self.present_number(&other)?.is_some() {
                return Ok(numbers);
            }
        }
        let table = self.message_table();
        for row in table.find(messages::BY_MESSAGE_ID, &[Value::U64(message_id_hash)])? {
            let part = rows::part_of(table, row);
            numbers.push(part.u32_at(messages::NUMBER, row.row)?);
        }
        Ok(numbers)
    }
}
