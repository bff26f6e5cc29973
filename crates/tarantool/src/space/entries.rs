//! Indexes that have any number of entries for a tuple: multikey indexes, with an entry for each element of
//! an array, and indexes without the tuples that have no value.
//!
//! Input: a definition, then tuples. Output: the table of the store with the entries, and the entries of a
//! tuple, each once. Does not know where entries are kept.
//!
//! The table `entries_<space>_<index>` has a column for each part of the key, then the columns of the space's
//! primary key. All of them together are its own primary key, so its rows are in the order of the index.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::definition::{Part, SpaceIndex};
use crate::json_path::{self, PathStep};
use crate::key::{PartKind, normalise_missing, normalise_part};
use crate::msgpack::{Class, Reader, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::limits::{KEY_COLUMNS_MAX, ROW_BYTES_MAX};
use store::{Column, Kind, OwnedValue, Schema};

/// With what the name of every table of entries begins.
const NAME: &str = "entries_";

/// The entries of an index, as a table of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTable {
    /// The table.
    pub schema: Arc<Schema>,
    /// How the entries of a tuple are found.
    pub shape: EntryShape,
}

/// How the entries of a tuple are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryShape {
    /// The array with an element for each entry. Without one, a tuple has one entry at most.
    array: Option<(u32, Vec<PathStep>)>,
    parts: Vec<EntryPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryPart {
    place: PartPlace,
    kind: PartKind,
    /// Whether there is no entry if the value is nil or missing.
    excludes_nil: bool,
}

/// Where the value of a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PartPlace {
    /// In a field of the tuple.
    Tuple(u32, Vec<PathStep>),
    /// In an element of the array.
    Element(Vec<PathStep>),
}

/// Returns whether a table of the store has the entries of an index.
pub fn is_entry_table(name: &str) -> bool {
    name.starts_with(NAME)
}

impl EntryShape {
    /// Returns how the entries of an index are found; `None` if each tuple has exactly one.
    ///
    /// # Errors
    /// Why it cannot be represented, to follow the name of the index.
    pub(super) fn new(index: &SpaceIndex) -> std::result::Result<Option<EntryShape>, String> {
        let mut array = None;
        let mut parts = Vec::new();
        for (number, part) in index.parts.iter().enumerate() {
            let mut halves = part.path.splitn(2, |step| *step == PathStep::Every);
            let before = halves.next().unwrap_or_default().to_vec();
            let place = match halves.next() {
                None => PartPlace::Tuple(part.field, before),
                Some(after) => {
                    let whole = (part.field, before);
                    if after.contains(&PathStep::Every)
                        || array.get_or_insert_with(|| whole.clone()) != &whole
                    {
                        return Err("is multikey by several arrays".to_owned());
                    }
                    PartPlace::Element(after.to_vec())
                }
            };
            let excludes_nil = index.excluding.contains(&number);
            parts.push(EntryPart { place, kind: part.kind.clone(), excludes_nil });
        }
        let is_needed = array.is_some() || !index.excluding.is_empty();
        if is_needed && (index.is_hash || index.iid == 0) {
            return Err("has other entries than one for each tuple, which its type does not allow".to_owned());
        }
        Ok(is_needed.then_some(EntryShape { array, parts }))
    }

    /// Returns the keys of all entries of the tuple at the reader's position, in order. The time it takes
    /// grows with the length of the tuple only.
    ///
    /// # Errors
    /// If it is not a tuple, or a value is missing or of another type; if the entries take more memory than a
    /// row may.
    pub fn keys(&self, tuple: Reader) -> Result<BTreeSet<Vec<OwnedValue>>> {
        let mut keys = BTreeSet::new();
        let Some(fixed) = self.fixed(tuple)? else { return Ok(keys) };
        let Some((field, path)) = &self.array else {
            keys.insert(fixed.into_iter().flatten().collect());
            return Ok(keys);
        };
        let Some(mut elements) = at(tuple, *field, path)? else { return Ok(keys) };
        match elements.peek()? {
            Class::Nil => return Ok(keys),
            Class::Array => {}
            _ => return Err(elements.damage("a multikey index has no array here")),
        }
        let mut byte_count = 0_u64;
        for _ in 0..elements.array_len()? {
            let element = elements;
            elements.skip()?;
            let Some(key) = self.key(&fixed, element)? else { continue };
            byte_count = byte_count.saturating_add(key.iter().map(byte_count_of).sum());
            if byte_count > ROW_BYTES_MAX {
                return Err(tuple.damage("the entries of a tuple in a multikey index are too large"));
            }
            keys.insert(key);
        }
        Ok(keys)
    }

