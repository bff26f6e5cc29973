//! Links new messages to known ones: to their thread, and to the first of their copies.
//!
//! Input: Message-IDs and references of new messages, one message at a time. Output: numbers for their rows,
//! and rows of `threads` and `copies`. Threads are a union-find, so that the order in which messages arrive
//! does not change which belong together. An edge between threads that were there before is late: see
//! [`crate::edges`]. Must not know files or text.

use crate::edges::{Grouping, LATE};
use crate::error::{Error, Result};
use crate::rows;
use crate::tables::{NO_NODE, copies, messages, threads};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use store::{PRIMARY, RowId, Rows, Snapshot, Table, Value};

/// The identifiers in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    /// Hash of its Message-ID.
    pub own: u64,
    /// Hashes of the Message-IDs that it refers to. The last one is the message that it answers.
    pub references: Vec<u64>,
    /// Low and high half of the hash that it shares with its copies.
    pub copy: [u64; 2],
}

/// The place of a message in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Links {
    /// The node of its Message-ID.
    pub node: u32,
    /// The node of the message that it answers, or [`NO_NODE`].
    pub parent: u32,
}

/// What becomes of known threads that a batch joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// They are one thread. The first index is not complete: where its batches end must not divide threads.
    Early,
    /// They stay threads, and are one conversation: the edge is late.
    Late,
}

/// Rows that link the messages of a batch, and the next node number.
pub(super) struct Linked {
    /// Rows of `threads`.
    pub threads: Rows,
    /// Rows of `copies`.
    pub copies: Rows,
    /// The next node number.
    pub next_node: u32,
    /// Whether known threads are others from now on.
    pub has_joined: bool,
}

/// Links the messages of one batch.
pub(super) struct Linker {
    threads: Table,
    messages: Table,
    copies: Table,
    joins: Joins,
    next_node: u32,
    first_new: u32,
    /// Nodes by the hash of their Message-ID, for those that the batch has looked up.
    nodes: HashMap<u64, u32>,
    /// Hashes of new nodes, ordered by number.
    hashes: Vec<u64>,
    /// Ways to the roots of conversations.
    ways: Ways,
    /// Ways to the heads of threads. Early joins need none: a head is a root then.
    ways_in_threads: Ways,
    /// Older nodes whose row changes.
    changed: BTreeSet<u32>,
    /// First messages by Message-ID and copy hash, for all Message-IDs in `loaded`.
    firsts: HashMap<(u64, [u64; 2]), u32>,
    /// Hashes of the Message-IDs whose first messages were looked up.
    loaded: HashSet<u64>,
    /// Rows of messages that are copies.
    copy_rows: Rows,
    /// How many rows of known messages were read.
    #[cfg(test)]
    looked_at: u64,
}

impl Linker {
    /// Returns a linker whose first new node gets the number `next_node`.
    pub(super) fn new(snapshot: &Snapshot, next_node: u32, joins: Joins) -> Result<Linker> {
        Ok(Linker {
            threads: snapshot.table(threads::TABLE)?,
            messages: snapshot.table(messages::TABLE)?,
            copies: snapshot.table(copies::TABLE)?,
            joins,
            next_node,
            first_new: next_node,
            nodes: HashMap::new(),
            hashes: Vec::new(),
            ways: Ways::new(Grouping::Conversations),
            ways_in_threads: Ways::new(Grouping::Threads),
            changed: BTreeSet::new(),
            firsts: HashMap::new(),
            loaded: HashSet::new(),
            copy_rows: rows::empty(snapshot, copies::TABLE)?,
            #[cfg(test)]
            looked_at: 0,
        })
    }

    /// Links message `number`.
    ///
    /// # Errors
    /// Damage in the store; more nodes than there are numbers.
    pub(super) fn link(&mut self, number: u32, ids: &Ids) -> Result<Links> {
        let node = self.node(ids.own)?;
        let others = ids.references.iter().map(|hash| self.node(*hash)).collect::<Result<Vec<u32>>>()?;
        // A reference to itself does not make a message an answer.
        let parent = others.iter().rev().find(|other| **other != node).copied().unwrap_or(NO_NODE);
        // A new message is in the thread of the one that it answers, so that one is first.
        for other in others.into_iter().rev() {
            self.join(node, other)?;
        }
        let first = self.first_copy(number, ids)?;
        if first != number {
            self.copy_rows.push(&[Value::U32(number), Value::U32(first)])?;
        }
        Ok(Links { node, parent })
    }

