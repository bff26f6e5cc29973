//! Recovers all rows of a snapshot and its logs, as tables in memory that answer look-ups, and then as a
//! store.
//!
//! Input: a [`Plan`]. Output: [`Recovered`], with a table for each space: its rows in order of arrival, and
//! its indexes. Does not know how rows are decoded or applied, nor how the store keeps them.
//!
//! Without logs, rows go from the snapshot's blocks into columns and stay there. Rows of logs are appended,
//! and mark the rows that they replace as dead.

mod duplicate_keys;
mod vinyl_rows;

use crate::apply::{LogFile, RowEnd, apply_log};
use crate::check::loss::counted_rows;
use crate::error::{Error, Result};
use crate::file::block::BlockPlace;
use crate::file::row::RowKind;
use crate::key::{COLLATION_DATA, is_nil};
use crate::load::{
    KIND_UNNAMED, OnDamage, SPACE_UNNAMED, SnapshotFile, SnapshotRows, load_entries, load_snapshot,
    read_spaces,
};
use crate::plan::{Mode, Plan, PlannedFile};
use crate::space::table::{SpaceTable, TableIndex};
use crate::space::{Space, SpaceIndex, Spaces};
use crate::state::{Finished, OnRejectedRow, RejectedRow, State, elections_line};
use crate::vclock::VClock;
use crate::vinyl::VinylPlan;
use disk::Disk;
use duplicate_keys::{SnapshotSource, keep_last};
use std::cell::RefCell;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::limits::TABLES_MAX;
use store::{Loaded, Options, PRIMARY, RowRef, Schema, Value, Writer};
use vinyl_rows::{VinylRows, without_tree};
use work::{Progress, on_threads};

/// The name of the attachment with the version of the data that keys with collations depend on. It is missing
/// if no index has a collation.
pub(crate) const COLLATIONS: &str = "tarantool collations";

/// The result of a recovery.
#[derive(Debug)]
pub struct Recovered {
    /// One table for each space with durable rows, by number. Temporary spaces and those of unknown engines
    /// have none.
    pub tables: Vec<RecoveredTable>,
    /// How far the rows reach.
    pub vclock: VClock,
    /// What could not be represented or is not understood, one line each.
    pub remarks: Vec<String>,
    /// The rows that Tarantool had and the tables lack, one line each.
    pub left_out: Vec<String>,
    /// Rows of logs that did not fit the rows before them and were left out.
    pub rejected: Vec<RejectedRow>,
    /// The number of threads.
    thread_count: usize,
}

/// A space with its rows.
#[derive(Debug)]
pub struct RecoveredTable {
    /// The space as a table.
    pub table: SpaceTable,
    /// Its rows.
    pub rows: Loaded,
    /// The entries of each index that has a table for them, in the order of the indexes.
    pub entries: Vec<Loaded>,
}

/// Recovers everything that a plan names, and builds all indexes, on `thread_count` threads. In
/// [`Mode::Salvage`] anything unreadable or inconsistent is left out. `progress` counts stored bytes as
/// they are processed, from any thread.
///
/// # Errors
/// Damage, a gap between files, or a row that does not fit, unless they are to be left out; an invalid
/// definition of a space; rows or a number of spaces above the limits of a store.
pub fn recover(plan: &Plan, mode: Mode, thread_count: usize, progress: &dyn Progress) -> Result<Recovered> {
    on_threads(thread_count, || recover_here(plan, mode, thread_count, progress, None))
}

/// Adds rows to a state.
pub(crate) type Add<'a> = dyn FnMut(&mut State) -> Result<()> + Send + 'a;

/// Does what [`recover`] does, and adds more rows after the last one of the logs.
///
/// # Errors
/// Same as [`recover`], and what `add` returns.
pub(crate) fn recover_and_add(
    plan: &Plan,
    mode: Mode,
    thread_count: usize,
    progress: &dyn Progress,
    add: &mut Add<'_>,
) -> Result<Recovered> {
    on_threads(thread_count, || recover_here(plan, mode, thread_count, progress, Some(add)))
}

