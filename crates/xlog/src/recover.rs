//! A snapshot's spaces as tables in memory that answer, and then as a store.
//!
//! Comes in: a snapshot's blocks. Goes out: [`Recovered`]: a table for each space, with its rows in order of arrival and its indexes built.
//! Must not know how rows are decoded, nor how the store keeps them.

use crate::error::{Error, Result};
use crate::load::{OnDamage, SnapshotFile, SnapshotRows, load_snapshot, read_spaces};
use crate::space::Spaces;
use crate::table::{SpaceTable, TableIndex};
use disk::Disk;
use std::path::Path;
use std::sync::Arc;
use store::{Loaded, Options, RowRef, Schema, Value, Writer};

/// What was recovered.
#[derive(Debug)]
pub struct Recovered {
    /// What spaces there are.
    pub spaces: Spaces,
    /// A table for each space that has rows that last, by number.
    pub tables: Vec<RecoveredTable>,
    /// What could not be represented, or is not understood, one line each.
    pub remarks: Vec<String>,
}

/// A space with its rows.
#[derive(Debug)]
pub struct RecoveredTable {
    /// The space as a table.
    pub space: SpaceTable,
    /// Its rows.
    pub rows: Loaded,
}

/// Loads a snapshot and builds all indexes. `progress` is told of stored bytes as they are done, by any thread.
///
/// # Errors
/// Damage, unless it is to be left out; a definition of a space that is none; rows that are larger than a store takes.
pub fn recover_snapshot(
    file: SnapshotFile,
    on_damage: OnDamage,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Recovered> {
    let spaces = read_spaces(file, on_damage)?;
    let (tables, mut remarks) = tables_of(&spaces, file.path)?;
    let SnapshotRows { mut batches, unknown, .. } = load_snapshot(file, &tables, on_damage, progress)?;
    for (space, count) in unknown {
        remarks.push(format!("{count} rows of space {space}, which nothing describes, are left out"));
    }
    let mut recovered = Vec::with_capacity(tables.len());
    for (number, space) in tables.into_iter().enumerate() {
        let batches = batches.remove(&number).unwrap_or_default();
        let rows = Loaded::build(&space.schema, batches, &[])?;
        recovered.push(RecoveredTable { space, rows });
    }
    Ok(Recovered { spaces, tables: recovered, remarks })
}

/// Returns a table for each space that has rows that last, and what is to be said of them.
fn tables_of(spaces: &Spaces, path: &Path) -> Result<(Vec<SpaceTable>, Vec<String>)> {
    let (mut tables, mut remarks) = (Vec::new(), Vec::new());
    for id in spaces.ids() {
        let space = spaces.get(id).map_err(|damage| damage.in_file(path, 0))?;
        if let Some(space) = space.filter(crate::space::Space::has_rows) {
            let table = SpaceTable::new(&space);
            remarks.extend(table.remarks.iter().cloned());
            tables.push(table);
        }
    }
    Ok((tables, remarks))
}

impl Recovered {
    /// Returns how many rows all tables have.
    pub fn row_count(&self) -> u64 {
        self.tables.iter().map(|table| table.rows.row_count()).sum()
    }

    /// Looks the last row of each table up through each of its indexes; returns how many look-ups found it. When this returns, everything
    /// that an answer needs is there.
    ///
    /// # Errors
    /// If a look-up does not find the row: a mistake of this program.
    pub fn check(&self) -> Result<u64> {
        let mut count = 0;
        for table in &self.tables {
            let Some(last) = table.rows.rows().next_back() else { continue };
            for index in &table.space.indexes {
                table.check_index(index, last)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Writes everything into the store in `directory`, which is created if it is not there, with named bytes beside it. It is there
    /// whole or not at all.
    ///
    /// # Errors
    /// If a store is there with other tables or with rows, or what the disk says.
    pub fn seal(
        &self,
        disk: &Arc<dyn Disk>,
        directory: &Path,
        options: Options,
        attachments: Vec<(String, Vec<u8>)>,
    ) -> Result<()> {
        let schemas: Vec<Schema> =
            self.tables.iter().map(|table| Schema::clone(table.rows.schema())).collect();
        let mut writer = Writer::open_or_create(disk, directory, &schemas, options)?;
        let tables: Vec<&Loaded> = self.tables.iter().map(|table| &table.rows).collect();
        writer.seal_loaded(&tables, attachments)?;
        Ok(())
    }
}

impl RecoveredTable {
    /// Looks a row up through an index.
    fn check_index(&self, index: &TableIndex, row: RowRef) -> Result<()> {
        let schema = self.rows.schema();
        let columns = match schema.index(&index.store_name) {
            Some(number) => &schema.indexes[number].columns,
            None => &schema.primary,
        };
        let key: Vec<Value> =
            columns.iter().map(|&column| self.rows.value(usize::from(column), row)).collect();
        if self.rows.find(&index.store_name, &key)?.contains(&row) {
            return Ok(());
        }
        let what = format!("the last row is not found through index {}", index.name);
        Err(Error::Store(store::Error::Schema { table: schema.name.clone(), what }))
    }
}
