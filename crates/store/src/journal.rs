//! The journal: what was committed since the manifest was published.
//!
//! Comes in: records to encode, or a journal file's bytes. Goes out: bytes (docs/FORMAT.md, "Journal"), or the records of the
//! valid prefix. Must not know files, nor what a record does to tables.
//! `sectors.rs` says how bytes lie in sectors; `version_1.rs` reads journals without any.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod sectors;
mod version_1;

use crate::cursor::Cursor;
use crate::error::{Damage, Result, check_limit};
use crate::format::{
    HEAD_VERSION_OFFSET, JOURNAL_HEAD_BYTES, JOURNAL_MAGIC, JOURNAL_MANIFEST_OFFSET, JOURNAL_VERSION,
    JOURNAL_VERSION_WITHOUT_SECTORS, RECORD_ALIGNMENT, RECORD_MAGIC, RECORD_PAYLOAD_OFFSET, SECTOR_BYTES,
};
use crate::limits::{ATTACHMENTS_MAX, JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX, TABLES_MAX};
use crate::manifest::{
    Attachments, check_head, put_attachment, put_count, put_u32, put_u64, take_attachment, take_count,
};
use crate::rows::Rows;
use crate::schema::Schema;
use sectors::{Sector, frame, sector, sector_count};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which journal it is, as its manifest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The version of the journal.
    pub(crate) version: u32,
    /// The manifest that it belongs to.
    pub(crate) manifest: u64,
    /// The seed of its checksums.
    pub(crate) seed: u64,
    /// The sequence number that its first record follows.
    pub(crate) sequence: u64,
}

/// What one commit changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// By ascending number, each table at most once.
    pub(crate) tables: Vec<TableChange>,
    pub(crate) attachments: Attachments,
}

/// What one commit changes in one table: first some rows die, then new ones are added.
#[derive(Clone, Debug)]
pub(crate) struct TableChange {
    /// The table's place in the manifest.
    pub(crate) table: usize,
    /// By ascending part.
    pub(crate) kills: Vec<Kill>,
    pub(crate) rows: Rows,
}

/// Rows of one part that die.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kill {
    /// The segment's place in the manifest, or the count of segments for rows of the journal itself.
    pub(crate) part: usize,
    /// In ascending order.
    pub(crate) rows: Vec<u32>,
}

/// What a journal holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) records: Vec<Record>,
    /// Where the last valid record ends.
    pub(crate) valid_bytes: u64,
    /// How many bytes of a record that was never synced follow.
    pub(crate) torn_bytes: u64,
}

/// The head of a record.
struct Head {
    length: u32,
    sequence: u64,
    checksum: u64,
}

/// Returns the bytes of a journal without records.
pub(crate) fn encode_empty(identity: &Identity) -> Vec<u8> {
    let mut out = Vec::with_capacity(SECTOR_BYTES);
    out.extend_from_slice(&JOURNAL_MAGIC);
    put_u32(&mut out, identity.version);
    put_u32(&mut out, 0);
    put_u64(&mut out, identity.manifest);
    let checksum = xxh3_64_with_seed(&out, identity.seed);
    put_u64(&mut out, checksum);
    if identity.version == JOURNAL_VERSION_WITHOUT_SECTORS { out } else { frame(&out, 0, identity.seed) }
}

impl Record {
    /// Returns how many rows the record adds or kills.
    pub(crate) fn row_count(&self) -> u64 {
        let kills =
            |change: &TableChange| change.kills.iter().map(|kill| kill.rows.len() as u64).sum::<u64>();
        self.tables.iter().map(|change| kills(change).saturating_add(u64::from(change.rows.len()))).sum()
    }

