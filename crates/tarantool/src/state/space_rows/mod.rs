//! The rows of one space: those of the snapshot, and the changes of logs to them.
//!
//! Input: tuples to put, keys to delete. Output: the tuple of a key, and finally all rows. Does not know
//! transactions, or the meaning of spaces.
//!
//! A row of a log is always appended. For each key that logs put, a hash table has the number of the row that
//! counts; keys are compared in place. The row that counted before is marked dead: no key ever has two rows.
//! When dead rows take more memory than all others and more than [`DEAD_BYTES_MIN`], the others are copied
//! and renumbered, so memory grows with the rows that exist and not with the number of changes.

use super::batch::{Batches, split};
use super::key_table::KeyTable;
use crate::error::Damage;
use crate::key::normalise_part;
use crate::msgpack::Reader;
use crate::space::Space;
use crate::space::table::{SpaceTable, TableIndex};
use std::sync::Arc;
use store::{Loaded, OwnedValue, PRIMARY, RowRef, Rows, Value, hash_key};

/// The rows of one space.
pub(super) struct SpaceRows {
    pub(super) space: Space,
    pub(super) table: SpaceTable,
    base: Option<Loaded>,
    base_dead: Vec<RowRef>,
    put: Batches,
    /// One bit for each row in `put`.
    dead: Vec<u64>,
    by_key: KeyTable,
    /// Rows that are not in `by_key` yet. Their slots are being prefetched.
    coming: Vec<Coming>,
    /// Fields that hold only floating-point numbers of 64 bits.
    pub(super) double_fields: Vec<u32>,
    /// [`DEAD_BYTES_MIN`]; less in tests.
    dead_bytes_min: usize,
    /// When `put` has this many bytes, its dead rows are counted again.
    count_at_bytes: usize,
}

/// A row that was put, and whose key was not looked up yet.
#[derive(Clone, Copy)]
struct Coming {
    hash: u32,
    row: u32,
    before: Before,
}

/// How many slots are prefetched before the first one is used.
const COMING_MAX: usize = 32;
/// Dead rows of logs may always take this many bytes.
const DEAD_BYTES_MIN: usize = 256 << 20;

/// The rows of a space after all logs.
#[derive(Debug)]
pub struct FinishedSpace {
    /// The latest definition of the space.
    pub space: Space,
    /// Its table.
    pub table: SpaceTable,
    /// Its rows in order of arrival.
    pub batches: Vec<Rows>,
    /// The dead ones among them, by batch.
    pub dead: Vec<RowRef>,
}

/// A row that counts. Valid until the next row is put.
#[derive(Clone, Copy)]
pub(super) enum Found {
    InBase(RowRef),
    Put(u32),
}

/// Whether a key may be in the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It is not: Tarantool checked.
    Nothing,
    /// It may be.
    Perhaps,
}

impl SpaceRows {
    pub(super) fn new(space: Space, base: Option<Loaded>) -> SpaceRows {
        let table = SpaceTable::new(&space);
        let arrived = base.as_ref().map_or(0, Loaded::row_count);
        let base_dead = base.as_ref().map(Loaded::dead_rows).unwrap_or_default();
        let double_fields = double_fields(&space);
        SpaceRows {
            space,
            table,
            base,
            base_dead,
            put: Batches::new(arrived),
            dead: Vec::new(),
            by_key: KeyTable::default(),
            coming: Vec::with_capacity(COMING_MAX),
            double_fields,
            dead_bytes_min: DEAD_BYTES_MIN,
            count_at_bytes: DEAD_BYTES_MIN,
        }
    }

    /// Changes the definition. Rows are rebuilt from their tuples if their keys change.
    ///
    /// # Errors
    /// If a tuple lacks a key; a row is too large for a store.
    pub(super) fn redefine(&mut self, space: Space) -> Result<(), Damage> {
        let table = SpaceTable::new(&space);
        if table.schema == self.table.schema && table.shape == self.table.shape {
            self.double_fields = double_fields(&space);
            (self.space, self.table) = (space, table);
            return Ok(());
        }
        let mut anew = SpaceRows::new(space, None);
        self.each_tuple(|tuple| anew.put(tuple, Before::Nothing))?;
        *self = anew;
        Ok(())
    }

