//! A snapshot: everything in the store as of one commit, for as long as it is held.
//!
//! Comes in: a directory, by a [`Disk`]. Goes out: tables and attachments. Must not know how any of it is written; never locks and
//! never writes.
//!
//! A commit is visible as soon as its record or manifest is in the file, which may be a moment before it is durable; what is
//! acknowledged is durable. A reader that saw a commit which a crash then takes away is gone with the same crash. Only where the
//! disk itself fails, in the sync, may a reader have seen a commit that is then taken back.

use crate::error::{Error, Result};
use crate::journal::{Identity, Record};
use crate::manifest::{Attachments, Manifest};
use crate::names::FileNumber;
use crate::open::{OpenSegment, open_state};
use crate::part::{Part, PartRows};
use crate::schema::Schema;
use crate::table::Table;
use disk::Disk;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A state of the store. A clone costs a reference count.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) state: Arc<State>,
}

/// Which state of a store it is. Later states are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// How many commits it holds. States with the same number hold the same rows.
    pub sequence: u64,
    /// The manifest it rests on.
    pub manifest: u64,
}

/// All that a snapshot holds.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) sequence: u64,
    pub(crate) tables: Vec<Table>,
    pub(crate) attachments: Attachments,
    /// Where the valid part of the journal ends.
    pub(crate) journal_bytes: u64,
    /// How many bytes of a record that is not whole follow.
    pub(crate) torn_bytes: u64,
    /// Rows that the journal adds or kills.
    pub(crate) journal_rows: u64,
}

impl Snapshot {
    /// Opens the newest state of the store in `directory`.
    ///
    /// # Errors
    /// If there is no store, a file is damaged, missing or of a newer version, or the disk refuses.
    pub fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Snapshot> {
        let state = open_state(disk, directory, &HashMap::new())?;
        Ok(Snapshot { state: Arc::new(state) })
    }

    /// Opens the newest state of the same store. Files that this snapshot has open are not opened again.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn newest(&self) -> Result<Snapshot> {
        let state = open_state(&self.state.disk, &self.state.directory, &self.state.parts_by_number())?;
        Ok(Snapshot { state: Arc::new(state) })
    }

    /// Returns which state this is.
    pub fn version(&self) -> Version {
        Version { sequence: self.state.sequence, manifest: self.state.manifest.number }
    }

    /// Returns the attachment of this name as it was last set.
    pub fn attachment(&self, name: &str) -> Option<&[u8]> {
        self.state.attachments.get(name).map(|bytes| &**bytes)
    }

    /// Returns the table of this name.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is none.
    pub fn table(&self, name: &str) -> Result<Table> {
        self.state
            .tables
            .iter()
            .find(|table| table.schema().name == name)
            .cloned()
            .ok_or_else(|| missing_table(name))
    }

    /// Returns the tables in the order in which they were created.
    pub fn tables(&self) -> &[Table] {
        &self.state.tables
    }

    /// Returns how many segments a table has.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such table.
    pub fn segment_count(&self, table: &str) -> Result<usize> {
        // All parts but the memtable.
        Ok(self.table(table)?.parts().len() - 1)
    }

    /// Returns the store's directory.
    pub fn directory(&self) -> &Path {
        &self.state.directory
    }

    /// Checks that the store has exactly these tables, in this order.
    ///
    /// # Errors
    /// [`Error::Schema`], naming the first table that differs.
    pub fn expect_schemas(&self, schemas: &[Schema]) -> Result<()> {
        let directory = self.state.directory.display();
        let found = self.state.tables.iter().map(|table| &**table.schema());
        for (found, expected) in found.clone().zip(schemas) {
            if found != expected {
                let what = format!(
                    "{directory} keeps it with other columns or indexes, or another table in its place"
                );
                return Err(Error::schema(&expected.name, what));
            }
        }
        if let Some(expected) = schemas.get(found.len()) {
            return Err(Error::schema(&expected.name, format!("{directory} has no such table")));
        }
        match found.clone().nth(schemas.len()) {
            Some(found) => {
                Err(Error::schema(&found.name, format!("{directory} has it, and it is not expected")))
            }
            None => Ok(()),
        }
    }
}

impl State {
    /// Returns where the checksums and sequence numbers of the journal begin.
    pub(crate) fn journal_identity(&self) -> Identity {
        self.manifest.journal_identity()
    }

    pub(crate) fn schemas(&self) -> Vec<Arc<Schema>> {
        self.tables.iter().map(|table| Arc::clone(table.schema())).collect()
    }

    /// Does what a journal record says.
    ///
    /// # Errors
    /// What in the record does not fit this state; which is then changed in part and of no use.
    pub(crate) fn apply(&mut self, record: &Record) -> std::result::Result<(), String> {
        self.sequence += 1;
        self.journal_rows += record.row_count();
        for change in &record.tables {
            let table = self.tables.get_mut(change.table).ok_or("a table that is not there")?;
            let state = Arc::make_mut(&mut table.state);
            for kill in &change.kills {
                let part = state.parts.get_mut(kill.part).ok_or("a part that is not there")?;
                kill.rows.iter().try_for_each(|&row| kill_row(part, row))?;
            }
            let Some(Part { rows: PartRows::Memory(memtable), .. }) = state.parts.last_mut() else {
                unreachable!("the last part is the memtable");
            };
            if !change.rows.is_empty() {
                Arc::make_mut(memtable).append(&change.rows).map_err(|error| error.to_string())?;
            }
        }
        self.attachments
            .extend(record.attachments.iter().map(|(name, bytes)| (name.clone(), Arc::clone(bytes))));
        Ok(())
    }

    /// Returns the open segments with their dead rows as their files have them.
    fn parts_by_number(&self) -> HashMap<FileNumber, OpenSegment> {
        let mut parts = HashMap::new();
        for (entry, table) in self.manifest.tables.iter().zip(&self.tables) {
            for (entry, part) in entry.segments.iter().zip(table.parts()) {
                if let PartRows::Segment(segment) = &part.rows {
                    let dead = (part.dead_count() == entry.dead_count()).then(|| part.dead.clone());
                    parts.insert(
                        entry.number,
                        OpenSegment { entry: *entry, segment: Arc::clone(segment), dead },
                    );
                }
            }
        }
        parts
    }
}

fn kill_row(part: &mut Part, row: u32) -> std::result::Result<(), String> {
    let row_count = part.row_count();
    if row >= row_count {
        return Err(format!("row {row} of {row_count} dies"));
    }
    if !part.dead.kill(row) {
        return Err(format!("row {row} dies twice"));
    }
    Ok(())
}

pub(crate) fn missing_table(name: &str) -> Error {
    Error::Missing { what: "table", name: name.to_owned() }
}
