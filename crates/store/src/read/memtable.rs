//! The rows of one table that are only in the journal, with their orders.
//!
//! Input: rows, in the order of their commits. Output: rows, and their numbers in the order of the primary
//! key or of an index. Does not depend on files or dead rows.
//!
//! An order is built on first use, and maintained from then on. So opening a store builds none, and each
//! commit costs a writer little. There are few rows (those of one journal), so look-ups by a hash index use
//! an order too.

use crate::error::Result;
use crate::rows::in_memory::Rows;
use crate::schema::Schema;
use crate::value::{Value, hint, normalise};
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

/// Rows in memory, in arrival order.
#[derive(Clone, Debug)]
pub(crate) struct Memtable {
    rows: Rows,
    /// The primary key's, then that of each index.
    orders: Vec<OnceLock<Vec<OrderEntry>>>,
}

/// A row in an order.
#[derive(Clone, Copy, Debug)]
struct OrderEntry {
    hint: u64,
    row: u32,
}

impl Memtable {
    pub(crate) fn new(schema: &Arc<Schema>) -> Memtable {
        Memtable::of(Rows::new(schema))
    }

    /// Takes rows as they are.
    pub(crate) fn of(rows: Rows) -> Memtable {
        let orders = (0..=rows.schema().indexes.len()).map(|_| OnceLock::new()).collect();
        Memtable { rows, orders }
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Appends `rows`.
    ///
    /// # Errors
    /// If there would be too many rows. Then nothing is appended.
    pub(crate) fn append(&mut self, rows: &Rows) -> Result<()> {
        let first = self.rows.len();
        self.rows.append(rows)?;
        for (slot, order) in self.orders.iter_mut().enumerate() {
            if let Some(order) = order.get_mut() {
                add_to_order(&self.rows, slot, first, order);
            }
        }
        Ok(())
    }

    /// Returns the row at `position` of the order by an index, or by the primary key if there is none.
    pub(crate) fn row_at(&self, index: Option<usize>, position: u32) -> Option<u32> {
        self.order(index).get(position as usize).map(|entry| entry.row)
    }

    /// Returns how many rows at the beginning of the order by an index, or by the primary key, satisfy
    /// `is_before`.
    pub(crate) fn partition_point(&self, index: Option<usize>, is_before: impl Fn(u32) -> bool) -> u32 {
        let count = self.order(index).partition_point(|entry| is_before(entry.row));
        u32::try_from(count).expect("there are at most as many places as rows")
    }

    fn order(&self, index: Option<usize>) -> &[OrderEntry] {
        let slot = index.map_or(0, |index| index + 1);
        self.orders[slot].get_or_init(|| {
            let mut order = Vec::new();
            add_to_order(&self.rows, slot, 0, &mut order);
            order
        })
    }
}

/// Adds the rows from number `first` on to `order`.
fn add_to_order(rows: &Rows, slot: usize, first: u32, order: &mut Vec<OrderEntry>) {
    let schema = rows.schema();
    let columns = slot.checked_sub(1).map_or(&schema.primary, |index| &schema.indexes[index].columns);
    let mut normalised = Vec::new();
    let mut key: Vec<Value> = Vec::new();
    order.extend((first..rows.len()).map(|row| {
        key.clear();
        key.extend(columns.iter().map(|&column| rows.value(usize::from(column), row)));
        normalised.clear();
        normalise(&key, columns.len(), &mut normalised);
        OrderEntry { hint: hint(&normalised), row }
    }));
    let compare = |left: &OrderEntry, right: &OrderEntry| {
        left.hint.cmp(&right.hint).then_with(|| compare_rows(rows, columns, left.row, right.row))
    };
    // A stable sort finds runs that are already in order; the old content is one.
    order.sort_by(compare);
}

/// Orders rows by some columns, then by the primary key, then by age.
fn compare_rows(rows: &Rows, columns: &[u16], left: u32, right: u32) -> Ordering {
    let mut unequal = columns.iter().chain(&rows.schema().primary).map(|&column| {
        let column = usize::from(column);
        rows.value(column, left).cmp(&rows.value(column, right))
    });
    unequal.find(|order| order.is_ne()).unwrap_or_else(|| left.cmp(&right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Column, Index, IndexKind, Kind};
    use proptest::prelude::*;

    fn schema() -> Arc<Schema> {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        Arc::new(Schema {
            name: "t".into(),
            columns: vec![column("a", Kind::U32), column("b", Kind::Bytes)],
            primary: vec![0],
            indexes: vec![Index {
                name: "b".into(),
                kind: IndexKind::Ordered,
                unique: false,
                columns: vec![1],
            }],
        })
    }

    fn rows(list: &[(u32, Vec<u8>)]) -> Rows {
        let mut rows = Rows::new(&schema());
        for (a, b) in list {
            rows.push(&[Value::U32(*a), Value::Bytes(b)]).unwrap();
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn orders_asked_for_early_and_late_are_the_same(
            list in prop::collection::vec((0_u32..50, prop::collection::vec(0_u8..2, 0..12)), 0..60),
            split in 0_usize..60,
        ) {
            let split = split.min(list.len());
            let mut memtable = Memtable::new(&schema());
            memtable.append(&rows(&list[..split])).unwrap();
            let early = memtable.row_at(None, 0).is_some();
            prop_assert_eq!(early, split > 0);
            memtable.row_at(Some(0), 0);
            memtable.append(&rows(&list[split..])).unwrap();
            for (index, by_b) in [(None, false), (Some(0), true)] {
                let mut expected: Vec<u32> = (0..memtable.rows().len()).collect();
                let key = |row: u32| {
                    let (a, b) = &list[row as usize];
                    (by_b.then_some(b), *a, row)
                };
                expected.sort_by_key(|&row| key(row));
                let found: Vec<u32> = (0..).map_while(|position| memtable.row_at(index, position)).collect();
                prop_assert_eq!(found, expected);
            }
            let before = memtable.partition_point(None, |row| list[row as usize].0 < 25);
            prop_assert_eq!(before as usize, list.iter().filter(|(a, _)| *a < 25).count());
        }
    }
}
