//! Copies: messages with the same Message-ID and the same bodies, which came different ways. They are shown once.
//!
//! In: sets of messages. Out: sets with one of each kind, and for one message all its copies. Must not know queries.

use crate::error::Result;
use crate::rows;
use crate::search::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::{copies, messages};
use std::collections::HashMap;

/// Every group of copies: the numbers of those that are alike, which may be swept. What orders them is read when it is needed.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    groups: HashMap<u32, Vec<u32>>,
    /// The group of each message that is in one.
    group_of: HashMap<u32, u32>,
}

impl Copies {
    /// Looks for all of them.
    pub(super) fn load(mailbox: &Mailbox) -> Result<Copies> {
        let mut copies = Copies::default();
        for part in mailbox.snapshot.table(copies::TABLE)?.parts() {
            for row in rows::live(part) {
                let (number, first) = (part.u32_at(copies::NUMBER, row)?, part.u32_at(copies::FIRST, row)?);
                let group = copies.groups.entry(first).or_insert_with(|| vec![first]);
                group.push(number);
                copies.group_of.insert(first, first);
                copies.group_of.insert(number, first);
            }
        }
        Ok(copies)
    }

    fn group(&self, number: u32) -> &[u32] {
        let first = self.group_of.get(&number);
        first.and_then(|first| self.groups.get(first)).map_or(&[], Vec::as_slice)
    }
}

/// Which messages are shown once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Those with the same Message-ID and the same bodies.
    #[default]
    Copies,
    /// Those with the same Message-ID.
    MessageId,
}

/// What comes before age where one of several is chosen: whether it is not preferred, and whether it is absent.
type Rank = (bool, bool);

impl Mailbox {
    /// Leaves one message of each kind in a set: the oldest, of one second that with the lowest SHA-256. Where `preferred` is given,
    /// it is one of those if there is any. One with a file goes before one without.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn distinct(
        &self,
        found: &NumberSet,
        duplicates: Duplicates,
        preferred: Option<&NumberSet>,
    ) -> Result<NumberSet> {
        let present = self.present()?;
        let is_preferred = |number: u32| preferred.is_some_and(|set| set.contains(number));
        let rank = |number: u32| (!is_preferred(number), !present.contains(number));
        match duplicates {
            Duplicates::Copies => self.one_of_copies(found, rank),
            Duplicates::MessageId => self.one_of_each_id(found, rank),
        }
    }

    fn one_of_copies(&self, found: &NumberSet, rank: impl Fn(u32) -> Rank) -> Result<NumberSet> {
        let mut kept = found.clone();
        for group in self.copies()?.groups.values() {
            let left: Vec<u32> = group.iter().copied().filter(|number| found.contains(*number)).collect();
            if left.len() < 2 {
                continue;
            }
            let mut ranked = Vec::with_capacity(left.len());
            for number in &left {
                ranked.push((rank(*number), self.age(*number)?, *number));
            }
            let shown = ranked.into_iter().min().map(|(.., number)| number);
            left.iter().filter(|number| Some(**number) != shown).for_each(|number| kept.remove(*number));
        }
        Ok(kept)
    }

    /// Returns the date and the SHA-256 of a message: the least of copies is the one to show.
    fn age(&self, number: u32) -> Result<Option<(i64, [u8; 32])>> {
        let Some(hit) = self.hit(number)? else { return Ok(None) };
        let table = self.snapshot.table(messages::TABLE)?;
        Ok(Some((hit.date, rows::part_of(&table, hit.row).id_at(messages::SHA256, hit.row.row)?)))
    }

    fn one_of_each_id(&self, found: &NumberSet, rank: impl Fn(u32) -> Rank) -> Result<NumberSet> {
        let mut first: HashMap<u64, (Rank, i64, [u8; 32], u32)> = HashMap::new();
        for part in self.snapshot.table(messages::TABLE)?.parts() {
            let all = 0..part.row_count();
            let numbers = part.u32s(messages::NUMBER, all.clone())?;
            let hashes = part.u64s(messages::MESSAGE_ID_HASH, all.clone())?;
            let dates = part.i64s(messages::DATE, all.clone())?;
            let ids = part.ids(messages::SHA256, all)?;
            let columns = numbers.iter().zip(hashes).zip(dates).zip(ids);
            for (row, (((number, hash), date), id)) in (0u32..).zip(columns) {
                if found.contains(*number) && !part.is_dead(row) {
                    let key = (rank(*number), *date, *id, *number);
                    first.entry(*hash).and_modify(|least| *least = key.min(*least)).or_insert(key);
                }
            }
        }
        let mut kept = self.empty();
        first.values().for_each(|(.., number)| kept.insert(*number));
        Ok(kept)
    }

    /// Adds all copies of the messages of a set: what is asked of files and tags is asked of all copies together, as they are shown.
    pub(super) fn add_copies(&self, found: &mut NumberSet) -> Result<()> {
        for group in self.copies()?.groups.values() {
            if group.iter().any(|number| found.contains(*number)) {
                group.iter().for_each(|number| found.insert(*number));
            }
        }
        Ok(())
    }

    /// Returns the numbers of a message and of all its copies, absent and swept ones among them.
    pub(crate) fn copies_of(&self, number: u32) -> Result<Vec<u32>> {
        let group = self.copies()?.group(number);
        Ok(if group.is_empty() { vec![number] } else { group.to_vec() })
    }

    /// Returns a message and all its copies, absent ones among them.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn copies_of_hit(&self, hit: &Hit) -> Result<Vec<Hit>> {
        let group = self.copies()?.group(hit.number);
        if group.is_empty() {
            return Ok(vec![*hit]);
        }
        let mut hits = Vec::with_capacity(group.len());
        for number in group {
            hits.extend(self.hit(*number)?);
        }
        Ok(hits)
    }
}
