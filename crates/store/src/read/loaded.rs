//! Rows of one table in memory, in order of arrival, with indexes. They can be searched before they are
//! sealed.
//!
//! Input: batches of rows, and which of them are dead. Output: rows by key, and their values. Does not
//! depend on files; `write/load.rs` seals the rows.
//!
//! Rows are never moved: an index names a row by its position in order of arrival. Each index is built in
//! bulk, on all cores, when it is first used, or all at once by [`Loaded::build`]. Memory besides the rows: 4
//! bytes a row for an ordered index (none if the rows arrive in its order), 8 more for its hints unless the
//! key is one column of at most 8 bytes; about 7 for a hash index; and 24 bytes a row while one is built.

use crate::commit::dead::DeadRows;
use crate::error::{Error, Result, check_limit};
use crate::key_index::memory::{MemoryHash, MemoryOrder, Rowed};
use crate::limits::ROWS_PER_SEGMENT_MAX;
use crate::read::part::{check_key, check_whole_key};
use crate::read::table::PRIMARY;
use crate::rows::in_memory::Rows;
use crate::rows::source::{Order, RowRef, Source};
use crate::schema::{Index, IndexKind, Schema};
use crate::sort::by_primary::{InKeyOrder, Sorted, keep_newest, sort_by_primary};
use crate::sort::keys::Keys;
use crate::sort::row_set::{RowSet, narrow};
use crate::value::Value;
use std::ops::{Bound, Range};
use std::sync::{Arc, OnceLock};

/// Rows of one table in memory, in order of arrival, with indexes.
pub struct Loaded {
    schema: Arc<Schema>,
    rows: Batches,
    dead: DeadRows,
    primary: OnceLock<MemoryOrder>,
    indexes: Vec<OnceLock<MemoryIndex>>,
}

enum MemoryIndex {
    Ordered(MemoryOrder),
    Hash(MemoryHash),
}

/// Rows by their position in order of arrival.
struct Batches {
    batches: Vec<Rows>,
    places: RowSet<'static>,
}

impl Rowed for Batches {
    #[inline]
    fn value(&self, column: u16, position: u32) -> Value<'_> {
        let RowRef { source, row } = self.places.at(position);
        self.batches[source as usize].value(usize::from(column), row)
    }
}

impl Batches {
    fn sources(&self) -> Vec<&dyn Source> {
        self.batches.iter().map(|rows| rows as &dyn Source).collect()
    }

    /// Calls `make` with the keys of all rows in some columns.
    fn with_keys<T>(&self, columns: &[u16], make: impl FnOnce(&Keys) -> T) -> T {
        let sources = self.sources();
        let keys = Keys::new(&self.places, &sources, columns).expect("rows in memory have all columns");
        make(&keys)
    }
}

impl Loaded {
    /// Takes batches of rows of the table that `schema` describes, in order of arrival. Rows in `dead` are
    /// ignored. Indexes are built when they are first used.
    ///
    /// # Errors
    /// [`Error::Schema`] if a batch was made for another table or a dead row does not exist,
    /// [`Error::Limit`] if there are too many rows.
    pub fn new(schema: &Arc<Schema>, batches: Vec<Rows>, dead: &[RowRef]) -> Result<Loaded> {
        if batches.iter().any(|rows| !Arc::ptr_eq(schema, rows.schema()) && schema != rows.schema()) {
            return Err(Error::schema(&schema.name, "the rows were made for other columns"));
        }
        let row_count: u64 = batches.iter().map(|rows| u64::from(rows.len())).sum();
        check_limit("rows to load", row_count, u64::from(ROWS_PER_SEGMENT_MAX))?;
        let places = RowSet::new(batches.iter().map(Rows::len), Order::AsIs)?;
        let mut loaded = Loaded {
            schema: Arc::clone(schema),
            rows: Batches { batches, places },
            dead: DeadRows::default(),
            primary: OnceLock::new(),
            indexes: schema.indexes.iter().map(|_| OnceLock::new()).collect(),
        };
        for &row in dead {
            loaded.kill(row)?;
        }
        Ok(loaded)
    }

    /// Takes rows as [`Loaded::new`] does and builds all indexes, but not the order by primary key, which
    /// is built when it is first used.
    ///
    /// # Errors
    /// Same as [`Loaded::new`].
    pub fn build(schema: &Arc<Schema>, batches: Vec<Rows>, dead: &[RowRef]) -> Result<Loaded> {
        let loaded = Loaded::new(schema, batches, dead)?;
        (0..schema.indexes.len()).for_each(|index| {
            loaded.index(index);
        });
        Ok(loaded)
    }