    /// Removes all rows.
    pub(super) fn truncate(&mut self) {
        *self = SpaceRows::new(self.space.clone(), None);
    }

    /// Puts a tuple, replacing any tuple with the same key.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a key.
    pub(super) fn put(&mut self, tuple: &[u8], before: Before) -> Result<(), Damage> {
        if self.put.bytes() >= self.count_at_bytes {
            self.drop_dead();
        }
        let row = self.append(tuple)?;
        if self.table.shape.arrival_column().is_some() {
            return Ok(());
        }
        let hash = self.hash_of_row(row);
        self.by_key.prefetch(hash);
        self.coming.push(Coming { hash, row, before });
        if self.coming.len() >= COMING_MAX {
            self.settle();
        }
        Ok(())
    }

    /// Appends a row that counts.
    #[inline]
    fn append(&mut self, tuple: &[u8]) -> Result<u32, Damage> {
        let row = self.put.push(&self.table, tuple)?;
        let (word, _) = bit(row);
        if self.dead.len() <= word {
            self.dead.resize(word + 1, 0);
        }
        Ok(row)
    }

    #[inline]
    fn hash_of_row(&self, row: u32) -> u32 {
        narrow(match self.table.schema.primary.as_slice() {
            [column] => hash_key(&[self.put.value(usize::from(*column), row)]),
            columns => {
                let key: Vec<Value> =
                    columns.iter().map(|&column| self.put.value(usize::from(column), row)).collect();
                hash_key(&key)
            }
        })
    }

    /// Drops the dead rows in `put` if they take much memory, and renumbers the others.
    #[cold]
    fn drop_dead(&mut self) {
        self.settle();
        let mut dead_bytes = dead_rows(&self.dead).map(|row| self.put.bytes_of(row)).sum::<usize>();
        if dead_bytes > self.put.bytes() - dead_bytes + self.dead_bytes_min {
            // A table whose rows are numbered by arrival has no dead rows.
            let put = std::mem::replace(&mut self.put, Batches::new(0));
            let dead = std::mem::take(&mut self.dead);
            self.by_key = KeyTable::default();
            for row in put.rows().filter(|&row| !is_dead(&dead, row)) {
                let row = self.append(put.tuple(row)).expect("it was appended before, among more rows");
                self.by_key.insert(self.hash_of_row(row), row);
            }
            dead_bytes = 0;
        }
        // The next count comes after as many bytes were added as live rows take now, so that counting and
        // copying cost no more than adding.
        let live_bytes = self.put.bytes() - dead_bytes;
        self.count_at_bytes = self.put.bytes() + live_bytes + self.dead_bytes_min;
    }

    /// Enters the prefetched rows into `by_key`, and marks the rows that they replace as dead.
    pub(super) fn settle(&mut self) {
        let mut coming = std::mem::take(&mut self.coming);
        for Coming { hash, row, before } in coming.drain(..) {
            let (put, primary) = (&self.put, &self.table.schema.primary);
            let is_same = |other| {
                primary.iter().all(|&column| {
                    put.value(usize::from(column), other) == put.value(usize::from(column), row)
                })
            };
            if let Some(slot) = self.by_key.find(hash, is_same) {
                kill(&mut self.dead, self.by_key.row(slot));
                self.by_key.replace(slot, row);
                continue;
            }
            self.by_key.insert(hash, row);
            if before == Before::Perhaps && self.base.is_some() {
                let key = primary.iter().map(|&column| put.value(usize::from(column), row).to_owned());
                let key: Vec<OwnedValue> = key.collect();
                if let Some(row) = self.find_in_base(&key) {
                    self.kill_in_base(row);
                }
            }
        }
        self.coming = coming;
    }

