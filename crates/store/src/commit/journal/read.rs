//! Reads a journal file.
//!
//! Input: its bytes. Output: the records of its valid part, one after another, and where that part ends.
//! Distinguishes a torn record from damage.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::commit::journal::record::{JournalContents, Visit, decode_head, decode_payload};
use crate::commit::journal::sectors::{Sector, Sectors, frame, sector_count};
use crate::commit::journal::version_1;
use crate::commit::manifest::{JournalIdentity, check_head, put_u32, put_u64};
use crate::error::{Damage, Result};
use crate::format::{
    HEAD_VERSION_OFFSET, JOURNAL_HEAD_BYTES, JOURNAL_MAGIC, JOURNAL_MANIFEST_OFFSET, JOURNAL_VERSION,
    JOURNAL_VERSION_WITHOUT_SECTORS, RECORD_PAYLOAD_OFFSET, SECTOR_BYTES,
};
use crate::limits::JOURNAL_BYTES_MAX;
use crate::schema::Schema;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Returns the bytes of a journal without records.
pub(crate) fn encode_empty(identity: &JournalIdentity) -> Vec<u8> {
    let mut out = Vec::with_capacity(SECTOR_BYTES);
    out.extend_from_slice(&JOURNAL_MAGIC);
    put_u32(&mut out, identity.version);
    put_u32(&mut out, 0);
    put_u64(&mut out, identity.manifest);
    let checksum = xxh3_64_with_seed(&out, identity.seed);
    put_u64(&mut out, checksum);
    if identity.version == JOURNAL_VERSION_WITHOUT_SECTORS { out } else { frame(&out, 0, identity.seed) }
}

/// Reads the journal file `path`, whose bytes are `bytes`, and gives each record to `visit`, which may have
/// taken some before an error.
///
/// An incomplete record ends the journal without an error if a crash may have left it so: each sector is
/// whole, all zeros, or cut by the end of the file. Such a record was never acknowledged. Anything else is
/// damage.
///
/// # Errors
/// [`crate::Error::Version`] or [`crate::Error::Corrupt`], naming the file.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    identity: &JournalIdentity,
    schemas: &[Arc<Schema>],
    visit: &mut Visit,
) -> Result<JournalContents> {
    let version = check_head(path, bytes, JOURNAL_MAGIC, JOURNAL_VERSION)?;
    let seed = identity.seed;
    check_identity(version, bytes, identity)
        .and_then(|()| match version {
            JOURNAL_VERSION_WITHOUT_SECTORS => version_1::read_records(bytes, identity, schemas, visit),
            _ => {
                // The first sector holds the head.
                let sectors =
                    Sectors { bytes: bytes.get(SECTOR_BYTES..).unwrap_or_default(), first: 1, seed };
                read_records(sectors, identity.sequence, schemas, visit)
            }
        })
        .map_err(|damage| damage.in_file(path, 0))
}

/// Reads the records after the one with number `sequence`, of a journal of the newest version that is whole
/// up to there. `bytes` are those of the file from `offset` on, where that record ends.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_on(
    path: &Path,
    (offset, bytes): (u64, &[u8]),
    (seed, sequence): (u64, u64),
    schemas: &[Arc<Schema>],
    visit: &mut Visit,
) -> Result<JournalContents> {
    let first = usize::try_from(offset.div_euclid(SECTOR_BYTES as u64)).unwrap_or(usize::MAX);
    read_records(Sectors { bytes, first, seed }, sequence, schemas, visit)
        .map_err(|damage| damage.in_file(path, 0))
}

/// Returns whether the file begins as the journal of this manifest, whatever comes then.
pub(crate) fn begins_as(bytes: &[u8], identity: &JournalIdentity) -> bool {
    let head = encode_empty(identity);
    bytes.get(..JOURNAL_HEAD_BYTES).is_some_and(|found| head.get(..JOURNAL_HEAD_BYTES) == Some(found))
}

fn check_identity(version: u32, bytes: &[u8], identity: &JournalIdentity) -> std::result::Result<(), Damage> {
    if bytes.len() as u64 > JOURNAL_BYTES_MAX {
        let what = format!("it has {} bytes, the limit is {JOURNAL_BYTES_MAX}", bytes.len());
        return Err(Damage::new(bytes.len(), what));
    }
    if version != identity.version {
        let what = format!("it has version {version}, and that of its manifest is {}", identity.version);
        return Err(Damage::new(HEAD_VERSION_OFFSET, what));
    }
    let expected = encode_empty(identity);
    match bytes.get(..expected.len()) {
        Some(head) if head == expected.as_slice() => Ok(()),
        Some(head) if head.get(..JOURNAL_HEAD_BYTES) == expected.get(..JOURNAL_HEAD_BYTES) => {
            Err(Damage::new(JOURNAL_HEAD_BYTES, "the rest of the head's sector does not fit its checksum"))
        }
        Some(_) => Err(Damage::new(
            JOURNAL_MANIFEST_OFFSET,
            format!("it is not the journal of manifest {}", identity.manifest),
        )),
        None => Err(Damage::new(bytes.len(), "the file's head is cut")),
    }
}

