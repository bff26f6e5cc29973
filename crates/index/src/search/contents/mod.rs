//! Contents one by one: a message as one file holds it, apart from its copies.
//!
//! Input: a SHA-256, hits, names of tags. Output: what the index has of that content alone: its own header
//! fields, files, folders and tags; and sets of contents with a file. For front ends that list each content
//! by its own id. Reads payloads, never mail.

mod folders;

use crate::edges::Grouping;
use crate::error::Result;
use crate::record::LineRecord;
use crate::rows::{self, RecordReader};
use crate::search::commit::FileFlag;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::message::{Line, Message};
use crate::set::NumberSet;
use crate::tables::{absent, files, messages};
use crate::text::{Needle, TextField};
pub use folders::{FolderCounts, IndexedFolder};
use mail::{ContentFlags, Flags};
use query::fold::fold;
use std::collections::BTreeSet;
use store::{PRIMARY, Value};

/// What the index has of one content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its fields, files and tags, none of which comes from a copy. Tags that stand for flags are left out.
    pub message: Message,
    /// The numbers of the folders that it has files in, ascending, each once.
    pub folders: Vec<u32>,
    /// The name of its thread: see [`Mailbox::contents_of_groups`]. It never changes.
    pub thread: u64,
}

impl Mailbox {
    /// Returns the contents that have a file, or else are in the scope.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents(&self) -> Result<&NumberSet> {
        self.live()
    }

    /// Returns the hit of a content, if it has a file, or else is in the scope.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn content_hit(&self, sha256: &[u8; 32]) -> Result<Option<Hit>> {
        let live = self.live()?;
        match self.number_of(sha256)?.filter(|number| live.contains(*number)) {
            Some(number) => self.hit(number),
            None => Ok(None),
        }
    }

    /// Returns when the last file of a hit was found to be gone, in seconds since 1970; `None` if it has one
    /// today.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn gone_since(&self, hit: &Hit) -> Result<Option<i64>> {
        let table = self.snapshot().table(absent::TABLE)?;
        let Some(row) = table.get(PRIMARY, &[Value::U32(hit.number)])? else { return Ok(None) };
        Ok(Some(rows::part_of(&table, row).i64_at(absent::SINCE, row.row)?))
    }

    /// Returns the hit of a content, whether or not it has a file.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn known_content(&self, sha256: &[u8; 32]) -> Result<Option<Hit>> {
        match self.number_of(sha256)? {
            Some(number) => self.hit(number),
            None => Ok(None),
        }
    }

    /// Returns the SHA-256 of each of some hits.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn content_ids(&self, hits: &[Hit]) -> Result<Vec<[u8; 32]>> {
        let table = self.message_table();
        let id = |hit: &Hit| {
            let hit = self.located(hit)?;
            Ok(rows::part_of(table, hit.row).id_at(messages::SHA256, hit.row.row)?)
        };
        hits.iter().map(id).collect()
    }

    /// Returns the name of a content's thread or conversation.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn group_of(&self, hit: &Hit, grouping: Grouping) -> Result<u64> {
        let row = self.located(hit)?.row;
        let node = rows::part_of(self.message_table(), row).u32_at(messages::NODE, row.row)?;
        self.group_of_node(node, grouping)
    }

    /// Returns what the index has of a content.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn content(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Content> {
        let hit = self.located(hit)?;
        let (part, row) = (rows::part_of(self.message_table(), hit.row), hit.row.row);
        let LineRecord { from, subject } = rows::line(part, row, reader, self.directory())?;
        let line = Line {
            date: hit.date_seconds(),
            size_bytes: part.u64_at(messages::SIZE, row)?,
            derived: ContentFlags::from_bits(part.u16_at(messages::DERIVED, row)?),
            from,
            subject,
        };
        let rest = rows::rest(part, row, reader, self.directory())?;
        let sha256 = part.id_at(messages::SHA256, row)?;
        let mut tags = match self.user_tags()? {
            Some(user) => match user.own(&sha256)? {
                Some(own) => own,
                None => self.inherited_tags(user, part.u64_at(messages::MESSAGE_ID_HASH, row)?)?,
            },
            None => BTreeSet::new(),
        };
        tags.extend(rest.labels.iter().cloned());
        tags.retain(|tag| !self.is_flag_tag(tag));
        let mut folders = Vec::new();
        for id in self.file_table().find(files::BY_MESSAGE, &[Value::U32(hit.number)])? {
            folders.push(rows::part_of(self.file_table(), id).u32_at(files::FOLDER, id.row)?);
        }
        folders.sort_unstable();
        folders.dedup();
        let mut files = self.files_of(hit.number)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let thread = self.group_of_node(part.u32_at(messages::NODE, row)?, Grouping::Threads)?;
        let message = Message { sha256, line, rest, tags: tags.into_iter().collect(), files };
        Ok(Content { message, folders, thread })
    }

    /// Returns the contents that have a file with a flag.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_with_flag(&self, flag: Flags) -> Result<NumberSet> {
        let mut found = self.empty();
        self.add_flagged(FileFlag::Has(flag), &mut found)?;
        found.and(self.present()?);
        Ok(found)
    }

    /// Returns the contents with a tag or label whose lower-case form is `name`, as [`Content::message`] has
    /// them.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; damage in the store.
    pub fn contents_with_tag(&self, name: &str) -> Result<NumberSet> {
        let is_it = |tag: &str| tag.to_lowercase() == name && !self.is_flag_tag(tag);
        let mut found = self.empty();
        if let Some(tags) = self.user_tags()? {
            for tag in tags.names()?.into_iter().filter(|tag| is_it(tag)) {
                self.with_tag(tags, &tag, &mut found)?;
            }
        }
        // The text index has labels folded: what differs only in accents is sorted out here.
        let mut labelled = self.empty();
        let needle = Needle::Whole(fold(name).into_owned());
        self.text().find(TextField::Label, &needle, &|| self.is_cancelled(), &mut labelled)?;
        labelled.and(self.live()?);
        labelled.minus(&found);
        let mut reader = RecordReader::new();
        for number in labelled.iter() {
            self.check_cancelled()?;
            let Some(hit) = self.hit(number)? else { continue };
            let part = rows::part_of(self.message_table(), hit.row);
            let rest = rows::rest(part, hit.row.row, &mut reader, self.directory())?;
            if rest.labels.iter().any(|label| is_it(label)) {
                found.insert(number);
            }
        }
        found.and(self.live()?);
        Ok(found)
    }

    /// Returns the user's tags, also those of messages that are gone, without those that stand for flags.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn tag_names(&self) -> Result<Vec<String>> {
        let Some(tags) = self.user_tags()? else { return Ok(Vec::new()) };
        Ok(tags.names()?.into_iter().filter(|tag| !self.is_flag_tag(tag)).collect())
    }

    /// Returns the other contents with a file that have the Message-ID of a content, which may be gone. Its
    /// tags may be theirs, too.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_with_same_id(&self, sha256: &[u8; 32]) -> Result<Vec<[u8; 32]>> {
        let table = self.message_table();
        let Some(row) = table.get(messages::BY_SHA256, &[Value::Id(sha256)])? else { return Ok(Vec::new()) };
        let hash = rows::part_of(table, row).u64_at(messages::MESSAGE_ID_HASH, row.row)?;
        let mut others = Vec::new();
        for row in table.find(messages::BY_MESSAGE_ID, &[Value::U64(hash)])? {
            let part = rows::part_of(table, row);
            let other = part.id_at(messages::SHA256, row.row)?;
            if other != *sha256 && self.present()?.contains(part.u32_at(messages::NUMBER, row.row)?) {
                others.push(other);
            }
        }
        Ok(others)
    }
}
