//! Loads the rows of a snapshot into columns, on several threads.
//!
//! Input: the bytes of a snapshot, and the tables of its spaces. Output: batches of rows by space, in the
//! order of the file. Does not know how they are used.
//!
//! Blocks are found by their heads alone and divided into chunks of neighbours. Each thread takes the next
//! chunk and reads its blocks in turn: it checks a block, decompresses it into a buffer that it reuses, reads
//! the msgpack of each row once, and appends to columns. A row as Tarantool writes it is recognised by its
//! bytes; any other row is read by `file::row`.
//!
//! Memory: the rows themselves, and one block for each thread. Columns are allocated by the size of the first
//! block of the chunk, so that they are not copied later; pages that are never touched cost nothing.

mod columns;
mod entries;

use crate::error::{Damage, Result};
use crate::file::block::{BlockPlace, Step, Unpacker, read_head};
use crate::file::chunks::chunks;
use crate::file::header::FileKind;
use crate::file::row::{Row, RowKind, rows};
use crate::msgpack::Reader;
use crate::space::table::SpaceTable;
use crate::space::{SPACE_COLLATION, SPACE_INDEX, SPACE_SPACE, SPACE_SYSTEM_MAX, Spaces};
pub(crate) use columns::{ColumnBuilder, rows_of};
pub(crate) use entries::load_entries;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use store::{Rows, Values};
use work::Progress;

/// Most spaces without a table whose rows are counted separately. Rows of further ones count under
/// [`SPACE_UNNAMED`].
const UNKNOWN_SPACES_MAX: usize = 1000;
/// Most kinds of rows without a tuple that are counted separately. Further ones count under [`KIND_UNNAMED`].
const OTHER_KINDS_MAX: usize = 100;
/// Stands for all further kinds of rows.
pub const KIND_UNNAMED: u64 = u64::MAX;
/// Stands for all further spaces without a definition.
pub const SPACE_UNNAMED: u32 = u32::MAX;

/// A snapshot to load.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFile<'a> {
    /// Its path, for errors.
    pub path: &'a Path,
    /// Its content.
    pub bytes: &'a [u8],
    /// Its blocks.
    pub blocks: &'a [BlockPlace],
}

/// What to do with a block that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Load nothing.
    Refuse,
    /// Load all other blocks, and list this one.
    LeaveOut,
}

/// The contents of a snapshot.
#[derive(Debug, Default)]
pub struct SnapshotRows {
    /// The rows of each table that has any, in the order of the file, by the table's index.
    pub batches: BTreeMap<usize, Vec<Rows>>,
    /// How many rows are in spaces without a table, by space; [`SPACE_UNNAMED`] stands for several.
    pub unknown: BTreeMap<u32, u64>,
    /// How many rows have no tuple, by kind; [`KIND_UNNAMED`] stands for several.
    pub other: BTreeMap<u64, u64>,
    /// The blocks that were left out, in the order of the file, with their damage.
    pub lost: Vec<(BlockPlace, Damage)>,
}

/// Returns the blocks of a file from `offset` on, where its header ends.
///
/// # Errors
/// Damage, if there is something else between them, or the file has no end mark.
pub fn blocks(path: &Path, bytes: &[u8], mut offset: usize) -> Result<Vec<BlockPlace>> {
    let mut found = Vec::new();
    loop {
        match read_head(bytes, offset).map_err(|damage| damage.in_file(path, 0))? {
            Step::Block(place) => {
                offset = place.payload.end;
                found.push(place);
            }
            Step::Eof => return Ok(found),
            Step::End => {
                return Err(Damage::new(offset, "the file ends without the end mark").in_file(path, 0));
            }
        }
    }
}

/// Reads the definitions of spaces in a snapshot. Their rows come first.
///
/// # Errors
/// Damage; with [`OnDamage::LeaveOut`] only an invalid definition.
pub fn read_spaces(file: SnapshotFile, on_damage: OnDamage) -> Result<Spaces> {
    let mut spaces = Spaces::new();
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    for block in file.blocks {
        let read = unpacker.unpack(file.bytes, block).and_then(|payload| define(payload, &mut spaces));
        match read {
            Ok(Defined::All) => break,
            Ok(Defined::More) => {}
            Err(_) if on_damage == OnDamage::LeaveOut => {}
            Err(damage) => return Err(at_block(damage, block).in_file(file.path, 0)),
        }
    }
    Ok(spaces)
}

/// Whether more definitions of spaces may follow.
enum Defined {
    All,
    More,
}

fn define(payload: &[u8], spaces: &mut Spaces) -> std::result::Result<Defined, Damage> {
    for row in rows(payload) {
        let Row { body, .. } = row?;
        match (body.space, body.tuple) {
            (Some(SPACE_SPACE), Some(tuple)) => {
                spaces.set_space(tuple)?;
            }
            (Some(SPACE_INDEX), Some(tuple)) => {
                spaces.set_index(tuple)?;
            }
            (Some(SPACE_COLLATION), Some(tuple)) => spaces.set_collation(tuple),
            (Some(space), _) if space > SPACE_SYSTEM_MAX => return Ok(Defined::All),
            _ => {}
        }
    }
    Ok(Defined::More)
}

