//! What statistics know of each message, by its number.
//!
//! Input: columns of `messages`, the forest of threads. Output: values by message number. Must not know
//! groups.

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::tables::{NO_DATE, NO_NODE, messages};

/// Some columns of all messages. A number without a message has no date and no thread.
pub(super) struct Columns {
    dates: Vec<i64>,
    sizes: Vec<u64>,
    nodes: Vec<u32>,
    parents: Vec<u32>,
    roots: Vec<u32>,
    node_count: u32,
}

impl Columns {
    /// Reads the columns.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn read(mailbox: &Mailbox) -> Result<Columns> {
        let bound = mailbox.bound() as usize;
        let forest = mailbox.forest()?;
        let mut columns = Columns {
            dates: vec![NO_DATE; bound],
            sizes: vec![0; bound],
            nodes: vec![NO_NODE; bound],
            parents: vec![NO_NODE; bound],
            roots: vec![NO_NODE; bound],
            node_count: forest.bound(),
        };
        for part in mailbox.message_table().parts() {
            mailbox.check_cancelled()?;
            for piece in part.pieces() {
                let numbers = part.u32s(messages::NUMBER, piece.clone())?;
                let dates = part.i64s(messages::DATE, piece.clone())?;
                let sizes = part.u64s(messages::SIZE, piece.clone())?;
                let nodes = part.u32s(messages::NODE, piece.clone())?;
                let parents = part.u32s(messages::PARENT, piece.clone())?;
                let rows =
                    numbers.iter().zip(dates.iter()).zip(sizes.iter()).zip(nodes.iter()).zip(parents.iter());
                for (_, ((((number, date), size), node), parent)) in part.live_values_from(piece.start, rows)
                {
                    let place = *number as usize;
                    // A number above the bound is damage, which a check reports.
                    if place < bound {
                        columns.dates[place] = *date;
                        columns.sizes[place] = *size;
                        columns.nodes[place] = *node;
                        columns.parents[place] = *parent;
                        columns.roots[place] = forest.of(*node);
                    }
                }
            }
        }
        Ok(columns)
    }

    /// Returns the numbers of all messages with the node of each, and that of the message that it answers.
    pub(super) fn links(&self) -> impl Iterator<Item = (u32, u32, Option<u32>)> {
        let parent = |parent: u32| (parent != NO_NODE).then_some(parent);
        let rows = (0u32..).zip(&self.nodes).zip(&self.parents);
        rows.map(move |((number, node), above)| (number, *node, parent(*above)))
    }

    /// Returns the number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.node_count as usize
    }

    /// Returns a message's date, if it has one.
    pub(super) fn date(&self, number: u32) -> Option<i64> {
        self.dates.get(number as usize).copied().filter(|date| *date != NO_DATE)
    }

    /// Returns a message's size.
    pub(super) fn size_bytes(&self, number: u32) -> u64 {
        self.sizes.get(number as usize).copied().unwrap_or(0)
    }

    /// Returns the root of a message's thread.
    pub(super) fn root(&self, number: u32) -> Option<u32> {
        self.roots.get(number as usize).copied().filter(|root| *root != NO_NODE)
    }
}
