//! Reads everything in a store in every possible way.
//!
//! Input: a disk with a store that may be damaged. Output: none; the calls only have to return. Does not know
//! the damage.

use crate::made::DIRECTORY;
use disk::Disk;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{Column, Kind, PRIMARY, Part, PayloadReader, Snapshot, Table, Value, verify};

/// How many rows of a part are read: a damaged file may claim many.
const ROWS: u32 = 100;

/// Opens the store and reads all of it. Damage should give errors.
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

/// Looks up keys that exist and some that do not.
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
