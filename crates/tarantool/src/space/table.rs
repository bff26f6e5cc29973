//! A space as a table of the store, and its tuples as rows.
//!
//! Input: a [`Space`], then its tuples. Output: a schema, and the values of the key columns of each tuple.
//! Does not know where rows are kept.
//!
//! The table `space_<id>` has a column for each part of a key, in the order of the tuple's fields; then, if
//! there is no usable primary key, `arrival`, which counts rows in order of arrival; then `tuple`, the whole
//! msgpack.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::definition::{Part, Space, SpaceIndex};
use super::entries::{EntryShape, EntryTable};
use crate::json_path;
use crate::key::{normalise_missing, normalise_part};
use crate::msgpack::{Reader, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::limits::{COLUMNS_MAX, INDEXES_MAX, KEY_COLUMNS_MAX, NAME_BYTES_MAX};
use store::{Column, Index, IndexKind, Kind, Schema, Value};

/// The name of the column with the whole tuple.
pub const TUPLE: &str = "tuple";
/// The name of the column with the number of arrival.
pub const ARRIVAL: &str = "arrival";
/// The most key columns of a table: the store's limit, less the two columns that are not keys.
const KEYS_MAX: usize = COLUMNS_MAX - 2;

/// A space as a table of the store.
#[derive(Clone, Debug)]
pub struct SpaceTable {
    /// The number of the space.
    pub id: u32,
    /// The table.
    pub schema: Arc<Schema>,
    /// How a tuple becomes a row.
    pub shape: TupleShape,
    /// The usable indexes, the primary key first.
    pub indexes: Vec<TableIndex>,
    /// What could not be represented, one line each.
    pub remarks: Vec<String>,
    /// The names of the indexes that are left out, each with the remark about it.
    left_out: Vec<(String, String)>,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// Its number in Tarantool; 0 is the primary key.
    pub iid: u32,
    /// Its name in Tarantool.
    pub name: String,
    /// Its name in the store; [`store::PRIMARY`] for the primary key, and for one with a table of its own.
    pub store_name: String,
    /// The parts of its key.
    pub parts: Vec<Part>,
    /// The table with its entries, unless each row of the space is one.
    pub entries: Option<Arc<EntryTable>>,
}

/// How the values of a table's columns are taken from a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TupleShape {
    /// The key columns, in the order of the tuple's fields.
    columns: Vec<Part>,
    /// The same columns, if all of them are plain numbers and text in separate fields.
    plain: Option<Vec<PlainStep>>,
    /// Indexes whose entries must be found in each tuple.
    entries: Vec<EntryShape>,
    has_arrival: bool,
}

/// One step of the walk over a tuple with plain columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlainStep {
    /// The number of fields between the previous column's field and this one.
    skipped: u32,
    is_string: bool,
}

/// Returns the name of a space's table.
pub fn table_name(id: u32) -> String {
    format!("space_{id}")
}

/// Returns the number of the space whose table this is.
pub fn space_of_table(name: &str) -> Option<u32> {
    name.strip_prefix("space_")?.parse().ok()
}

impl SpaceTable {
    /// Makes a table for a space. The remarks list what cannot be represented.
    pub fn new(space: &Space) -> SpaceTable {
        let why = |index: &SpaceIndex| {
            index.left_out.as_ref().map(|why| (index.name.clone(), space.left_out(index, why)))
        };
        let mut left_out: Vec<(String, String)> = space.indexes.iter().filter_map(why).collect();
        let usable = usable_indexes(space, &mut left_out);
        let columns: BTreeSet<&Part> = usable.rows.iter().flat_map(|index| &index.parts).collect();
        let columns: Vec<Part> = columns.into_iter().cloned().collect();
        let has_primary = usable.rows.first().is_some_and(|index| index.iid == 0);
        let mut shape = TupleShape::new(columns, !has_primary);
        let mut schema = Schema {
            name: table_name(space.id),
            columns: shape.schema_columns(),
            primary: vec![shape.narrow(shape.columns.len())],
            indexes: Vec::new(),
        };
        let mut indexes = Vec::new();
        for index in usable.rows {
            indexes.push(add_index(&mut schema, index, &shape));
        }
        for (index, entry_shape) in usable.entries {
            match EntryTable::new(space.id, index, entry_shape, &schema) {
                Some(entries) => indexes.push(entry_index(index, entries)),
                None => left_out.push(too_large(space, index)),
            }
        }
        indexes.sort_by_key(|index| index.iid);
        let entries = indexes.iter().filter_map(|index| index.entries.as_ref());
        shape.find_entries(entries.map(|entries| entries.shape.clone()).collect());
        let remarks = left_out.iter().map(|(_, remark)| remark.clone()).collect();
        SpaceTable { id: space.id, schema: Arc::new(schema), shape, indexes, remarks, left_out }
    }

