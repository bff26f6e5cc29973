//! The messages of conversations with the values that order them.
//!
//! Input: a set of messages, the roots of their threads. Output: the rank of each thread, and its messages.
//! Few messages are looked up one by one; of many the columns are scanned. Must not know how a conversation
//! is shown.

use crate::error::Result;
use crate::rows;
use crate::search::commit::Forest;
use crate::search::mailbox::{Duplicates, Hit, Mailbox};
use crate::search::order::{Direction, is_small};
use crate::set::NumberSet;
use crate::tables::messages;
use rayon::prelude::*;
use std::cmp::Reverse;
use store::RowId;

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
pub(super) struct Member {
    /// The position of its thread in the order.
    pub(super) rank: u32,
    pub(super) hit: Hit,
    pub(super) sha256: [u8; 8],
    pub(super) node: u32,
    pub(super) parent: u32,
}

/// Gives each wanted root a slot in a list: few roots are searched for, of many each root is its own slot.
pub(super) enum Slots {
    Few(Vec<u32>),
    All(usize),
}

impl Slots {
    pub(super) fn of(wanted: &NumberSet) -> Slots {
        if is_small(wanted, u64::from(wanted.bound())) {
            Slots::Few(wanted.iter().collect())
        } else {
            Slots::All(wanted.bound() as usize)
        }
    }

    fn count(&self) -> usize {
        match self {
            Slots::Few(roots) => roots.len(),
            Slots::All(count) => *count,
        }
    }

    fn slot(&self, root: u32) -> Option<usize> {
        match self {
            Slots::Few(roots) => roots.binary_search(&root).ok(),
            Slots::All(count) => Some(root as usize).filter(|slot| slot < count),
        }
    }
}

/// The positions of threads in the requested order.
pub(super) struct Ranks {
    /// The rank of the root in each slot, or [`NO_RANK`].
    pub(super) of_slot: Vec<u32>,
    pub(super) total: u64,
}

const NO_RANK: u32 = u32::MAX;

/// Sorts threads by their newest message.
pub(super) fn rank(
    mailbox: &Mailbox,
    related: &NumberSet,
    (roots, slots): (&Forest, &Slots),
    order: &ThreadOrder,
) -> Result<Ranks> {
    let mut newest: Vec<Option<(i64, [u8; 8])>> = vec![None; slots.count()];
    each_member(mailbox, related, roots, |root, member| {
        if let Some(newest) = slots.slot(root).and_then(|slot| newest.get_mut(slot)) {
            *newest = (*newest).max(Some((member.hit.date, member.sha256)));
        }
    })?;
    let dated = newest.iter().enumerate().filter_map(|(slot, newest)| newest.map(|newest| (newest, slot)));
    let mut list: Vec<((i64, [u8; 8]), usize)> = dated.collect();
    let total = list.len() as u64;
    match order.direction {
        Direction::Descending => list.par_sort_unstable_by_key(|entry| Reverse(*entry)),
        Direction::Ascending => list.par_sort_unstable(),
    }
    let mut of_slot = vec![NO_RANK; slots.count()];
    let wanted = list.iter().skip(order.offset).take(order.limit.unwrap_or(usize::MAX));
    for (rank, (_, slot)) in (0u32..).zip(wanted) {
        of_slot[*slot] = rank;
    }
    Ok(Ranks { of_slot, total })
}

/// Returns the messages of a set whose threads have a rank.
pub(super) fn members(
    mailbox: &Mailbox,
    related: &NumberSet,
    (roots, slots): (&Forest, &Slots),
    ranks: &[u32],
) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    each_member(mailbox, related, roots, |root, member| {
        let rank = slots.slot(root).and_then(|slot| ranks.get(slot)).copied().unwrap_or(NO_RANK);
        if rank != NO_RANK {
            members.push(Member { rank, ..member });
        }
    })?;
    Ok(members)
}

/// Returns the messages of a set. The rank of each is the root of its thread.
pub(super) fn all_members(mailbox: &Mailbox, related: &NumberSet, roots: &Forest) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    each_member(mailbox, related, roots, |root, member| members.push(Member { rank: root, ..member }))?;
    Ok(members)
}

/// Visits the messages of a set with the roots of their threads, in no particular order.
pub(super) fn each_member(
    mailbox: &Mailbox,
    related: &NumberSet,
    roots: &Forest,
    mut visit: impl FnMut(u32, Member),
) -> Result<()> {
    let table = mailbox.message_table();
    if is_small(related, table.row_count()) {
        for number in related.iter() {
            let Some(hit) = mailbox.hit(number)? else { continue };
            let (part, row) = (rows::part_of(table, hit.row), hit.row.row);
            let node = part.u32_at(messages::NODE, row)?;
            let parent = part.u32_at(messages::PARENT, row)?;
            let sha256 = begin_of(&part.id_at(messages::SHA256, row)?);
            visit(roots.of(node), Member { rank: NO_RANK, hit, sha256, node, parent });
        }
        return Ok(());
    }
    for (number, part) in (0u32..).zip(table.parts()) {
        mailbox.check_cancelled()?;
        let all = 0..part.row_count();
        let numbers = part.u32s(messages::NUMBER, all.clone())?;
        let nodes = part.u32s(messages::NODE, all.clone())?;
        let parents = part.u32s(messages::PARENT, all.clone())?;
        let dates = part.i64s(messages::DATE, all.clone())?;
        let ids = part.ids(messages::SHA256, all)?;
        let columns = numbers.iter().zip(nodes.iter()).zip(parents.iter()).zip(dates.iter()).zip(ids);
        for (row, ((((message, node), parent), date), id)) in part.live_values(columns) {
            if related.contains(*message) {
                let hit = Hit { number: *message, row: RowId { part: number, row }, date: *date };
                let member =
                    Member { rank: NO_RANK, hit, sha256: begin_of(id), node: *node, parent: *parent };
                visit(roots.of(*node), member);
            }
        }
    }
    Ok(())
}

/// Returns the beginning of an id, which orders messages of the same date.
fn begin_of(id: &[u8; 32]) -> [u8; 8] {
    *id.first_chunk().expect("an id has 32 bytes")
}
