//! Groups of messages that read the same, kept in memory and carried forward from commit to commit.
//!
//! Input: rows of the table `copies`. Output: the group of a message, and all groups. Must not know what is
//! shown.
//!
//! The groups of a commit share the arrays of an older one. Groups that changed since then are kept
//! separately.

use crate::error::Result;
use crate::set::NumberSet;
use crate::tables::copies;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::{RowId, Snapshot, Table};

/// How many changed groups are kept before all groups are read again.
const CHANGED_COUNT_MAX: usize = 1 << 12;

/// All groups: the numbers of messages that read the same. A member may be swept.
#[derive(Clone, Debug)]
pub(crate) struct CopyGroups {
    read: Arc<ReadGroups>,
    /// Groups that differ from those that were read, by their first member; empty if a group is gone.
    changed: HashMap<u32, Vec<u32>>,
    /// For each of these messages, the first member of the changed group that it is or was in.
    changed_first: HashMap<u32, u32>,
    members: NumberSet,
}

/// The groups as one scan of the table found them.
#[derive(Debug, Default)]
struct ReadGroups {
    /// The members of all groups, group after group, the first member first.
    members: Vec<u32>,
    /// Where each group begins among the members, and where the last one ends.
    starts: Vec<usize>,
    /// Each member with the index of its group, by number.
    group_of: Vec<(u32, usize)>,
}

impl ReadGroups {
    fn new(mut pairs: Vec<(u32, u32)>) -> ReadGroups {
        pairs.sort_unstable();
        let mut read = ReadGroups { starts: vec![0], ..ReadGroups::default() };
        for pairs in pairs.chunk_by(|a, b| a.0 == b.0) {
            let group = read.starts.len() - 1;
            let first = pairs.first().map(|(first, _)| *first);
            for number in first.into_iter().chain(pairs.iter().map(|(_, number)| *number)) {
                read.members.push(number);
                read.group_of.push((number, group));
            }
            read.starts.push(read.members.len());
        }
        read.group_of.sort_unstable();
        read
    }

    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    fn group(&self, number: u32) -> &[u32] {
        let Ok(at) = self.group_of.binary_search_by_key(&number, |(number, _)| *number) else {
            return &[];
        };
        let group = self.group_of[at].1;
        &self.members[self.starts[group]..self.starts[group + 1]]
    }
}

