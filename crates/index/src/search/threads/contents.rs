//! Threads and conversations as lists of contents, each content for itself.
//!
//! Input: sets of contents, names of threads or conversations. Output: the contents of each by date; the
//! first content of each. A thread is named by the hash of the Message-ID of its head, a conversation by that
//! of its root, which a rebuilt index may choose otherwise. Reads columns only.

use crate::edges::Grouping;
use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::Direction;
use crate::search::threads::members::{all_members, each_member};
use crate::set::NumberSet;
use crate::tables::threads;
use std::collections::HashSet;
use store::{PRIMARY, Value};

impl Mailbox {
    /// Returns the name of the thread or conversation of a node, which stays when messages are forgotten.
    /// Returns 0 for a node that is none.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn group_of_node(&self, node: u32, grouping: Grouping) -> Result<u64> {
        let root = self.forest_of(grouping)?.of(node);
        let table = self.snapshot().table(threads::TABLE)?;
        let Some(row) = table.get(PRIMARY, &[Value::U32(root)])? else { return Ok(0) };
        Ok(rows::part_of(&table, row).u64_at(threads::MESSAGE_ID_HASH, row.row)?)
    }

    /// Returns the contents of threads or conversations, oldest first, in the order of their names. One that
    /// is not there, or has no content with a file, has none.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_of_groups(&self, names: &[u64], grouping: Grouping) -> Result<Vec<Vec<Hit>>> {
        let forest = self.forest_of(grouping)?;
        let table = self.snapshot().table(threads::TABLE)?;
        let (mut roots, mut wanted) = (Vec::with_capacity(names.len()), NumberSet::new(forest.bound()));
        for name in names {
            let row = table.get(threads::BY_MESSAGE_ID, &[Value::U64(*name)])?;
            let node =
                row.map(|row| rows::part_of(&table, row).u32_at(threads::NODE, row.row)).transpose()?;
            // A node that was joined to another one names none any more.
            let root = node.filter(|node| forest.of(*node) == *node);
            root.into_iter().for_each(|root| wanted.insert(root));
            roots.push(root);
        }
        let mut related = self.live_of_roots(&wanted, forest)?;
        related.and(self.present()?);
        let mut members = all_members(self, &related, forest)?;
        members.sort_unstable_by_key(|member| (member.rank, member.hit.date, member.sha256));
        let of_root = |root: Option<u32>| {
            let Some(root) = root else { return Vec::new() };
            let begin = members.partition_point(|member| member.rank < root);
            let same = members.iter().skip(begin).take_while(|member| member.rank == root);
            same.map(|member| member.hit).collect()
        };
        Ok(roots.into_iter().map(of_root).collect())
    }

    /// Returns the contents of the threads or conversations of a set, whether or not they have a file.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn contents_related(&self, found: &NumberSet, grouping: Grouping) -> Result<NumberSet> {
        let forest = self.forest_of(grouping)?;
        let wanted = self.roots_of(found, forest)?;
        self.live_of_roots(&wanted, forest)
    }

    /// Keeps the contents of a set that come first in their threads or conversations, by date in this
    /// direction.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn first_by_date(
        &self,
        found: &NumberSet,
        direction: Direction,
        grouping: Grouping,
    ) -> Result<NumberSet> {
        let forest = self.forest_of(grouping)?;
        let mut first: Vec<Option<(i64, [u8; 8], u32)>> = vec![None; forest.bound() as usize];
        each_member(self, found, forest, |root, member| {
            let key = Some((member.hit.date, member.sha256, member.hit.number));
            if let Some(slot) = first.get_mut(root as usize) {
                *slot = match (*slot, direction) {
                    (None, _) => key,
                    (known, Direction::Ascending) => known.min(key),
                    (known, Direction::Descending) => known.max(key),
                };
            }
        })?;
        let mut kept = self.empty();
        first.into_iter().flatten().for_each(|(.., number)| kept.insert(number));
        Ok(kept)
    }

    /// Keeps the hits that come first in their threads or conversations, in the order of the list.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn first_listed(&self, hits: Vec<Hit>, grouping: Grouping) -> Result<Vec<Hit>> {
        let forest = self.forest_of(grouping)?;
        let mut roots = vec![u32::MAX; self.bound() as usize];
        each_member(self, &self.set_of(&hits), forest, |root, member| {
            if let Some(slot) = roots.get_mut(member.hit.number as usize) {
                *slot = root;
            }
        })?;
        let mut seen = HashSet::new();
        let is_first = |hit: &Hit| roots.get(hit.number as usize).is_some_and(|root| seen.insert(*root));
        Ok(hits.into_iter().filter(is_first).collect())
    }
}
