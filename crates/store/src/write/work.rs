//! What is left to do for a group of transactions once its effect on each table is known.
//!
//! Input: a state, and the puts and deletes of each table. Output: a record for the journal, if it has room.
//! Does not know who carries it out.

use crate::commit::journal::Record;
use crate::error::{Error, Result};
use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX};
use crate::read::state::State;
use crate::rows::transaction::Transaction;
use crate::write::options::Limits;
use crate::write::publish::Draft;
use crate::write::resolve::{self, Input};
use std::collections::BTreeMap;

/// What is left to do for a group of transactions.
pub(crate) enum Work {
    /// To append this record to the journal.
    Append(Record, Vec<u8>),
    /// To publish this draft.
    Publish(Draft),
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
