//! Views of contents: each message as one file holds it, apart from its copies, for front ends that give each
//! content an id of its own.
//!
//! Input: a SHA-256, a query, sets. Output: contents, sets, folders and what they are for. Does not read
//! messages.

use crate::action::is_fixed;
use crate::action::role::Known;
use crate::error::Result;
use crate::setup::roles::Role;
use crate::view::View;
use index::{
    Content, ContentStats, Direction, FolderCounts, Grouping, Hit, IndexedFolder, KeptFolder, Mailbox,
    NumberSet, RecordReader, Scope,
};
use jiff::tz::{Offset, TimeZone};
use mail::Flags;
use query::Query;
use std::collections::BTreeMap;
use std::path::PathBuf;

impl View {
    /// Returns all contents that have a file, and those that [`View::with_gone`] adds.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled); damage.
    pub fn contents(&self) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.contents().cloned())
    }

    /// Returns the hit of a content, if it is one of [`View::contents`].
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn content_hit(&self, sha256: &[u8; 32]) -> Result<Option<Hit>> {
        self.check()?;
        Ok(self.mailbox().content_hit(sha256)?)
    }

    /// Returns the same view, whose contents are also those that have no file any more, as far as the index
    /// knows them. Reads a column of all messages.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn with_gone(self) -> Result<View> {
        self.check()?;
        let (view, ()) =
            self.try_with_mailbox(|mailbox| Ok((mailbox.with_scope(Scope::WithAllAbsent)?, ())))?;
        Ok(view)
    }

    /// Returns when the last file of a hit was found to be gone, in seconds since 1970; `None` if it has one
    /// today.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn gone_since(&self, hit: &Hit) -> Result<Option<i64>> {
        self.check()?;
        Ok(self.mailbox().gone_since(hit)?)
    }

    /// Returns the hit of a content, whether or not it has a file.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn known_content(&self, sha256: &[u8; 32]) -> Result<Option<Hit>> {
        self.check()?;
        Ok(self.mailbox().known_content(sha256)?)
    }

    /// Returns the SHA-256 of each of some hits.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn content_ids(&self, hits: &[Hit]) -> Result<Vec<[u8; 32]>> {
        self.check()?;
        Ok(self.mailbox().content_ids(hits)?)
    }

    /// Returns what the index has of a content. `reader` keeps what reads share.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn content(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Content> {
        self.check()?;
        Ok(self.mailbox().content(hit, reader)?)
    }

    /// Returns the contents that a query matches, each for itself.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn contents_matching(&self, query: &Query) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.evaluate_contents(query))
    }

    /// Returns the contents with a file in a folder, which is named by its number.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_in(&self, folder: u32) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.contents_in(folder))
    }

    /// Returns the contents with a file that has a flag.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_with_flag(&self, flag: Flags) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.contents_with_flag(flag))
    }

    /// Returns the contents with a tag or label whose lower-case form is `name`.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_with_tag(&self, name: &str) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.contents_with_tag(name))
    }

    /// Returns the user's tags, each with the number of contents that have it or a label of that name. Leaves
    /// out tags that stand for flags, and those that no content has.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn content_tags(&self) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for name in self.run(Mailbox::tag_names)? {
            let count = self.contents_with_tag(&name.to_lowercase())?.count();
            if count > 0 {
                counts.insert(name, count);
            }
        }
        Ok(counts)
    }

    /// Returns figures of a set of contents, by time, folder and sender. Times are those of a clock that is
    /// so many minutes ahead of UTC: at most a day, else it shows UTC.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn content_stats(&self, found: &NumberSet, offset_minutes: i32) -> Result<ContentStats> {
        let offset = Offset::from_seconds(offset_minutes.saturating_mul(60)).unwrap_or(Offset::UTC);
        self.run(|mailbox| mailbox.content_stats(found, &TimeZone::fixed(offset)))
    }

    /// Returns the most recent display name of an address, which is in lower case.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn display_name(&self, address: &str) -> Result<Option<String>> {
        self.check()?;
        Ok(self.mailbox().display_name(address)?)
    }

    /// Returns the other contents with the Message-ID of a content, which may be gone.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_with_same_id(&self, sha256: &[u8; 32]) -> Result<Vec<[u8; 32]>> {
        self.check()?;
        Ok(self.mailbox().contents_with_same_id(sha256)?)
    }

    /// Returns the contents of the threads or conversations of a set.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_related(&self, found: &NumberSet, grouping: Grouping) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.contents_related(found, grouping))
    }

    /// Returns the name of a content's thread or conversation.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn group_of(&self, hit: &Hit, grouping: Grouping) -> Result<u64> {
        self.check()?;
        Ok(self.mailbox().group_of(hit, grouping)?)
    }

    /// Returns the name of the thread of a message that was forgotten, by its node.
    ///
    /// # Errors
    /// Damage of the index.
    pub fn thread_of_node(&self, node: u32) -> Result<u64> {
        Ok(self.mailbox().group_of_node(node, Grouping::Threads)?)
    }

    /// Returns the contents of threads or conversations, oldest first, in the order of their names.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn contents_of_groups(&self, names: &[u64], grouping: Grouping) -> Result<Vec<Vec<Hit>>> {
        self.run(|mailbox| mailbox.contents_of_groups(names, grouping))
    }

    /// Keeps the contents of a set that come first in their threads or conversations, by date in this
    /// direction.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn first_by_date(
        &self,
        found: &NumberSet,
        direction: Direction,
        grouping: Grouping,
    ) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.first_by_date(found, direction, grouping))
    }

    /// Keeps the hits that come first in their threads or conversations, in the order of the list.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn first_listed(&self, hits: Vec<Hit>, grouping: Grouping) -> Result<Vec<Hit>> {
        self.run(|mailbox| mailbox.first_listed(hits, grouping))
    }

    /// Returns all folders with their numbers.
    pub fn indexed_folders(&self) -> Vec<IndexedFolder> {
        self.mailbox().indexed_folders()
    }

    /// Returns what is kept of folders, in their order: ids, order and subscription. They are all folders of
    /// this view.
    ///
    /// # Errors
    /// Damage of the user's data.
    pub fn kept_folders(&self, folders: &[IndexedFolder]) -> Result<Vec<KeptFolder>> {
        Ok(self.mailbox().kept_folders(folders)?)
    }

    /// Returns whether a folder keeps its name and its place: a root, or an inbox.
    pub fn is_fixed(folder: &IndexedFolder) -> bool {
        is_fixed(folder)
    }

    /// Returns how many contents and threads each folder has, by their numbers.
    ///
    /// # Errors
    /// As [`View::contents`].
    pub fn folder_counts(&self) -> Result<BTreeMap<u32, FolderCounts>> {
        self.run(Mailbox::folder_counts)
    }

    /// Returns the folders that have a role, root by root: those that the configuration names, or those with
    /// the most usual names.
    pub fn folders_with_roles(&self) -> Vec<(Role, PathBuf)> {
        let folders = self.mailbox().folder_places();
        let accounts = &self.settings().configuration.accounts;
        let known = Known { folders: &folders, roots: self.roots(), accounts };
        let of_root = |root| {
            let path = move |role| Some((role, known.with_role(root, role, false).ok()?.path));
            Role::ALL.into_iter().filter_map(path)
        };
        self.roots().iter().flat_map(of_root).collect()
    }
}
