//! Opens a store for writing, or creates it: takes the writer's lock, brings a second copy in step, and ends
//! what the last writer left.
//!
//! Input: a directory, tables, options. Output: a [`Writer`], which holds the lock. Does not depend on what
//! is committed.

use crate::commit::manifest_file::has_manifest;
use crate::error::{Error, Result};
use crate::file::names;
use crate::read::snapshot::Snapshot;
use crate::schema::Schema;
use crate::write::options::Options;
use crate::write::publish::{Draft, Published};
use crate::write::second_copy;
use crate::write::writer::Writer;
use disk::{Disk, Lock};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

impl Writer {
    /// Creates a store with these tables in `directory`, which is created too if needed.
    ///
    /// # Errors
    /// If a store exists already, another process writes, a schema is not valid, or a disk operation fails.
    pub fn create(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        schemas: &[Schema],
        options: Options,
    ) -> Result<Writer> {
        let lock = lock_new(disk, directory, &options)?;
        let disk = &second_copy::writable(disk, directory, &options)?;
        if has_manifest(&**disk, directory)? {
            let path = directory.join(names::MANIFEST);
            return Err(
                disk::Error::io("create", &path, io::Error::from(io::ErrorKind::AlreadyExists)).into()
            );
        }
        create_locked(disk, directory, schemas, options, lock)
    }

    /// Opens the store in `directory` for writing.
    ///
    /// # Errors
    /// If there is no store, another process writes ([`disk::Error::Locked`] names it), a file is damaged,
    /// missing or of a newer version, or a disk operation fails.
    pub fn open(disk: &Arc<dyn Disk>, directory: &Path, options: Options) -> Result<Writer> {
        let lock = disk.lock(&directory.join(names::LOCK), &options.holder, options.wait)?;
        let disk = &second_copy::writable(disk, directory, &options)?;
        open_locked(disk, directory, options, lock)
    }

    /// Opens the store in `directory`, or creates it with these tables. A store that has only the first of
    /// them gets the others, which are empty.
    ///
    /// # Errors
    /// As [`Writer::open`]; and [`Error::Schema`] if the store has other tables.
    pub fn open_or_create(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        schemas: &[Schema],
        options: Options,
    ) -> Result<Writer> {
        let lock = lock_new(disk, directory, &options)?;
        let disk = &second_copy::writable(disk, directory, &options)?;
        if !has_manifest(&**disk, directory)? {
            return create_locked(disk, directory, schemas, options, lock);
        }
        let mut writer = open_locked(disk, directory, options, lock)?;
        writer.add_tables(schemas)?;
        writer.snapshot()?.expect_schemas(schemas)?;
        Ok(writer)
    }

    /// Adds those of `schemas` that the store does not have, if it has all that come before them.
    fn add_tables(&mut self, schemas: &[Schema]) -> Result<()> {
        let known_count = self.state().tables.len();
        let Some((known, new)) = schemas.split_at_checked(known_count) else { return Ok(()) };
        if new.is_empty() || self.snapshot()?.expect_schemas(known).is_err() {
            return Ok(());
        }
        check_schemas(schemas)?;
        // A journal names tables by their places, so its rows are sealed first.
        let mut draft = self.draft(&BTreeMap::new())?;
        draft.add_tables(new);
        self.publish(draft)
    }
}

/// Takes the writer's lock of a directory, which is created if missing.
pub(crate) fn lock_new(disk: &Arc<dyn Disk>, directory: &Path, options: &Options) -> Result<Lock> {
    disk.create_directory(directory)?;
    Ok(disk.lock(&directory.join(names::LOCK), &options.holder, options.wait)?)
}

fn create_locked(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    schemas: &[Schema],
    options: Options,
    lock: Lock,
) -> Result<Writer> {
    check_schemas(schemas)?;
    publish_first(Draft::first(disk, directory, schemas, options.seed, Vec::new()), options, lock)
}

/// Refuses tables that no store takes.
pub(crate) fn check_schemas(schemas: &[Schema]) -> Result<()> {
    for (index, schema) in schemas.iter().enumerate() {
        schema.validate()?;
        if schemas.iter().take(index).any(|earlier| earlier.name == schema.name) {
            return Err(Error::schema(&schema.name, "two tables have this name"));
        }
    }
    Ok(())
}

/// Publishes the first state of a store.
pub(crate) fn publish_first(mut draft: Draft, options: Options, lock: Lock) -> Result<Writer> {
    let Published { state, journal } = draft.publish()?;
    Ok(Writer::new(Arc::new(state), journal, options, lock))
}

/// Opens a store whose lock is held.
pub(crate) fn open_locked(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    mut options: Options,
    lock: Lock,
) -> Result<Writer> {
    let state = Snapshot::open_after(disk, directory, options.known.take().as_ref())?.state;
    // The last writer may have died between a rename and its sync. What we acknowledge depends on that
    // rename. Once there is a record in the journal, somebody has synced it before.
    if state.sequence == state.manifest.sequence {
        disk.sync_directory(directory)?;
    }
    // Cuts a torn tail, and makes durable what the last writer may have written but not synced. Otherwise a
    // crash could keep the next record without the one before it.
    let path = directory.join(names::journal(state.manifest.number));
    let journal = disk.append(&path, state.journal_bytes)?;
    let writer = Writer::new(state, journal, options, lock);
    writer.remove_unnamed();
    Ok(writer)
}
