//! Chooses rows by the keys of an index.
//!
//! Input: conditions on a key, as words. Output: rows of the table in the order of the index. Does not know
//! what is in a tuple besides its keys.

use crate::key::values_of_text;
use crate::space::Part;
use crate::space::table::TableIndex;
use std::ops::Bound;
use store::{IndexKind, OwnedValue, PRIMARY, RowId, RowIter, Table, Value};

/// Conditions on the key of an index. Each has a word for each part of the key, or for the first parts only:
/// such a beginning stands for all keys that begin with it. No word means no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyConditions {
    /// Keys that begin with this.
    pub eq: Vec<String>,
    /// This key and the ones after it.
    pub ge: Vec<String>,
    /// The keys after this.
    pub gt: Vec<String>,
    /// The keys before this, and this.
    pub le: Vec<String>,
    /// The keys before this.
    pub lt: Vec<String>,
}

/// Which rows of an index are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those with one of these keys, or a key that begins with it. The keys ascend.
    Keys(Vec<Vec<OwnedValue>>),
    /// Those between two keys.
    Between(Bound<Vec<OwnedValue>>, Bound<Vec<OwnedValue>>),
}

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest key first.
    Ascending,
    /// The greatest key first.
    Descending,
}

/// An index of a table that is open.
#[derive(Clone, Copy)]
pub struct OpenIndex<'t> {
    /// The table of the space.
    pub table: &'t Table,
    /// The table with the entries of the index, if it has one.
    pub entries: Option<&'t Table>,
    /// The index; `None` stands for rows in the order in which they came.
    pub index: Option<&'t TableIndex>,
}

/// Rows, each with what reading it may fail with.
type Rows<'t> = Box<dyn Iterator<Item = store::Result<RowId>> + 't>;

impl KeyConditions {
    fn is_empty(&self) -> bool {
        [&self.eq, &self.ge, &self.gt, &self.le, &self.lt].iter().all(|words| words.is_empty())
    }

    /// Returns the rows of an index that fit; `None` stands for rows in the order in which they came.
    ///
    /// A number with a point may be written like a double and like a decimal, which differ: what is meant
    /// includes both.
    ///
    /// # Errors
    /// What is wrong with the words: a sentence.
    pub fn selection(&self, index: Option<&TableIndex>) -> Result<Selection, String> {
        let Some(index) = index else {
            return match self.is_empty() {
                true => Ok(Selection::Between(Bound::Unbounded, Bound::Unbounded)),
                false => Err("the space has no key to search by".to_owned()),
            };
        };
        if !self.eq.is_empty() {
            return Ok(Selection::Keys(keys(&key_parts(index, &self.eq)?)));
        }
        let from = match (self.ge.as_slice(), self.gt.as_slice()) {
            ([], []) => Bound::Unbounded,
            (words, []) => Bound::Included(smallest(key_parts(index, words)?)),
            (_, words) => Bound::Excluded(largest(key_parts(index, words)?)),
        };
        let to = match (self.le.as_slice(), self.lt.as_slice()) {
            ([], []) => Bound::Unbounded,
            (words, []) => Bound::Included(largest(key_parts(index, words)?)),
            (_, words) => Bound::Excluded(smallest(key_parts(index, words)?)),
        };
        Ok(Selection::Between(from, to))
    }
}

