//! Primary keys that occur twice in a snapshot.
//!
//! Input: the rows of a space in a snapshot. Output: the same rows, where only the last row of each key
//! counts, and the positions of the others in the file. Does not know logs.
//!
//! Tarantool never writes such a file, and refuses it. All later work relies on unique keys: deleting a row
//! must not uncover another.

use crate::check::loss::{Loss, RowNumbers, counted_rows};
use crate::error::{Damage, Error, Result};
use crate::file::block::{BlockPlace, Unpacker};
use crate::file::header::FileKind;
use crate::file::row::{RowKind, rows};
use crate::load::{OnDamage, SnapshotFile};
use crate::space::table::SpaceTable;
use std::path::Path;
use store::{Loaded, PRIMARY, RowRef, Value};

/// At most this many rows of one space are named. Further ones are only counted.
const NAMED_MAX: usize = 100;

/// What Tarantool does with such a file.
const REMARK: &str = "Tarantool refuses such a file, too";
/// The same, if text is compared by a collation.
const REMARK_COLLATION: &str = "the key has a collation, and the data of collations on Tarantool's machine \
                                may tell the two apart";

/// The source of the rows of a space.
#[derive(Clone, Copy)]
pub(crate) struct SnapshotSource<'a> {
    pub(crate) file: SnapshotFile<'a>,
    /// The blocks that were left out.
    pub(crate) lost: &'a [(BlockPlace, Damage)],
    pub(crate) on_damage: OnDamage,
}

/// The position of a row in its file.
#[derive(Clone, Copy)]
struct RowLocation {
    block_offset: u64,
    number: i64,
}

/// Keeps only the last of several rows with one primary key, and returns the others.
///
/// # Errors
/// [`Error::DuplicateKey`], if there are such rows and nothing may be left out.
pub(crate) fn keep_last(
    source: SnapshotSource,
    table: &SpaceTable,
    loaded: &mut Loaded,
) -> Result<Option<Loss>> {
    let replaced = if table.primary().is_some() { loaded.replaced() } else { Vec::new() };
    let Some(&first) = replaced.first() else { return Ok(None) };
    if source.on_damage == OnDamage::Refuse {
        let columns = table.schema.primary.iter();
        let key: Vec<Value> = columns.map(|&column| loaded.value(usize::from(column), first)).collect();
        let last = loaded.get(PRIMARY, &key)?.unwrap_or(first);
        return Err(duplicate_key(
            source.file.path,
            table,
            &locate(source, table.id, loaded, &[first, last]),
        ));
    }
    let places = locate(source, table.id, loaded, &replaced[..replaced.len().min(NAMED_MAX)]);
    for &row in &replaced {
        loaded.kill(row)?;
    }
    let have = if replaced.len() == 1 { "has" } else { "have" };
    let more = if replaced.len() > NAMED_MAX { ", of which the first are named" } else { "" };
    Ok(Some(Loss {
        path: source.file.path.to_owned(),
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

fn duplicate_key(path: &Path, table: &SpaceTable, places: &[RowLocation]) -> Error {
    let none = RowLocation { block_offset: 0, number: 0 };
    let before = places.first().unwrap_or(&none);
    let later = places.last().unwrap_or(&none);
    Error::DuplicateKey {
        path: path.to_owned(),
        offset: later.block_offset,
        space: table.id,
        row: later.number,
        before: before.number,
        remark: if has_collation(table) { REMARK_COLLATION } else { REMARK },
    }
}

fn has_collation(table: &SpaceTable) -> bool {
    table.primary().is_some_and(|index| index.parts.iter().any(|part| part.kind.collation.is_some()))
}

/// Finds rows of a space in their file, by reading it once more, because the place of a row is not
/// recorded. The rows are in order of arrival.
fn locate(source: SnapshotSource, space: u32, loaded: &Loaded, wanted: &[RowRef]) -> Vec<RowLocation> {
    let mut starts = vec![0];
    for batch in loaded.batches() {
        starts.push(starts.last().copied().unwrap_or(0) + u64::from(batch.len()));
    }
    let arrived = wanted.iter().map(|row| starts[row.source as usize] + u64::from(row.row));
    let mut arrived = arrived.peekable();
    let (mut places, mut count) = (Vec::new(), 0);
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    for block in source.file.blocks {
        if source.lost.iter().any(|(lost, _)| lost.offset == block.offset) {
            continue;
        }
        let Ok(payload) = unpacker.unpack(source.file.bytes, block) else { continue };
        for row in rows(payload).flatten() {
            let is_tuple = matches!(row.kind, RowKind::Insert | RowKind::Replace) && row.body.tuple.is_some();
            if !is_tuple || row.body.space != Some(space) {
                continue;
            }
            if arrived.next_if_eq(&count).is_some() {
                places.push(RowLocation { block_offset: block.offset as u64, number: row.lsn });
            }
            count += 1;
        }
        if arrived.peek().is_none() {
            break;
        }
    }
    places
}

/// Returns the numbers of rows as text, with ranges for consecutive ones.
fn numbers(places: &[RowLocation]) -> Vec<RowNumbers> {
    let mut numbers: Vec<RowNumbers> = Vec::new();
    for place in places {
        match numbers.last_mut() {
            Some(run) if run.last == place.number.checked_sub(1) => run.last = Some(place.number),
            _ => numbers.push(RowNumbers { replica: 0, first: place.number, last: Some(place.number) }),
        }
    }
    numbers
}
