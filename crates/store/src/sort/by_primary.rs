//! Sorts the rows of some sources by primary key, and keeps the newest row of each key.
//!
//! Input: sources, and which of their rows are live. Output: an order for `segment/write.rs`. Does not depend
//! on what the rows are sorted for.

use crate::error::Result;
use crate::rows::source::{Order, RowRef, Source};
use crate::schema::Schema;
use crate::sort::keys::Keys;
use crate::sort::radix::{self, KeyOrder};
use crate::sort::row_set::{RowSet, narrow};
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

/// Sorts the live rows of some sources by primary key. Of live rows with the same key the last one is kept:
/// the last row of the last source that has the key.
///
/// If all rows are live and already in order, this costs little time and no memory. Otherwise it takes 20
/// bytes a row while it runs, 8 of which are the result, and 8 more if any row is dead.
///
/// # Errors
/// Damage in a source; [`Error::Limit`](crate::Error::Limit) if there are more than 2^32 - 1 rows.
pub fn sort_by_primary(
    schema: &Schema,
    sources: &[&dyn Source],
    is_live: &(dyn Fn(RowRef) -> bool + Sync),
) -> Result<Sorted> {
    let live = live_rows(sources, is_live);
    let given = live.as_deref().map_or(Order::AsIs, Order::Chosen);
    let rows = RowSet::new(sources.iter().map(|source| source.row_count()), given)?;
    let keys = Keys::new(&rows, sources, &schema.primary)?;
    if let Some(last) = radix::sort_last(&keys, &rows) {
        keys.check()?;
        return Ok(Sorted { rows: Some(last.rows), replaced: last.replaced });
    }
    // Their hints ascend: at most some with equal hints change places.
    let sorted = radix::sort(&keys);
    keys.check()?;
    let kept = keep_newest(&rows, &InKeyOrder { keys: &keys, sorted: &sorted, is_dead: &|_| false });
    Ok(Sorted { rows: if kept.rows.is_none() { live } else { kept.rows }, ..kept })
}

/// Rows in key order, some of which are not kept.
pub(crate) struct InKeyOrder<'a> {
    pub(crate) keys: &'a Keys<'a>,
    pub(crate) sorted: &'a KeyOrder,
    /// Whether the row at a position does not count.
    pub(crate) is_dead: &'a (dyn Fn(u32) -> bool + Sync),
}

impl InKeyOrder<'_> {
    fn count(&self) -> usize {
        self.keys.len() as usize
    }

    /// Returns the position of the row with this place in key order.
    #[inline]
    fn at(&self, index: usize) -> u32 {
        self.sorted.rows.as_ref().map_or(narrow(index as u64), |rows| rows[index])
    }

    /// Returns whether the row with this place in key order does not count, or has the key of a later one
    /// that does.
    fn left_out(&self, index: usize) -> LeftOut {
        let hints = &self.sorted.hints;
        // Hints that were not kept can be made again: their key is one column that holds them.
        let may_be_equal = |one: usize, two: usize| hints.is_empty() || hints[one] == hints[two];
        let is_known_equal = self.keys.is_exact() && !hints.is_empty();
        if (self.is_dead)(self.at(index)) {
            return LeftOut::Dead;
        }
        let next = (index + 1..self.count()).find(|&next| !(self.is_dead)(self.at(next)));
        let is_replaced = next.is_some_and(|next| {
            may_be_equal(index, next)
                && (is_known_equal || self.keys.compare(self.at(index), self.at(next)).is_eq())
        });
        if is_replaced { LeftOut::Replaced } else { LeftOut::No }
    }

    /// Returns the positions of the rows that count and have the key of a later one that does, in order.
    pub(crate) fn replaced(&self) -> Vec<u32> {
        let replaced =
            (0..self.count()).into_par_iter().filter(|&index| self.left_out(index) == LeftOut::Replaced);
        let mut positions: Vec<u32> = replaced.map(|index| self.at(index)).collect();
        positions.par_sort_unstable();
        positions
    }
}

/// Leaves out of rows in key order those that do not count, and of several with the same key all but the
/// last.
pub(crate) fn keep_newest(rows: &RowSet, order: &InKeyOrder) -> Sorted {
    let count = order.count();
    // Asked once for each row: where keys are equal, it reads two rows somewhere in memory.
    let left_out: Vec<LeftOut> = (0..count).into_par_iter().map(|index| order.left_out(index)).collect();
    let replaced = left_out.par_iter().filter(|&&left_out| left_out == LeftOut::Replaced).count();
    let replaced = narrow(replaced as u64);
    if order.sorted.rows.is_none() && left_out.par_iter().all(|&left_out| left_out == LeftOut::No) {
        return Sorted { rows: None, replaced };
    }
    let kept = (0..count).into_par_iter().filter(|&index| left_out[index] == LeftOut::No);
    Sorted { rows: Some(kept.map(|index| rows.at(order.at(index))).collect()), replaced }
}

/// Whether a row is left out, and why.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    No,
    Dead,
    Replaced,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::in_memory::Rows;
    use crate::schema::{Column, Kind};
    use crate::value::Value;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn schema() -> Arc<Schema> {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        let columns = vec![column("text", Kind::Bytes), column("number", Kind::U8)];
        Arc::new(Schema { name: "t".into(), columns, primary: vec![0, 1], indexes: Vec::new() })
    }

    proptest! {
        // Texts that differ only after the 8 bytes of a hint, and keys that occur several times.
        #[test]
        fn of_equal_keys_the_last_is_kept(
            rows in prop::collection::vec(prop::collection::vec((0_u8..3, 0_usize..3, 0_u8..3), 0..90), 1..4),
            dead in 0_u32..4,
        ) {
            let schema = schema();
            let text = |first: u8, behind: usize| [&[first; 9][..], &vec![7; behind * 8]].concat();
            let (mut sources, mut expected, mut live) = (Vec::new(), BTreeMap::new(), 0);
            let is_live = |row: RowRef| dead == 0 || row.row % 4 != dead;
            for (source, keys) in (0..).zip(&rows) {
                let mut made = Rows::new(&schema);
                for (row, &(first, behind, number)) in (0..).zip(keys) {
                    let text = text(first, behind);
                    made.push(&[Value::Bytes(&text), Value::U8(number)]).unwrap();
                    if is_live(RowRef { source, row }) {
                        live += 1;
                        expected.insert((text, number), RowRef { source, row });
                    }
                }
                sources.push(made);
            }
            let sources: Vec<&dyn Source> = sources.iter().map(|rows| rows as _).collect();
            let sorted = sort_by_primary(&schema, &sources, &is_live).unwrap();
            let found = match &sorted.rows {
                Some(rows) => rows.clone(),
                None => sources.iter().enumerate().flat_map(|(source, rows)| {
                    (0..rows.row_count()).map(move |row| RowRef { source: narrow(source as u64), row })
                }).collect(),
            };
            prop_assert_eq!(sorted.replaced as usize, live - expected.len());
            prop_assert_eq!(found, expected.into_values().collect::<Vec<_>>());
        }
    }
}
