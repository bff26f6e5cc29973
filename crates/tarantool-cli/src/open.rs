//! Opens what the commands of `pneu-tarantool` work with.
//!
//! Turns paths and names into stores, spaces and keys. Prints nothing but progress.

use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use store::{OwnedValue, Snapshot, Table, Value};
use tarantool::key::values_of_text;
use tarantool::msgpack::Reader;
use tarantool::space::{Space, Spaces};
use tarantool::table::{SpaceTable, TableIndex};
use tarantool::text::{JsonStyle, JsonWriter};
use tarantool::{CheckedFiles, UncheckedFiles};

/// What a directory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Snapshots and logs of Tarantool.
    Tarantool,
    /// A store of ours, or nothing.
    Store,
}

/// Says what a directory holds, by the names in it.
///
/// # Errors
/// It cannot be listed.
pub(crate) fn content(session: &Session, directory: &Path) -> Result<Content> {
    let names = session.disk.list(directory)?;
    let is_foreign = |name: &std::ffi::OsString| {
        Path::new(name).extension().is_some_and(|end| end == "snap" || end == "xlog")
    };
    Ok(if names.iter().any(is_foreign) { Content::Tarantool } else { Content::Store })
}

/// Opens a store.
///
/// # Errors
/// There is none, or it is damaged.
pub(crate) fn open_store(session: &Session, directory: &Path) -> Result<Snapshot> {
    Snapshot::open(&session.disk, directory).map_err(|error| {
        if error.is_not_found() {
            let path = directory.display();
            anyhow!("there is no store in {path}; make one: pneu-tarantool load DIR --into {path}")
        } else {
            error.into()
        }
    })
}

/// A space of a store, opened.
pub(crate) struct OpenSpace {
    /// Its rows.
    pub table: Table,
    /// How they are found.
    pub shape: SpaceTable,
}

/// Opens a space by its name or number.
///
/// # Errors
/// There is none, or the store is damaged.
pub(crate) fn space(snapshot: &Snapshot, name: &str) -> Result<OpenSpace> {
    let spaces = tarantool::stored_spaces(snapshot)?;
    let Some(space) = named(&spaces, name)? else {
        bail!(
            "there is no space {name} in {}; pneu-tarantool info lists them",
            snapshot.directory().display()
        );
    };
    let shape = SpaceTable::new(&space);
    let table =
        snapshot.table(&shape.schema.name).with_context(|| format!("space {name} has no rows that last"))?;
    if table.schema() != &shape.schema {
        bail!(
            "{} keeps space {name} with other columns or indexes than it describes",
            snapshot.directory().display()
        );
    }
    Ok(OpenSpace { table, shape })
}

fn named(spaces: &Spaces, name: &str) -> Result<Option<Space>> {
    let wrong =
        |damage: tarantool::Damage| anyhow!("the definition of space {name} is damaged: {}", damage.what);
    if let Some(space) = spaces.named(name).map_err(wrong)? {
        return Ok(Some(space));
    }
    match name.parse() {
        Ok(id) => spaces.get(id).map_err(wrong),
        Err(_) => Ok(None),
    }
}

impl OpenSpace {
    /// Returns an index by its name; the primary key if none is named.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn index(&self, name: Option<&str>) -> Result<Option<&TableIndex>> {
        let Some(name) = name else { return Ok(self.shape.primary()) };
        if let Some(index) = self.shape.index(name) {
            return Ok(Some(index));
        }
        let names: Vec<&str> = self.shape.indexes.iter().map(|index| index.name.as_str()).collect();
        bail!("there is no index {name}; there are: {}", names.join(", "))
    }

    /// Returns the tuple of a row.
    ///
    /// # Errors
    /// A file is damaged.
    pub(crate) fn tuple(&self, row: store::RowId) -> Result<&[u8]> {
        match self.table.value(self.shape.shape.tuple_column(), row)? {
            Value::Bytes(tuple) => Ok(tuple),
            other => bail!("the column with tuples holds {other:?}"),
        }
    }
}

/// Appends a tuple as JSON.
///
/// # Errors
/// It is not msgpack.
pub(crate) fn put_tuple(tuple: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let written = JsonWriter::new(JsonStyle::Readable).put(&mut Reader::new(tuple), out);
    written.map_err(|damage| anyhow!("a tuple is damaged at byte {}: {}", damage.offset, damage.what))
}

/// Reads the values of a key, or of its beginning: for each part all that its text may stand for, the
/// smallest first.
///
/// # Errors
/// There are too many, or one is not of its part's type.
pub(crate) fn key_parts(index: &TableIndex, values: &[String]) -> Result<Vec<Vec<OwnedValue>>> {
    if values.len() > index.parts.len() {
        bail!("index {} has {} parts, and {} values are given", index.name, index.parts.len(), values.len());
    }
    let parse = |(value, part): (&String, &tarantool::space::Part)| {
        values_of_text(value, part.kind)
            .map_err(|what| anyhow!("\"{value}\" is not a key of index {}: {what}", index.name))
    };
    values.iter().zip(&index.parts).map(parse).collect()
}

/// Reads every block of a directory of Tarantool, on all cores and with progress.
///
/// # Errors
/// What the disk says.
pub(crate) fn read_ahead(
    session: &Session,
    directory: &Path,
    logs: &Path,
    what: &'static str,
) -> Result<Arc<CheckedFiles>> {
    let files = UncheckedFiles::open(session.disk.as_ref(), directory, logs)?;
    let progress = session.progress(what, files.stored_bytes());
    let checked = files.check(session.thread_count, &progress);
    progress.finish();
    Ok(Arc::new(checked))
}

/// Returns what is said of a torn end.
pub(crate) fn torn_line(torn: &tarantool::Torn) -> String {
    let (path, length) = (torn.path.display(), torn.length_bytes - torn.keep_bytes);
    format!("{path} ends with a torn write: {length} bytes from byte {} on: {}", torn.keep_bytes, torn.what)
}

/// Takes the lock that Tarantool holds on the directory of its logs while it runs. It ends when the file is
/// closed.
///
/// # Errors
/// Somebody has it: what looks torn may be a write that is not done yet.
pub(crate) fn lock_directory(directory: &Path) -> Result<File> {
    let opened = File::open(directory).with_context(|| format!("cannot open {}", directory.display()))?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => {
            bail!("{} is in use: stop the Tarantool that runs there first", directory.display())
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", directory.display()))
        }
    }
}
