//! Reads journals of version 1: records without gaps and without sectors.
//!
//! Input: the bytes of a journal whose head was checked. Output: the records of its valid part. Does not
//! depend on how journals are written now. In this version a damaged last record cannot be told from a torn
//! one, which is why version 2 has sectors.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::commit::journal::record::{JournalContents, Visit, decode_head, decode_payload};
use crate::commit::manifest::JournalIdentity;
use crate::error::Damage;
use crate::format::{JOURNAL_HEAD_BYTES, RECORD_ALIGNMENT, RECORD_PAYLOAD_OFFSET};
use crate::schema::Schema;
use std::ops::ControlFlow;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Reads all records. An incomplete one ends the journal without an error, unless a later one follows it.
pub(super) fn read_records(
    bytes: &[u8],
    identity: &JournalIdentity,
    schemas: &[Arc<Schema>],
    visit: &mut Visit,
) -> Result<JournalContents, Damage> {
    let mut offset = JOURNAL_HEAD_BYTES;
    let mut sequence = identity.sequence;
    while offset < bytes.len() {
        sequence = sequence.saturating_add(1);
        let rest = bytes.get(offset..).unwrap_or_default();
        let ControlFlow::Continue(payload) = take_record(rest, identity.seed, sequence, offset)? else {
            check_nothing_follows(bytes, identity.seed, sequence, offset)?;
            break;
        };
        let payload_offset = offset.saturating_add(RECORD_PAYLOAD_OFFSET);
        let record = decode_payload(payload, schemas).map_err(|damage| Damage {
            offset: damage.offset.saturating_add(payload_offset as u64),
            what: damage.what,
        })?;
        visit(&record)
            .map_err(|what| Damage::new(offset, format!("record {sequence} does not fit: {what}")))?;
        offset = payload_offset.saturating_add(payload.len());
    }
    let torn_bytes = bytes.len().saturating_sub(offset) as u64;
    Ok(JournalContents { last_offset: None, valid_bytes: offset as u64, torn_bytes })
}

/// Returns the payload of the record at the start of `rest`, or breaks if the record is incomplete.
fn take_record(
    rest: &[u8],
    seed: u64,
    sequence: u64,
    offset: usize,
) -> Result<ControlFlow<(), &[u8]>, Damage> {
    let Some(head) = decode_head(rest, seed) else { return Ok(ControlFlow::Break(())) };
    if head.sequence != sequence {
        return Err(Damage::new(
            offset,
            format!("record {} stands where {sequence} is expected", head.sequence),
        ));
    }
    let payload = rest.get(RECORD_PAYLOAD_OFFSET..).and_then(|rest| rest.get(..head.length as usize));
    let whole = payload.filter(|payload| xxh3_64_with_seed(payload, seed) == head.checksum);
    Ok(whole.map_or(ControlFlow::Break(()), ControlFlow::Continue))
}

/// Refuses an incomplete record that is followed by a later one. A record is written only after the one
/// before it was synced.
fn check_nothing_follows(bytes: &[u8], seed: u64, sequence: u64, offset: usize) -> Result<(), Damage> {
    for later in (offset..bytes.len()).step_by(RECORD_ALIGNMENT).skip(1) {
        let head = bytes.get(later..).and_then(|rest| decode_head(rest, seed));
        if let Some(head) = head.filter(|head| head.sequence > sequence) {
            let what =
                format!("record {sequence} is damaged, record {} at byte {later} is there", head.sequence);
            return Err(Damage::new(offset, what));
        }
    }
    Ok(())
}