    /// Returns the tuple of a row.
    pub(super) fn tuple(&self, found: Found) -> &[u8] {
        match (found, &self.base) {
            (Found::Put(row), _) => self.put.tuple(row),
            (Found::InBase(row), Some(base)) => tuple_of(base, row),
            (Found::InBase(_), None) => unreachable!("it was found there"),
        }
    }

    /// Replaces a row by a tuple with the same key.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a key.
    pub(super) fn replace(&mut self, found: Found, tuple: &[u8]) -> Result<(), Damage> {
        self.put(tuple, Before::Nothing)?;
        if let Found::InBase(row) = found {
            self.kill_in_base(row);
        }
        Ok(())
    }

    /// Deletes the tuple with this primary key.
    pub(super) fn delete(&mut self, key: &[OwnedValue]) {
        self.settle();
        match self.find(key) {
            Some(Found::InBase(row)) => self.kill_in_base(row),
            Some(Found::Put(row)) => {
                if let Some(slot) = self.by_key.find(hash_of(key), |other| other == row) {
                    self.by_key.remove(slot);
                }
                kill(&mut self.dead, row);
                // Inserts are not looked up in the snapshot. If this insert should have been refused, the row
                // that it covers must not reappear.
                if let Some(row) = self.find_in_base(key) {
                    self.kill_in_base(row);
                }
            }
            None => {}
        }
    }

    /// Returns whether a tuple has exactly this primary key.
    pub(super) fn has_key(&self, tuple: &[u8], key: &[OwnedValue]) -> bool {
        let primary = &self.table.schema.primary;
        let mut is_same = true;
        let taken = self.table.shape.take_keys(&mut Reader::new(tuple), &mut Vec::new(), |column, value| {
            let place = primary.iter().position(|&number| usize::from(number) == column);
            is_same &= place.is_none_or(|place| key[place].as_value() == value);
        });
        is_same && taken.is_ok()
    }

    /// Returns the primary key of a tuple.
    ///
    /// # Errors
    /// If it lacks one.
    pub(super) fn key_of_tuple(&self, tuple: &[u8]) -> Result<Vec<OwnedValue>, Damage> {
        let mut values = Vec::new();
        self.table
            .shape
            .take_keys(&mut Reader::new(tuple), &mut Vec::new(), |_, value| values.push(value.to_owned()))?;
        Ok(self.table.schema.primary.iter().map(|&column| values[usize::from(column)].clone()).collect())
    }

    /// Reads a primary key in the form of a log: an array of its parts.
    ///
    /// # Errors
    /// If it is malformed.
    pub(super) fn read_key(&self, key: &[u8], index: &TableIndex) -> Result<Vec<OwnedValue>, Damage> {
        let mut reader = Reader::new(key);
        if reader.array_len()? as usize != index.parts.len() {
            return Err(reader.damage("a key has another number of parts than the primary key"));
        }
        let mut values = Vec::with_capacity(index.parts.len());
        for part in &index.parts {
            if part.kind.is_plain_unsigned() {
                values.push(OwnedValue::U64(reader.uint()?));
            } else {
                let mut bytes = Vec::new();
                normalise_part(&mut reader, &part.kind, &mut bytes)?;
                values.push(OwnedValue::Bytes(bytes));
            }
        }
        Ok(values)
    }

    /// Returns the row with this primary key. Call `settle` first.
    pub(super) fn find(&self, key: &[OwnedValue]) -> Option<Found> {
        let hash = hash_of(key);
        let primary = &self.table.schema.primary;
        debug_assert!(self.coming.is_empty(), "a key may be on its way");
        let is_same = |row| {
            let columns = primary.iter().map(|&column| self.put.value(usize::from(column), row));
            columns.eq(key.iter().map(OwnedValue::as_value))
        };
        match self.by_key.find(hash, is_same) {
            Some(slot) => Some(Found::Put(self.by_key.row(slot))),
            None => self.find_in_base(key).map(Found::InBase),
        }
    }

    fn find_in_base(&self, key: &[OwnedValue]) -> Option<RowRef> {
        let key: Vec<Value> = key.iter().map(OwnedValue::as_value).collect();
        self.base.as_ref()?.get(PRIMARY, &key).ok().flatten()
    }

