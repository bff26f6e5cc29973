//! Whether one state of a store is a later one of another.
//!
//! Input: two states. Output: whether the newer one may be reached from the older one by commits, seals and
//! merges. Reads no file.
//!
//! Manifests do not name their predecessors. So an older copy of the store that is put back and committed to
//! can be told apart only if it contradicts what the older state has.

use crate::read::part::{Part, PartRows};
use crate::read::state::State;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns whether nothing in `newer` contradicts that it is the same state as `older`, or a later one.
pub(crate) fn continues(newer: &State, older: &State) -> bool {
    let (new, old) = (&newer.manifest, &older.manifest);
    if new.number == old.number {
        newer.sequence >= older.sequence
            && newer.journal_identity() == older.journal_identity()
            && of_tables(newer, older, |newer, older| {
                journal_begins_with(newer, older) && keeps_dead(newer, older)
            })
    } else {
        // A manifest holds all commits before it.
        new.number > old.number
            && new.sequence >= older.sequence
            && shares_segment(newer, older)
            && of_tables(newer, older, keeps_dead)
    }
}

fn of_tables(newer: &State, older: &State, holds: impl Fn(&[Part], &[Part]) -> bool) -> bool {
    newer.tables.len() == older.tables.len()
        && newer.tables.iter().zip(&older.tables).all(|(newer, older)| holds(newer.parts(), older.parts()))
}

/// Segments are identified by their random names and their digests.
fn shares_segment(newer: &State, older: &State) -> bool {
    let entries = |state: &State| -> Vec<_> {
        let segments = state.manifest.tables.iter().flat_map(|table| &table.segments);
        segments.map(|entry| (entry.number, entry.digest)).collect()
    };
    let old = entries(older);
    entries(newer).iter().any(|entry| old.contains(entry))
}

/// Returns whether the rows of the older journal are the first ones of the newer journal.
fn journal_begins_with(newer: &[Part], older: &[Part]) -> bool {
    let memory = |parts: &[Part]| match parts.last().map(|part| &part.rows) {
        Some(PartRows::Memory(memtable)) => Some(Arc::clone(memtable)),
        _ => None,
    };
    let (Some(new), Some(old)) = (memory(newer), memory(older)) else { return false };
    let (new, old) = (new.rows(), old.rows());
    let columns = 0..old.schema().columns.len();
    new.schema() == old.schema()
        && new.len() >= old.len()
        && (0..old.len())
            .all(|row| columns.clone().all(|column| new.value(column, row) == old.value(column, row)))
}

/// Returns whether every row of a shared segment that is dead in the older state is dead in the newer one: a
/// dead row never comes back. The last parts are the journals' rows; they are shared if the manifest is.
fn keeps_dead(newer: &[Part], older: &[Part]) -> bool {
    let segments = |part: &Part| match &part.rows {
        PartRows::Segment(segment) => Some(segment.digest()),
        PartRows::Memory(_) => None,
    };
    let known: HashMap<u64, &Part> = older.iter().filter_map(|part| Some((segments(part)?, part))).collect();
    newer.iter().all(|part| {
        let old = segments(part).and_then(|digest| known.get(&digest));
        old.is_none_or(|old| old.dead.since(&part.dead).next().is_none())
    })
}