impl CopyGroups {
    /// Reads all groups. `bound` is above every message number.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn load(snapshot: &Snapshot, bound: u32) -> Result<CopyGroups> {
        let mut pairs = Vec::new();
        for part in snapshot.table(copies::TABLE)?.parts() {
            let numbers = part.u32s(copies::NUMBER, 0..part.row_count())?;
            let firsts = part.u32s(copies::FIRST, 0..part.row_count())?;
            let rows = part.live_values(firsts.iter().zip(numbers.iter()));
            pairs.extend(rows.map(|(_, (first, number))| (*first, *number)));
        }
        Ok(CopyGroups::new(pairs, bound))
    }

    /// Returns the groups for pairs of a first member and another member.
    fn new(pairs: Vec<(u32, u32)>, bound: u32) -> CopyGroups {
        let read = ReadGroups::new(pairs);
        let mut members = NumberSet::new(bound);
        read.members.iter().for_each(|number| members.insert(*number));
        CopyGroups { read: Arc::new(read), changed: HashMap::new(), changed_first: HashMap::new(), members }
    }

    /// Returns the groups of a later commit: these groups, without the rows that only the older commit has,
    /// and with the rows that only the later one has.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn with_rows(
        &self,
        (older, removed): (&Snapshot, &[RowId]),
        (newer, added): (&Snapshot, &[RowId]),
        bound: u32,
    ) -> Result<CopyGroups> {
        let removed = pairs(&older.table(copies::TABLE)?, removed)?;
        let added = pairs(&newer.table(copies::TABLE)?, added)?;
        let mut groups = self.clone();
        groups.members.grow(bound);
        groups.change(&removed, &added);
        if groups.changed.len() > CHANGED_COUNT_MAX { CopyGroups::load(newer, bound) } else { Ok(groups) }
    }

    fn change(&mut self, removed: &[(u32, u32)], added: &[(u32, u32)]) {
        let firsts: HashSet<u32> = removed.iter().chain(added).map(|(first, _)| *first).collect();
        let mut groups: HashMap<u32, Vec<u32>> = HashMap::new();
        for first in &firsts {
            // A message that was a member of another group until now starts a new group.
            let group = self.group(*first);
            let members = if group.first() == Some(first) { group.to_vec() } else { Vec::new() };
            members.iter().for_each(|number| self.members.remove(*number));
            groups.insert(*first, if members.is_empty() { vec![*first] } else { members });
        }
        for (first, number) in removed {
            groups.entry(*first).or_default().retain(|member| member != number);
            self.changed_first.insert(*number, *first);
        }
        for (first, number) in added {
            groups.entry(*first).or_default().push(*number);
        }
        self.changed_first.extend(groups.keys().map(|first| (*first, *first)));
        for (first, mut members) in groups {
            // A group with a single message is no group of copies.
            if members.len() < 2 {
                members.clear();
            }
            // The first message stands in front, whatever its number.
            members.sort_unstable_by_key(|member| (*member != first, *member));
            members.dedup();
            for number in &members {
                self.members.insert(*number);
                self.changed_first.insert(*number, first);
            }
            self.changed.insert(first, members);
        }
    }

    /// Returns the groups, each with all its members.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let is_unchanged =
            |group: &&[u32]| group.first().is_none_or(|first| !self.changed.contains_key(first));
        let changed = self.changed.values().map(Vec::as_slice).filter(|group| !group.is_empty());
        self.read.groups().filter(is_unchanged).chain(changed)
    }

    /// Returns roughly how many groups there are.
    pub(crate) fn count(&self) -> usize {
        self.read.starts.len() + self.changed.len()
    }

    /// Returns the group of a message; empty if it has no copies.
    pub(crate) fn group(&self, number: u32) -> &[u32] {
        match self.changed_first.get(&number).and_then(|first| self.changed.get(first)) {
            Some(group) if group.contains(&number) => group,
            Some(_) => &[],
            None => self.read.group(number),
        }
    }

    /// Returns the members of all groups.
    pub(crate) fn members(&self) -> &NumberSet {
        &self.members
    }
}

fn pairs(table: &Table, rows: &[RowId]) -> Result<Vec<(u32, u32)>> {
    let pair = |id: &RowId| {
        let part = table.part(*id);
        Ok((part.u32_at(copies::FIRST, id.row)?, part.u32_at(copies::NUMBER, id.row)?))
    };
    rows.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const BOUND: u32 = 40;

    fn sorted(groups: &CopyGroups) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = groups.groups().map(<[u32]>::to_vec).collect();
        all.sort();
        all
    }

    proptest! {
        #[test]
        fn groups_carried_forward_are_those_made_anew(
            commits in vec(vec((0..BOUND, 0..BOUND), 0..6), 1..20),
        ) {
            // A member, and the first message of its group, which is never a member itself. A pass that set
            // its numbers aside early may add a member with a lower number.
            let mut rows: BTreeMap<u32, u32> = BTreeMap::new();
            let mut groups = CopyGroups::new(Vec::new(), BOUND);
            for commit in commits {
                let before = rows.clone();
                for (number, first) in commit {
                    if rows.remove(&number).is_none() {
                        let is_member = rows.contains_key(&first);
                        let is_first = rows.values().any(|known| *known == number);
                        if !is_member && !is_first && first != number {
                            rows.insert(number, first);
                        }
                    }
                }
                let only = |a: &BTreeMap<u32, u32>, b: &BTreeMap<u32, u32>| -> Vec<(u32, u32)> {
                    let missing = a.iter().filter(|(number, first)| b.get(number) != Some(first));
                    missing.map(|(number, first)| (*first, *number)).collect()
                };
                groups.change(&only(&before, &rows), &only(&rows, &before));
                let pairs = rows.iter().map(|(number, first)| (*first, *number)).collect();
                let anew = CopyGroups::new(pairs, BOUND);
                prop_assert_eq!(sorted(&groups), sorted(&anew));
                prop_assert_eq!(groups.members(), anew.members());
                for number in 0..BOUND {
                    prop_assert_eq!(groups.group(number), anew.group(number));
                }
            }
        }
    }
}
