//! What a store says of the spaces in it, and of where they came from.
//!
//! Comes in: a snapshot of a store. Goes out: its spaces, and the header that a snapshot of Tarantool with the same rows would have. Must
//! not know how it was filled: the tables of the spaces that describe spaces tell all there is.

use crate::error::{Error, Result};
use crate::header::Header;
use crate::space::{SPACE_INDEX, SPACE_SPACE, Spaces};
use crate::table::{TUPLE, table_name};
use std::ops::Bound;
use store::{PRIMARY, Snapshot, Value};

/// The name of the attachment that says where a store's rows came from: the header of a snapshot with the same rows, as text.
pub const ORIGIN: &str = "tarantool";

/// Returns the header that a snapshot with a store's rows would have: instance and vector clock. None if the store was not made of one.
///
/// # Errors
/// If the header is damaged.
pub fn stored_header(snapshot: &Snapshot) -> Result<Option<Header>> {
    let Some(text) = snapshot.attachment(ORIGIN) else { return Ok(None) };
    let header = Header::parse(text).map_err(|damage| Error::Unsupported {
        path: snapshot.directory().to_owned(),
        what: format!("what the store says of its origin is damaged: {}", damage.what),
    })?;
    Ok(Some(header.0))
}

/// Returns the spaces whose definitions a store holds.
///
/// # Errors
/// If the store holds no spaces, a definition is none, or a file is damaged.
pub fn stored_spaces(snapshot: &Snapshot) -> Result<Spaces> {
    let mut spaces = Spaces::new();
    for id in [SPACE_SPACE, SPACE_INDEX] {
        let unsupported = |what: String| Error::Unsupported { path: snapshot.directory().to_owned(), what };
        let table = snapshot.table(&table_name(id)).map_err(|error| match error {
            store::Error::Missing { .. } => unsupported("holds no spaces of Tarantool".to_owned()),
            other => other.into(),
        })?;
        let columns = &table.schema().columns;
        let column = columns.iter().position(|column| column.name == TUPLE);
        let column = column.ok_or_else(|| unsupported(format!("the table of space {id} has no tuples")))?;
        for row in table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)? {
            let Value::Bytes(tuple) = table.value(column, row?)? else { continue };
            let set = if id == SPACE_SPACE { spaces.set_space(tuple) } else { spaces.set_index(tuple) };
            set.map_err(|damage| {
                unsupported(format!("a definition in space {id} is damaged: {}", damage.what))
            })?;
        }
    }
    Ok(spaces)
}
