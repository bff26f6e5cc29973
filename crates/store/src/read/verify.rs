//! Verifies a whole store: every byte that a checksum covers, and the consistency of all structures.
//!
//! Input: a snapshot. Output: all damage found, by file. Repairs nothing.

use crate::commit::journal;
use crate::commit::manifest::Manifest;
use crate::error::{Error, Result};
use crate::file::names;
use crate::read::open::read_dead;
use crate::read::part::{PartRows, key_columns};
use crate::read::snapshot::Snapshot;
use crate::read::state::State;
use crate::read::table::{PRIMARY, Table};
use crate::value::OwnedValue;
use std::ops::Bound;
use std::path::PathBuf;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDamage {
    /// The file.
    pub file: PathBuf,
    /// What is wrong, as a sentence that names the file.
    pub what: String,
}

/// Reads all files of the snapshot again, and returns all damage.
///
/// For each segment, checks every checksum, the order of keys, every payload, and that each index holds
/// each row exactly once and in key order. Checks the manifest, the journal and the files of dead rows,
/// unless a writer has replaced them since. Checks that no two live rows of a table have the same primary
/// key.
pub fn verify(snapshot: &Snapshot) -> Vec<FileDamage> {
    let damage = damage(&snapshot.state);
    let file_of = |error: &Error| error.file().unwrap_or(&snapshot.state.directory).to_owned();
    let in_file = |error: Error| FileDamage { file: file_of(&error), what: error.to_string() };
    damage.into_iter().map(in_file).collect()
}

fn damage(state: &State) -> Vec<Error> {
    let mut damage = Vec::new();
    damage.extend(verify_manifest(state).err());
    for (table, entry) in state.tables.iter().zip(&state.manifest.tables) {
        let before = damage.len();
        for part in table.parts() {
            if let PartRows::Segment(segment) = &part.rows {
                damage.extend(segment.verify());
            }
        }
        for segment in &entry.segments {
            if let Some(dead) = segment.dead {
                let path = state.directory.join(dead.number.dead());
                let read = read_dead(&*state.disk, &path, segment.row_count)
                    .and_then(|(_, file)| file.expect_digest(dead.digest));
                damage.extend(unless_replaced(state, read).err());
            }
        }
        // Unreadable keys need not be compared.
        if damage.len() == before {
            damage.extend(verify_keys(state, table).err());
        }
    }
    damage
}

fn verify_manifest(state: &State) -> Result<()> {
    let manifest = read_manifest(state)?;
    if manifest.number != state.manifest.number {
        return Ok(());
    }
    let path = state.directory.join(names::journal(manifest.number));
    let read = state.disk.read(&path).map_err(Error::from).and_then(|bytes| {
        journal::read(&path, &bytes, &manifest.journal_identity(), &state.schemas(), &mut |_| Ok(()))?;
        Ok(())
    });
    unless_replaced(state, read)
}

fn read_manifest(state: &State) -> Result<Manifest> {
    let path = state.directory.join(names::MANIFEST);
    Manifest::decode(&path, &state.disk.read(&path)?)
}

/// Ignores an error if the manifest was replaced meanwhile: the writer may have removed the file.
fn unless_replaced(state: &State, result: Result<()>) -> Result<()> {
    match result {
        Err(_) if read_manifest(state)?.number != state.manifest.number => Ok(()),
        other => other,
    }
}

/// Checks that no two live rows have the same primary key.
fn verify_keys(state: &State, table: &Table) -> Result<()> {
    let columns = key_columns(table.schema(), None);
    let mut last: Vec<OwnedValue> = Vec::new();
    for row in table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)? {
        let row = row?;
        let value = |&column: &u16| Ok(table.value(usize::from(column), row)?.to_owned());
        let key = columns.iter().map(value).collect::<Result<Vec<_>>>()?;
        if key <= last {
            let what = format!("table {} has two rows with the key {key:?}", table.schema().name);
            return Err(Error::Corrupt { path: state.directory.join(names::MANIFEST), offset: 0, what });
        }
        last = key;
    }
    Ok(())
}
