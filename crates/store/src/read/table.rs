//! One table of a snapshot: its parts, and look-ups in all of them.
//!
//! Input: keys, and names of indexes. Output: ids of live rows. Does not depend on files or on how parts
//! store their rows.

use crate::error::{Error, Result};
use crate::read::memtable::Memtable;
use crate::read::part::{Part, RowId, check_key, check_whole_key};
use crate::read::row_iter::RowIter;
use crate::rows::in_memory::Rows;
use crate::schema::{IndexKind, Schema};
use crate::value::Value;
use std::ops::Bound;
use std::sync::Arc;

/// Names the primary key where an index is expected. No index has this name.
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

impl Table {
    /// Returns a table of rows in memory only, which answers like a table of a snapshot. Each primary key
    /// should occur once. Otherwise [`Table::get`] finds the youngest row, and all other functions find each
    /// row.
    ///
    /// Memory: 16 bytes per row for each order that is used, besides the rows.
    pub fn in_memory(rows: Rows) -> Table {
        let schema = Arc::clone(rows.schema());
        Table { state: Arc::new(TableState { schema, parts: vec![Part::in_memory(Memtable::of(rows))] }) }
    }

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

    /// Returns one value of any column except a compressed payload.
    ///
    /// # Errors
    /// If there is no such column, it is compressed, or a file is damaged.
    pub fn value(&self, column: usize, row: RowId) -> Result<Value<'_>> {
        self.part(row).value(column, row.row)
    }

    /// Returns the number of live rows.
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
        // Youngest part first: recent rows are looked up most often.
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
    /// Same as [`Table::get`].
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

    /// Returns the rows between two keys of an ordered index, or of the primary key ([`PRIMARY`]), in key
    /// order. Rows with equal keys are in the order of their primary keys. An end may be a prefix of a key,
    /// which means all keys that begin with it.
    ///
    /// # Errors
    /// If there is no such index or it is not ordered, an end does not fit it, or a file is damaged.
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
        RowIter::new(self.schema(), self.parts(), index, (from, to))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Column, Index, Kind};

    #[test]
    fn rows_in_memory_answer_as_a_table() {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        let index = |name: &str, kind| Index { name: name.into(), kind, unique: false, columns: vec![1] };
        let schema = Arc::new(Schema {
            name: "t".into(),
            columns: vec![column("a", Kind::U32), column("b", Kind::Bytes)],
            primary: vec![0],
            indexes: vec![index("ordered", IndexKind::Ordered), index("hash", IndexKind::Hash)],
        });
        let mut rows = Rows::new(&schema);
        for (a, b) in [(7, "x"), (3, "y"), (9, "x"), (1, "w")] {
            rows.push(&[Value::U32(a), Value::Bytes(b.as_bytes())]).unwrap();
        }
        let table = Table::in_memory(rows);
        let numbers = |rows: Vec<RowId>| -> Vec<Value<'_>> {
            rows.into_iter().map(|row| table.value(0, row).unwrap()).collect()
        };
        assert_eq!(table.row_count(), 4);
        let three = table.get(PRIMARY, &[Value::U32(3)]).unwrap().unwrap();
        assert_eq!(table.value(1, three).unwrap(), Value::Bytes(b"y"));
        assert_eq!(table.get(PRIMARY, &[Value::U32(4)]).unwrap(), None);
        for index in ["ordered", "hash"] {
            let found = table.find(index, &[Value::Bytes(b"x")]).unwrap();
            assert_eq!(numbers(found), [Value::U32(7), Value::U32(9)], "{index}");
        }
        let all = table.range("ordered", Bound::Unbounded, Bound::Unbounded).unwrap();
        let all = all.collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(numbers(all), [1, 7, 9, 3].map(Value::U32));
        let in_order: Vec<u32> = table.parts()[0].primary_range(&[]).unwrap().collect();
        assert_eq!(in_order, [3, 1, 0, 2]);
    }
}
