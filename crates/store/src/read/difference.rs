//! The difference of two snapshots: which rows were added and removed between them.
//!
//! Input: two states of one store. Output: row ids. A segment that both states have costs a comparison of
//! its dead rows. A journal that both have costs its new rows. Rows that a seal or a merge moved to another
//! segment are paired by primary key.

use crate::commit::dead::DeadRows;
use crate::error::Result;
use crate::read::part::RowId;
use crate::read::part::{Part, PartRows, key_columns};
use crate::read::row_pairs::{Candidates, Equality, pair};
use crate::read::state::State;
use crate::value::Value;
use rayon::prelude::*;
use std::collections::HashMap;

/// The most keys that are looked up one by one. For more, all keys are read.
const LOOK_UPS_MAX: u64 = 1 << 14;

/// What changed from an older snapshot to a newer one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// In the order of [`Snapshot::tables`](crate::Snapshot::tables).
    pub tables: Vec<TableDifference>,
}

/// What changed in one table. A row that was replaced by another one with the same primary key is both
/// removed and added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDifference {
    /// Live rows of the newer snapshot that the older one does not have, in ascending order.
    pub added: Vec<RowId>,
    /// Live rows of the older snapshot that the newer one does not have, in ascending order.
    pub removed: Vec<RowId>,
}

impl TableDifference {
    /// Returns whether the table holds the same rows in both snapshots.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Compares two states of one store, which have the same tables.
pub(crate) fn difference(newer: &State, older: &State) -> Result<Difference> {
    if newer.sequence == older.sequence {
        // Seals and merges change no row.
        return Ok(Difference { tables: vec![TableDifference::default(); newer.tables.len()] });
    }
    // All rows in segments were committed by then. Such a row that is live in the newer state was live in
    // the older one too, because a dead row never comes back. So it need not be compared.
    let segments_are_old = older.sequence < newer.sequence && newer.manifest.sequence <= older.sequence;
    let has_same_journal = newer.journal_identity() == older.journal_identity();
    let tables = newer.tables.par_iter().zip(&older.tables).map(|(newer, older)| {
        let mut candidates = UnpairedRows::of(newer.parts(), older.parts(), has_same_journal);
        let equality = if segments_are_old { Equality::BySegment } else { Equality::ByContent };
        if !segments_are_old || !candidates.take_moved(newer.parts(), older.parts())? {
            candidates.add_moved(newer.parts(), older.parts());
        }
        pair(newer.schema(), &mut candidates.removed, &mut candidates.added, equality)?;
        Ok(TableDifference { added: row_ids(&candidates.added), removed: row_ids(&candidates.removed) })
    });
    Ok(Difference { tables: tables.collect::<Result<_>>()? })
}

/// What may differ in a table.
#[derive(Default)]
struct UnpairedRows<'a> {
    /// Rows that only the older state has at their place.
    removed: Vec<Candidates<'a>>,
    /// Rows that only the newer state has at their place.
    added: Vec<Candidates<'a>>,
    /// The numbers of the parts that only the older state has.
    old_parts: Vec<usize>,
    /// The numbers of the segments that only the newer state has.
    new_segments: Vec<usize>,
}