    /// Returns the rows of new and changed nodes and of copies.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn finish(mut self) -> Result<Linked> {
        let mut rows = Rows::new(self.threads.schema());
        let has_joined = self.joins == Joins::Early && !self.changed.is_empty();
        let mark = if self.joins == Joins::Late { LATE } else { 0 };
        for node in std::mem::take(&mut self.changed) {
            let row = row_of(&self.threads, node)?;
            let hash = rows::part_of(&self.threads, row).u64_at(threads::MESSAGE_ID_HASH, row.row)?;
            let above = self.ways.end(&self.threads, node)? | mark;
            rows.push(&[Value::U32(node), Value::U64(hash), Value::U32(above)])?;
        }
        for (node, hash) in (self.first_new..).zip(std::mem::take(&mut self.hashes)) {
            let above = self.head(node)?;
            rows.push(&[Value::U32(node), Value::U64(hash), Value::U32(above)])?;
        }
        Ok(Linked { threads: rows, copies: self.copy_rows, next_node: self.next_node, has_joined })
    }

    /// Returns the node of a Message-ID. A new node is assigned a number here.
    fn node(&mut self, hash: u64) -> Result<u32> {
        if let Some(node) = self.nodes.get(&hash) {
            return Ok(*node);
        }
        let node = match self.threads.get(threads::BY_MESSAGE_ID, &[Value::U64(hash)])? {
            Some(row) => rows::part_of(&self.threads, row).u32_at(threads::NODE, row.row)?,
            None => self.new_node(hash)?,
        };
        self.nodes.insert(hash, node);
        Ok(node)
    }

    fn new_node(&mut self, hash: u64) -> Result<u32> {
        let node = self.next_node;
        if node >= LATE {
            return Err(Error::Limit { what: "the number of Message-IDs", limit: u64::from(LATE) });
        }
        self.next_node += 1;
        self.hashes.push(hash);
        self.ways.above.insert(node, node);
        if self.joins == Joins::Late {
            self.ways_in_threads.above.insert(node, node);
        }
        Ok(node)
    }

    /// Joins two conversations. The root with the lower number stays root.
    fn join(&mut self, left: u32, right: u32) -> Result<()> {
        let left_root = self.ways.end(&self.threads, left)?;
        let right_root = self.ways.end(&self.threads, right)?;
        let (low, high, joined) = match left_root.cmp(&right_root) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => (left_root, right_root, left),
            Ordering::Greater => (right_root, left_root, right),
        };
        self.ways.above.insert(high, low);
        if high < self.first_new {
            self.changed.insert(high);
        } else if self.joins == Joins::Late {
            // Its nodes are all new, as a root has the lowest number: they come into the thread of the node
            // that they are joined to. The head of that one is low or known, so it has a lower number.
            let head = self.head(joined)?;
            self.ways_in_threads.above.insert(high, head);
        }
        Ok(())
    }

    /// Returns the head of a node's thread.
    fn head(&mut self, node: u32) -> Result<u32> {
        match self.joins {
            Joins::Early => self.ways.end(&self.threads, node),
            Joins::Late => self.ways_in_threads.end(&self.threads, node),
        }
    }

    /// Returns the first message that reads the same as message `number`.
    fn first_copy(&mut self, number: u32, ids: &Ids) -> Result<u32> {
        // Read once per Message-ID: there may be many messages with one id that all differ.
        if self.loaded.insert(ids.own) {
            self.load_firsts(ids.own)?;
        }
        Ok(*self.firsts.entry((ids.own, ids.copy)).or_insert(number))
    }

    /// Looks up the first message of each group of copies with a Message-ID.
    fn load_firsts(&mut self, id: u64) -> Result<()> {
        for row in self.messages.find(messages::BY_MESSAGE_ID, &[Value::U64(id)])? {
            #[cfg(test)]
            {
                self.looked_at += 1;
            }
            let part = rows::part_of(&self.messages, row);
            let low = part.u64_at(messages::COPY_HASH_LOW, row.row)?;
            let high = part.u64_at(messages::COPY_HASH_HIGH, row.row)?;
            if let Entry::Vacant(entry) = self.firsts.entry((id, [low, high])) {
                let known = part.u32_at(messages::NUMBER, row.row)?;
                entry.insert(match self.copies.get(PRIMARY, &[Value::U32(known)])? {
                    Some(row) => rows::part_of(&self.copies, row).u32_at(copies::FIRST, row.row)?,
                    None => known,
                });
            }
        }
        Ok(())
    }
}

/// Ways up from nodes that are new or were looked up.
struct Ways {
    grouping: Grouping,
    /// The node above each of them. Ways are shortened here, and not in rows, so that few rows change.
    above: HashMap<u32, u32>,
}

impl Ways {
    fn new(grouping: Grouping) -> Ways {
        Ways { grouping, above: HashMap::new() }
    }

