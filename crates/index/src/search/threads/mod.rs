//! Conversations: which messages belong together, and which message answers which.
//!
//! Input: sets of messages. Output: all messages of their threads, as sets or as trees. The roots of all
//! nodes are resolved on first use. If the parents of messages do not connect a thread, its header records
//! are read as well; few threads need this.

mod tree;

use crate::error::Result;
use crate::rows::{self, RecordReader};
use crate::search::commit::Forest;
use crate::search::mailbox::{Duplicates, Hit, Mailbox};
use crate::search::order::Direction;
use crate::set::NumberSet;
use crate::tables::{message_id_hash, messages, threads};
use rayon::prelude::*;
use std::cmp::Reverse;
use store::{RowId, Table, Value};
use tree::{Item, TreePosition};

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its messages. Each comes after the one that it answers; answers to the same message are sorted by
    /// date.
    pub entries: Vec<ThreadEntry>,
}

/// A message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEntry {
    /// The message.
    pub hit: Hit,
    /// How many messages are above it.
    pub depth: u32,
    /// Whether it was found, or only belongs to a found one.
    pub origin: Origin,
}

/// Why a message is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It matches.
    Found,
    /// It is in the same thread as a message that matches.
    Related,
}

/// Conversations in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// How many there are, including those left out.
    pub total: u64,
    /// The requested conversations.
    pub list: Vec<Thread>,
}

/// Which conversations to return, sorted by the date of their newest message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadOrder {
    /// Which end comes first.
    pub direction: Direction,
    /// Which messages are shown once. Of several equal messages, one that was found is preferred.
    pub duplicates: Duplicates,
    /// How many conversations to skip at the beginning.
    pub offset: usize,
    /// How many conversations to return at most.
    pub limit: Option<usize>,
}

/// A message with the values that place it in a conversation.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The position of its thread in the order.
    rank: u32,
    hit: Hit,
    sha256: [u8; 8],
    node: u32,
    parent: u32,
}

impl Mailbox {
    /// Adds all live messages of the same threads to a set.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn with_related(&self, found: &NumberSet) -> Result<NumberSet> {
        let roots = self.forest()?;
        let wanted = self.roots_of(found, roots)?;
        self.live_of_roots(&wanted, roots)
    }

    /// Returns the complete conversations of the messages in a set.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn threads(&self, found: &NumberSet, order: &ThreadOrder) -> Result<Threads> {
        let roots = self.forest()?;
        let wanted = self.roots_of(found, roots)?;
        let mut related = self.of_roots(&wanted, roots)?;
        let live = self.live()?;
        let mut shown = related.clone();
        shown.and(live);
        let shown = self.distinct(&shown, order.duplicates, Some(found))?;
        // Absent messages are not shown, but still connect the messages that answer each other.
        related.minus(live);
        related.or(&shown);
        let ranks = rank(self, &shown, roots, order)?;
        let mut members = members(self, &related, roots, &ranks.of_root)?;
        members.par_sort_unstable_by_key(|member| (member.rank, member.hit.date, member.sha256));
        let groups: Vec<&[Member]> = members.chunk_by(|a, b| a.rank == b.rank).collect();
        let sets = Sets { found, shown: &shown };
        let arranged = groups.par_iter().map(|group| {
            self.check_cancelled()?;
            arrange(self, group, &sets)
        });
        let list = arranged.collect::<Result<_>>()?;
        Ok(Threads { total: ranks.total, list })
    }

    /// Returns the complete conversations of some hits.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn threads_of(&self, hits: &[Hit], order: &ThreadOrder) -> Result<Threads> {
        let mut found = self.empty();
        hits.iter().for_each(|hit| found.insert(hit.number));
        self.threads(&found, order)
    }

    /// Returns the live messages of the thread that a Message-ID belongs to, whether or not there is a
    /// message with that id.
    pub(super) fn thread_of_id(&self, id: &str) -> Result<NumberSet> {
        let table = self.snapshot().table(threads::TABLE)?;
        let roots = self.forest()?;
        let mut wanted = NumberSet::new(roots.bound());
        if let Some(node) = node_of(&table, id)? {
            wanted.insert(roots.of(node));
        }
        self.live_of_roots(&wanted, roots)
    }

    /// Returns the roots of the threads of the messages in a set.
    fn roots_of(&self, found: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut wanted = NumberSet::new(roots.bound());
        self.each_node(|number, node| {
            if found.contains(number) {
                wanted.insert(roots.of(node));
            }
        })?;
        Ok(wanted)
    }

    fn of_roots(&self, wanted: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut related = self.empty();
        self.each_node(|number, node| {
            if wanted.contains(roots.of(node)) {
                related.insert(number);
            }
        })?;
        Ok(related)
    }

    fn live_of_roots(&self, wanted: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut related = self.of_roots(wanted, roots)?;
        related.and(self.live()?);
        Ok(related)
    }

    fn each_node(&self, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        for part in self.snapshot().table(messages::TABLE)?.parts() {
            self.check_cancelled()?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            let nodes = part.u32s(messages::NODE, 0..part.row_count())?;
            for (_, (number, node)) in part.live_values(numbers.iter().zip(nodes)) {
                visit(*number, *node);
            }
        }
        Ok(())
    }
}

