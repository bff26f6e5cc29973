//! Tells whether new messages joined threads.
//!
//! Input: messages that are new. Output: whether a known one is in another thread because of them. The links
//! of the known messages are followed again without the new ones: what they say of themselves tells which
//! threads there were. Must not know since when messages are new.

use super::node_of;
use crate::error::Result;
use crate::rows::{self, RecordReader};
use crate::search::mailbox::Mailbox;
use crate::tables::{messages, threads};
use std::collections::HashMap;

impl Mailbox {
    /// Returns whether a content with a file, none of those that were added, was in another thread before
    /// they were. It says so, too, where nobody can tell any more: if one of them was forgotten, or a message
    /// that linked others.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; damage in the store.
    pub fn have_threads_joined(&self, added: &[[u8; 32]]) -> Result<bool> {
        let mut new = self.empty();
        for sha256 in added {
            let Some(number) = self.number_of(sha256)? else { return Ok(true) };
            new.insert(number);
        }
        let mut known = self.with_related(&new)?;
        known.minus(&new);
        let (table, nodes) = (self.message_table(), self.snapshot().table(threads::TABLE)?);
        let mut reader = RecordReader::new();
        let mut forest = Roots::default();
        let mut present = Vec::new();
        for number in known.iter() {
            self.check_cancelled()?;
            let Some(hit) = self.hit(number)? else { continue };
            let (part, row) = (rows::part_of(table, hit.row), hit.row.row);
            let node = part.u32_at(messages::NODE, row)?;
            for id in &rows::rest(part, row, &mut reader, self.directory())?.references {
                node_of(&nodes, id)?.into_iter().for_each(|other| forest.join(node, other));
            }
            if self.present()?.contains(number) {
                present.push(node);
            }
        }
        let roots = self.forest()?;
        Ok(present.into_iter().any(|node| forest.of(node) != roots.of(node)))
    }
}

/// The lowest node of each thread, as in the index.
#[derive(Default)]
struct Roots(HashMap<u32, u32>);

impl Roots {
    fn of(&mut self, node: u32) -> u32 {
        let mut root = node;
        while let Some(above) = self.0.get(&root) {
            root = *above;
        }
        // The path is shortened, so that long threads take no longer.
        let mut below = node;
        while below != root {
            below = self.0.insert(below, root).unwrap_or(root);
        }
        root
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.of(one), self.of(other));
        if one != other {
            self.0.insert(one.max(other), one.min(other));
        }
    }
}
