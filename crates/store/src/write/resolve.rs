//! Computes the effect of a group of transactions on tables: which rows stay, and which older rows die.
//!
//! Input: transactions, and the tables as they are. Output: rows in key order, each key once, and rows to
//! kill: as a record for the journal if that has room, or as the plan of new segments. Does not depend on how
//! they are written.

use crate::commit::journal::{Kill, Record, TableChange};
use crate::error::{Error, Result};
use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX};
use crate::read::lookup::{Finder, PrimaryKeys};
use crate::read::part::{Part, check_whole_key};
use crate::read::state::{State, missing_table};
use crate::read::table::{Table, TableState};
use crate::rows::in_memory::Rows;
use crate::rows::source::{Order, RowRef, Source};
use crate::rows::transaction::Transaction;
use crate::schema::Schema;
use crate::sort::by_primary::sort_by_primary;
use crate::value::{OwnedValue, Value};
use crate::write::options::Limits;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys that are looked up on all cores, as are more; for fewer waking them costs more than they save.
const PARALLEL_LOOKUPS_MIN: usize = 512;

/// The puts and deletes of a group of transactions for one table.
#[derive(Clone, Default)]
pub(crate) struct Input<'a> {
    /// In their order.
    batches: Vec<Batch<'a>>,
    deletes: Vec<Delete<'a>>,
}

#[derive(Clone, Copy)]
struct Batch<'a> {
    transaction: usize,
    rows: &'a Rows,
}

#[derive(Clone)]
struct Delete<'a> {
    transaction: usize,
    key: Vec<Value<'a>>,
}

/// The rows of some sources that stay.
pub(crate) struct Survivors<'a> {
    pub(crate) sources: Vec<&'a dyn Source>,
    /// In key order; none if that is all rows as they are.
    pub(crate) rows: Option<Vec<RowRef>>,
}

/// What a group does to one table, with the rows of its memtable.
pub(crate) struct TablePlan<'a> {
    pub(crate) table: usize,
    /// The rows of new segments.
    pub(crate) survivors: Survivors<'a>,
    /// The rows that die in each segment.
    pub(crate) dying: Vec<Vec<u32>>,
}

/// Plans to move the rows of all memtables and of `inputs` to new segments.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn plan<'a>(
    state: &'a State,
    inputs: &'a BTreeMap<usize, Input<'a>>,
) -> Result<Vec<TablePlan<'a>>> {
    let mut plan = Vec::new();
    let none = Input::default();
    for (number, table) in state.tables.iter().enumerate() {
        let input = inputs.get(&number).unwrap_or(&none);
        let memtable = memtable_part(&table.state);
        if input.row_count() == 0 && memtable.live_count() == 0 {
            continue;
        }
        let survivors = input.survivors(table.schema(), Some(memtable))?;
        let keys = PrimaryKeys::new(table.schema(), &survivors.sources)?;
        let parts: Vec<&Part> = table.parts().iter().collect();
        // Source 0 is the memtable, the last part: what its rows replace is dead already.
        let segments = parts.split_last().map_or(&[][..], |(_memtable, segments)| segments);
        let dying = input.dying_rows(segments, &survivors, &keys, 1)?;
        plan.push(TablePlan { table: number, survivors, dying });
    }
    Ok(plan)
}

/// Sorts out which table each put and delete is for, in the order of the tables.
///
/// # Errors
/// If a table is not there, or rows or keys do not fit it.
pub(crate) fn by_table<'a>(state: &State, group: &'a [Transaction]) -> Result<BTreeMap<usize, Input<'a>>> {
    let mut inputs: BTreeMap<usize, Input> = BTreeMap::new();
    for (number, transaction) in group.iter().enumerate() {
        for (name, key) in &transaction.deletes {
            let table = table_number(state, name)?;
            let key: Vec<Value> = key.iter().map(OwnedValue::as_value).collect();
            check_whole_key(state.tables[table].schema(), None, &key)?;
            inputs.entry(table).or_default().deletes.push(Delete { transaction: number, key });
        }
        for (name, rows) in &transaction.puts {
            let table = table_number(state, name)?;
            let schema = state.tables[table].schema();
            if !Arc::ptr_eq(schema, rows.schema()) && schema != rows.schema() {
                return Err(Error::schema(name, "the rows were made for other columns"));
            }
            if !rows.is_empty() {
                inputs.entry(table).or_default().batches.push(Batch { transaction: number, rows });
            }
        }
    }
    for input in inputs.values_mut() {
        // Of deletes of one key only the last matters.
        input
            .deletes
            .sort_by(|left, right| left.key.cmp(&right.key).then(right.transaction.cmp(&left.transaction)));
        input.deletes.dedup_by(|later, kept| later.key == kept.key);
    }
    Ok(inputs)
}

