//! The writer, which commits transactions.
//!
//! Input: transactions. Output: versions, acknowledged when they are durable. Does not depend on how a state
//! is read back.

use crate::commit::journal::Record;
use crate::commit::manifest_file::has_manifest;
use crate::error::{Error, Result};
use crate::file::names::{self, Maker};
use crate::read::loaded::Loaded;
use crate::read::snapshot::{Snapshot, Version};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::schema::Schema;
use crate::write::options::Options;
use crate::write::publish::{Draft, Published, check_attachments, remove_replaced, remove_unnamed};
use crate::write::resolve::{self, Input};
use crate::write::second_copy;
use disk::{Disk, File, Lock, Wait};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Holds the writer's lock of a store, and its newest state.
pub struct Writer {
    options: Options,
    state: Arc<State>,
    journal: Box<dyn File>,
    is_poisoned: bool,
    cut_bytes: u64,
    _lock: Lock,
}

/// What is left to do for a group of transactions.
pub(crate) enum Work {
    /// To append this record to the journal.
    Append(Record, Vec<u8>),
    /// To publish this draft.
    Publish(Draft),
}

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

    /// Opens the store in `directory`, or creates it with these tables.
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
        let writer = open_locked(disk, directory, options, lock)?;
        writer.snapshot()?.expect_schemas(schemas)?;
        Ok(writer)
    }

    /// Returns the newest state.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after a failed write.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.refuse_if_poisoned()?;
        Ok(Snapshot { state: Arc::clone(&self.state) })
    }

    /// Returns the version of the newest state.
    pub fn version(&self) -> Version {
        Version { sequence: self.state.sequence, manifest: self.state.manifest.number }
    }

    /// Returns how many bytes of an unacknowledged commit were cut off when the store was opened. They are
    /// left by a writer that died during the commit.
    pub fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// Commits a transaction: all of it or nothing. When this returns it is durable.
    ///
    /// # Errors
    /// If the transaction does not fit the tables or is too large: then nothing is changed. If a write
    /// fails: then it is unknown whether the transaction is committed until the store is opened again, and
    /// until then everything is [`Error::Poisoned`].
    pub fn commit(&mut self, transaction: Transaction) -> Result<Version> {
        self.commit_group(std::slice::from_ref(&transaction))
    }

    /// Commits several transactions at the cost of one, in their order. All become visible at once.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub fn commit_group(&mut self, group: &[Transaction]) -> Result<Version> {
        self.refuse_if_poisoned()?;
        if group.iter().all(Transaction::is_empty) {
            return Ok(self.version());
        }
        check_attachments(&self.state.attachments, group)?;
        let state = Arc::clone(&self.state);
        let inputs = resolve::by_table(&state, group)?;
        match resolve::record(&state, group, &inputs, &self.options.limits)? {
            Some((record, bytes)) => {
                // Drop the old state, so that its rows in memory need not be copied.
                drop(state);
                self.append(&record, &bytes)?;
            }
            None => self.seal(group, &inputs)?,
        }
        Ok(self.version())
    }

    /// Removes files of the store that no manifest names, unless somebody is writing some: a merge, or
    /// whoever prepares a commit. Opening a store for writing does the same. Files that cannot be removed
    /// stay.
    pub fn remove_unnamed(&self) {
        let State { disk, directory, manifest, .. } = &*self.state;
        if let Ok(_lock) = disk.lock(&directory.join(names::MERGE_LOCK), &self.options.holder, Wait::Refuse) {
            remove_unnamed(&**disk, directory, Some(manifest));
        }
    }

    /// Moves the content of the journal into segments. A store of an older version is upgraded by this.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub fn flush(&mut self) -> Result<Version> {
        self.refuse_if_poisoned()?;
        let manifest = &self.state.manifest;
        if self.state.sequence != manifest.sequence || !manifest.has_digests() {
            self.seal(&[], &BTreeMap::new())?;
        }
        Ok(self.version())
    }

    /// Does what is left to do for a group.
    pub(crate) fn carry_out(&mut self, work: Work) -> Result<()> {
        match work {
            Work::Append(record, bytes) => self.append(&record, &bytes),
            Work::Publish(draft) => self.publish(draft),
        }
    }

    fn append(&mut self, record: &Record, bytes: &[u8]) -> Result<()> {
        // Until both succeed, the content of the journal is unknown.
        self.is_poisoned = true;
        self.journal.write(bytes)?;
        self.journal.sync()?;
        let state = Arc::make_mut(&mut self.state);
        state.apply(record).expect("the record was made for this state");
        state.journal_bytes += bytes.len() as u64;
        self.is_poisoned = false;
        Ok(())
    }

    /// Writes the rows of the journal and the group as segments, and publishes them.
    pub(crate) fn seal(&mut self, group: &[Transaction], inputs: &BTreeMap<usize, Input>) -> Result<()> {
        let mut draft = self.draft(inputs)?;
        draft.add_group(group);
        self.publish(draft)
    }

    /// Begins the next state, with the rows of all memtables and of `inputs` in new segments.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub(crate) fn draft(&mut self, inputs: &BTreeMap<usize, Input>) -> Result<Draft> {
        let state = Arc::clone(&self.state);
        let mut draft = Draft::after(&state, self.options.seed, Maker::Writer)?;
        let plan = resolve::plan(&state, inputs)?;
        self.is_poisoned = true;
        draft.write_planned(&plan, self.options.limits.rows_per_segment)?;
        self.is_poisoned = false;
        Ok(draft)
    }

    /// Adds tables in memory, each with its number, to a draft.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub(crate) fn write_loaded(&mut self, draft: &mut Draft, tables: &[(usize, &Loaded)]) -> Result<()> {
        for &(number, loaded) in tables {
            self.is_poisoned = true;
            draft.write_loaded(number, loaded, self.options.limits.rows_per_segment)?;
            self.is_poisoned = false;
        }
        Ok(())
    }

    /// Makes the draft the newest state.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub(crate) fn publish(&mut self, mut draft: Draft) -> Result<()> {
        self.is_poisoned = true;
        let Published { state, journal } = draft.publish()?;
        remove_replaced(&*state.disk, &state.directory, &self.state.manifest, &state.manifest);
        self.state = Arc::new(state);
        self.journal = journal;
        self.is_poisoned = false;
        Ok(())
    }

    pub(crate) fn state(&self) -> &Arc<State> {
        &self.state
    }

    pub(crate) fn refuse_if_poisoned(&self) -> Result<()> {
        if self.is_poisoned {
            return Err(Error::Poisoned { directory: self.state.directory.clone() });
        }
        Ok(())
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = formatter.debug_struct("Writer");
        debug
            .field("directory", &self.state.directory)
            .field("version", &self.version())
            .finish_non_exhaustive()
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
    Ok(Writer { options, state: Arc::new(state), journal, is_poisoned: false, cut_bytes: 0, _lock: lock })
}

/// Opens a store whose lock is held.
pub(crate) fn open_locked(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    options: Options,
    lock: Lock,
) -> Result<Writer> {
    let state = Snapshot::open(disk, directory)?.state;
    // The last writer may have died between a rename and its sync. What we acknowledge depends on that
    // rename.
    disk.sync_directory(directory)?;
    // Cuts a torn tail, and makes durable what the last writer may have written but not synced. Otherwise a
    // crash could keep the next record without the one before it.
    let path = directory.join(names::journal(state.manifest.number));
    let journal = disk.append(&path, state.journal_bytes)?;
    let cut_bytes = state.torn_bytes;
    let writer = Writer { options, state, journal, is_poisoned: false, cut_bytes, _lock: lock };
    writer.remove_unnamed();
    Ok(writer)
}