    /// Returns the index with this name in Tarantool.
    pub fn index(&self, name: &str) -> Option<&TableIndex> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Returns the remark about the index with this name, if it is left out.
    pub fn left_out(&self, name: &str) -> Option<&str> {
        self.left_out.iter().find(|(left_out, _)| left_out == name).map(|(_, remark)| remark.as_str())
    }

    /// Returns whether an index sorts text by a collation.
    pub fn has_collation(&self) -> bool {
        self.indexes.iter().flat_map(|index| &index.parts).any(|part| part.kind.collation.is_some())
    }

    /// Returns the primary key, unless rows are kept in order of arrival.
    pub fn primary(&self) -> Option<&TableIndex> {
        self.indexes.first().filter(|index| index.iid == 0)
    }
}

/// The indexes that can be represented, by number.
#[derive(Default)]
struct Usable<'a> {
    /// Those with one entry for each row.
    rows: Vec<&'a SpaceIndex>,
    /// The others.
    entries: Vec<(&'a SpaceIndex, EntryShape)>,
}

/// Returns the indexes that can be represented. Adds those that only the store's limits exclude to
/// `left_out`.
fn usable_indexes<'a>(space: &'a Space, left_out: &mut Vec<(String, String)>) -> Usable<'a> {
    let mut usable = Usable::default();
    let mut columns = BTreeSet::new();
    for index in space.indexes.iter().filter(|index| !index.parts.is_empty()) {
        if let Ok(Some(shape)) = EntryShape::new(index) {
            match usable.entries.len() < INDEXES_MAX {
                true => usable.entries.push((index, shape)),
                false => left_out.push(too_large(space, index)),
            }
            continue;
        }
        let new = index.parts.iter().filter(|part| !columns.contains(part)).count();
        let fits = index.parts.len() <= KEY_COLUMNS_MAX
            && columns.len().saturating_add(new) <= KEYS_MAX
            && usable.rows.len() < INDEXES_MAX;
        if fits {
            columns.extend(&index.parts);
            usable.rows.push(index);
        } else {
            left_out.push(too_large(space, index));
        }
    }
    usable
}

fn too_large(space: &Space, index: &SpaceIndex) -> (String, String) {
    (index.name.clone(), space.left_out(index, "has too many parts, or is one of too many"))
}

fn entry_index(index: &SpaceIndex, entries: EntryTable) -> TableIndex {
    TableIndex {
        iid: index.iid,
        name: index.name.clone(),
        store_name: store::PRIMARY.to_owned(),
        parts: index.parts.clone(),
        entries: Some(Arc::new(entries)),
    }
}

fn add_index(schema: &mut Schema, index: &SpaceIndex, shape: &TupleShape) -> TableIndex {
    let column = |part: &Part| {
        let place = shape.columns.iter().position(|column| column == part);
        shape.narrow(place.expect("the columns are those of all parts"))
    };
    let columns: Vec<u16> = index.parts.iter().map(column).collect();
    let name = store_name(schema, index);
    if index.iid == 0 {
        schema.primary.clone_from(&columns);
    }
    if index.iid != 0 || index.is_hash {
        // Even if the index is unique, rows with nil in a part may share a key, and so may texts that the ICU
        // of Tarantool's machine tells apart and ICU4X does not.
        let may_repeat = |part: &Part| part.kind.is_nullable || part.kind.collation.is_some();
        let unique = index.is_unique && !index.parts.iter().any(may_repeat);
        let kind = if index.is_hash { IndexKind::Hash } else { IndexKind::Ordered };
        schema.indexes.push(Index { name: name.clone(), kind, unique, columns });
    }
    let store_name = if index.iid == 0 { store::PRIMARY.to_owned() } else { name };
    let (name, parts) = (index.name.clone(), index.parts.clone());
    TableIndex { iid: index.iid, name, store_name, parts, entries: None }
}

/// Returns a name that the store accepts and that no other index has: the index's own name if possible.
fn store_name(schema: &Schema, index: &SpaceIndex) -> String {
    let is_good =
        (1..=NAME_BYTES_MAX).contains(&index.name.len()) && !index.name.chars().any(char::is_control);
    let mut name = if is_good { index.name.clone() } else { format!("index_{}", index.iid) };
    while schema.index(&name).is_some() {
        name = format!("index_{}_{}", index.iid, schema.indexes.len());
    }
    name
}

impl TupleShape {
    fn new(columns: Vec<Part>, has_arrival: bool) -> TupleShape {
        let plain = plain_steps(&columns);
        TupleShape { columns, plain, entries: Vec::new(), has_arrival }
    }

