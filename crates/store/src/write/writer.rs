//! The writer, which commits transactions: worked out under its lock, or before it is taken.
//!
//! Input: transactions, or what makes one of a snapshot. Output: versions, acknowledged when they are
//! durable. What is worked out before the lock is taken is only published under it, and only if nobody has
//! committed since the snapshot; else the transaction is made anew. Does not depend on how a state is read
//! back, nor on why a transaction is made.

use crate::commit::journal::Record;
use crate::commit::manifest::JournalIdentity;
use crate::error::{Error, Result};
use crate::file::names::{self, Maker};
use crate::read::loaded::Loaded;
use crate::read::snapshot::{Snapshot, Version};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::write::options::Options;
use crate::write::publish::{Draft, Published, check_attachments, remove_replaced, remove_unnamed};
use crate::write::resolve::{self, Input};
use disk::{File, Lock, Wait};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a commit is prepared without the lock. Then it is made with the lock held, so that it is made at
/// all.
const PREPARED_COUNT_MAX: usize = 3;

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
enum Work {
    /// To append this record to the journal.
    Append(Record, Vec<u8>),
    /// To publish this draft.
    Publish(Draft),
}

/// What [`commit_on_newest`] has done.
#[derive(Debug)]
pub struct Committed<T> {
    /// The newest state: ours, or that on which nothing was to be done.
    pub snapshot: Snapshot,
    /// The writer, with its lock, if there was something to commit.
    pub writer: Option<Writer>,
    /// What was made besides the transaction.
    pub made: T,
}

/// A transaction that was worked out for one state of a store. Dropping it removes the files that were
/// written for it.
pub struct Prepared {
    transaction: Transaction,
    work: Work,
    base: Base,
    /// As long as it is held, nobody removes the files that no manifest names yet.
    _share: Lock,
}

/// What became of a prepared transaction.
#[derive(Debug)]
pub enum Outcome {
    /// It is committed and durable, as this version.
    Committed(Version),
    /// Another process has committed since the snapshot. Nothing was changed.
    Outdated(Transaction),
}

/// A state, as far as it must be the same for the work to be valid.
#[derive(PartialEq, Eq)]
struct Base {
    journal: JournalIdentity,
    sequence: u64,
    /// A record may be lost with a disk that fails to sync it, and another one take its number.
    journal_bytes: u64,
}

impl Writer {
    /// Returns a writer that continues a state and its journal.
    pub(super) fn new(state: Arc<State>, journal: Box<dyn File>, options: Options, lock: Lock) -> Writer {
        let cut_bytes = state.torn_bytes;
        Writer { options, state, journal, is_poisoned: false, cut_bytes, _lock: lock }
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

    /// Commits a prepared transaction, if the state is still the one that it was prepared for. This takes a
    /// few syncs, however large the transaction is.
    ///
    /// # Errors
    /// As [`Writer::commit`].
    pub fn commit_prepared(&mut self, prepared: Prepared) -> Result<Outcome> {
        self.refuse_if_poisoned()?;
        let Prepared { transaction, work, base, _share } = prepared;
        if Base::of(self.state()) != base {
            return Ok(Outcome::Outdated(transaction));
        }
        if !transaction.is_empty() {
            self.carry_out(work)?;
        }
        Ok(Outcome::Committed(self.version()))
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
    fn carry_out(&mut self, work: Work) -> Result<()> {
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
        state.marks.add_record(state.journal_bytes, bytes);
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
        draft.form = self.options.form;
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

impl std::fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Prepared").field("sequence", &self.base.sequence).finish_non_exhaustive()
    }
}

/// Commits the transaction that `make` makes of the newest state; none if it makes none. `newest` returns
/// that state, `open` takes the writer's lock. The lock is held only while the commit is published, unless
/// others were faster three times.
///
/// # Errors
/// Those of `newest`, `make` and `open`; otherwise as [`Writer::commit`].
///
/// # Panics
/// As [`Prepared::new`].
pub fn commit_on_newest<T, E: From<Error>>(
    options: &Options,
    newest: impl Fn() -> std::result::Result<Snapshot, E>,
    make: impl Fn(&Snapshot) -> std::result::Result<(Option<Transaction>, T), E>,
    open: impl Fn() -> std::result::Result<Writer, E>,
) -> std::result::Result<Committed<T>, E> {
    for _ in 0..PREPARED_COUNT_MAX {
        let snapshot = newest()?;
        let (transaction, made) = make(&snapshot)?;
        let Some(transaction) = transaction else { return Ok(Committed { snapshot, writer: None, made }) };
        let prepared = Prepared::new(&snapshot, transaction, options)?;
        drop(snapshot);
        let mut writer = open()?;
        if let Outcome::Committed(_) = writer.commit_prepared(prepared)? {
            return Ok(Committed { snapshot: writer.snapshot()?, writer: Some(writer), made });
        }
    }
    let mut writer = open()?;
    let snapshot = writer.snapshot()?;
    let (transaction, made) = make(&snapshot)?;
    let Some(transaction) = transaction else { return Ok(Committed { snapshot, writer: None, made }) };
    drop(snapshot);
    writer.commit(transaction)?;
    Ok(Committed { snapshot: writer.snapshot()?, writer: Some(writer), made })
}

impl Base {
    fn of(state: &State) -> Base {
        Base {
            journal: state.journal_identity(),
            sequence: state.sequence,
            journal_bytes: state.journal_bytes,
        }
    }
}

impl Prepared {
    /// Does all the work of committing a transaction on top of a snapshot, except that it becomes visible.
    /// Others may commit meanwhile.
    ///
    /// # Errors
    /// If the transaction does not fit the tables or is too large, a file is damaged, or a disk operation
    /// fails.
    ///
    /// # Panics
    /// If the options want a second copy: such stores hold little, and are written by [`Writer::commit`].
    pub fn new(snapshot: &Snapshot, transaction: Transaction, options: &Options) -> Result<Prepared> {
        assert!(!options.keeps_copy, "a store with a second copy takes no prepared commits");
        let state = &snapshot.state;
        let group = std::slice::from_ref(&transaction);
        check_attachments(&state.attachments, group)?;
        let share = state.disk.share_lock(&state.directory.join(names::MERGE_LOCK), Wait::Block)?;
        let inputs = resolve::by_table(state, group)?;
        let work = match resolve::record(state, group, &inputs, &options.limits)? {
            Some((record, bytes)) => Work::Append(record, bytes),
            None => {
                let mut draft = Draft::after(state, options.seed, Maker::Preparation)?;
                draft.form = options.form;
                draft.write_planned(&resolve::plan(state, &inputs)?, options.limits.rows_per_segment)?;
                draft.write_dead_rows()?;
                draft.add_group(group);
                Work::Publish(draft)
            }
        };
        Ok(Prepared { base: Base::of(state), transaction, work, _share: share })
    }
}