impl Selection {
    /// Returns the rows in the order of an index; without one, in the order in which they came. A row comes
    /// as often as it has entries.
    ///
    /// # Errors
    /// Damage of the store; an index that has no order, where one is needed.
    pub fn rows<'t>(&self, open: OpenIndex<'t>, direction: Direction) -> store::Result<Rows<'t>> {
        let (table, name) = (open.searched(), store_name(open.index));
        if let Selection::Keys(keys) = self
            && is_hash(table, name)
        {
            let mut rows = Vec::new();
            for key in keys {
                rows.extend(table.find(name, &values(key))?);
            }
            return Ok(directed(rows.into_iter().map(Ok), direction));
        }
        let mut runs = self.runs(table, name)?;
        if direction == Direction::Descending {
            runs.reverse();
        }
        let rows = runs.into_iter().flat_map(move |run| directed(run, direction));
        match open.entries {
            None => Ok(Box::new(rows)),
            Some(entries) => Ok(Box::new(rows.map(move |entry| open.row_of(entries, entry?)))),
        }
    }

    /// Returns how many rows there are. It does not read them unless some are dead.
    ///
    /// # Errors
    /// As [`Selection::rows`].
    pub fn count(&self, open: OpenIndex) -> store::Result<u64> {
        let (table, name) = (open.searched(), store_name(open.index));
        let mut count = 0;
        match self {
            Selection::Keys(keys) if is_hash(table, name) => {
                for key in keys {
                    count += table.find(name, &values(key))?.len() as u64;
                }
            }
            _ => {
                for run in self.runs(table, name)? {
                    count += run.remaining()?;
                }
            }
        }
        Ok(count)
    }

    /// Returns the runs of neighbouring rows, in the order of their keys.
    fn runs<'t>(&self, table: &'t Table, name: &str) -> store::Result<Vec<RowIter<'t>>> {
        match self {
            Selection::Keys(keys) => {
                let run = |key: &Vec<OwnedValue>| {
                    let key = values(key);
                    table.range(name, Bound::Included(&key), Bound::Included(&key))
                };
                keys.iter().map(run).collect()
            }
            Selection::Between(from, to) => {
                let (from, to) = (from.as_ref().map(|key| values(key)), to.as_ref().map(|key| values(key)));
                let ends = (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
                Ok(vec![table.range(name, ends.0, ends.1)?])
            }
        }
    }
}

impl<'t> OpenIndex<'t> {
    /// Returns the table that has the keys of the index.
    fn searched(self) -> &'t Table {
        self.entries.unwrap_or(self.table)
    }

    /// Returns the row that an entry belongs to.
    fn row_of(self, entries: &Table, entry: RowId) -> store::Result<RowId> {
        let first = self.index.map_or(0, |index| index.parts.len());
        let columns = first..entries.schema().columns.len();
        let key =
            columns.map(|column| entries.value(column, entry)).collect::<store::Result<Vec<Value>>>()?;
        let missing = || store::Error::Missing {
            what: "row",
            name: format!("of an entry in {}", entries.schema().name),
        };
        self.table.get(PRIMARY, &key)?.ok_or_else(missing)
    }
}

fn directed<'t>(
    rows: impl DoubleEndedIterator<Item = store::Result<RowId>> + 't,
    direction: Direction,
) -> Rows<'t> {
    match direction {
        Direction::Ascending => Box::new(rows),
        Direction::Descending => Box::new(rows.rev()),
    }
}

fn store_name(index: Option<&TableIndex>) -> &str {
    index.map_or(PRIMARY, |index| index.store_name.as_str())
}

fn is_hash(table: &Table, name: &str) -> bool {
    let schema = table.schema();
    let index = schema.index(name).and_then(|number| schema.indexes.get(number));
    name != PRIMARY && index.is_some_and(|index| index.kind == IndexKind::Hash)
}

fn values(key: &[OwnedValue]) -> Vec<Value<'_>> {
    key.iter().map(OwnedValue::as_value).collect()
}

/// Reads the words of a key, or of its beginning: for each part all values that its text may stand for, the
/// smallest first.
fn key_parts(index: &TableIndex, words: &[String]) -> Result<Vec<Vec<OwnedValue>>, String> {
    if words.len() > index.parts.len() {
        let (count, plural) = (index.parts.len(), if index.parts.len() == 1 { "" } else { "s" });
        return Err(format!("index {} has {count} part{plural}, not {}", index.name, words.len()));
    }
    let parse = |(word, part): (&String, &Part)| {
        values_of_text(word, &part.kind)
            .map_err(|what| format!("\"{word}\" is not a key of index {}: {what}", index.name))
    };
    words.iter().zip(&index.parts).map(parse).collect()
}

fn smallest(parts: Vec<Vec<OwnedValue>>) -> Vec<OwnedValue> {
    parts.into_iter().filter_map(|part| part.into_iter().next()).collect()
}

fn largest(parts: Vec<Vec<OwnedValue>>) -> Vec<OwnedValue> {
    parts.into_iter().filter_map(|mut part| part.pop()).collect()
}

/// Returns every key that takes one value for each part, in order.
fn keys(parts: &[Vec<OwnedValue>]) -> Vec<Vec<OwnedValue>> {
    parts.iter().fold(vec![Vec::new()], |keys, values| {
        let with = |key: &Vec<OwnedValue>, value: &OwnedValue| {
            [key.as_slice(), std::slice::from_ref(value)].concat()
        };
        keys.iter().flat_map(|key| values.iter().map(move |value| with(key, value))).collect()
    })
}