fn recover_here(
    plan: &Plan,
    mode: Mode,
    thread_count: usize,
    progress: &dyn Progress,
    add: Option<&mut Add<'_>>,
) -> Result<Recovered> {
    let on_damage = match mode {
        Mode::Strict => OnDamage::Refuse,
        Mode::Salvage => OnDamage::LeaveOut,
    };
    let vinyl = VinylRows {
        plan: plan.vinyl.as_ref(),
        on_damage,
        thread_count,
        progress,
        failure: RefCell::new(None),
        lost: RefCell::new(Vec::new()),
    };
    let is_whole = is_of_snapshot_alone(plan) && add.is_none();
    let base = match &plan.snapshot {
        Some(snapshot) => Base::load(plan, snapshot, is_whole, &vinyl)?,
        None => Base::default(),
    };
    if is_whole {
        let path = plan.snapshot.as_ref().map_or(Path::new(""), |snapshot| &snapshot.path);
        return base.recovered(path, thread_count);
    }
    let Base { spaces, tables, vclock, mut remarks, mut left_out } = base;
    let trees = plan.vinyl.iter().flat_map(VinylPlan::primary_trees);
    if let Some(vinyl) = &plan.vinyl {
        remarks.extend(vinyl.remarks.iter().cloned());
        left_out.extend(vinyl.lost.iter().cloned());
    }
    let on_rejected_row = match mode {
        Mode::Strict => OnRejectedRow::Refuse,
        Mode::Salvage => OnRejectedRow::LeaveOut,
    };
    let mut state = State::new(spaces, vclock, on_rejected_row);
    state.set_vinyl(trees, &vinyl);
    for (table, rows) in tables {
        state.set_base(table.id, rows).map_err(|what| misplaced(&table.schema, what))?;
    }
    for (place, log) in plan.logs.iter().enumerate() {
        plan.follows(place, state.vclock())?;
        let file = LogFile { path: &log.path, bytes: &log.bytes, end: row_end(plan, log) };
        let applied = apply_log(file, log.blocks(), &mut state, thread_count, progress);
        vinyl.check()?;
        applied?;
    }
    if plan.ends_at_point {
        remarks.extend(state.drop_undecided());
    }
    if let Some(add) = add {
        let added = add(&mut state);
        vinyl.check()?;
        added?;
    }
    let finished = state.finish();
    vinyl.check()?;
    let Finished { spaces, vclock, remarks: more, left_out: lacking, rejected } =
        finished.map_err(|RejectedRow { lsn, what }| {
            let path = plan.logs.last().map_or_else(Default::default, |log| log.path.clone());
            Error::Row { path, lsn, what }
        })?;
    remarks.extend(more);
    left_out.extend(lacking);
    left_out.extend(vinyl.lost.take());
    let path = plan.logs.last().map_or(Path::new(""), |log| &log.path);
    check_table_count(spaces.iter().map(|space| &space.table), path)?;
    let mut tables = Vec::with_capacity(spaces.len());
    for space in spaces {
        let rows = Loaded::build(&space.table.schema, space.batches, &space.dead)?;
        check_inserts(plan, &space.table, &rows)?;
        tables.push(RecoveredTable::new(space.table, rows, path)?);
    }
    Ok(Recovered { tables, vclock, remarks, left_out, rejected, thread_count })
}

/// Returns whether the snapshot has all rows. Otherwise some are in logs or in files of vinyl.
fn is_of_snapshot_alone(plan: &Plan) -> bool {
    plan.logs.is_empty() && plan.vinyl.as_ref().is_none_or(|vinyl| vinyl.primary_trees().next().is_none())
}

/// Returns the end of the rows of a log that count, if the plan ends within it.
fn row_end(plan: &Plan, log: &PlannedFile) -> Option<RowEnd> {
    let cut = plan.cut.as_ref().filter(|cut| cut.path == log.path)?;
    Some(RowEnd { block_offset: cut.block_offset, row_count: cut.row_count })
}

