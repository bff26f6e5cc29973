//! Sorts the rows of some sources by primary key, and keeps the newest of each key.
//!
//! Comes in: sources, and which of their rows are live. Goes out: an order that `segment_write.rs` takes. Must not know what the rows
//! are sorted for.

use crate::error::Result;
use crate::keys::Keys;
use crate::radix;
use crate::row_set::{RowSet, narrow};
use crate::schema::Schema;
use crate::source::{Order, RowRef, Source};
use rayon::prelude::*;

/// Rows in the order of their primary keys, no key twice.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The rows, or none if they are all rows of all sources as they are.
    pub rows: Option<Vec<RowRef>>,
    /// How many rows were left out because a later one has the same key.
    pub replaced: u32,
}

impl Sorted {
    /// Returns the order as [`crate::write_segment`] takes it.
    pub fn order(&self) -> Order<'_> {
        self.rows.as_deref().map_or(Order::AsIs, Order::Chosen)
    }
}

/// Sorts the live rows of some sources by primary key. Of live rows with the same key the last one is kept: of the last source
/// that has it, and there the last row.
///
/// Rows that are all live and in order already cost little and no memory. Else it takes 33 bytes a row while it runs, of which the
/// answer is 8, and 8 more if any is dead.
///
/// # Errors
/// What is wrong with a source; [`Error::Limit`](crate::Error::Limit) if there are more than 2^32 - 1 rows.
pub fn sort_by_primary(
    schema: &Schema,
    sources: &[&dyn Source],
    is_live: &(dyn Fn(RowRef) -> bool + Sync),
) -> Result<Sorted> {
    let live = live_rows(sources, is_live);
    let given = live.as_deref().map_or(Order::AsIs, Order::Chosen);
    let rows = RowSet::new(sources.iter().map(|source| source.row_count()), given)?;
    let keys = Keys::new(&rows, sources, &schema.primary)?;
    let sorted = radix::sort(&keys);
    let hints = &sorted.hints;
    let at = |index: usize| sorted.rows.as_ref().map_or(narrow(index as u64), |rows| rows[index]);
    let is_replaced = |index: usize| {
        hints.get(index + 1) == Some(&hints[index])
            && (keys.is_exact() || keys.compare(at(index), at(index + 1)).is_eq())
    };
    // Asked once for each row: where keys are equal, it reads two rows somewhere in memory.
    let is_replaced: Vec<bool> = (0..hints.len()).into_par_iter().map(is_replaced).collect();
    keys.check()?;
    let replaced = is_replaced.par_iter().filter(|&&is_replaced| is_replaced).count();
    if replaced == 0 && sorted.rows.is_none() {
        return Ok(Sorted { rows: live, replaced: 0 });
    }
    let kept = (0..hints.len()).into_par_iter().filter(|&index| !is_replaced[index]);
    let kept = kept.map(|index| rows.at(at(index))).collect();
    Ok(Sorted { rows: Some(kept), replaced: narrow(replaced as u64) })
}

/// Returns the live rows in the order of the sources, or none if all are live.
fn live_rows(sources: &[&dyn Source], is_live: &(dyn Fn(RowRef) -> bool + Sync)) -> Option<Vec<RowRef>> {
    let rows_of = |(number, source): (usize, &&dyn Source)| {
        let number = narrow(number as u64);
        (0..source.row_count()).map(move |row| RowRef { source: number, row })
    };
    if sources.par_iter().enumerate().all(|source| rows_of(source).all(is_live)) {
        return None;
    }
    let live =
        sources.par_iter().enumerate().flat_map_iter(|source| rows_of(source).filter(|&row| is_live(row)));
    Some(live.collect())
}
