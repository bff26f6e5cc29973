//! Keys that stand twice in a snapshot, where each may stand once.
//!
//! Comes in: a space's rows as a snapshot has them. Goes out: the same rows, of which one counts for each key, the last; and where in the
//! file the others stand. Must not know logs.
//!
//! Tarantool writes no such file, and refuses it. Whatever comes behind may rely on it that no key has two rows: a row that is taken out
//! uncovers no other.

use crate::block::{BlockPlace, Unpacker};
use crate::error::{Damage, Error, Result};
use crate::header::FileKind;
use crate::load::{OnDamage, SnapshotFile};
use crate::lost::{Lost, Numbers, counted_rows};
use crate::row::{RowKind, rows};
use crate::table::SpaceTable;
use std::path::Path;
use store::{Loaded, PRIMARY, RowRef, Value};

/// Rows that are named of one space; of more the number is told.
const NAMED_MAX: usize = 100;

/// Where the rows of a space came from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) file: SnapshotFile<'a>,
    /// The blocks of which nothing was taken.
    pub(crate) lost: &'a [(BlockPlace, Damage)],
    pub(crate) on_damage: OnDamage,
}

/// Where a row stands in its file.
#[derive(Clone, Copy)]
struct Place {
    block_offset: u64,
    number: i64,
}

/// Sees to it that of several rows with one primary key only the last counts, and returns which do not.
///
/// # Errors
/// [`Error::Twice`], if there are such rows and nothing may be left out.
pub(crate) fn keep_last(origin: Origin, table: &SpaceTable, loaded: &mut Loaded) -> Result<Option<Lost>> {
    let replaced = if table.primary().is_some() { loaded.replaced() } else { Vec::new() };
    let Some(&first) = replaced.first() else { return Ok(None) };
    if origin.on_damage == OnDamage::Refuse {
        let columns = table.schema.primary.iter();
        let key: Vec<Value> = columns.map(|&column| loaded.value(usize::from(column), first)).collect();
        let last = loaded.get(PRIMARY, &key)?.unwrap_or(first);
        return Err(twice(origin.file.path, table.id, &locate(origin, table.id, loaded, &[first, last])));
    }
    let places = locate(origin, table.id, loaded, &replaced[..replaced.len().min(NAMED_MAX)]);
    for &row in &replaced {
        loaded.kill(row)?;
    }
    let have = if replaced.len() == 1 { "has" } else { "have" };
    let more = if replaced.len() > NAMED_MAX { ", of which the first are named" } else { "" };
    Ok(Some(Lost {
        path: origin.file.path.to_owned(),
        bytes: 0..0,
        kind: FileKind::Snapshot,
        what: format!(
            "{} of space {} {have} a primary key that a later row has, too{more}",
            counted_rows(replaced.len() as u64),
            table.id
        ),
        numbers: numbers(&places),
    }))
}

fn twice(path: &Path, space: u32, places: &[Place]) -> Error {
    let none = Place { block_offset: 0, number: 0 };
    let before = places.first().unwrap_or(&none);
    let later = places.last().unwrap_or(&none);
    Error::Twice {
        path: path.to_owned(),
        offset: later.block_offset,
        space,
        row: later.number,
        before: before.number,
    }
}

/// Finds rows of a space in their file, by reading it once more: nobody remembers where a row came from. They are in order of arrival.
fn locate(origin: Origin, space: u32, loaded: &Loaded, wanted: &[RowRef]) -> Vec<Place> {
    let mut starts = vec![0];
    for batch in loaded.batches() {
        starts.push(starts.last().copied().unwrap_or(0) + u64::from(batch.len()));
    }
    let arrived = wanted.iter().map(|row| starts[row.source as usize] + u64::from(row.row));
    let mut arrived = arrived.peekable();
    let (mut places, mut count) = (Vec::new(), 0);
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    for block in origin.file.blocks {
        if origin.lost.iter().any(|(lost, _)| lost.offset == block.offset) {
            continue;
        }
        let Ok(payload) = unpacker.unpack(origin.file.bytes, block) else { continue };
        for row in rows(payload).flatten() {
            let is_tuple = matches!(row.kind, RowKind::Insert | RowKind::Replace) && row.body.tuple.is_some();
            if !is_tuple || row.body.space != Some(space) {
                continue;
            }
            if arrived.next_if_eq(&count).is_some() {
                places.push(Place { block_offset: block.offset as u64, number: row.lsn });
            }
            count += 1;
        }
        if arrived.peek().is_none() {
            break;
        }
    }
    places
}

/// Returns the numbers of rows, neighbours together.
fn numbers(places: &[Place]) -> Vec<Numbers> {
    let mut numbers: Vec<Numbers> = Vec::new();
    for place in places {
        match numbers.last_mut() {
            Some(run) if run.last == place.number.checked_sub(1) => run.last = Some(place.number),
            _ => numbers.push(Numbers { replica: 0, first: place.number, last: Some(place.number) }),
        }
    }
    numbers
}