impl<'a> UnpairedRows<'a> {
    /// Compares the parts that both states have, and notes all others. A memtable that only the newer state
    /// has is new.
    fn of(newer: &'a [Part], older: &'a [Part], has_same_journal: bool) -> UnpairedRows<'a> {
        let old_digests: HashMap<u64, usize> =
            (0..).zip(older).filter_map(|(number, part)| Some((digest(part)?, number))).collect();
        let mut rows = UnpairedRows::default();
        let mut is_in_both = vec![false; older.len()];
        for (number, part) in newer.iter().enumerate() {
            let old_number = match digest(part) {
                Some(digest) => old_digests.get(&digest).copied(),
                None => has_same_journal.then(|| older.len() - 1),
            };
            match (old_number, &part.rows) {
                (Some(old_number), _) => {
                    is_in_both[old_number] = true;
                    rows.compare((number, part), (old_number, &older[old_number]));
                }
                (None, PartRows::Segment(_)) => rows.new_segments.push(number),
                (None, PartRows::Memory(_)) => push(&mut rows.added, number, part, part.live_rows()),
            }
        }
        rows.old_parts = (0..older.len()).filter(|number| !is_in_both[*number]).collect();
        rows
    }

    /// Adds what differs in a part that both states have.
    fn compare(&mut self, (number, part): (usize, &'a Part), (old_number, old): (usize, &'a Part)) {
        // If both memtables are of the same journal, the newer one begins with the rows of the older one.
        let common = part.row_count().min(old.row_count());
        let live_after = |part: &'a Part| (common..part.row_count()).filter(|row| !part.is_dead(*row));
        let died = part.dead.since(&old.dead).filter(|row| *row < common);
        push(&mut self.removed, old_number, old, died.chain(live_after(old)));
        let revived = old.dead.since(&part.dead).filter(|row| *row < common);
        push(&mut self.added, number, part, revived.chain(live_after(part)));
    }

    /// Adds the rows of all parts that only one state has.
    fn add_moved(&mut self, newer: &'a [Part], older: &'a [Part]) {
        for &number in &self.old_parts {
            push(&mut self.removed, number, &older[number], older[number].live_rows());
        }
        for &number in &self.new_segments {
            push(&mut self.added, number, &newer[number], newer[number].live_rows());
        }
    }

    /// Adds those rows of `old_parts` that are not in `new_segments`. All rows of `new_segments` were
    /// committed before the older state. Returns whether all of them were found.
    ///
    /// A merge keeps rows that die while it runs, as dead rows. So rows that have died since are found
    /// among the dead rows of new segments. All were found if their number and the number of live rows
    /// there add up: each live row is one of the older state.
    fn take_moved(&mut self, newer: &'a [Part], older: &'a [Part]) -> Result<bool> {
        let count = |parts: &[Part], numbers: &[usize]| -> u64 {
            numbers.iter().map(|number| u64::from(parts[*number].live_count())).sum()
        };
        let Some(missing_count) = count(older, &self.old_parts).checked_sub(count(newer, &self.new_segments))
        else {
            return Ok(false);
        };
        let dead_count: u64 =
            self.new_segments.iter().map(|number| u64::from(newer[*number].dead_count())).sum();
        if missing_count > dead_count || dead_count > LOOK_UPS_MAX {
            return Ok(false);
        }
        let mut missing: Vec<RowId> = Vec::new();
        for part in self.new_segments.iter().map(|number| &newer[*number]) {
            for row in part.dead.since(&DeadRows::default()) {
                let columns = key_columns(part.schema(), None).iter();
                let key = columns
                    .map(|column| part.value(usize::from(*column), row))
                    .collect::<Result<Vec<_>>>()?;
                if find(newer, &self.new_segments, &key)?.is_none() {
                    missing.extend(find(older, &self.old_parts, &key)?);
                }
            }
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.len() as u64 != missing_count {
            return Ok(false);
        }
        for rows in missing.chunk_by(|one, other| one.part == other.part) {
            let number = rows[0].part as usize;
            push(&mut self.removed, number, &older[number], rows.iter().map(|id| id.row));
        }
        Ok(true)
    }
}

/// Returns the live row with a primary key in some of the parts.
fn find(parts: &[Part], numbers: &[usize], key: &[Value]) -> Result<Option<RowId>> {
    for &number in numbers {
        if let Some(row) = parts[number].primary_find(key)? {
            return Ok(Some(RowId { part: part_number(number), row }));
        }
    }
    Ok(None)
}

fn part_number(number: usize) -> u32 {
    u32::try_from(number).expect("there are at most SEGMENTS_MAX segments")
}

/// Returns the digest that identifies a segment's file; `None` for a memtable.
fn digest(part: &Part) -> Option<u64> {
    match &part.rows {
        PartRows::Segment(segment) => Some(segment.digest()),
        PartRows::Memory(_) => None,
    }
}

/// Adds rows of a part, put in key order, if there are any.
fn push<'a>(
    candidates: &mut Vec<Candidates<'a>>,
    number: usize,
    part: &'a Part,
    rows: impl Iterator<Item = u32>,
) {
    let mut rows: Vec<u32> = rows.collect();
    if rows.is_empty() {
        return;
    }
    if let PartRows::Memory(memtable) = &part.rows {
        let columns = key_columns(part.schema(), None);
        let rows_in_memory = memtable.rows();
        rows.sort_by(|one, other| {
            let values =
                |row: u32| columns.iter().map(move |column| rows_in_memory.value(usize::from(*column), row));
            values(*one).cmp(values(*other))
        });
    }
    candidates.push(Candidates::new(part_number(number), part, rows));
}

/// Returns the rows that were not paired, in ascending order.
fn row_ids(candidates: &[Candidates]) -> Vec<RowId> {
    let mut found: Vec<RowId> = candidates
        .iter()
        .flat_map(|part| part.unpaired().map(|row| RowId { part: part.number, row }))
        .collect();
    // Rows of a memtable are in key order, and parts of the older state in that of the newer one.
    found.sort_unstable();
    found
}