/// Loads a snapshot's rows into `tables`, on `thread_count` threads. `progress` counts blocks and
/// their stored bytes.
///
/// # Errors
/// The first damage in the order of the file, unless it is left out; a row that is larger than the store
/// allows; [`Error::Cancelled`](crate::Error::Cancelled).
pub fn load_snapshot(
    file: SnapshotFile,
    tables: &[SpaceTable],
    on_damage: OnDamage,
    thread_count: usize,
    progress: &dyn Progress,
) -> Result<SnapshotRows> {
    let chunks = chunks(file.blocks, thread_count);
    let job = Job { file, tables, on_damage, progress };
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let done = Mutex::new(BTreeMap::new());
    let work = || {
        let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
        while !has_failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(number) else { break };
            let loaded = job.load_chunk(&file.blocks[chunk.clone()], &mut unpacker);
            has_failed.fetch_or(loaded.is_err(), Ordering::Relaxed);
            done.lock().expect("nobody panics with it").insert(number, loaded);
        }
    };
    thread::scope(|scope| {
        for _ in 1..thread_count.min(chunks.len()) {
            scope.spawn(work);
        }
        work();
    });
    gather(tables, done.into_inner().expect("nobody panicked with it").into_values())
}

/// Concatenates the contents of the chunks.
fn gather(tables: &[SpaceTable], loaded: impl Iterator<Item = Result<Chunk>>) -> Result<SnapshotRows> {
    let mut all = SnapshotRows::default();
    let mut arrived = vec![0; tables.len()];
    for chunk in loaded {
        let chunk = chunk?;
        for (number, columns) in chunk.columns {
            let rows = rows_of(&tables[number], columns, &mut arrived[number])?;
            all.batches.entry(number).or_default().push(rows);
        }
        for (space, count) in chunk.unknown {
            count_unknown(&mut all.unknown, space, count);
        }
        for (kind, count) in chunk.other {
            count_other(&mut all.other, kind, count);
        }
        all.lost.extend(chunk.lost);
    }
    Ok(all)
}

/// Counts rows of a space without a table. Spaces have separate counts up to a limit.
fn count_unknown(unknown: &mut BTreeMap<u32, u64>, space: u32, count: u64) {
    let is_named = unknown.contains_key(&space) || unknown.len() < UNKNOWN_SPACES_MAX;
    *unknown.entry(if is_named { space } else { SPACE_UNNAMED }).or_default() += count;
}

/// Counts rows without a tuple. Kinds have separate counts up to a limit.
fn count_other(other: &mut BTreeMap<u64, u64>, kind: u64, count: u64) {
    let is_named = other.contains_key(&kind) || other.len() < OTHER_KINDS_MAX;
    *other.entry(if is_named { kind } else { KIND_UNNAMED }).or_default() += count;
}

/// What all chunks share.
#[derive(Clone, Copy)]
struct Job<'a> {
    file: SnapshotFile<'a>,
    tables: &'a [SpaceTable],
    on_damage: OnDamage,
    progress: &'a dyn Progress,
}

/// The contents of a chunk.
#[derive(Default)]
struct Chunk {
    /// The columns of each batch, with the index of its table.
    columns: Vec<(usize, Vec<Values>)>,
    unknown: BTreeMap<u32, u64>,
    other: BTreeMap<u64, u64>,
    lost: Vec<(BlockPlace, Damage)>,
}

impl Job<'_> {
    fn load_chunk(&self, blocks: &[BlockPlace], unpacker: &mut Unpacker) -> Result<Chunk> {
        let mut spaces = ColumnBuilders::new(self.tables);
        let mut lost = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let marks = spaces.marks();
            let taken = unpacker.unpack(self.file.bytes, block).and_then(|payload| spaces.take(payload));
            match taken {
                Ok(()) => {}
                Err(damage) if self.on_damage == OnDamage::LeaveOut => {
                    spaces.rewind(&marks);
                    lost.push((block.clone(), at_block(damage, block)));
                }
                Err(damage) => return Err(at_block(damage, block).in_file(self.file.path, 0)),
            }
            spaces.end_block(blocks.len() - number - 1);
            self.progress.add(1, block.payload.len() as u64);
            self.progress.check()?;
        }
        Ok(spaces.finish(lost))
    }
}

/// Replaces the offset by that of the block: an offset in decompressed bytes is of no use to a person who
/// looks into the file.
fn at_block(damage: Damage, block: &BlockPlace) -> Damage {
    Damage { offset: block.offset, ..damage }
}

/// The columns of all tables being filled.
struct ColumnBuilders<'t> {
    tables: &'t [SpaceTable],
    /// The columns of each table that has a row.
    builders: Vec<Option<ColumnBuilder<'t>>>,
    /// The table of the previous row, which is usually also that of the next one.
    current: usize,
    unknown: BTreeMap<u32, u64>,
    other: BTreeMap<u64, u64>,
}

