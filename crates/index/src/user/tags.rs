//! The tags in one commit of `user/`.
//!
//! Input: a snapshot. Output: the tags of a content, and the contents with a tag. Must not know which
//! contents the index has.

use crate::error::Result;
use crate::rows::part_of;
use crate::user::tables::{contents, tags};
use hashbrown::HashSet;
use std::collections::BTreeSet;
use std::ops::Bound;
use store::{PRIMARY, RowId, Snapshot, Table, Value};

/// The tag of messages whose thread is muted.
pub const MUTED: &str = "muted";
/// Longest tag in bytes.
pub const TAG_BYTES_MAX: usize = 200;

/// The tags in one commit.
pub(crate) struct Tags {
    snapshot: Snapshot,
    contents: Table,
    tags: Table,
}

impl Tags {
    /// Opens the tables of a snapshot.
    pub(crate) fn new(snapshot: &Snapshot) -> Result<Tags> {
        let (contents, tags) = (snapshot.table(contents::TABLE)?, snapshot.table(tags::TABLE)?);
        Ok(Tags { snapshot: snapshot.clone(), contents, tags })
    }

    /// Returns the commit that they belong to.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns whether they belong to the commit `newest`.
    pub(crate) fn are_of(&self, newest: &Snapshot) -> bool {
        newest.version() == self.snapshot.version() && newest.continues(&self.snapshot)
    }

    /// Returns the tags of a content, or `None` if they were never changed.
    pub(crate) fn own(&self, sha256: &[u8; 32]) -> Result<Option<BTreeSet<String>>> {
        if self.contents.get(PRIMARY, &[Value::Id(sha256)])?.is_none() {
            return Ok(None);
        }
        let rows = self.tags.find(tags::BY_SHA256, &[Value::Id(sha256)])?;
        let text = |row: RowId| Ok(text(part_of(&self.tags, row).bytes(tags::TAG, row.row)?));
        rows.into_iter().map(text).collect::<Result<_>>().map(Some)
    }

    /// Returns the contents in this store with a Message-ID.
    pub(crate) fn with_message_id(&self, hash: u64) -> Result<Vec<[u8; 32]>> {
        let mut found = Vec::new();
        for row in self.contents.find(contents::BY_MESSAGE_ID, &[Value::U64(hash)])? {
            let part = part_of(&self.contents, row);
            found.extend_from_slice(part.ids(contents::SHA256, row.row..row.row + 1)?);
        }
        Ok(found)
    }

    /// Returns the keys of all contents in this store, if there are fewer of them than half of `count`
    /// look-ups: otherwise they would save little.
    pub(crate) fn keys_if_fewer(&self, count: usize) -> Result<Option<TaggedKeys>> {
        if self.contents.row_count().saturating_mul(2) > count as u64 {
            return Ok(None);
        }
        let mut keys = TaggedKeys::default();
        for part in self.contents.parts() {
            let all = 0..part.row_count();
            let ids = part.ids(contents::SHA256, all.clone())?;
            let message_ids = part.u64s(contents::MESSAGE_ID_HASH, all)?;
            for (_, (id, message_id)) in part.live_values(ids.iter().zip(message_ids.iter())) {
                keys.contents.insert(begin_of(id));
                keys.message_ids.insert(*message_id);
            }
        }
        Ok(Some(keys))
    }

    /// Returns all tags, in order.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        loop {
            // A key of the tag alone stands for all keys that begin with it, so the next row has the next
            // tag.
            let key = last.as_deref().map(|tag| [Value::Bytes(tag)]);
            let from = key.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(&key[..]));
            let Some(row) = self.tags.range(PRIMARY, from, Bound::Unbounded)?.next().transpose()? else {
                return Ok(names);
            };
            let tag = part_of(&self.tags, row).bytes(tags::TAG, row.row)?.to_vec();
            names.push(text(&tag));
            last = Some(tag);
        }
    }

    /// Returns the contents that have a tag.
    pub(crate) fn tagged(&self, tag: &str) -> Result<Vec<[u8; 32]>> {
        let mut found = Vec::new();
        for part in self.tags.parts() {
            let ids = part.ids(tags::SHA256, 0..part.row_count())?;
            for row in part.primary_range(&[Value::Bytes(tag.as_bytes())])? {
                found.extend(ids.get(row as usize).copied());
            }
        }
        Ok(found)
    }

    /// Returns the hash of a content's Message-ID, or `None` if its tags were never changed.
    pub(crate) fn message_id_hash(&self, sha256: &[u8; 32]) -> Result<Option<u64>> {
        let row = self.contents.get(PRIMARY, &[Value::Id(sha256)])?;
        let hash = |row: RowId| Ok(part_of(&self.contents, row).u64_at(contents::MESSAGE_ID_HASH, row.row)?);
        row.map(hash).transpose()
    }
}

/// The keys of the contents whose tags were changed, for those who ask for many contents.
#[derive(Debug, Default)]
pub(crate) struct TaggedKeys {
    contents: HashSet<u64>,
    message_ids: HashSet<u64>,
}

impl TaggedKeys {
    /// Returns whether a content may have tags, its own or those of another content with its Message-ID.
    pub(crate) fn may_have(&self, sha256: &[u8; 32], message_id_hash: u64) -> bool {
        self.contents.contains(&begin_of(sha256)) || self.message_ids.contains(&message_id_hash)
    }
}

/// Returns the beginning of an id, which tells contents apart well enough for a set that may err.
fn begin_of(id: &[u8; 32]) -> u64 {
    u64::from_le_bytes(*id.first_chunk().expect("an id has 32 bytes"))
}

/// Checks that a text can be a tag.
///
/// # Errors
/// A sentence that says why not.
pub fn check_tag(tag: &str) -> std::result::Result<(), String> {
    let is_bad = |character: char| character.is_whitespace() || character.is_control();
    if tag.is_empty() {
        Err("a tag has at least one character".to_owned())
    } else if tag.len() > TAG_BYTES_MAX {
        Err(format!("a tag has at most {TAG_BYTES_MAX} bytes"))
    } else if tag.contains(is_bad) {
        Err("a tag has neither white space nor control characters".to_owned())
    } else if tag.starts_with(['+', '-']) {
        Err("a tag does not begin with + or -".to_owned())
    } else {
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words() {
        for tag in ["work", "to/do", "größe", "a:b", "x-y", &"x".repeat(TAG_BYTES_MAX)] {
            assert_eq!(check_tag(tag), Ok(()), "{tag}");
        }
        for tag in ["", "a b", "a\u{a0}b", "a\u{7}b", "a\nb", "-a", "+a", &"x".repeat(TAG_BYTES_MAX + 1)] {
            assert!(check_tag(tag).is_err(), "{tag}");
        }
    }
}