/// The positions of threads in the requested order.
struct Ranks {
    /// The rank of each root, or [`NO_RANK`].
    of_root: Vec<u32>,
    total: u64,
}

const NO_RANK: u32 = u32::MAX;

/// Sorts threads by their newest message.
fn rank(mailbox: &Mailbox, related: &NumberSet, roots: &Forest, order: &ThreadOrder) -> Result<Ranks> {
    let mut newest: Vec<Option<(i64, [u8; 8])>> = vec![None; roots.bound() as usize];
    each_member(mailbox, related, roots, |root, member| {
        if let Some(newest) = newest.get_mut(root as usize) {
            *newest = (*newest).max(Some((member.hit.date, member.sha256)));
        }
    })?;
    let dated = (0u32..).zip(&newest).filter_map(|(root, newest)| newest.map(|newest| (newest, root)));
    let mut list: Vec<((i64, [u8; 8]), u32)> = dated.collect();
    let total = list.len() as u64;
    match order.direction {
        Direction::Descending => list.par_sort_unstable_by_key(|entry| Reverse(*entry)),
        Direction::Ascending => list.par_sort_unstable(),
    }
    let mut of_root = vec![NO_RANK; roots.bound() as usize];
    let wanted = list.iter().skip(order.offset).take(order.limit.unwrap_or(usize::MAX));
    for (rank, (_, root)) in (0u32..).zip(wanted) {
        of_root[*root as usize] = rank;
    }
    Ok(Ranks { of_root, total })
}

fn members(mailbox: &Mailbox, related: &NumberSet, roots: &Forest, ranks: &[u32]) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    each_member(mailbox, related, roots, |root, member| {
        let rank = ranks.get(root as usize).copied().unwrap_or(NO_RANK);
        if rank != NO_RANK {
            members.push(Member { rank, ..member });
        }
    })?;
    Ok(members)
}

fn each_member(
    mailbox: &Mailbox,
    related: &NumberSet,
    roots: &Forest,
    mut visit: impl FnMut(u32, Member),
) -> Result<()> {
    for (number, part) in (0u32..).zip(mailbox.snapshot().table(messages::TABLE)?.parts()) {
        mailbox.check_cancelled()?;
        let all = 0..part.row_count();
        let numbers = part.u32s(messages::NUMBER, all.clone())?;
        let nodes = part.u32s(messages::NODE, all.clone())?;
        let parents = part.u32s(messages::PARENT, all.clone())?;
        let dates = part.i64s(messages::DATE, all.clone())?;
        let ids = part.ids(messages::SHA256, all)?;
        let columns = numbers.iter().zip(nodes).zip(parents).zip(dates).zip(ids);
        for (row, ((((message, node), parent), date), id)) in part.live_values(columns) {
            if related.contains(*message) {
                let hit = Hit { number: *message, row: RowId { part: number, row }, date: *date };
                let sha256 = *id.first_chunk::<8>().expect("an id has 32 bytes");
                visit(roots.of(*node), Member { rank: NO_RANK, hit, sha256, node: *node, parent: *parent });
            }
        }
    }
    Ok(())
}

/// Which messages were found, and which are shown.
struct Sets<'a> {
    found: &'a NumberSet,
    shown: &'a NumberSet,
}

/// Makes a tree of the messages of one thread, which come sorted by date.
fn arrange(mailbox: &Mailbox, members: &[Member], sets: &Sets<'_>) -> Result<Thread> {
    let item = |member: &Member| {
        let is_shown = sets.shown.contains(member.hit.number);
        Item { node: member.node, parent: member.parent, is_shown }
    };
    let items: Vec<Item> = members.iter().map(item).collect();
    let mut places = tree::by_parents(&items);
    // If several messages have no parent here, the references of the other messages may connect them.
    if places.iter().filter(|place| place.depth == 0).count() > 1 {
        let chains = members.iter().map(|member| chain(mailbox, member)).collect::<Result<Vec<_>>>()?;
        places = tree::by_chains(&items, &chains);
    }
    let entry = |place: &TreePosition| {
        let hit = members[place.index].hit;
        let origin = if sets.found.contains(hit.number) { Origin::Found } else { Origin::Related };
        ThreadEntry { hit, depth: place.depth, origin }
    };
    Ok(Thread { entries: places.iter().map(entry).collect() })
}

/// Returns the nodes that a message refers to, oldest first. The last one is the message that it answers.
fn chain(mailbox: &Mailbox, member: &Member) -> Result<Vec<u32>> {
    let table = mailbox.snapshot().table(messages::TABLE)?;
    let part = rows::part_of(&table, member.hit.row);
    let rest = rows::rest(part, member.hit.row.row, &mut RecordReader::new(), mailbox.directory())?;
    let nodes = mailbox.snapshot().table(threads::TABLE)?;
    let mut chain = Vec::with_capacity(rest.references.len());
    for id in &rest.references {
        chain.extend(node_of(&nodes, id)?);
    }
    Ok(chain)
}

fn node_of(table: &Table, id: &str) -> Result<Option<u32>> {
    let row = table.get(threads::BY_MESSAGE_ID, &[Value::U64(message_id_hash(id))])?;
    row.map(|row| Ok(rows::part_of(table, row).u32_at(threads::NODE, row.row)?)).transpose()
}
