//! Copies: messages that read the same but arrived by different routes. Queries treat them as one message.
//!
//! Input: sets of messages. Output: sets with one message per group of copies, and all copies of one message.
//! Must not know queries.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::messages;
use std::collections::HashMap;
use store::{PRIMARY, Table, Value};

/// Which messages count as the same and are shown once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Messages that read the same.
    #[default]
    Copies,
    /// Messages with the same Message-ID.
    MessageId,
}

/// Compared before age when one of several messages is chosen: whether it is not preferred, and whether it is
/// absent.
type Rank = (bool, bool);

impl Mailbox {
    /// Keeps one message per group: the oldest, then the one with the lowest SHA-256. Messages in `preferred`
    /// come first, if it is given, then messages with a file.
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
        let table = self.message_table();
        for group in self.copies()?.groups() {
            let left: Vec<u32> = group.iter().copied().filter(|number| found.contains(*number)).collect();
            if left.len() < 2 {
                continue;
            }
            self.check_cancelled()?;
            let mut ranked = Vec::with_capacity(left.len());
            for number in &left {
                ranked.push((rank(*number), age(table, *number)?, *number));
            }
            let shown = ranked.into_iter().min().map(|(.., number)| number);
            left.iter().filter(|number| Some(**number) != shown).for_each(|number| kept.remove(*number));
        }
        Ok(kept)
    }

    fn one_of_each_id(&self, found: &NumberSet, rank: impl Fn(u32) -> Rank) -> Result<NumberSet> {
        let mut first: HashMap<u64, (Rank, i64, [u8; 32], u32)> = HashMap::new();
        for part in self.message_table().parts() {
            self.check_cancelled()?;
            let all = 0..part.row_count();
            let numbers = part.u32s(messages::NUMBER, all.clone())?;
            let hashes = part.u64s(messages::MESSAGE_ID_HASH, all.clone())?;
            let dates = part.i64s(messages::DATE, all.clone())?;
            let ids = part.ids(messages::SHA256, all)?;
            let columns = numbers.iter().zip(hashes.iter()).zip(dates.iter()).zip(ids);
            for (_, (((number, hash), date), id)) in part.live_values(columns) {
                if found.contains(*number) {
                    let key = (rank(*number), *date, *id, *number);
                    first.entry(*hash).and_modify(|least| *least = key.min(*least)).or_insert(key);
                }
            }
        }
        let mut kept = self.empty();
        first.values().for_each(|(.., number)| kept.insert(*number));
        Ok(kept)
    }

    /// Adds all copies of the messages in a set, including absent and swept ones, as copies are queried and
    /// shown together.
    pub(in crate::search) fn add_copies(&self, found: &mut NumberSet) -> Result<()> {
        let copies = self.copies()?;
        let mut some = found.clone();
        some.and(copies.members());
        if some.count() < copies.count() as u64 {
            some.iter().flat_map(|number| copies.group(number)).for_each(|number| found.insert(*number));
        } else {
            let wanted = copies.groups().filter(|group| group.iter().any(|number| some.contains(*number)));
            wanted.flatten().for_each(|number| found.insert(*number));
        }
        Ok(())
    }

    /// Returns the other copies of a hit that a search can find. The one that would be shown first comes
    /// first.
    pub(in crate::search) fn live_copies(&self, hit: &Hit) -> Result<Vec<Hit>> {
        let group = self.copies()?.group(hit.number);
        let (live, present) = (self.live()?, self.present()?);
        let table = self.message_table();
        let mut others = Vec::new();
        for number in group.iter().filter(|number| **number != hit.number && live.contains(**number)) {
            if let Some(other) = self.hit(*number)? {
                others.push((!present.contains(*number), age(table, *number)?, other));
            }
        }
        others.sort_unstable_by_key(|(is_absent, age, _)| (*is_absent, *age));
        Ok(others.into_iter().map(|(.., hit)| hit).collect())
    }

    /// Keeps one hit per message: of several copies, the one that is shown.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn distinct_hits(&self, hits: Vec<Hit>) -> Result<Vec<Hit>> {
        let mut all = self.empty();
        hits.iter().for_each(|hit| all.insert(hit.number));
        let kept = self.distinct(&all, Duplicates::Copies, None)?;
        Ok(hits.into_iter().filter(|hit| kept.contains(hit.number)).collect())
    }

    /// Returns the numbers of a message and of all its copies, including absent and swept ones.
    pub(crate) fn copies_of(&self, number: u32) -> Result<Vec<u32>> {
        let group = self.copies()?.group(number);
        Ok(if group.is_empty() { vec![number] } else { group.to_vec() })
    }

    /// Returns a message and all its copies, including absent ones.
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

/// Returns the date and the SHA-256 of a message. The copy with the lowest values is shown.
fn age(table: &Table, number: u32) -> Result<Option<(i64, [u8; 32])>> {
    let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(None) };
    let part = rows::part_of(table, id);
    Ok(Some((part.i64_at(messages::DATE, id.row)?, part.id_at(messages::SHA256, id.row)?)))
}
