//! The tuples of all spaces, in a store or in memory.
//!
//! Input: a store, or recovered rows. Output: the tuples of each space, in the order of its primary key, and
//! the definitions of the spaces. Does not know what becomes of them.

use crate::error::{Error, Result};
use crate::recover::Recovered;
use crate::space::entries::is_entry_table;
use crate::space::table::{TUPLE, space_of_table};
use crate::space::{SPACE_COLLATION, SPACE_INDEX, SPACE_SPACE, Spaces};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use store::{Loaded, PRIMARY, Schema, Snapshot, Table, Value};

/// The tuples of all spaces.
pub struct Tuples<'a> {
    directory: PathBuf,
    spaces: Vec<SpaceTuples<'a>>,
}

/// The tuples of a space.
pub struct SpaceTuples<'a> {
    /// The number of the space.
    pub id: u32,
    rows: Rows<'a>,
    /// The index of the column with the tuples.
    column: usize,
    directory: PathBuf,
}

#[derive(Clone, Copy)]
enum Rows<'a> {
    Sealed(&'a Table),
    InMemory(&'a Loaded),
}

impl<'a> Tuples<'a> {
    /// Returns the tuples of a store.
    ///
    /// # Errors
    /// If a table is not that of a space.
    pub fn of_store(snapshot: &'a Snapshot) -> Result<Tuples<'a>> {
        let rows = snapshot.tables().iter().map(|table| (Rows::Sealed(table), table.schema().as_ref()));
        Tuples::new(snapshot.directory(), rows)
    }

    /// Returns the tuples that were recovered from `directory`.
    ///
    /// # Errors
    /// Never: every table is that of a space.
    pub fn in_memory(recovered: &'a Recovered, directory: &Path) -> Result<Tuples<'a>> {
        let rows = recovered.tables.iter().map(|table| (Rows::InMemory(&table.rows), table.rows.schema()));
        Tuples::new(directory, rows.map(|(rows, schema)| (rows, schema.as_ref())))
    }

    fn new(directory: &Path, rows: impl Iterator<Item = (Rows<'a>, &'a Schema)>) -> Result<Tuples<'a>> {
        let unsupported = |what| Error::Unsupported { path: directory.to_owned(), what };
        let mut spaces = Vec::new();
        for (rows, schema) in rows.filter(|(_, schema)| !is_entry_table(&schema.name)) {
            let name = &schema.name;
            let id = space_of_table(name)
                .ok_or_else(|| unsupported(format!("the table {name} is not a space of Tarantool")))?;
            let column = schema
                .column(TUPLE)
                .ok_or_else(|| unsupported(format!("the table of space {id} has no tuples")))?;
            spaces.push(SpaceTuples { id, rows, column, directory: directory.to_owned() });
        }
        spaces.sort_by_key(|space| space.id);
        Ok(Tuples { directory: directory.to_owned(), spaces })
    }

    /// Returns where the tuples are from.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the spaces, by number.
    pub fn spaces(&self) -> &[SpaceTuples<'a>] {
        &self.spaces
    }

    /// Returns how many tuples there are.
    pub fn row_count(&self) -> u64 {
        self.spaces.iter().map(SpaceTuples::row_count).sum()
    }

    /// Returns the spaces as their definitions describe them.
    ///
    /// # Errors
    /// If there are no spaces, a definition is invalid, or a file is damaged.
    pub fn definitions(&self) -> Result<Spaces> {
        let mut definitions = Spaces::new();
        for id in [SPACE_COLLATION, SPACE_SPACE, SPACE_INDEX] {
            let unsupported = |what| Error::Unsupported { path: self.directory.clone(), what };
            let space = match self.spaces.iter().find(|space| space.id == id) {
                Some(space) => space,
                None if id == SPACE_COLLATION => continue,
                None => return Err(unsupported("holds no spaces of Tarantool".to_owned())),
            };
            space.each(|tuple| {
                let set = match id {
                    SPACE_COLLATION => {
                        definitions.set_collation(tuple);
                        return Ok(());
                    }
                    SPACE_SPACE => definitions.set_space(tuple),
                    _ => definitions.set_index(tuple),
                };
                set.map(drop).map_err(|damage| {
                    unsupported(format!("a definition in space {id} is damaged: {}", damage.what))
                })
            })?;
        }
        Ok(definitions)
    }
}

impl SpaceTuples<'_> {
    /// Returns how many tuples there are.
    pub fn row_count(&self) -> u64 {
        match self.rows {
            Rows::Sealed(table) => table.row_count(),
            Rows::InMemory(rows) => rows.row_count(),
        }
    }

    /// Passes all tuples to `take`, in the order of the primary key; in order of arrival if the space has no
    /// usable one.
    ///
    /// # Errors
    /// Damage of the store, or an error of `take`.
    pub fn each(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut take = |value: Value| match value {
            Value::Bytes(tuple) => take(tuple),
            _ => Err(Error::Unsupported {
                path: self.directory.clone(),
                what: format!("the tuples of space {} are no bytes", self.id),
            }),
        };
        match self.rows {
            Rows::Sealed(table) => {
                for row in table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)? {
                    take(table.value(self.column, row?)?)?;
                }
            }
            Rows::InMemory(rows) => {
                for row in rows.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)? {
                    take(rows.value(self.column, row))?;
                }
            }
        }
        Ok(())
    }
}