/// The state before a block.
struct Marks {
    rows: Vec<usize>,
    unknown: BTreeMap<u32, u64>,
    other: BTreeMap<u64, u64>,
}

impl<'t> ColumnBuilders<'t> {
    fn new(tables: &'t [SpaceTable]) -> ColumnBuilders<'t> {
        let builders = tables.iter().map(|_| None).collect();
        ColumnBuilders { tables, builders, current: 0, unknown: BTreeMap::new(), other: BTreeMap::new() }
    }

    /// Appends all rows of a block.
    fn take(&mut self, payload: &[u8]) -> std::result::Result<(), Damage> {
        let mut reader = Reader::new(payload);
        while !reader.is_empty() {
            match plain_insert(reader.rest()) {
                Some((space, tuple)) => {
                    let mut tuple = Reader::new(tuple);
                    self.insert(space, &mut tuple)?;
                    reader = Reader::new(tuple.rest());
                }
                None => reader = Reader::new(self.take_any(reader.rest())?),
            }
        }
        Ok(())
    }

    /// Appends the tuple at the reader's position to a space.
    #[inline]
    fn insert(&mut self, space: u32, reader: &mut Reader) -> std::result::Result<(), Damage> {
        if let Some(table) = self.tables.get(self.current)
            && table.id == space
            && let Some(Some(builder)) = self.builders.get_mut(self.current)
        {
            return builder.take(reader);
        }
        self.insert_elsewhere(space, reader)
    }

    #[cold]
    fn insert_elsewhere(&mut self, space: u32, reader: &mut Reader) -> std::result::Result<(), Damage> {
        let Some(number) = self.tables.iter().position(|table| table.id == space) else {
            count_unknown(&mut self.unknown, space, 1);
            return reader.skip().map(drop);
        };
        self.current = number;
        self.builders[number].get_or_insert_with(|| ColumnBuilder::new(&self.tables[number])).take(reader)
    }

    /// Appends a row in an unusual encoding. Returns the bytes after it.
    #[cold]
    fn take_any<'a>(&mut self, rest: &'a [u8]) -> std::result::Result<&'a [u8], Damage> {
        let mut iter = rows(rest);
        let Some(row) = iter.next().transpose()? else { return Ok(&[]) };
        match (row.kind, row.body.space, row.body.tuple) {
            (RowKind::Insert | RowKind::Replace, Some(space), Some(tuple)) => {
                self.insert(space, &mut Reader::new(tuple))?;
            }
            _ => count_other(&mut self.other, row.kind.number(), 1),
        }
        Ok(rest.get(iter.offset()..).unwrap_or_default())
    }

    fn end_block(&mut self, blocks_left: usize) {
        self.builders.iter_mut().flatten().for_each(|builder| builder.end_block(blocks_left));
    }

    fn marks(&self) -> Marks {
        let rows =
            self.builders.iter().map(|builder| builder.as_ref().map_or(0, ColumnBuilder::mark)).collect();
        Marks { rows, unknown: self.unknown.clone(), other: self.other.clone() }
    }

    fn rewind(&mut self, marks: &Marks) {
        for (builder, &mark) in self.builders.iter_mut().zip(&marks.rows) {
            if let Some(builder) = builder {
                builder.rewind(mark);
            }
        }
        self.unknown.clone_from(&marks.unknown);
        self.other.clone_from(&marks.other);
    }

    fn finish(self, lost: Vec<(BlockPlace, Damage)>) -> Chunk {
        let mut columns = Vec::new();
        for (number, builder) in self.builders.into_iter().enumerate() {
            let batches = builder.into_iter().flat_map(ColumnBuilder::finish);
            columns.extend(batches.map(|batch| (number, batch)));
        }
        Chunk { columns, unknown: self.unknown, other: self.other, lost }
    }
}

/// Parses a row exactly as Tarantool writes it into a snapshot: the map {kind: insert, lsn, time}, then the
/// map {space in 4 bytes, tuple}. Returns the space, and the bytes from the tuple on.
#[inline]
fn plain_insert(rest: &[u8]) -> Option<(u32, &[u8])> {
    let ([0x83, 0x00, 0x02, 0x03, width], rest) = rest.split_first_chunk::<5>()? else { return None };
    let lsn_bytes = match width {
        0x00..=0x7f => 0,
        0xcc => 1,
        0xcd => 2,
        0xce => 4,
        0xcf => 8,
        _ => return None,
    };
    let (middle, rest) = rest.get(lsn_bytes..)?.split_first_chunk::<18>()?;
    let [0x04, 0xcb, _, _, _, _, _, _, _, _, 0x82, 0x10, 0xce, a, b, c, d, 0x21] = *middle else {
        return None;
    };
    Some((u32::from_be_bytes([a, b, c, d]), rest))
}
