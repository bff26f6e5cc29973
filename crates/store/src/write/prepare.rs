//! Commits whose work is done before the writer's lock is taken.
//!
//! Input: a snapshot, and a transaction. Output: new segments that no manifest names yet, or the record for
//! the journal. Under the lock it is only published, and only if nobody has committed since the snapshot.
//! Does not know why a transaction is made.

use crate::commit::manifest::JournalIdentity;
use crate::error::Result;
use crate::file::names::{self, Maker};
use crate::read::snapshot::{Snapshot, Version};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::write::options::Options;
use crate::write::publish::{Draft, check_attachments};
use crate::write::resolve;
use crate::write::writer::{Work, Writer};
use disk::{Lock, Wait};

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