    /// Marks a row as dead. Returns whether it was live.
    ///
    /// # Errors
    /// [`Error::Schema`] if there is no such row.
    pub fn kill(&mut self, row: RowRef) -> Result<bool> {
        let position = self.position(row).ok_or_else(|| {
            let what = format!("there is no row {} in batch {}", row.row, row.source);
            Error::schema(&self.schema.name, what)
        })?;
        Ok(self.dead.kill(position))
    }

    /// Returns the table's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the batches, dead rows included.
    pub fn batches(&self) -> &[Rows] {
        &self.rows.batches
    }

    /// Gives the batches back, dead rows included, and drops the indexes.
    pub fn into_batches(self) -> Vec<Rows> {
        self.rows.batches
    }

    /// Returns the number of live rows.
    pub fn row_count(&self) -> u64 {
        u64::from(self.rows.places.len() - self.dead.dead_count())
    }

    /// Returns whether a row is live.
    pub fn is_live(&self, row: RowRef) -> bool {
        self.position(row).is_some_and(|position| !self.dead.is_dead(position))
    }

    /// Returns the live rows, in order of arrival.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = RowRef> {
        let live = (0..self.rows.places.len()).filter(|&position| !self.dead.is_dead(position));
        live.map(|position| self.rows.places.at(position))
    }

    /// Returns the dead rows, in order of arrival.
    pub fn dead_rows(&self) -> Vec<RowRef> {
        self.dead.since(&DeadRows::default()).map(|position| self.rows.places.at(position)).collect()
    }

    /// Returns the live rows that a later live row with the same primary key replaces, in order of arrival.
    /// If all primary keys are unique, this is known without a search once the order by primary key, or a
    /// hash index over it, is built.
    pub fn replaced(&self) -> Vec<RowRef> {
        if let Some(MemoryIndex::Hash(hash)) = self.primary_hash().map(|index| self.index(index))
            && hash.is_unique()
        {
            return Vec::new();
        }
        let order = self.primary();
        if order.is_unique() {
            return Vec::new();
        }
        let is_dead = |position| self.dead.is_dead(position);
        let positions = self.rows.with_keys(&self.schema.primary, |keys| {
            InKeyOrder { keys, sorted: order.key_order(), is_dead: &is_dead }.replaced()
        });
        positions.into_iter().map(|position| self.rows.places.at(position)).collect()
    }

    /// Returns one value of any column; payloads are not compressed here.
    ///
    /// # Panics
    /// If there is no such column or row.
    #[inline]
    pub fn value(&self, column: usize, row: RowRef) -> Value<'_> {
        self.rows.batches[row.source as usize].value(column, row.row)
    }

    /// Returns the youngest row with exactly this key of an index, or with this primary key ([`PRIMARY`]).
    ///
    /// # Errors
    /// If there is no such index, or the key does not fit it.
    pub fn get(&self, index: &str, key: &[Value]) -> Result<Option<RowRef>> {
        Ok(self.find(index, key)?.pop())
    }

    /// Returns all rows with exactly this key of an index, or with this primary key ([`PRIMARY`]), in order
    /// of arrival.
    ///
    /// # Errors
    /// Same as [`Loaded::get`].
    pub fn find(&self, index: &str, key: &[Value]) -> Result<Vec<RowRef>> {
        let named = self.index_number(index)?;
        check_whole_key(&self.schema, named, key)?;
        let mut found = Vec::new();
        match named.or_else(|| self.primary_hash()).map(|index| self.index(index)) {
            Some(MemoryIndex::Hash(hash)) => hash.find(&self.rows, key, &mut found)?,
            Some(MemoryIndex::Ordered(order)) => self.find_in(order, key, &mut found)?,
            None => self.find_in(self.primary(), key, &mut found)?,
        }
        let live = found.into_iter().filter(|&position| !self.dead.is_dead(position));
        Ok(live.map(|position| self.rows.places.at(position)).collect())
    }

    fn find_in(&self, order: &MemoryOrder, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
        let positions = order.positions(&self.rows, Bound::Included(key), Bound::Included(key))?;
        found.extend(positions.map(|position| order.row_at(position)));
        Ok(())
    }

    /// Returns the rows between two keys of an ordered index, or of the primary key ([`PRIMARY`]), in key
    /// order. Rows with equal keys are in order of arrival. An end may be a prefix of a key, which means all
    /// keys that begin with it.
    ///
    /// # Errors
    /// If there is no such index or it is not ordered, or an end does not fit it.
    pub fn range(
        &self,
        index: &str,
        from: Bound<&[Value]>,
        to: Bound<&[Value]>,
    ) -> Result<impl DoubleEndedIterator<Item = RowRef> + use<'_>> {
        let index = self.index_number(index)?;
        for end in [from, to] {
            if let Bound::Included(key) | Bound::Excluded(key) = end {
                check_key(&self.schema, index, key)?;
            }
        }
        let order = match index.map(|index| (index, self.schema.indexes[index].kind)) {
            Some((index, IndexKind::Ordered)) => self.index(index).order(),
            Some((index, IndexKind::Hash)) => {
                let name = &self.schema.indexes[index].name;
                let what = format!("index {name} is a hash index and has no order");
                return Err(Error::schema(&self.schema.name, what));
            }
            None => self.primary(),
        };
        let positions: Range<u32> = order.positions(&self.rows, from, to)?;
        let rows = positions.map(|position| order.row_at(position));
        Ok(rows.filter(|&row| !self.dead.is_dead(row)).map(|row| self.rows.places.at(row)))
    }

    /// Returns how many bytes of memory rows and indexes hold.
    pub fn memory_bytes(&self) -> usize {
        let rows: usize = self.rows.batches.iter().map(Rows::memory_bytes).sum();
        let indexes = self.indexes.iter().filter_map(OnceLock::get).map(|index| match index {
            MemoryIndex::Ordered(order) => order.memory_bytes(),
            MemoryIndex::Hash(hash) => hash.memory_bytes(),
        });
        rows + indexes.sum::<usize>() + self.primary.get().map_or(0, MemoryOrder::memory_bytes)
    }

    /// Returns the rows to be sealed, in the order of their primary keys. Of several rows with one key,
    /// only the youngest.
    pub(crate) fn sealed_order(&self) -> Result<(Vec<&dyn Source>, Sorted)> {
        let sources = self.rows.sources();
        let is_live = |row: RowRef| self.is_live(row);
        let sorted = match self.primary.get() {
            Some(order) => {
                let keys = Keys::new(&self.rows.places, &sources, &self.schema.primary)?;
                let is_dead = |position| self.dead.is_dead(position);
                let order = InKeyOrder { keys: &keys, sorted: order.key_order(), is_dead: &is_dead };
                keep_newest(&self.rows.places, &order)
            }
            None => sort_by_primary(&self.schema, &sources, &is_live)?,
        };
        Ok((sources, sorted))
    }

    fn position(&self, row: RowRef) -> Option<u32> {
        self.rows.places.position(row)
    }

    fn primary(&self) -> &MemoryOrder {
        let columns = &self.schema.primary;
        self.primary.get_or_init(|| self.rows.with_keys(columns, |keys| MemoryOrder::build(keys, columns)))
    }

    /// Returns a hash index over the columns of the primary key, if there is one. It is faster than the
    /// order.
    fn primary_hash(&self) -> Option<usize> {
        let is_it = |index: &Index| index.kind == IndexKind::Hash && index.columns == self.schema.primary;
        self.schema.indexes.iter().position(is_it)
    }

    fn index(&self, number: usize) -> &MemoryIndex {
        let index = &self.schema.indexes[number];
        self.indexes[number].get_or_init(|| {
            self.rows.with_keys(&index.columns, |keys| match index.kind {
                IndexKind::Ordered => MemoryIndex::Ordered(MemoryOrder::build(keys, &index.columns)),
                IndexKind::Hash => {
                    let hash = MemoryHash::build(keys, &index.columns, index.unique);
                    MemoryIndex::Hash(hash.expect("memory takes all buckets"))
                }
            })
        })
    }

    fn index_number(&self, name: &str) -> Result<Option<usize>> {
        if name == PRIMARY {
            return Ok(None);
        }
        match self.schema.index(name) {
            Some(index) => Ok(Some(index)),
            None => Err(Error::Missing { what: "index", name: format!("{}.{name}", self.schema.name) }),
        }
    }
}

impl MemoryIndex {
    fn order(&self) -> &MemoryOrder {
        match self {
            MemoryIndex::Ordered(order) => order,
            MemoryIndex::Hash(_) => unreachable!("the schema says that it is ordered"),
        }
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let total = narrow(self.row_count());
        write!(formatter, "Loaded({}, {total} rows in {} batches)", self.schema.name, self.batches().len())
    }
}
