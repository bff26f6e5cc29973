//! One of the two tables that are compared: its rows in the order of the primary key, by place.
//!
//! A table that is one sealed segment is in that order already. Of any other the order is made first, 8 bytes
//! a row.

use crate::error::Result;
use crate::space::table::SpaceTable;
use std::cmp::Ordering;
use std::ops::Bound;
use store::{BytesSlice, ColumnSlice, Offsets, PRIMARY, Part, RowId, Table, Value};

/// The rows of a table in the order of a key.
pub(super) struct Side<'t> {
    parts: Vec<PartColumns<'t>>,
    order: RowOrder,
    count: usize,
}

/// The order of the rows.
enum RowOrder {
    /// As they are in the only part.
    AsIs,
    Rows(Vec<RowId>),
}

/// The columns of a part of the table.
struct PartColumns<'t> {
    keys: Vec<ColumnSlice<'t>>,
    tuples: BytesSlice<'t>,
}

impl<'t> Side<'t> {
    /// Takes a table that was opened. With `by_tuple`, rows are in the order of their tuples' bytes, which
    /// are then the key.
    pub(super) fn new(table: &'t Table, shape: &SpaceTable, by_tuple: bool) -> Result<Side<'t>> {
        let schema = table.schema();
        let tuple_column = shape.shape.tuple_column();
        let columns = |part: &'t Part| -> Result<PartColumns<'t>> {
            let keys = match by_tuple {
                true => Vec::new(),
                false => schema
                    .primary
                    .iter()
                    .map(|&column| part.column(usize::from(column)))
                    .collect::<store::Result<_>>()?,
            };
            let ColumnSlice::Bytes(tuples) = part.column(tuple_column)? else {
                unreachable!("the schema says that it holds bytes");
            };
            Ok(PartColumns { keys, tuples })
        };
        let parts = table.parts().iter().map(columns).collect::<Result<Vec<_>>>()?;
        let is_one = match table.parts() {
            [segment, memtable] => !segment.has_dead() && memtable.row_count() == 0,
            _ => false,
        };
        let mut side = Side { order: RowOrder::AsIs, count: 0, parts };
        if is_one && !by_tuple {
            side.count = side.parts.first().map_or(0, PartColumns::tuples_count);
            return Ok(side);
        }
        let all = table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)?;
        let mut rows = all.collect::<store::Result<Vec<RowId>>>()?;
        if by_tuple {
            rows.sort_by(|&one, &two| side.tuple_of(one).cmp(side.tuple_of(two)));
        }
        side.count = rows.len();
        side.order = RowOrder::Rows(rows);
        Ok(side)
    }

    /// Returns a side without rows.
    pub(super) fn empty() -> Side<'t> {
        Side { parts: Vec::new(), order: RowOrder::AsIs, count: 0 }
    }

    /// Returns how many rows there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn row(&self, place: usize) -> RowId {
        match &self.order {
            RowOrder::AsIs => RowId { part: 0, row: u32::try_from(place).unwrap_or(u32::MAX) },
            RowOrder::Rows(rows) => rows[place],
        }
    }

    fn tuple_of(&self, row: RowId) -> &'t [u8] {
        // A store was verified when its column was taken; offsets that are out of order give no bytes.
        self.parts[row.part as usize].tuples.get(row.row).unwrap_or_default()
    }

    /// Returns the tuple at a place.
    #[inline]
    pub(super) fn tuple(&self, place: usize) -> &'t [u8] {
        self.tuple_of(self.row(place))
    }

    fn key(&self, place: usize) -> impl Iterator<Item = Value<'t>> + '_ {
        let row = self.row(place);
        let keys = &self.parts[row.part as usize].keys;
        keys.iter().map(move |column| column.value(row.row).unwrap_or(Value::Bytes(&[])))
    }

    /// Compares the key at a place with that at a place of the other side.
    #[inline]
    pub(super) fn compare(&self, place: usize, other: &Side, other_place: usize) -> Ordering {
        let (row, other_row) = (self.row(place), other.row(other_place));
        let (part, other_part) = (&self.parts[row.part as usize], &other.parts[other_row.part as usize]);
        if let ([ColumnSlice::U64(one)], [ColumnSlice::U64(two)]) =
            (part.keys.as_slice(), other_part.keys.as_slice())
        {
            return one[row.row as usize].cmp(&two[other_row.row as usize]);
        }
        if part.keys.is_empty() {
            return self.tuple(place).cmp(other.tuple(other_place));
        }
        self.key(place).cmp(other.key(other_place))
    }

    /// Returns how many rows from a place on are the same as those of the other side, as far as that can be
    /// seen at once: at most `count`. Tuples lie one after another, so all of them are one piece of bytes.
    pub(super) fn same_run(&self, place: usize, other: &Side, other_place: usize, count: usize) -> usize {
        let (RowOrder::AsIs, RowOrder::AsIs) = (&self.order, &other.order) else { return 0 };
        let (Some(part), Some(other_part)) = (self.parts.first(), other.parts.first()) else { return 0 };
        let (Some(bytes), Some(other_bytes)) =
            (part.piece(place, count), other_part.piece(other_place, count))
        else {
            return 0;
        };
        let same = same_bytes(bytes, other_bytes) as u64;
        if same == bytes.len() as u64 && bytes.len() == other_bytes.len() {
            return count;
        }
        // The first tuples that lie within the same bytes.
        let start = part.start(place);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if part.start(place + middle + 1) - start <= same { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl<'t> PartColumns<'t> {
    fn tuples_count(&self) -> usize {
        match &self.tuples.offsets {
            Offsets::Small(offsets) => offsets.len().saturating_sub(1),
            Offsets::Large(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Returns where the tuple at a place begins; for the place after the last one, where that ends.
    #[inline]
    fn start(&self, place: usize) -> u64 {
        match &self.tuples.offsets {
            Offsets::Small(offsets) => offsets.get(place).map_or(u64::MAX, |&start| u64::from(start)),
            Offsets::Large(offsets) => offsets.get(place).copied().unwrap_or(u64::MAX),
        }
    }

    fn piece(&self, place: usize, count: usize) -> Option<&'t [u8]> {
        let start = usize::try_from(self.start(place)).ok()?;
        let end = usize::try_from(self.start(place + count)).ok()?;
        self.tuples.blob.get(start..end)
    }
}

/// Returns how many first bytes of two pieces are the same.
fn same_bytes(one: &[u8], two: &[u8]) -> usize {
    const STEP: usize = 4096;
    const SMALL_STEP: usize = 64;
    let end = one.len().min(two.len());
    let (one, two) = (&one[..end], &two[..end]);
    let mut at = 0;
    for step in [STEP, SMALL_STEP, 1] {
        while at + step <= end && one[at..at + step] == two[at..at + step] {
            at += step;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::same_bytes;

    #[test]
    fn the_first_byte_that_differs_is_found() {
        let one = vec![7_u8; 20_000];
        for at in [0, 1, 63, 64, 4095, 4096, 9999, 19_999] {
            let mut two = one.clone();
            two[at] = 8;
            assert_eq!(same_bytes(&one, &two), at);
            assert_eq!(same_bytes(&one, &one[..at]), at);
        }
    }
}
