//! What a row of a transaction changes, so that it can be taken back.
//!
//! Comes in: rows before they are carried out. Goes out: the tuples that they change, put back. Must not know why a transaction does not count.

use super::State;
use super::space_rows::Before;
use crate::row::{Row, RowKind};
use store::OwnedValue;

/// The tuple that a key had, if it had one.
pub(super) struct Undo {
    space: u32,
    key: Vec<OwnedValue>,
    tuple: Option<Vec<u8>>,
}

impl State {
    /// Returns what a row is about to change. None if that is nothing, or if it cannot be carried out or its space has no usable key.
    pub(super) fn before(&mut self, row: &Row) -> Option<Undo> {
        let space = row.body.space?;
        self.freshen(space).ok()?;
        let rows = self.rows.get_mut(&space)?;
        let primary = rows.table.primary()?;
        let key = match row.kind {
            RowKind::Insert | RowKind::Replace | RowKind::Upsert => rows.key_of_tuple(row.body.tuple?),
            RowKind::Update | RowKind::Delete => rows.read_key(row.body.key?, primary),
            _ => return None,
        };
        let key = key.ok()?;
        rows.settle();
        let tuple = rows.find(&key).map(|found| rows.tuple(found).to_vec());
        Some(Undo { space, key, tuple })
    }

    /// Puts back what a row changed.
    pub(super) fn take_back(&mut self, undo: &Undo) {
        let Some(rows) = self.rows.get_mut(&undo.space) else { return };
        match &undo.tuple {
            Some(tuple) => rows.put(tuple, Before::Perhaps).expect("it was there before"),
            None => rows.delete(&undo.key),
        }
    }
}
