//! Random ids with five small columns, like an index of a backup's blobs.
//!
//! Input: a seed and a count. Output: rows. Does not know what is done with them.

use anyhow::Result;
use std::sync::Arc;
use store::{Column, Index, IndexKind, Kind, Rows, Schema, Value};
use testkit::Random;

/// Whether a table has a hash index of the ids, beside their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hashed {
    Yes,
    No,
}

/// Returns the table.
pub(super) fn schema(hashed: Hashed) -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let by_id = Index { name: "by_id".into(), kind: IndexKind::Hash, unique: true, columns: vec![0] };
    Arc::new(Schema {
        name: "blobs".into(),
        columns: vec![
            column("id", Kind::Id),
            column("pack", Kind::U32),
            column("offset", Kind::U32),
            column("length", Kind::U32),
            column("raw_length", Kind::U32),
            column("kind", Kind::U8),
        ],
        primary: vec![0],
        indexes: if hashed == Hashed::Yes { vec![by_id] } else { Vec::new() },
    })
}

/// Returns an id that no other number has.
pub(super) fn id(number: u64) -> [u8; 32] {
    let mut id = [0; 32];
    Random::of(4711, 1, number).fill(&mut id);
    id
}

/// Returns the table of packs: the name of each by its number.
pub(super) fn pack_schema(hashed: Hashed) -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let by_id = Index { name: "by_id".into(), kind: IndexKind::Hash, unique: true, columns: vec![1] };
    Arc::new(Schema {
        name: "packs".into(),
        columns: vec![column("number", Kind::U32), column("id", Kind::Id)],
        primary: vec![0],
        indexes: if hashed == Hashed::Yes { vec![by_id] } else { Vec::new() },
    })
}

/// Returns the name of a pack.
pub(super) fn pack_id(number: u64) -> [u8; 32] {
    let mut id = [0; 32];
    Random::of(4711, 3, number).fill(&mut id);
    id
}

/// Returns the packs with these numbers.
pub(super) fn packs(schema: &Arc<Schema>, numbers: std::ops::Range<u64>) -> Result<Rows> {
    let mut rows = Rows::new(schema);
    for number in numbers {
        rows.push(&[Value::U32(u32::try_from(number)?), Value::Id(&pack_id(number))])?;
    }
    Ok(rows)
}

/// Returns rows with the ids of these numbers, sorted.
pub(super) fn rows(schema: &Arc<Schema>, numbers: std::ops::Range<u64>) -> Result<Rows> {
    rows_in(schema, numbers, &|number| number >> 9)
}

/// Returns the same, each in the pack that `pack` returns.
pub(super) fn rows_in(
    schema: &Arc<Schema>,
    numbers: std::ops::Range<u64>,
    pack: &dyn Fn(u64) -> u64,
) -> Result<Rows> {
    let mut ids: Vec<([u8; 32], u64)> = numbers.map(|number| (id(number), number)).collect();
    ids.sort_unstable();
    let mut rows = Rows::new(schema);
    for (id, number) in &ids {
        let small = |shift: u32| Value::U32(u32::try_from(number >> shift & 0xff_ffff).unwrap_or(0));
        let pack = Value::U32(u32::try_from(pack(*number))?);
        rows.push(&[Value::Id(id), pack, small(0), small(3), small(2), Value::U8(1)])?;
    }
    Ok(rows)
}
