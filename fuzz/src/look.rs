//! Reads everything that a store offers, in every way there is.
//!
//! Input: a disk with a store that may be damaged. Output: nothing; what matters is that it comes back. Does
//! not know what is wrong with the store.

use crate::made::DIRECTORY;
use disk::Disk;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{Column, Kind, PRIMARY, Part, PayloadReader, Snapshot, Table, Value, verify};

/// How many rows of a part are looked at: a damaged file may claim many.
const ROWS: u32 = 100;

/// Opens the store and reads all of it. Errors are what damage should give.
pub fn look_at_everything(disk: &Arc<dyn Disk>) {
    let Ok(snapshot) = Snapshot::open(disk, Path::new(DIRECTORY)) else { return };
    for table in snapshot.tables() {
        for part in table.parts() {
            look_at_part(table, part);
        }
        let mut indexes = vec![PRIMARY.to_owned()];
        indexes.extend(table.schema().indexes.iter().map(|index| index.name.clone()));
        for index in indexes {
            if let Ok(rows) = table.range(&index, Bound::Unbounded, Bound::Unbounded) {
                rows.take(ROWS as usize).for_each(drop);
            }
            look_up(table, &index);
        }
    }
    verify(&snapshot);
}

fn look_at_part(table: &Table, part: &Part) {
    let mut reader = PayloadReader::new();
    for row in 0..part.row_count().min(ROWS) {
        for (column, Column { kind, .. }) in table.schema().columns.iter().enumerate() {
            match kind {
                Kind::Payload(_) => drop(part.payload(column, row, &mut reader).map(<[u8]>::len)),
                _ => drop(part.value(column, row).map(std::hint::black_box)),
            }
        }
    }
}

/// Asks for keys that are there and for some that are not.
fn look_up(table: &Table, index: &str) {
    let id = [3; 32];
    let keys: [&[Value]; 5] = [
        &[Value::U32(7)],
        &[Value::U32(u32::MAX)],
        &[Value::Id(&id)],
        &[Value::Id(&[0xff; 32])],
        &[Value::Bytes(b"name 4"), Value::U8(3)],
    ];
    for key in keys {
        drop(table.get(index, key));
        drop(table.find(index, key));
        if let Ok(rows) = table.range(index, Bound::Included(key), Bound::Included(key)) {
            rows.rev().take(ROWS as usize).for_each(drop);
        }
    }
}