/// Refuses rows that logs inserted although the snapshot has a row with the same key. Inserts are not checked
/// one by one, except where rows may be missing; there an insert replaces.
fn check_inserts(plan: &Plan, table: &SpaceTable, rows: &Loaded) -> Result<()> {
    let count = if table.primary().is_some() { rows.replaced().len() } else { 0 };
    if count == 0 {
        return Ok(());
    }
    let path = plan.logs.last().map_or_else(Default::default, |log| log.path.clone());
    let what = format!(
        "the logs up to this one insert {} into space {} with a primary key that the snapshot has already; \
         Tarantool refuses that, too",
        counted_rows(count as u64),
        table.id
    );
    Err(Error::Refused { path, what })
}

/// At most this many unreadable blocks of a snapshot are named. Further ones are only counted.
const BLOCKS_NAMED_MAX: usize = 1000;

/// The contents of a snapshot.
#[derive(Default)]
struct Base {
    spaces: Spaces,
    tables: Vec<(SpaceTable, Loaded)>,
    vclock: VClock,
    /// Messages, except those about the tables.
    remarks: Vec<String>,
    /// Rows without a table.
    left_out: Vec<String>,
}

impl Base {
    fn load(plan: &Plan, snapshot: &PlannedFile, is_whole: bool, vinyl: &VinylRows) -> Result<Base> {
        let VinylRows { on_damage, thread_count, progress, .. } = *vinyl;
        let path = snapshot.path.as_path();
        let blocks: Vec<BlockPlace> = snapshot.blocks().collect();
        let file = SnapshotFile { path, bytes: &snapshot.bytes, blocks: &blocks };
        let spaces = read_spaces(file, on_damage)?;
        let tables = tables_of(&spaces, path)?;
        // Logs may drop spaces.
        if plan.logs.is_empty() {
            check_table_count(tables.iter(), path)?;
        }
        let SnapshotRows { mut batches, unknown, other, lost } =
            load_snapshot(file, &tables, on_damage, thread_count, progress)?;
        let mut left_out: Vec<String> = unknown.into_iter().map(unknown_line).collect();
        left_out.extend(without_tree(plan.vinyl.as_ref(), &spaces, path, on_damage)?);
        left_out.extend(other.iter().filter_map(|(&kind, &count)| other_line(kind, count)));
        let elections = other.iter().filter(|(kind, _)| RowKind::of(**kind).is_of_election());
        let remarks = elections_line(elections.map(|(_, count)| count).sum());
        for (place, damage) in lost.iter().take(BLOCKS_NAMED_MAX) {
            let path = path.display();
            left_out.push(format!("{path}: the block at byte {} is left out: {}", place.offset, damage.what));
        }
        if let Some(unnamed @ 1..) = lost.len().checked_sub(BLOCKS_NAMED_MAX) {
            left_out.push(format!("{}: {unnamed} more blocks are left out", path.display()));
        }
        let source = SnapshotSource { file, lost: &lost, on_damage };
        let mut loaded = Vec::with_capacity(tables.len());
        for (number, table) in tables.into_iter().enumerate() {
            let batches = batches.remove(&number).unwrap_or_default();
            // With rows after it, only indexes that are used are needed.
            let mut rows = match is_whole {
                true => Loaded::build(&table.schema, batches, &[])?,
                false => Loaded::new(&table.schema, batches, &[])?,
            };
            left_out.extend(keep_last(source, &table, &mut rows)?.map(|lost| lost.to_string()));
            if vinyl.has_tree(&spaces, table.id) {
                let count = rows.row_count();
                let what =
                    || format!("{} of space {}, which vinyl keeps elsewhere", counted_rows(count), table.id);
                left_out.extend((count > 0).then(what));
                continue;
            }
            loaded.push((table, rows));
        }
        let tables = loaded;
        Ok(Base {
            spaces,
            tables,
            vclock: snapshot.header.vclock.clone(),
            remarks: remarks.into_iter().collect(),
            left_out,
        })
    }

    /// Returns all rows of the snapshot, if there are no logs.
    fn recovered(self, path: &Path, thread_count: usize) -> Result<Recovered> {
        let Base { tables, vclock, mut remarks, left_out, .. } = self;
        let mut recovered = Vec::with_capacity(tables.len());
        for (table, rows) in tables {
            remarks.extend(table.remarks.iter().cloned());
            recovered.push(RecoveredTable::new(table, rows, path)?);
        }
        let rejected = Vec::new();
        Ok(Recovered { tables: recovered, vclock, remarks, left_out, rejected, thread_count })
    }
}

