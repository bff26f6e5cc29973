//! The records of a journal: the changes of one commit.
//!
//! Input: records, or the bytes of one. Output: the bytes (docs/FORMAT.md, "Journal"), or the record. Does
//! not depend on what a record does to tables.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::commit::journal::sectors::frame;
use crate::commit::manifest::{
    Attachments, put_attachment, put_count, put_u32, put_u64, take_attachment, take_count,
};
use crate::cursor::Cursor;
use crate::error::{Damage, Result, check_limit};
use crate::format::{RECORD_ALIGNMENT, RECORD_MAGIC, RECORD_PAYLOAD_OFFSET, SECTOR_BYTES};
use crate::limits::{ATTACHMENTS_MAX, JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX, TABLES_MAX};
use crate::rows::in_memory::Rows;
use crate::schema::Schema;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The changes of one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// In ascending order of table number, each table at most once.
    pub(crate) tables: Vec<TableChange>,
    pub(crate) attachments: Attachments,
}

/// The changes of one commit in one table: first some rows die, then new ones are added.
#[derive(Clone, Debug)]
pub(crate) struct TableChange {
    /// The table's place in the manifest.
    pub(crate) table: usize,
    /// In ascending order of part.
    pub(crate) kills: Vec<Kill>,
    pub(crate) rows: Rows,
}

/// Rows of one part that a commit kills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kill {
    /// The segment's place in the manifest, or the segment count for rows of the journal itself.
    pub(crate) part: usize,
    /// In ascending order.
    pub(crate) rows: Vec<u32>,
}

/// Takes a record that was read, or says why it does not fit.
pub(crate) type Visit<'a> = dyn FnMut(&Record) -> std::result::Result<(), String> + 'a;

/// What a journal holds besides its records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalContents {
    /// Where the last record begins, if there is one, and the journal has sectors.
    pub(crate) last_offset: Option<u64>,
    /// The end of the last valid record.
    pub(crate) valid_bytes: u64,
    /// How many bytes of an unsynced record follow.
    pub(crate) torn_bytes: u64,
}

/// The head of a record.
pub(super) struct Head {
    pub(super) length: u32,
    pub(super) sequence: u64,
    pub(super) checksum: u64,
}

impl Record {
    /// Returns how many rows the record adds or kills.
    pub(crate) fn row_count(&self) -> u64 {
        let kills =
            |change: &TableChange| change.kills.iter().map(|kill| kill.rows.len() as u64).sum::<u64>();
        self.tables.iter().map(|change| kills(change).saturating_add(u64::from(change.rows.len()))).sum()
    }

    /// Returns the record's bytes as whole sectors, as written after the first `offset` bytes of the
    /// journal with `seed`.
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
    pub(super) fn encode_content(&self, seed: u64, sequence: u64) -> Result<Vec<u8>> {
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

pub(super) fn encode_head(seed: u64, sequence: u64, payload: &[u8]) -> [u8; RECORD_PAYLOAD_OFFSET] {
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

/// Reads the head at the start of `rest`; `None` if there is no valid one.
pub(super) fn decode_head(rest: &[u8], seed: u64) -> Option<Head> {
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

pub(super) fn decode_payload(payload: &[u8], schemas: &[Arc<Schema>]) -> std::result::Result<Record, Damage> {
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