    /// Sets the indexes whose entries must be found in each tuple. Tuples in which they are not are refused.
    fn find_entries(&mut self, entries: Vec<EntryShape>) {
        if !entries.is_empty() {
            self.plain = None;
        }
        self.entries = entries;
    }

    /// Returns how many key columns there are. They are the table's first.
    pub fn key_columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of the column with the number of arrival, if there is one. The caller has to fill
    /// it with increasing numbers.
    pub fn arrival_column(&self) -> Option<usize> {
        self.has_arrival.then_some(self.columns.len())
    }

    /// Returns the number of the column with the whole tuple: the last one.
    pub fn tuple_column(&self) -> usize {
        self.columns.len().saturating_add(usize::from(self.has_arrival))
    }

    fn schema_columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = (0..)
            .zip(&self.columns)
            .map(|(number, part)| {
                let kind = if part.kind.is_plain_unsigned() { Kind::U64 } else { Kind::Bytes };
                Column { name: format!("key_{number}"), kind }
            })
            .collect();
        if self.has_arrival {
            columns.push(Column { name: ARRIVAL.to_owned(), kind: Kind::U64 });
        }
        columns.push(Column { name: TUPLE.to_owned(), kind: Kind::Bytes });
        columns
    }

    fn narrow(&self, column: usize) -> u16 {
        u16::try_from(column).expect("there are at most COLUMNS_MAX columns")
    }

    /// Walks once over the tuple at the reader's position, and passes the values of the key columns to `take`
    /// in order. `buffer` saves an allocation per tuple.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a key. Some values may have been passed already.
    #[inline]
    pub fn take_keys(
        &self,
        reader: &mut Reader,
        buffer: &mut Vec<u8>,
        mut take: impl FnMut(usize, Value<'_>),
    ) -> Result<()> {
        let tuple = *reader;
        let count = reader.array_len()?;
        match &self.plain {
            Some(steps) => take_plain(steps, count, reader, take),
            None => {
                for entries in &self.entries {
                    entries.keys(tuple)?;
                }
                self.take_any(count, reader, buffer, &mut take)
            }
        }
    }

    fn take_any(
        &self,
        count: u32,
        reader: &mut Reader,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(usize, Value<'_>),
    ) -> Result<()> {
        let mut field = 0;
        for (number, column) in self.columns.iter().enumerate() {
            let wanted = column.field.min(count);
            reader.skip_many(u64::from(wanted.saturating_sub(field)))?;
            field = wanted;
            let value = if wanted < count { json_path::follow(*reader, &column.path)? } else { None };
            buffer.clear();
            match value {
                Some(mut value) if column.kind.is_plain_unsigned() => take(number, Value::U64(value.uint()?)),
                Some(mut value) => {
                    normalise_part(&mut value, &column.kind, buffer)?;
                    take(number, Value::Bytes(buffer));
                }
                None => {
                    normalise_missing(reader, &column.kind, buffer)?;
                    take(number, Value::Bytes(buffer));
                }
            }
        }
        reader.skip_many(u64::from(count.saturating_sub(field)))?;
        Ok(())
    }
}

/// Returns the steps of a walk over plain columns, or none if a column is not plain.
fn plain_steps(columns: &[Part]) -> Option<Vec<PlainStep>> {
    let mut steps = Vec::with_capacity(columns.len());
    let mut next = 0_u32;
    for column in columns {
        let is_plain = column.kind.is_plain_unsigned() || column.kind.is_plain_string();
        if !is_plain || !column.path.is_empty() || column.field < next {
            return None;
        }
        steps.push(PlainStep {
            skipped: column.field.saturating_sub(next),
            is_string: column.kind.is_plain_string(),
        });
        next = column.field.checked_add(1)?;
    }
    Some(steps)
}

/// The walk for nearly all tuples of nearly all spaces.
#[inline]
fn take_plain(
    steps: &[PlainStep],
    count: u32,
    reader: &mut Reader,
    mut take: impl FnMut(usize, Value<'_>),
) -> Result<()> {
    let mut left = count;
    for (number, step) in steps.iter().enumerate() {
        match left.checked_sub(step.skipped).and_then(|left| left.checked_sub(1)) {
            Some(rest) => left = rest,
            None => return Err(reader.damage("a tuple lacks a field of a key")),
        }
        if step.skipped > 0 {
            reader.skip_many(u64::from(step.skipped))?;
        }
        if step.is_string {
            take(number, Value::Bytes(reader.str()?));
        } else {
            take(number, Value::U64(reader.uint()?));
        }
    }
    if left > 0 {
        reader.skip_many(u64::from(left))?;
    }
    Ok(())
}