/// Returns the messages about rows of a snapshot without a tuple.
fn other_line(kind: u64, count: u64) -> Option<String> {
    let rows = counted_rows(count);
    match RowKind::of(kind) {
        RowKind::Nop => None,
        known if known.is_of_election() => None,
        _ if kind == KIND_UNNAMED => Some(format!("{rows} of many more kinds, which hold no tuple")),
        _ => Some(format!("{rows} of kind {kind}, which hold no tuple")),
    }
}

fn unknown_line((space, count): (u32, u64)) -> String {
    let rows = counted_rows(count);
    match space {
        SPACE_UNNAMED => format!("{rows} of many more spaces that are not defined"),
        space => format!("{rows} of space {space}, which is not defined"),
    }
}

/// Returns a table for each space with durable rows.
fn tables_of(spaces: &Spaces, path: &Path) -> Result<Vec<SpaceTable>> {
    let mut tables = Vec::new();
    for id in spaces.ids() {
        let space = spaces.get(id).map_err(|damage| damage.in_file(path, 0))?;
        tables.extend(space.filter(Space::has_rows).map(|space| SpaceTable::new(&space)));
    }
    Ok(tables)
}

/// Refuses more spaces than a store can hold, before their rows are processed.
fn check_table_count<'t>(tables: impl Iterator<Item = &'t SpaceTable>, path: &Path) -> Result<()> {
    let with_entries =
        |table: &SpaceTable| 1 + table.indexes.iter().filter(|index| index.entries.is_some()).count();
    let count: usize = tables.map(with_entries).sum();
    if count <= TABLES_MAX {
        return Ok(());
    }
    let what = format!(
        "{count} spaces and multikey indexes have rows, including Tarantool's own, and a store takes \
         {TABLES_MAX}: drop some in Tarantool, and let it make a snapshot"
    );
    Err(Error::Unsupported { path: path.to_owned(), what })
}

fn misplaced(schema: &Schema, what: String) -> Error {
    Error::Store(store::Error::Schema { table: schema.name.clone(), what })
}

impl Recovered {
    /// Returns how many rows all tables have.
    pub fn row_count(&self) -> u64 {
        self.tables.iter().map(|table| table.rows.row_count()).sum()
    }

    /// Looks up the last row of each table through each of its indexes, and returns how many look-ups found
    /// it. Afterwards everything that a look-up needs is built.
    ///
    /// # Errors
    /// If a look-up does not find the row, which is a bug in this program.
    pub fn check(&self) -> Result<u64> {
        on_threads(self.thread_count, || self.check_here())
    }

    fn check_here(&self) -> Result<u64> {
        let mut count = 0;
        for table in &self.tables {
            let Some(last) = table.rows.rows().next_back() else { continue };
            let mut entries = table.entries.iter();
            for index in &table.table.indexes {
                match index.entries.as_ref().and_then(|_| entries.next()) {
                    None => table.check_index(index, last)?,
                    Some(entries) => table.check_entries(index, entries)?,
                }
                count += 1;
            }
        }
        Ok(count)
    }

    /// Writes everything into the store in `directory`, with named bytes. The store is created if missing.
    /// The write is atomic.
    ///
    /// # Errors
    /// If there is a store with other tables or with rows; disk errors.
    pub fn seal(
        &self,
        disk: &Arc<dyn Disk>,
        directory: &Path,
        options: Options,
        attachments: Vec<(String, Vec<u8>)>,
    ) -> Result<()> {
        let rows = self.tables.iter().map(|table| &table.rows);
        let tables: Vec<&Loaded> = rows.chain(self.tables.iter().flat_map(|table| &table.entries)).collect();
        let mut attachments = attachments;
        if self.tables.iter().any(|table| table.table.has_collation()) {
            attachments.push((COLLATIONS.to_owned(), COLLATION_DATA.as_bytes().to_vec()));
        }
        on_threads(self.thread_count, || Writer::seal_into(disk, directory, &tables, attachments, options))?;
        Ok(())
    }
}

