//! Looks up many primary keys in one part.
//!
//! Input: keys in ascending order. Output: the live rows that have them. Does not depend on why they are
//! looked up.

use crate::error::Result;
use crate::read::part::{Part, key_columns};
use crate::rows::column::ColumnSlice;
use crate::rows::source::{RowRef, Source};
use crate::schema::Schema;
use crate::value::Value;
use std::cmp::Ordering;

/// The most keys that are looked up one by one. More are looked up in one pass over the part.
const SINGLE_LOOKUPS_MAX: usize = 8;

/// The primary keys of rows in several sources.
pub(crate) struct PrimaryKeys<'a> {
    /// By source, then by column of the key.
    columns: Vec<Vec<ColumnSlice<'a>>>,
}

impl<'a> PrimaryKeys<'a> {
    pub(crate) fn new(schema: &Schema, sources: &[&'a dyn Source]) -> Result<PrimaryKeys<'a>> {
        let of_source = |source: &&'a dyn Source| {
            schema.primary.iter().map(|&column| source.column(usize::from(column))).collect()
        };
        Ok(PrimaryKeys { columns: sources.iter().map(of_source).collect::<Result<_>>()? })
    }

    pub(crate) fn get(&self, place: RowRef, key: &mut Vec<Value<'a>>) {
        key.clear();
        key.extend(self.values(place));
    }

    pub(crate) fn compare(&self, place: RowRef, key: &[Value]) -> Ordering {
        self.values(place).cmp(key.iter().copied())
    }

    fn values(&self, place: RowRef) -> impl Iterator<Item = Value<'a>> {
        let columns = &self.columns[place.source as usize];
        columns.iter().map(move |column| column.value(place.row).expect("rows in memory are whole"))
    }
}

/// Looks up keys that are given in ascending order.
pub(crate) struct Finder<'a> {
    part: &'a Part,
    is_pass: bool,
    /// All keys before this position are smaller than any key still to come.
    position: u32,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(part: &'a Part, key_count: usize) -> Finder<'a> {
        Finder { part, is_pass: key_count > SINGLE_LOOKUPS_MAX, position: 0 }
    }

    /// Returns whether all keys of the part are smaller than any key still to come.
    pub(crate) fn is_at_end(&self) -> bool {
        self.position == self.part.row_count()
    }

    /// Returns the live row with this key.
    pub(crate) fn find(&mut self, key: &[Value]) -> Result<Option<u32>> {
        if !self.is_pass {
            return self.part.primary_find(key);
        }
        let before = self.position;
        self.skip_to_behind(key)?;
        // Otherwise the row before this position was not greater than the previous key, which is smaller
        // than this one.
        let Some(last) = self.position.checked_sub(1).filter(|_| self.position > before) else {
            return Ok(None);
        };
        // Of several rows with one key only the last one, the youngest, can be live.
        let row = self.part.row_at(None, last)?;
        let is_it = !self.part.is_dead(row) && self.compare(last, key)?.is_eq();
        Ok(is_it.then_some(row))
    }

    /// Moves past the last key that is not greater than `key`, in steps that double. Distant keys cost few
    /// comparisons, and near ones one or two.
    fn skip_to_behind(&mut self, key: &[Value]) -> Result<()> {
        let end = self.part.row_count();
        let (mut from, mut to, mut step) = (self.position, self.position, 1_u32);
        while to < end && self.compare(to, key)?.is_le() {
            from = to + 1;
            to = to.saturating_add(step);
            step = step.saturating_mul(2);
        }
        to = to.min(end);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.compare(middle, key)?.is_le() {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        self.position = from;
        Ok(())
    }

    fn compare(&self, position: u32, key: &[Value]) -> Result<Ordering> {
        let columns = key_columns(self.part.schema(), None);
        self.part.compare(columns, self.part.row_at(None, position)?, key)
    }
}