    /// Returns the end of the way from a node, and shortens the way.
    fn end(&mut self, table: &Table, node: u32) -> Result<u32> {
        let mut end = node;
        let mut above = self.above(table, end)?;
        // A node above has a lower number, so this ends.
        while above != end {
            end = above;
            above = self.above(table, end)?;
        }
        let mut below = node;
        while below != end {
            below = self.above.insert(below, end).unwrap_or(end);
        }
        Ok(end)
    }

    fn above(&mut self, table: &Table, node: u32) -> Result<u32> {
        if let Some(above) = self.above.get(&node) {
            return Ok(*above);
        }
        let row = row_of(table, node)?;
        let column = rows::part_of(table, row).u32_at(threads::ABOVE, row.row)?;
        let above = self
            .grouping
            .above(node, column)
            .ok_or(Error::Inconsistent { what: "a node of a thread stands above one with a lower number" })?;
        self.above.insert(node, above);
        Ok(above)
    }
}

fn row_of(table: &Table, node: u32) -> Result<RowId> {
    let row = table.get(PRIMARY, &[Value::U32(node)])?;
    row.ok_or(Error::Inconsistent { what: "a node of a thread has no row" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Root, UpdateOptions, open, update};
    use std::fs;
    use std::sync::Arc;
    use work::Silent;

    /// Returns the number, Message-ID hash and copy hash of each message.
    fn bodies(snapshot: &Snapshot) -> Vec<(u32, u64, [u64; 2])> {
        let mut bodies = Vec::new();
        for part in snapshot.table(messages::TABLE).unwrap().parts() {
            for row in part.live_rows() {
                let number = part.u32_at(messages::NUMBER, row).unwrap();
                let id = part.u64_at(messages::MESSAGE_ID_HASH, row).unwrap();
                let low = part.u64_at(messages::COPY_HASH_LOW, row).unwrap();
                let high = part.u64_at(messages::COPY_HASH_HIGH, row).unwrap();
                bodies.push((number, id, [low, high]));
            }
        }
        bodies.sort_unstable();
        bodies
    }

    /// Forty messages with one Message-ID are known, two with each of twenty bodies. However many more come
    /// in one batch, the known ones are read only once, and each new one is a copy of the right one.
    #[test]
    fn known_messages_of_a_message_id_are_looked_at_once_a_batch() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("mail");
        ["cur", "new", "tmp"].iter().for_each(|place| fs::create_dir_all(root.join(place)).unwrap());
        for number in 0..40 {
            let text = format!("Message-ID: <same@x>\nX-Way: {number}\nSubject: s\n\nbody {}\n", number % 20);
            fs::write(root.join("cur").join(format!("{number}.x:2,S")), text).unwrap();
        }
        let environment = Environment {
            disk: Arc::new(disk::RealDisk),
            data: directory.path().join("data"),
            context: work::Context::new(|| 1_900_000_000_000_000_000, 1),
            seed: 7,
            holder: "a test".into(),
            changes_kept_seconds: crate::CHANGES_KEPT_SECONDS,
            // Few, so that there is text in files, too.
            text_slots: 2,
            opened: crate::opened::Opened::default(),
        };
        let roots = [Root { name: "mail".into(), path: root }];
        update(&environment, &roots, &UpdateOptions::default(), &Silent).unwrap();
        let snapshot = open::snapshot(&environment).unwrap();
        let known = bodies(&snapshot);
        assert_eq!(known.len(), 40);
        let mut linker = Linker::new(&snapshot, 1000, Joins::Late).unwrap();
        for (number, &(_, own, bodies)) in (100..).zip(known.iter().chain(&known)) {
            linker.link(number, &Ids { own, references: Vec::new(), copy: bodies }).unwrap();
        }
        // A message with a new body is the first of its group, and the next one is its copy.
        let own = known[0].1;
        for number in [200, 201] {
            linker.link(number, &Ids { own, references: Vec::new(), copy: [1, 2] }).unwrap();
        }
        assert_eq!(linker.looked_at, 40);
        let copies = linker.finish().unwrap().copies;
        let first = |bodies| known.iter().find(|(_, _, known)| *known == bodies).map(|(number, ..)| *number);
        let mut expected: Vec<(u32, Option<u32>)> = (100..)
            .zip(known.iter().chain(&known))
            .map(|(number, (_, _, bodies))| (number, first(*bodies)))
            .collect();
        expected.push((201, Some(200)));
        let found: Vec<(u32, Option<u32>)> = copies
            .u32s(0)
            .iter()
            .zip(copies.u32s(copies::FIRST))
            .map(|(&copy, &first)| (copy, Some(first)))
            .collect();
        assert_eq!(found, expected);
    }
}