/// Returns whether a part of a key is nil.
fn has_nil(key: &[Value], index: &TableIndex) -> bool {
    key.iter().zip(&index.parts).any(|(value, part)| is_nil(*value, &part.kind))
}

/// Returns whether two tuples have the same entry. One tuple has each entry once.
fn has_double_entry(entries: &Loaded, index: &TableIndex) -> Result<bool> {
    let mut before: Option<Vec<Value>> = None;
    for row in entries.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)? {
        let key: Vec<Value> = (0..index.parts.len()).map(|column| entries.value(column, row)).collect();
        if before.as_ref() == Some(&key) && !has_nil(&key, index) {
            return Ok(true);
        }
        before = Some(key);
    }
    Ok(false)
}

impl RecoveredTable {
    /// Returns the name of one of these indexes that is unique and has a key twice. A key with nil in it is
    /// like no other one.
    ///
    /// # Errors
    /// A bug of this program: an index cannot be read.
    pub(crate) fn double_key<'i>(&self, indexes: &'i [SpaceIndex]) -> Result<Option<&'i str>> {
        let mut entries = self.entries.iter();
        for own in &self.table.indexes {
            let of_index = own.entries.as_ref().and_then(|_| entries.next());
            let Some(index) = indexes.iter().find(|index| index.iid == own.iid && index.is_unique) else {
                continue;
            };
            let is_double = match of_index {
                Some(entries) => has_double_entry(entries, own)?,
                None => self.has_double_key(own)?,
            };
            if is_double {
                return Ok(Some(&index.name));
            }
        }
        Ok(None)
    }

    fn has_double_key(&self, index: &TableIndex) -> Result<bool> {
        let schema = self.rows.schema();
        let Some(number) = schema.index(&index.store_name) else { return Ok(false) };
        let columns = &schema.indexes[number].columns;
        for row in self.rows.rows() {
            let key: Vec<Value> =
                columns.iter().map(|&column| self.rows.value(usize::from(column), row)).collect();
            if !has_nil(&key, index) && self.rows.find(&index.store_name, &key)?.len() > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the rows of a space, and makes the entries of its indexes. `path` is their origin, for errors.
    ///
    /// # Errors
    /// If there are more entries than a table takes.
    fn new(table: SpaceTable, rows: Loaded, path: &Path) -> Result<RecoveredTable> {
        let with_entries = table.indexes.iter().filter_map(|index| index.entries.as_ref());
        let entries =
            with_entries.map(|entries| load_entries(entries, &rows, path)).collect::<Result<_>>()?;
        Ok(RecoveredTable { table, rows, entries })
    }

    /// Looks the last entry of an index up, and the row that it belongs to.
    fn check_entries(&self, index: &TableIndex, entries: &Loaded) -> Result<()> {
        let Some(last) = entries.rows().next_back() else { return Ok(()) };
        let key: Vec<Value> =
            (0..entries.schema().columns.len()).map(|column| entries.value(column, last)).collect();
        let primary = &key[index.parts.len()..];
        if entries.get(PRIMARY, &key)? == Some(last) && self.rows.get(PRIMARY, primary)?.is_some() {
            return Ok(());
        }
        let what = format!("the last entry of index {} is not found", index.name);
        Err(misplaced(self.rows.schema(), what))
    }

    /// Looks a row up through an index.
    fn check_index(&self, index: &TableIndex, row: RowRef) -> Result<()> {
        let schema = self.rows.schema();
        let columns = match schema.index(&index.store_name) {
            Some(number) => &schema.indexes[number].columns,
            None => &schema.primary,
        };
        let key: Vec<Value> =
            columns.iter().map(|&column| self.rows.value(usize::from(column), row)).collect();
        if self.rows.find(&index.store_name, &key)?.contains(&row) {
            return Ok(());
        }
        let what = format!("the last row is not found through index {}", index.name);
        Err(misplaced(schema, what))
    }
}
