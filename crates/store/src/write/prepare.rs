//! Commits whose work is done before the writer's lock is taken.
//!
//! Input: a snapshot, and a transaction. Output: new segments that no manifest names yet, or the record for the
//! journal. Under the lock it is only published, and only if nobody has committed since the snapshot. Does not
//! know why a transaction is made.

use crate::commit::journal::Record;
use crate::commit::manifest::JournalIdentity;
use crate::error::{Error, Result};
use crate::file::names::{self, Maker};
use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX};
use crate::read::snapshot::{Snapshot, Version};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::write::options::{Limits, Options};
use crate::write::publish::Draft;
use crate::write::resolve::{self, Input};
use crate::write::writer::{Writer, check_attachments};
use disk::{Lock, Wait};
use std::collections::BTreeMap;

/// A transaction that was worked out for one state of a store. Dropping it removes the files that were written
/// for it.
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

/// What is left to do for a group of transactions.
pub(crate) enum Work {
    /// To append this record to the journal.
    Append(Record, Vec<u8>),
    /// To publish this draft.
    Publish(Draft),
}

/// A state, as far as it must be the same for the work to be valid.
#[derive(PartialEq, Eq)]
struct Base {
    journal: JournalIdentity,
    sequence: u64,
}

impl Base {
    fn of(state: &State) -> Base {
        Base { journal: state.journal_identity(), sequence: state.sequence }
    }
}

impl Prepared {
    /// Does all the work of committing a transaction on top of a snapshot, except that it becomes visible.
    /// Others may commit meanwhile.
    ///
    /// # Errors
    /// If the transaction does not fit the tables or is too large, a file is damaged, or a disk operation fails.
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
        let work = match record(state, group, &inputs, &options.limits)? {
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
    /// Commits a prepared transaction, if the state is still the one that it was prepared for. This takes a few
    /// syncs, however large the transaction is.
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

/// Returns the journal record of a group, or none if the journal has no room for it.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn record(
    state: &State,
    group: &[Transaction],
    inputs: &BTreeMap<usize, Input>,
    limits: &Limits,
) -> Result<Option<(Record, Vec<u8>)>> {
    let rows_max = u64::from(limits.journal_rows.min(JOURNAL_ROWS_MAX));
    let attachments = || group.iter().flat_map(|transaction| &transaction.attachments);
    let rows: u64 = inputs.values().map(Input::row_count).sum();
    let attached_bytes: u64 = attachments().map(|(_, bytes)| bytes.len() as u64).sum();
    // A journal of an older version takes no more records. What is clearly too much is not encoded.
    if !state.manifest.has_digests()
        || rows + state.journal_rows > rows_max
        || attached_bytes > JOURNAL_BYTES_MAX
    {
        return Ok(None);
    }
    let mut record = Record::default();
    for (&number, input) in inputs {
        record.tables.push(resolve::change(&state.tables[number], number, input)?);
    }
    record.attachments.extend(attachments().map(|(name, bytes)| (name.clone(), bytes.as_slice().into())));
    if record.row_count() + state.journal_rows > rows_max {
        return Ok(None);
    }
    let bytes = match record.encode(state.manifest.journal_seed, state.sequence + 1, state.journal_bytes) {
        Err(Error::Limit { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let bytes_max = limits.journal_bytes.min(JOURNAL_BYTES_MAX);
    Ok((state.journal_bytes + bytes.len() as u64 <= bytes_max).then_some((record, bytes)))
}
