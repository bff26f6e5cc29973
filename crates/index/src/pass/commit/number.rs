//! Numbers the contents that a pass reads: known ones have a number, new ones get the next.
//!
//! Input: ids of contents, the newest commit of the pass, and numbers for new contents. Output: numbers of
//! messages. Must not know files, nor what the numbers are used for.

use crate::error::{Error, Result};
use crate::rows;
use crate::tables::messages;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use store::{Snapshot, Value};

/// The numbers of contents.
pub(in crate::pass) struct Numbers {
    /// Everything that the pass has published is in it.
    snapshot: Snapshot,
    /// What may be given to new contents, lowest first.
    free: VecDeque<Range<u32>>,
    /// The numbers that contents of this batch have, new and known.
    batch: HashMap<[u8; 32], u32>,
    new_count: usize,
    /// The same of a batch that is being published.
    before: HashMap<[u8; 32], u32>,
}

impl Numbers {
    /// Begins with the contents of `snapshot`, and these numbers for new ones.
    pub(in crate::pass) fn new(snapshot: Snapshot, free: Range<u32>) -> Numbers {
        let (batch, before) = (HashMap::new(), HashMap::new());
        Numbers { snapshot, free: VecDeque::from([free]), batch, new_count: 0, before }
    }

    /// Returns how many contents of this batch are new.
    pub(in crate::pass) fn new_count(&self) -> usize {
        self.new_count
    }

    /// Returns how many new contents can still be numbered.
    pub(in crate::pass) fn free_count(&self) -> usize {
        self.free.iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns the number of a content, and whether it is new.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn number(&mut self, sha256: [u8; 32]) -> Result<(u32, bool)> {
        let known = self.known(&sha256)?;
        let number = match known {
            Some(number) => number,
            None => self.next()?,
        };
        self.new_count += usize::from(known.is_none());
        self.batch.insert(sha256, number);
        Ok((number, known.is_none()))
    }

    /// Returns the number of a content that is not new.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn known(&self, sha256: &[u8; 32]) -> Result<Option<u32>> {
        if let Some(number) = self.batch.get(sha256).or_else(|| self.before.get(sha256)) {
            return Ok(Some(*number));
        }
        number_of(&self.snapshot, sha256)
    }

    /// Ends a batch. What was numbered stays known.
    pub(in crate::pass) fn end_batch(&mut self) {
        self.before = std::mem::take(&mut self.batch);
        self.new_count = 0;
    }

    /// Notes that the batch before is published: it is in `snapshot`. `granted` are further numbers.
    pub(in crate::pass) fn published(&mut self, snapshot: Snapshot, granted: Range<u32>) {
        self.before.clear();
        self.snapshot = snapshot;
        self.free.push_back(granted);
    }

    fn next(&mut self) -> Result<u32> {
        while let Some(range) = self.free.front_mut() {
            if let Some(number) = range.next() {
                return Ok(number);
            }
            self.free.pop_front();
        }
        Err(Error::Inconsistent { what: "a pass has more new messages than numbers" })
    }
}

/// Returns the number of the message with this content in a commit.
///
/// # Errors
/// Damage in the store.
pub(super) fn number_of(snapshot: &Snapshot, sha256: &[u8; 32]) -> Result<Option<u32>> {
    let table = snapshot.table(messages::TABLE)?;
    match table.get(messages::BY_SHA256, &[Value::Id(sha256)])? {
        Some(id) => Ok(Some(rows::part_of(&table, id).u32_at(messages::NUMBER, id.row)?)),
        None => Ok(None),
    }
}
