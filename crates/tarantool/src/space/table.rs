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
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// Its number in Tarantool; 0 is the primary key.
    pub iid: u32,
    /// Its name in Tarantool.
    pub name: String,
    /// Its name in the store; [`store::PRIMARY`] for the primary key.
    pub store_name: String,
    /// The parts of its key.
    pub parts: Vec<Part>,
}

/// How the values of a table's columns are taken from a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TupleShape {
    /// The key columns, in the order of the tuple's fields.
    columns: Vec<Part>,
    /// The same columns, if all of them are plain numbers and text in separate fields.
    plain: Option<Vec<PlainStep>>,
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
        let mut remarks = space.remarks();
        let usable = usable_indexes(space, &mut remarks);
        let columns: BTreeSet<&Part> = usable.iter().flat_map(|index| &index.parts).collect();
        let columns: Vec<Part> = columns.into_iter().cloned().collect();
        let has_primary = usable.first().is_some_and(|index| index.iid == 0);
        let shape = TupleShape::new(columns, !has_primary);
        let mut schema = Schema {
            name: table_name(space.id),
            columns: shape.schema_columns(),
            primary: vec![shape.narrow(shape.columns.len())],
            indexes: Vec::new(),
        };
        let mut indexes = Vec::new();
        for index in usable {
            indexes.push(add_index(&mut schema, index, &shape));
        }
        SpaceTable { id: space.id, schema: Arc::new(schema), shape, indexes, remarks }
    }

    /// Returns the index with this name in Tarantool.
    pub fn index(&self, name: &str) -> Option<&TableIndex> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Returns the primary key, unless rows are kept in order of arrival.
    pub fn primary(&self) -> Option<&TableIndex> {
        self.indexes.first().filter(|index| index.iid == 0)
    }
}

/// Returns the indexes that can be represented, by number. Adds a remark for each index that only the store's
/// limits exclude.
fn usable_indexes<'a>(space: &'a Space, remarks: &mut Vec<String>) -> Vec<&'a SpaceIndex> {
    let mut usable: Vec<&SpaceIndex> = Vec::new();
    let mut columns = BTreeSet::new();
    for index in space.indexes.iter().filter(|index| !index.parts.is_empty()) {
        let new = index.parts.iter().filter(|part| !columns.contains(part)).count();
        let fits = index.parts.len() <= KEY_COLUMNS_MAX
            && columns.len().saturating_add(new) <= KEYS_MAX
            && usable.len() < INDEXES_MAX;
        if fits {
            columns.extend(&index.parts);
            usable.push(index);
        } else {
            remarks.push(format!(
                "space {} ({}): index {} has too many parts, or is one of too many: it is left out",
                space.name, space.id, index.name
            ));
        }
    }
    usable
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
        // Rows with nil in a part may share a key, even if the index is unique.
        let unique = index.is_unique && !index.parts.iter().any(|part| part.kind.is_nullable);
        let kind = if index.is_hash { IndexKind::Hash } else { IndexKind::Ordered };
        schema.indexes.push(Index { name: name.clone(), kind, unique, columns });
    }
    let store_name = if index.iid == 0 { store::PRIMARY.to_owned() } else { name };
    TableIndex { iid: index.iid, name: index.name.clone(), store_name, parts: index.parts.clone() }
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
        TupleShape { columns, plain, has_arrival }
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
        let count = reader.array_len()?;
        match &self.plain {
            Some(steps) => take_plain(steps, count, reader, take),
            None => self.take_any(count, reader, buffer, &mut take),
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
                    normalise_part(&mut value, column.kind, buffer)?;
                    take(number, Value::Bytes(buffer));
                }
                None => {
                    normalise_missing(reader, column.kind, buffer)?;
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