    fn kill_in_base(&mut self, row: RowRef) {
        if let Some(base) = &mut self.base
            && base.kill(row).is_ok_and(|was_alive| was_alive)
        {
            self.base_dead.push(row);
        }
    }

    /// Passes every live tuple to the caller, in order of arrival.
    pub(super) fn each_tuple(
        &mut self,
        mut show: impl FnMut(&[u8]) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        self.settle();
        if let Some(base) = &self.base {
            base.rows().try_for_each(|row| show(tuple_of(base, row)))?;
        }
        self.put.rows().filter(|&row| !is_dead(&self.dead, row)).try_for_each(|row| show(self.put.tuple(row)))
    }

    /// Returns how many rows are live.
    pub(super) fn row_count(&mut self) -> u64 {
        self.settle();
        let dead: u64 = self.dead.iter().map(|word| u64::from(word.count_ones())).sum();
        self.base.as_ref().map_or(0, Loaded::row_count) + self.put.rows().count() as u64 - dead
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn finish(mut self) -> store::Result<FinishedSpace> {
        self.settle();
        let mut batches = self.base.map(Loaded::into_batches).unwrap_or_default();
        let first = u32::try_from(batches.len()).unwrap_or(u32::MAX);
        let put_dead = self.put.rows().filter(|&row| is_dead(&self.dead, row));
        let place = |row| {
            let (batch, row) = split(row);
            RowRef { source: first + narrow_place(batch), row: narrow_place(row) }
        };
        let mut dead = self.base_dead;
        dead.extend(put_dead.map(place));
        batches.extend(self.put.finish(&self.table.schema)?);
        Ok(FinishedSpace { space: self.space, table: self.table, batches, dead })
    }

    /// Returns the schema of the rows.
    pub(super) fn schema(&self) -> &Arc<store::Schema> {
        &self.table.schema
    }
}

fn tuple_of(base: &Loaded, row: RowRef) -> &[u8] {
    match base.value(base.schema().columns.len() - 1, row) {
        Value::Bytes(tuple) => tuple,
        _ => unreachable!("the last column is the tuple"),
    }
}

/// Returns the fields that hold only floating-point numbers of 64 bits.
pub(crate) fn double_fields(space: &Space) -> Vec<u32> {
    use crate::key::PartType;
    let formats =
        (0..).zip(&space.fields).filter(|(_, field)| field.type_name.eq_ignore_ascii_case(b"double"));
    let parts = space.indexes.iter().flat_map(|index| &index.parts);
    let parts = parts.filter(|part| part.kind.part_type == PartType::Double && part.path.is_empty());
    formats.map(|(number, _)| number).chain(parts.map(|part| part.field)).collect()
}

fn hash_of(key: &[OwnedValue]) -> u32 {
    let key: Vec<Value> = key.iter().map(OwnedValue::as_value).collect();
    narrow(hash_key(&key))
}

/// Returns half of a hash.
#[inline]
fn narrow(hash: u64) -> u32 {
    u32::try_from(hash >> 32).expect("half of the bits are left")
}

fn narrow_place(place: usize) -> u32 {
    u32::try_from(place).expect("it was a part of 32 bits")
}

#[inline]
fn bit(row: u32) -> (usize, u64) {
    ((row / 64) as usize, 1 << (row % 64))
}

#[inline]
fn kill(dead: &mut [u64], row: u32) {
    let (word, bit) = bit(row);
    dead[word] |= bit;
}

fn is_dead(dead: &[u64], row: u32) -> bool {
    let (word, bit) = bit(row);
    dead[word] & bit != 0
}

fn dead_rows(dead: &[u64]) -> impl Iterator<Item = u32> + '_ {
    let words = (0_u32..).zip(dead).filter(|(_, word)| **word != 0);
    words.flat_map(|(number, &word)| {
        (0..64_u32).filter(move |&bit| (word >> bit) & 1 != 0).map(move |bit| number * 64 + bit)
    })
}

#[cfg(test)]
mod tests;
