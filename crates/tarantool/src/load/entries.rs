//! Makes the rows of the tables of entries: of indexes with any number of entries for a tuple.
//!
//! Input: the rows of a space. Output: the rows of the table of entries of an index. Does not know how the
//! entries of a tuple are found.

use crate::error::{Damage, Result};
use crate::msgpack::Reader;
use crate::space::entries::EntryTable;
use std::path::Path;
use store::{Loaded, Rows, Value};

/// A batch of rows is closed at this many.
const BATCH_ROWS: u32 = 1 << 18;
/// A batch of rows is closed at this many bytes of keys. The keys of one more tuple still fit.
const BATCH_BYTES: usize = 1 << 30;

/// Returns the entries of all rows of a space. `path` is the origin of the rows, for errors.
///
/// # Errors
/// If a tuple has no valid entries, which was checked when it was read; if there are more entries than a
/// table takes.
pub(crate) fn load_entries(entries: &EntryTable, rows: &Loaded, path: &Path) -> Result<Loaded> {
    let of = rows.schema();
    let tuple_column = of.columns.len().saturating_sub(1);
    let mut batches = Vec::new();
    let mut batch = Rows::new(&entries.schema);
    let mut batch_bytes = 0;
    for row in rows.rows() {
        let Value::Bytes(tuple) = rows.value(tuple_column, row) else {
            unreachable!("the last column of a space's table is the tuple");
        };
        let primary: Vec<Value> =
            of.primary.iter().map(|&column| rows.value(usize::from(column), row)).collect();
        let keys =
            entries.shape.keys(Reader::new(tuple)).map_err(|damage: Damage| damage.in_file(path, 0))?;
        for key in keys {
            let values: Vec<Value> =
                key.iter().map(store::OwnedValue::as_value).chain(primary.iter().copied()).collect();
            batch.push(&values)?;
            batch_bytes += values.iter().map(bytes_of).sum::<usize>();
            if batch.len() >= BATCH_ROWS || batch_bytes >= BATCH_BYTES {
                batches.push(std::mem::replace(&mut batch, Rows::new(&entries.schema)));
                batch_bytes = 0;
            }
        }
    }
    batches.push(batch);
    Ok(Loaded::build(&entries.schema, batches, &[])?)
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => size_of::<u64>(),
    }
}
