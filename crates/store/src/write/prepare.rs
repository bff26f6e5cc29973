//! Commits whose work is done before the writer's lock is taken.
//!
//! Input: a snapshot, and a transaction, or what makes one. Output: new segments that no manifest names yet,
//! or the record for the journal. Under the lock it is only published, and only if nobody has committed since
//! the snapshot; else the transaction is made anew. Does not know why a transaction is made.

use crate::commit::manifest::JournalIdentity;
use crate::error::{Error, Result};
use crate::file::names::{self, Maker};
use crate::read::snapshot::{Snapshot, Version};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::write::options::Options;
use crate::write::publish::{Draft, check_attachments};
use crate::write::resolve;
use crate::write::writer::{Work, Writer};
use disk::{Lock, Wait};

/// How often a commit is prepared without the lock. Then it is made with the lock held, so that it is made at
/// all.
const PREPARED_COUNT_MAX: usize = 3;

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
                draft.write_planned(&resolve::plan(state, &inputs)?, options.limits.rows_per_segment)?;
                draft.write_dead_rows()?;
                draft.add_group(group);
                Work::Publish(draft)
            }
        };
        Ok(Prepared { base: Base::of(state), transaction, work, _share: share })
    }
}

impl Writer {
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
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Prepared").field("sequence", &self.base.sequence).finish_non_exhaustive()
    }
}