pub(crate) fn table_number(state: &State, name: &str) -> Result<usize> {
    let found = state.tables.iter().position(|table| table.schema().name == name);
    found.ok_or_else(|| missing_table(name))
}

/// Returns the journal record of a group, or none if the journal has no room for it.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn record(
    state: &State,
    group: &[Transaction],
    inputs: &BTreeMap<usize, Input>,
    limits: &Limits,
) -> Result<Option<(Record, Vec<u8>)>> {
    let rows_max = u64::from(limits.journal_rows.min(JOURNAL_ROWS_MAX));
    let attachments = || group.iter().flat_map(|transaction| &transaction.attachments);
    let rows: u64 = inputs.values().map(Input::row_count).sum();
    let attached_bytes: u64 = attachments().map(|(_, bytes)| bytes.len() as u64).sum();
    // A journal of an older version takes no more records. What is clearly too much is not encoded.
    if !state.manifest.has_digests()
        || rows + state.journal_rows > rows_max
        || attached_bytes > JOURNAL_BYTES_MAX
    {
        return Ok(None);
    }
    let mut record = Record::default();
    for (&number, input) in inputs {
        record.tables.push(change(&state.tables[number], number, input)?);
    }
    record.attachments.extend(attachments().map(|(name, bytes)| (name.clone(), bytes.as_slice().into())));
    if record.row_count() + state.journal_rows > rows_max {
        return Ok(None);
    }
    let bytes = match record.encode(state.manifest.journal_seed, state.sequence + 1, state.journal_bytes) {
        Err(Error::Limit { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let bytes_max = limits.journal_bytes.min(JOURNAL_BYTES_MAX);
    Ok((state.journal_bytes + bytes.len() as u64 <= bytes_max).then_some((record, bytes)))
}

/// Returns the journal entry for `input`.
///
/// # Errors
/// If a file is damaged.
fn change(table: &Table, number: usize, input: &Input) -> Result<TableChange> {
    let schema = table.schema();
    let survivors = input.survivors(schema, None)?;
    let keys = PrimaryKeys::new(schema, &survivors.sources)?;
    let dying = input.dying_rows(&table.parts().iter().collect::<Vec<_>>(), &survivors, &keys, 0)?;
    let kills = dying.into_iter().enumerate().map(|(part, rows)| Kill { part, rows });
    let kills = kills.filter(|kill| !kill.rows.is_empty()).collect();
    let mut rows = Rows::new(schema);
    let mut row = Vec::new();
    for RowRef { source, row: number } in survivors.iter() {
        let batch = input.batches[source as usize].rows;
        row.clear();
        row.extend((0..schema.columns.len()).map(|column| batch.value(column, number)));
        rows.push(&row)?;
    }
    Ok(TableChange { table: number, kills, rows })
}

impl<'a> Input<'a> {
    /// Returns an upper bound of the rows that the input adds or kills.
    fn row_count(&self) -> u64 {
        let puts: u64 = self.batches.iter().map(|batch| u64::from(batch.rows.len())).sum();
        // A put may kill a row too.
        puts + self.deletes.len() as u64
    }

    /// Returns the rows that are left of the memtable, if one is given, and of the input.
    ///
    /// # Errors
    /// If a file is damaged.
    pub(crate) fn survivors(&self, schema: &Schema, memtable: Option<&'a Part>) -> Result<Survivors<'a>> {
        let first_batch = u32::from(memtable.is_some());
        let batches = self.batches.iter().map(|batch| batch.rows as &dyn Source);
        let sources: Vec<&dyn Source> = memtable.map(Part::source).into_iter().chain(batches).collect();
        let is_live = |place: RowRef| {
            place.source >= first_batch || memtable.is_none_or(|part| !part.is_dead(place.row))
        };
        let mut survivors = Survivors::sort(schema, sources, &is_live)?;
        if !self.deletes.is_empty() {
            self.drop_deleted(schema, &mut survivors, first_batch as usize)?;
        }
        Ok(survivors)
    }

    /// Drops the rows that a later transaction deletes.
    fn drop_deleted(&self, schema: &Schema, survivors: &mut Survivors<'a>, first_batch: usize) -> Result<()> {
        let keys = PrimaryKeys::new(schema, &survivors.sources)?;
        let mut kept = Vec::new();
        let mut deletes = self.deletes.iter().peekable();
        for place in survivors.iter() {
            while deletes.next_if(|delete| keys.compare(place, &delete.key).is_gt()).is_some() {}
            // A transaction deletes before it puts; the memtable is older than any.
            let put_by =
                (place.source as usize).checked_sub(first_batch).map(|batch| self.batches[batch].transaction);
            let is_deleted = deletes.peek().is_some_and(|delete| {
                keys.compare(place, &delete.key).is_eq()
                    && put_by.is_none_or(|put_by| put_by < delete.transaction)
            });
            if !is_deleted {
                kept.push(place);
            }
        }
        survivors.rows = Some(kept);
        Ok(())
    }

    /// Returns for each part the live rows that the surviving rows from source `first_source` on replace, or
    /// that are deleted.
    ///
    /// # Errors
    /// If a file is damaged.
    pub(crate) fn dying_rows(
        &self,
        parts: &[&Part],
        survivors: &Survivors,
        keys: &PrimaryKeys,
        first_source: u32,
    ) -> Result<Vec<Vec<u32>>> {
        let in_part = |part: &&Part| self.dying_rows_in(part, survivors, keys, first_source);
        if survivors.len() + self.deletes.len() < PARALLEL_LOOKUPS_MIN {
            parts.iter().map(in_part).collect()
        } else {
            parts.par_iter().map(in_part).collect()
        }
    }

    fn dying_rows_in(
        &self,
        part: &Part,
        survivors: &Survivors,
        keys: &PrimaryKeys,
        first_source: u32,
    ) -> Result<Vec<u32>> {
        let mut found = Vec::new();
        let new = survivors.iter().filter(|place| place.source >= first_source);
        let new_count = survivors.len();
        let mut finder = Finder::new(part, new_count);
        let mut key = Vec::new();
        for place in new {
            if finder.is_at_end() {
                break;
            }
            keys.get(place, &mut key);
            found.extend(finder.find(&key)?);
        }
        let mut finder = Finder::new(part, self.deletes.len());
        for delete in &self.deletes {
            found.extend(finder.find(&delete.key)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

impl<'a> Survivors<'a> {
    /// Sorts the live rows of some sources; of equal keys the last one survives.
    ///
    /// # Errors
    /// If a file is damaged, or there are too many rows.
    pub(crate) fn sort(
        schema: &Schema,
        sources: Vec<&'a dyn Source>,
        is_live: &(dyn Fn(RowRef) -> bool + Sync),
    ) -> Result<Survivors<'a>> {
        let rows = sort_by_primary(schema, &sources, is_live)?.rows;
        Ok(Survivors { sources, rows })
    }

    /// Returns the order as the writer of segments takes it.
    pub(crate) fn order(&self) -> Order<'_> {
        self.rows.as_deref().map_or(Order::AsIs, Order::Chosen)
    }

    /// Returns the places of the rows in key order.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = RowRef> + '_> {
        match &self.rows {
            Some(rows) => Box::new(rows.iter().copied()),
            None => Box::new(
                (0..)
                    .zip(&self.sources)
                    .flat_map(|(source, rows)| (0..rows.row_count()).map(move |row| RowRef { source, row })),
            ),
        }
    }

    /// Returns how many rows survive.
    pub(crate) fn len(&self) -> usize {
        match &self.rows {
            Some(rows) => rows.len(),
            None => self.sources.iter().map(|source| source.row_count() as usize).sum(),
        }
    }
}

/// Returns the memtable as a part.
pub(crate) fn memtable_part(table: &TableState) -> &Part {
    table.parts.last().expect("the last part is the memtable")
}