    /// Returns the values of the parts that all entries share, with nothing for the others; `None` if there
    /// is no entry.
    fn fixed(&self, tuple: Reader) -> Result<Option<Vec<Option<OwnedValue>>>> {
        let mut fixed = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let PartPlace::Tuple(field, path) = &part.place else {
                fixed.push(None);
                continue;
            };
            match part.value(tuple, at(tuple, *field, path)?)? {
                Some(value) => fixed.push(Some(value)),
                None => return Ok(None),
            }
        }
        Ok(Some(fixed))
    }

    /// Returns the key of an element; `None` if it has no entry.
    fn key(&self, fixed: &[Option<OwnedValue>], element: Reader) -> Result<Option<Vec<OwnedValue>>> {
        let mut key = Vec::with_capacity(self.parts.len());
        for (part, fixed) in self.parts.iter().zip(fixed) {
            let value = match (&part.place, fixed) {
                (PartPlace::Element(path), _) => part.value(element, json_path::follow(element, path)?)?,
                (PartPlace::Tuple(..), fixed) => fixed.clone(),
            };
            match value {
                Some(value) => key.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(key))
    }
}

impl EntryPart {
    /// Returns the value as the store keeps it; `None` if there is no entry without it. `within` is where it
    /// was looked for.
    fn value(&self, within: Reader, value: Option<Reader>) -> Result<Option<OwnedValue>> {
        let is_nil = match value {
            Some(value) => value.peek()? == Class::Nil,
            None => true,
        };
        if is_nil && self.excludes_nil {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        match value {
            Some(mut value) if self.kind.is_plain_unsigned() => {
                return Ok(Some(OwnedValue::U64(value.uint()?)));
            }
            Some(mut value) => normalise_part(&mut value, &self.kind, &mut bytes)?,
            None => normalise_missing(&within, &self.kind, &mut bytes)?,
        }
        Ok(Some(OwnedValue::Bytes(bytes)))
    }
}

/// Returns the value in a field of a tuple, if there is one.
fn at<'a>(mut tuple: Reader<'a>, field: u32, path: &[PathStep]) -> Result<Option<Reader<'a>>> {
    if tuple.array_len()? <= field {
        return Ok(None);
    }
    tuple.skip_many(u64::from(field))?;
    json_path::follow(tuple, path)
}

fn byte_count_of(value: &OwnedValue) -> u64 {
    match value {
        OwnedValue::Bytes(bytes) => bytes.len() as u64,
        _ => 8,
    }
}

impl EntryTable {
    /// Returns the table for the entries of an index of the space with the table `of`; `None` if it would
    /// have too many columns.
    pub(super) fn new(space: u32, index: &SpaceIndex, shape: EntryShape, of: &Schema) -> Option<EntryTable> {
        let kind = |part: &Part| if part.kind.is_plain_unsigned() { Kind::U64 } else { Kind::Bytes };
        let keys = (0..)
            .zip(&index.parts)
            .map(|(number, part): (usize, &Part)| Column { name: format!("key_{number}"), kind: kind(part) });
        let primary = (0..).zip(&of.primary).filter_map(|(number, &column): (usize, &u16)| {
            let kind = of.columns.get(usize::from(column))?.kind;
            Some(Column { name: format!("primary_{number}"), kind })
        });
        let columns: Vec<Column> = keys.chain(primary).collect();
        let count =
            u16::try_from(columns.len()).ok().filter(|&count| usize::from(count) <= KEY_COLUMNS_MAX)?;
        let name = format!("{NAME}{space}_{}", index.iid);
        let schema = Schema { name, columns, primary: (0..count).collect(), indexes: Vec::new() };
        Some(EntryTable { schema: Arc::new(schema), shape })
    }

    /// Returns how many columns the key has. Those of the space's primary key come after them.
    pub fn key_columns(&self) -> usize {
        self.shape.parts.len()
    }
}
