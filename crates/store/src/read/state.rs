//! A state of a store: all that a snapshot holds, and how a journal record changes it.

use crate::commit::dead::DeadRows;
use crate::commit::journal::Record;
use crate::commit::manifest::{Attachments, JournalIdentity, Manifest, SegmentEntry};
use crate::error::Error;
use crate::file::names::FileNumber;
use crate::read::marks::Marks;
use crate::read::part::{Part, PartRows};
use crate::read::table::Table;
use crate::schema::Schema;
use crate::segment::mapped::Segment;
use disk::Disk;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All that a snapshot holds.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) sequence: u64,
    pub(crate) tables: Vec<Table>,
    pub(crate) attachments: Attachments,
    /// The end of the valid part of the journal.
    pub(crate) journal_bytes: u64,
    /// How many bytes of a record that is not whole follow.
    pub(crate) torn_bytes: u64,
    /// Rows that the journal adds or kills.
    pub(crate) journal_rows: u64,
    /// By what the manifest and the journal are recognised.
    pub(crate) marks: Marks,
    pub(crate) durable: Durable,
}

/// Whether all commits of a state are known to be durable. A copy of a state becomes another one, of which
/// that is not known.
#[derive(Debug, Default)]
pub(crate) struct Durable(AtomicBool);

impl Durable {
    /// Calls `sync`, unless that has succeeded before.
    pub(crate) fn once<E>(&self, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if !self.0.load(Ordering::Relaxed) {
            sync()?;
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Clone for Durable {
    fn clone(&self) -> Durable {
        Durable::default()
    }
}

/// A segment that an older snapshot has open.
pub(crate) struct OpenSegment {
    pub(crate) entry: SegmentEntry,
    pub(crate) segment: Arc<Segment>,
    /// Valid unless the journal killed more rows.
    pub(crate) dead: Option<DeadRows>,
}

impl State {
    /// Returns the start of the journal's checksums and sequence numbers.
    pub(crate) fn journal_identity(&self) -> JournalIdentity {
        self.manifest.journal_identity()
    }

    pub(crate) fn schemas(&self) -> Vec<Arc<Schema>> {
        self.tables.iter().map(|table| Arc::clone(table.schema())).collect()
    }

    /// Applies a journal record.
    ///
    /// # Errors
    /// If the record does not fit this state. The state is then partly changed and must not be used.
    pub(crate) fn apply(&mut self, record: &Record) -> Result<(), String> {
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
    pub(crate) fn open_segments(&self) -> HashMap<FileNumber, OpenSegment> {
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

fn kill_row(part: &mut Part, row: u32) -> Result<(), String> {
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
