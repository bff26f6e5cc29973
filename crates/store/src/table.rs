//! One table as one snapshot has it: its parts, and look-ups over all of them.
//!
//! Comes in: keys, and names of indexes. Goes out: places of live rows. Must not know files, nor how parts keep their rows.

use crate::error::{Error, Result};
use crate::iterate::RowIter;
use crate::part::{Part, check_key, check_whole_key};
use crate::schema::{IndexKind, Schema};
use crate::value::Value;
use std::ops::Bound;
use std::sync::Arc;

/// Stands for the primary key wherever an index is named. No index has this name.
pub const PRIMARY: &str = "";

/// A table as it was when its snapshot was opened. A clone costs a reference count.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) state: Arc<TableState>,
}

#[derive(Clone, Debug)]
pub(crate) struct TableState {
    pub(crate) schema: Arc<Schema>,
    /// The segments in order of arrival, then the memtable.
    pub(crate) parts: Vec<Part>,
}

/// Where a row lies, in one snapshot of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId {
    /// The number of the part in [`Table::parts`].
    pub part: u32,
    /// The number of the row in the part.
    pub row: u32,
}

impl Table {
    /// Returns the table's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.state.schema
    }

    /// Returns the parts: the segments in order of arrival, then the memtable.
    pub fn parts(&self) -> &[Part] {
        &self.state.parts
    }

    /// Returns the part that has a row.
    ///
    /// # Panics
    /// If `row` is not of this snapshot.
    pub fn part(&self, row: RowId) -> &Part {
        &self.state.parts[row.part as usize]
    }

    /// Returns one value of any column but a compressed payload.
    ///
    /// # Errors
    /// If there is no such column, it is compressed, or a file is damaged.
    pub fn value(&self, column: usize, row: RowId) -> Result<Value<'_>> {
        self.part(row).value(column, row.row)
    }

    /// Returns how many rows count.
    pub fn row_count(&self) -> u64 {
        self.parts().iter().map(|part| u64::from(part.live_count())).sum()
    }

    /// Returns a row with exactly this key of an index, or the one with this primary key ([`PRIMARY`]).
    ///
    /// # Errors
    /// If there is no such index, the key does not fit it, or a file is damaged.
    pub fn get(&self, index: &str, key: &[Value]) -> Result<Option<RowId>> {
        let Some(index) = self.index_number(index)? else { return self.primary_find(key) };
        check_whole_key(self.schema(), Some(index), key)?;
        let mut found = Vec::new();
        // The youngest part first: what was written last is asked for most.
        for (number, part) in self.numbered_parts().rev() {
            part.find(index, key, &mut found)?;
            if let Some(&row) = found.first() {
                return Ok(Some(RowId { part: number, row }));
            }
        }
        Ok(None)
    }

    fn primary_find(&self, key: &[Value]) -> Result<Option<RowId>> {
        check_whole_key(self.schema(), None, key)?;
        for (number, part) in self.numbered_parts().rev() {
            if let Some(row) = part.primary_find(key)? {
                return Ok(Some(RowId { part: number, row }));
            }
        }
        Ok(None)
    }

    /// Returns all rows with exactly this key of an index, part by part.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn find(&self, index: &str, key: &[Value]) -> Result<Vec<RowId>> {
        let Some(index) = self.index_number(index)? else {
            return Ok(self.primary_find(key)?.into_iter().collect());
        };
        check_whole_key(self.schema(), Some(index), key)?;
        let (mut rows, mut found) = (Vec::new(), Vec::new());
        for (number, part) in self.numbered_parts() {
            part.find(index, key, &mut rows)?;
            found.extend(rows.drain(..).map(|row| RowId { part: number, row }));
        }
        Ok(found)
    }

    /// Returns the rows between two keys of an ordered index, or of the primary key ([`PRIMARY`]), in key order; rows with equal keys
    /// in the order of their primary keys. An end may be the first values of a key: it then stands for all keys that begin with it.
    ///
    /// # Errors
    /// If there is no such index or it has no order, an end does not fit it, or a file is damaged.
    pub fn range(&self, index: &str, from: Bound<&[Value]>, to: Bound<&[Value]>) -> Result<RowIter<'_>> {
        let index = self.index_number(index)?;
        if let Some(index) = index.map(|index| &self.schema().indexes[index])
            && index.kind == IndexKind::Hash
        {
            let what = format!("index {} is a hash index and has no order", index.name);
            return Err(Error::schema(&self.schema().name, what));
        }
        for end in [from, to] {
            if let Bound::Included(key) | Bound::Excluded(key) = end {
                check_key(self.schema(), index, key)?;
            }
        }
        RowIter::new(&self.state, index, from, to)
    }

    fn numbered_parts(&self) -> impl DoubleEndedIterator<Item = (u32, &Part)> {
        let number = |index: usize| u32::try_from(index).expect("there are at most SEGMENTS_MAX segments");
        self.parts().iter().enumerate().map(move |(index, part)| (number(index), part))
    }

    fn index_number(&self, name: &str) -> Result<Option<usize>> {
        if name == PRIMARY {
            return Ok(None);
        }
        match self.schema().index(name) {
            Some(index) => Ok(Some(index)),
            None => Err(Error::Missing { what: "index", name: format!("{}.{name}", self.schema().name) }),
        }
    }
}
