//! A snapshot: everything in the store as of one commit, for as long as the snapshot is held.
//!
//! Input: a directory, through a [`Disk`]. Output: tables and attachments. Takes no lock and writes nothing.
//!
//! A commit is visible as soon as its record or manifest is in the file, which may be a moment before it is
//! durable. A commit that was acknowledged is durable. A crash that removes a commit also ends the readers
//! that saw it. Only if the disk itself fails during a sync may a reader have seen a commit that is later
//! undone.

use crate::error::{Error, Result};
use crate::file::names;
use crate::read::continuation::continues;
use crate::read::difference::{Difference, difference};
use crate::read::open::open_state;
use crate::read::state::{State, missing_table};
use crate::read::table::Table;
use crate::schema::Schema;
use disk::Disk;
use std::path::Path;
use std::sync::Arc;

/// A state of the store. A clone costs a reference count.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) state: Arc<State>,
}

/// Identifies a state of a store. Later states are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// How many commits it holds. States with the same number hold the same rows.
    pub sequence: u64,
    /// The manifest it rests on.
    pub manifest: u64,
}

impl Snapshot {
    /// Opens the newest state of the store in `directory`.
    ///
    /// # Errors
    /// If there is no store, a file is damaged, missing or of a newer version, or the disk refuses.
    pub fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Snapshot> {
        Snapshot::open_after(disk, directory, None)
    }

    /// As [`Snapshot::open`], and uses what `known`, an older snapshot of the same store, has open.
    ///
    /// # Errors
    /// Same as [`Snapshot::open`].
    pub fn open_after(disk: &Arc<dyn Disk>, directory: &Path, known: Option<&Snapshot>) -> Result<Snapshot> {
        Ok(Snapshot { state: open_state(disk, directory, known.map(|known| &known.state))? })
    }

    /// Opens the newest state of the same store. What this snapshot has open is not opened again: if nobody
    /// has published a manifest since, only what the journal got since is read.
    ///
    /// # Errors
    /// Same as [`Snapshot::open`].
    pub fn newest(&self) -> Result<Snapshot> {
        Snapshot::open_after(&self.state.disk, &self.state.directory, Some(self))
    }

    /// Returns whether this is the same state of the same store as `older`, or a later one, as far as the two
    /// can tell. `false` may also mean that a merge replaced every segment: then nothing connects the two.
    ///
    /// A store that was deleted and made again counts its commits from the beginning, so the numbers alone
    /// do not decide. With one manifest, the journal must begin with the records of the older one. With two,
    /// the newer manifest must hold as many commits, and share a segment: a segment is identified by its
    /// random name and its digest. In both cases, rows that died must still be dead.
    ///
    /// One case cannot be told apart: an older copy of the store was put back and has since been committed to
    /// so often that it published a manifest with as many commits as `older` holds. Manifests do not name
    /// their predecessors.
    pub fn continues(&self, older: &Snapshot) -> bool {
        continues(&self.state, &older.state)
    }

    /// Returns which rows were added and removed since `older`, an earlier snapshot of the same store.
    ///
    /// The cost depends on what changed, not on how many rows there are, with one exception. If a merge put
    /// rows from before and after `older` into one segment, all columns of all rows of that segment are
    /// compared, with payloads decompressed.
    ///
    /// # Errors
    /// [`Error::Schema`] if the two have different tables. Also fails if a file is damaged.
    pub fn difference(&self, older: &Snapshot) -> Result<Difference> {
        let schemas: Vec<Schema> =
            older.state.tables.iter().map(|table| Schema::clone(table.schema())).collect();
        self.expect_schemas(&schemas)?;
        difference(&self.state, &older.state)
    }

    /// Makes every commit of this state durable, if a writer has not done so yet. Then no crash takes back
    /// what a reader is about to tell others. The first call waits for the disk, later ones of the same state
    /// do not.
    ///
    /// # Errors
    /// Disk errors. It is then unknown whether the last commit survives a crash.
    pub fn make_durable(&self) -> Result<()> {
        let State { disk, directory, manifest, durable, .. } = &*self.state;
        durable.once(|| {
            match disk.sync_file(&directory.join(names::journal(manifest.number))) {
                // A newer manifest replaced it, and holds its commits.
                Err(error) if error.is_not_found() => {}
                synced => synced?,
            }
            Ok(disk.sync_directory(directory)?)
        })
    }

    /// Returns how many bytes of the journal every reader of this state reads.
    pub fn journal_bytes(&self) -> u64 {
        self.state.journal_bytes
    }

    /// Returns the version of this state.
    pub fn version(&self) -> Version {
        Version { sequence: self.state.sequence, manifest: self.state.manifest.number }
    }

    /// Returns the latest attachment of this name.
    pub fn attachment(&self, name: &str) -> Option<&[u8]> {
        self.state.attachments.get(name).map(|bytes| &**bytes)
    }

    /// Returns the latest attachment of this name, shared with the snapshot.
    pub fn shared_attachment(&self, name: &str) -> Option<Arc<[u8]>> {
        self.state.attachments.get(name).cloned()
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