/// Reads the records of these sectors, which follow that with number `sequence`.
fn read_records(
    sectors: Sectors,
    mut sequence: u64,
    schemas: &[Arc<Schema>],
    visit: &mut Visit,
) -> std::result::Result<JournalContents, Damage> {
    let mut contents = JournalContents::default();
    let mut content = Vec::new();
    let mut first = sectors.first;
    while first < sectors.end() {
        sequence = sequence.saturating_add(1);
        if !take_record(sectors, first, sequence, &mut content)? {
            check_torn(sectors, first, sequence)?;
            break;
        }
        let (_, payload) = content.split_at_checked(RECORD_PAYLOAD_OFFSET).unwrap_or_default();
        // The offsets in `damage` are relative to the record, whose bytes are in several sectors.
        let record = decode_payload(payload, schemas)
            .map_err(|damage| damage_at(first, format!("record {sequence}: {}", damage.what)))?;
        visit(&record).map_err(|what| damage_at(first, format!("record {sequence} does not fit: {what}")))?;
        contents.last_offset = Some(Sectors::offset(first));
        first = first.saturating_add(sector_count(content.len()));
    }
    let end = Sectors::offset(sectors.first).saturating_add(sectors.bytes.len() as u64);
    contents.valid_bytes = Sectors::offset(first).min(end);
    contents.torn_bytes = end.saturating_sub(contents.valid_bytes);
    Ok(contents)
}

/// Puts head and payload of the record that begins with sector `first` into `content`. Returns whether all of
/// its sectors are whole.
fn take_record(
    sectors: Sectors,
    first: usize,
    sequence: u64,
    content: &mut Vec<u8>,
) -> std::result::Result<bool, Damage> {
    content.clear();
    let Sector::Whole(data) = sectors.get(first) else { return Ok(false) };
    let Some(head) = decode_head(data, sectors.seed) else {
        return Err(damage_at(first, format!("record {sequence} is expected here, and none begins")));
    };
    if head.sequence != sequence {
        let what = format!("record {} stands where {sequence} is expected", head.sequence);
        return Err(damage_at(first, what));
    }
    let length = RECORD_PAYLOAD_OFFSET.saturating_add(head.length as usize);
    content.reserve(length.min(sectors.bytes.len()));
    for number in first..first.saturating_add(sector_count(length)) {
        let Sector::Whole(data) = sectors.get(number) else { return Ok(false) };
        content.extend_from_slice(data);
    }
    let is_filled = content.get(length..).unwrap_or_default().iter().all(|&byte| byte == 0);
    content.truncate(length);
    if !is_filled {
        return Err(damage_at(first, format!("after record {sequence} its last sector is not zero")));
    }
    let payload = content.get(RECORD_PAYLOAD_OFFSET..).unwrap_or_default();
    if xxh3_64_with_seed(payload, sectors.seed) != head.checksum {
        return Err(damage_at(first, format!("the checksum of record {sequence} does not fit it")));
    }
    Ok(true)
}

/// Refuses anything after the last whole record that a crash cannot leave. A record is written only after
/// the one before it was synced, and unsynced writes leave whole sectors.
fn check_torn(sectors: Sectors, first: usize, sequence: u64) -> std::result::Result<(), Damage> {
    let mut end = usize::MAX;
    for number in first..sectors.end() {
        let what = match sectors.get(number) {
            Sector::Zero | Sector::Short => continue,
            Sector::Damaged => format!(
                "the checksum of the {SECTOR_BYTES} bytes from here does not fit them: commit {sequence} was \
                 written whole and is damaged"
            ),
            Sector::Whole(data) => match decode_head(data, sectors.seed) {
                Some(head) if head.sequence > sequence => {
                    format!("record {sequence} before it is damaged, and record {} is there", head.sequence)
                }
                Some(head) if number == first => {
                    let length = RECORD_PAYLOAD_OFFSET.saturating_add(head.length as usize);
                    end = first.saturating_add(sector_count(length));
                    continue;
                }
                _ if number >= end => {
                    format!("record {sequence} before it is damaged, and a later one is there")
                }
                _ => continue,
            },
        };
        return Err(damage_at(number, what));
    }
    Ok(())
}

/// Returns the combined content of two copies of one journal: for each sector, the first copy's bytes, or
/// the second copy's if the first is not whole.
pub(crate) fn together(one: &[u8], other: &[u8], identity: &JournalIdentity) -> Vec<u8> {
    let mut out = Vec::with_capacity(one.len().max(other.len()));
    for number in 0..one.len().max(other.len()).div_ceil(SECTOR_BYTES) {
        let start = number.saturating_mul(SECTOR_BYTES);
        let sectors = |bytes| Sectors { bytes, first: 0, seed: identity.seed };
        let is_whole = |journal| matches!(sectors(journal).get(number), Sector::Whole(_));
        let from = if is_whole(one) || !is_whole(other) && one.len() > start { one } else { other };
        let end = start.saturating_add(SECTOR_BYTES).min(from.len());
        out.extend_from_slice(from.get(start..end).unwrap_or_default());
    }
    out
}

fn damage_at(sector: usize, what: impl Into<String>) -> Damage {
    Damage::new(sector.saturating_mul(SECTOR_BYTES), what)
}