    /// Returns the record's bytes, as the journal with `seed` holds them behind its first `offset` bytes: whole sectors.
    ///
    /// # Errors
    /// [`crate::Error::Limit`] if it is too large for a journal.
    pub(crate) fn encode(&self, seed: u64, sequence: u64, offset: u64) -> Result<Vec<u8>> {
        let content = self.encode_content(seed, sequence)?;
        let framed = frame(&content, offset.div_euclid(SECTOR_BYTES as u64), seed);
        check_limit("bytes in a journal record", framed.len() as u64, JOURNAL_BYTES_MAX)?;
        Ok(framed)
    }

    /// Returns the record's bytes before they are put into sectors.
    fn encode_content(&self, seed: u64, sequence: u64) -> Result<Vec<u8>> {
        let mut out = vec![0; RECORD_PAYLOAD_OFFSET];
        put_count(&mut out, "tables in a commit", self.tables.len(), TABLES_MAX)?;
        for change in &self.tables {
            put_change(&mut out, change)?;
        }
        put_count(&mut out, "attachments", self.attachments.len(), ATTACHMENTS_MAX)?;
        for (name, bytes) in &self.attachments {
            put_attachment(&mut out, name, bytes)?;
        }
        check_limit("bytes in a journal record", out.len() as u64, JOURNAL_BYTES_MAX)?;
        out.resize(out.len().next_multiple_of(RECORD_ALIGNMENT), 0);
        let Some((head, payload)) = out.split_first_chunk_mut::<RECORD_PAYLOAD_OFFSET>() else {
            unreachable!("the head was put there first");
        };
        *head = encode_head(seed, sequence, payload);
        Ok(out)
    }
}

fn encode_head(seed: u64, sequence: u64, payload: &[u8]) -> [u8; RECORD_PAYLOAD_OFFSET] {
    let mut head = Vec::with_capacity(RECORD_PAYLOAD_OFFSET);
    head.extend_from_slice(&RECORD_MAGIC);
    put_u32(&mut head, u32::try_from(payload.len()).expect("the limit is far below 4 GiB"));
    put_u64(&mut head, sequence);
    put_u64(&mut head, xxh3_64_with_seed(payload, seed));
    let checksum = xxh3_64_with_seed(&head, seed);
    put_u64(&mut head, checksum);
    head.try_into().expect("a head has 32 bytes")
}

fn put_change(out: &mut Vec<u8>, change: &TableChange) -> Result<()> {
    put_count(out, "tables", change.table, TABLES_MAX)?;
    put_count(out, "parts", change.kills.len(), usize::MAX)?;
    for kill in &change.kills {
        put_count(out, "parts", kill.part, usize::MAX)?;
        put_count(out, "dead rows", kill.rows.len(), usize::MAX)?;
        kill.rows.iter().for_each(|&row| put_u32(out, row));
    }
    let mut rows = Vec::new();
    change.rows.encode(&mut rows);
    put_count(out, "bytes in a batch", rows.len(), usize::MAX)?;
    out.extend_from_slice(&rows);
    Ok(())
}

/// Reads the journal file `path`, whose bytes are `bytes`.
///
/// A record that is not whole ends the journal, silently, if a crash may have left it so: sectors are whole, all zeros, or cut by the
/// file's end. Then it was never acknowledged. All else is damage.
///
/// # Errors
/// [`crate::Error::Version`] or [`crate::Error::Corrupt`], naming the file.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    identity: &Identity,
    schemas: &[Arc<Schema>],
) -> Result<Contents> {
    let version = check_head(path, bytes, JOURNAL_MAGIC, JOURNAL_VERSION)?;
    check_identity(version, bytes, identity)
        .and_then(|()| match version {
            JOURNAL_VERSION_WITHOUT_SECTORS => version_1::read_records(bytes, identity, schemas),
            _ => read_records(bytes, identity, schemas),
        })
        .map_err(|damage| damage.in_file(path, 0))
}

