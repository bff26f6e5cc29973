//! Random ids with five small columns, as an index of a backup's blobs has them.
//!
//! Comes in: a seed and a count. Goes out: rows. Must not know what is done with them.

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

/// Returns rows with the ids of these numbers, sorted.
pub(super) fn rows(schema: &Arc<Schema>, numbers: std::ops::Range<u64>) -> Result<Rows> {
    let mut ids: Vec<([u8; 32], u64)> = numbers.map(|number| (id(number), number)).collect();
    ids.sort_unstable();
    let mut rows = Rows::new(schema);
    for (id, number) in &ids {
        let small = |shift: u32| Value::U32(u32::try_from(number >> shift & 0xff_ffff).unwrap_or(0));
        rows.push(&[Value::Id(id), small(9), small(0), small(3), small(2), Value::U8(1)])?;
    }
    Ok(rows)
}