fn check_identity(version: u32, bytes: &[u8], identity: &Identity) -> std::result::Result<(), Damage> {
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

fn read_records(
    bytes: &[u8],
    identity: &Identity,
    schemas: &[Arc<Schema>],
) -> std::result::Result<Contents, Damage> {
    let mut records = Vec::new();
    let mut sequence = identity.sequence;
    // The first sector is the head's.
    let mut first = 1;
    while first < bytes.len().div_ceil(SECTOR_BYTES) {
        sequence = sequence.saturating_add(1);
        let Some(content) = take_record(bytes, first, identity.seed, sequence)? else {
            check_torn(bytes, first, identity.seed, sequence)?;
            break;
        };
        let (_, payload) = content.split_at_checked(RECORD_PAYLOAD_OFFSET).unwrap_or_default();
        // Within the record: its bytes lie in several sectors.
        let record = decode_payload(payload, schemas)
            .map_err(|damage| damage_at(first, format!("record {sequence}: {}", damage.what)))?;
        records.push(record);
        first = first.saturating_add(sector_count(content.len()));
    }
    let valid_bytes = first.saturating_mul(SECTOR_BYTES).min(bytes.len());
    let torn_bytes = bytes.len().saturating_sub(valid_bytes) as u64;
    Ok(Contents { records, valid_bytes: valid_bytes as u64, torn_bytes })
}

/// Returns head and payload of the record that begins with sector `first`; none if not all its sectors are whole.
fn take_record(
    bytes: &[u8],
    first: usize,
    seed: u64,
    sequence: u64,
) -> std::result::Result<Option<Vec<u8>>, Damage> {
    let Sector::Whole(data) = sector(bytes, first, seed) else { return Ok(None) };
    let Some(head) = decode_head(data, seed) else {
        return Err(damage_at(first, format!("record {sequence} is expected here, and none begins")));
    };
    if head.sequence != sequence {
        let what = format!("record {} stands where {sequence} is expected", head.sequence);
        return Err(damage_at(first, what));
    }
    let length = RECORD_PAYLOAD_OFFSET.saturating_add(head.length as usize);
    let mut content = Vec::with_capacity(length.min(bytes.len()));
    for number in first..first.saturating_add(sector_count(length)) {
        let Sector::Whole(data) = sector(bytes, number, seed) else { return Ok(None) };
        content.extend_from_slice(data);
    }
    let filling = content.split_off(length.min(content.len()));
    if filling.iter().any(|&byte| byte != 0) {
        return Err(damage_at(first, format!("behind record {sequence} its last sector is not zero")));
    }
    let payload = content.get(RECORD_PAYLOAD_OFFSET..).unwrap_or_default();
    if xxh3_64_with_seed(payload, seed) != head.checksum {
        return Err(damage_at(first, format!("the checksum of record {sequence} does not fit it")));
    }
    Ok(Some(content))
}

/// Refuses what no crash leaves behind the last whole record: a record is written only after the one before was synced, and what was not
/// synced is there by whole sectors.
fn check_torn(bytes: &[u8], first: usize, seed: u64, sequence: u64) -> std::result::Result<(), Damage> {
    let mut end = usize::MAX;
    for number in first..bytes.len().div_ceil(SECTOR_BYTES) {
        let what = match sector(bytes, number, seed) {
            Sector::Zero | Sector::Short => continue,
            Sector::Damaged => format!(
                "the checksum of the {SECTOR_BYTES} bytes from here does not fit them: commit {sequence} was \
                 written whole and is damaged"
            ),
            Sector::Whole(data) => match decode_head(data, seed) {
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

/// Returns what two copies of one journal hold together: of each sector that of the first, or if it is not whole that of the second.
pub(crate) fn together(one: &[u8], other: &[u8], identity: &Identity) -> Vec<u8> {
    let mut out = Vec::with_capacity(one.len().max(other.len()));
    for number in 0..one.len().max(other.len()).div_ceil(SECTOR_BYTES) {
        let start = number.saturating_mul(SECTOR_BYTES);
        let is_whole = |journal| matches!(sector(journal, number, identity.seed), Sector::Whole(_));
        let from = if is_whole(one) || !is_whole(other) && one.len() > start { one } else { other };
        let end = start.saturating_add(SECTOR_BYTES).min(from.len());
        out.extend_from_slice(from.get(start..end).unwrap_or_default());
    }
    out
}

fn damage_at(sector: usize, what: impl Into<String>) -> Damage {
    Damage::new(sector.saturating_mul(SECTOR_BYTES), what)
}

/// Reads the head in front of `rest`; none if there is no valid one.
fn decode_head(rest: &[u8], seed: u64) -> Option<Head> {
    let mut cursor = Cursor::new(rest.get(..RECORD_PAYLOAD_OFFSET)?);
    if cursor.array("magic").ok()? != RECORD_MAGIC {
        return None;
    }
    let length = cursor.u32("length").ok()?;
    let sequence = cursor.u64("sequence").ok()?;
    let checksum = cursor.u64("checksum").ok()?;
    let checked = rest.get(..cursor.offset())?;
    let is_valid = xxh3_64_with_seed(checked, seed) == cursor.u64("checksum").ok()?;
    (is_valid && (length as usize).is_multiple_of(RECORD_ALIGNMENT)).then_some(Head {
        length,
        sequence,
        checksum,
    })
}

fn decode_payload(payload: &[u8], schemas: &[Arc<Schema>]) -> std::result::Result<Record, Damage> {
    let mut cursor = Cursor::new(payload);
    let mut record = Record::default();
    for _ in 0..take_count(&mut cursor, "tables in a commit", schemas.len())? {
        let change = take_change(&mut cursor, schemas)?;
        if record.tables.last().is_some_and(|last| last.table >= change.table) {
            return Err(cursor.damage("the tables are not in order"));
        }
        record.tables.push(change);
    }
    for _ in 0..take_count(&mut cursor, "attachments", ATTACHMENTS_MAX)? {
        let (name, bytes) = take_attachment(&mut cursor)?;
        record.attachments.insert(name, bytes);
    }
    let padding = cursor.take(cursor.remaining(), "padding")?;
    if padding.len() >= RECORD_ALIGNMENT || padding.iter().any(|&byte| byte != 0) {
        return Err(cursor.damage("padding is not zero, or too long"));
    }
    if record.row_count() > u64::from(JOURNAL_ROWS_MAX) {
        return Err(cursor.damage(format!("{} rows, the limit is {JOURNAL_ROWS_MAX}", record.row_count())));
    }
    Ok(record)
}

fn take_change(cursor: &mut Cursor, schemas: &[Arc<Schema>]) -> std::result::Result<TableChange, Damage> {
    let table = cursor.u32("a table's number")? as usize;
    let Some(schema) = schemas.get(table) else {
        return Err(cursor.damage(format!("there is no table {table}")));
    };
    let mut kills: Vec<Kill> = Vec::new();
    for _ in 0..cursor.u32("a count of parts")? {
        let kill = take_kill(cursor)?;
        if kills.last().is_some_and(|last| last.part >= kill.part) {
            return Err(cursor.damage("the parts are not in order"));
        }
        kills.push(kill);
    }
    let length = cursor.u32("a batch's length")? as usize;
    let offset = cursor.offset() as u64;
    let rows = Rows::decode(schema, cursor.take(length, "a batch of rows")?)
        .map_err(|damage| Damage { offset: damage.offset.saturating_add(offset), ..damage })?;
    Ok(TableChange { table, kills, rows })
}

fn take_kill(cursor: &mut Cursor) -> std::result::Result<Kill, Damage> {
    let part = cursor.u32("a part's number")? as usize;
    let count = take_count(cursor, "dead rows", JOURNAL_ROWS_MAX as usize)?;
    let rows = (0..count).map(|_| cursor.u32("a dead row")).collect::<std::result::Result<Vec<_>, _>>()?;
    if !rows.is_sorted_by(|row, next| row < next) {
        return Err(cursor.damage("the dead rows are not in order"));
    }
    Ok(Kill { part, rows })
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a wrong number fails the test")]
mod tests;
