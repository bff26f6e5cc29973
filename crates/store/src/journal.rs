//! The journal: what was committed since the manifest was published.
//!
//! Comes in: records to encode, or a journal file's bytes. Goes out: bytes (docs/FORMAT.md, "Journal"), or the records of the
//! valid prefix. Must not know files, nor what a record does to tables.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::{Damage, Result, check_limit};
use crate::format::{
    JOURNAL_MAGIC, JOURNAL_MANIFEST_OFFSET, JOURNAL_RECORDS_OFFSET, JOURNAL_VERSION, RECORD_ALIGNMENT,
    RECORD_MAGIC, RECORD_PAYLOAD_OFFSET,
};
use crate::limits::{ATTACHMENTS_MAX, JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX, TABLES_MAX};
use crate::manifest::{
    Attachments, check_head, put_attachment, put_count, put_u32, put_u64, take_attachment, take_count,
};
use crate::rows::Rows;
use crate::schema::Schema;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which journal it is, as its manifest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
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
    let mut out = Vec::new();
    out.extend_from_slice(&JOURNAL_MAGIC);
    put_u32(&mut out, JOURNAL_VERSION);
    put_u32(&mut out, 0);
    put_u64(&mut out, identity.manifest);
    let checksum = xxh3_64_with_seed(&out, identity.seed);
    put_u64(&mut out, checksum);
    out
}

impl Record {
    /// Returns how many rows the record adds or kills.
    pub(crate) fn row_count(&self) -> u64 {
        let kills =
            |change: &TableChange| change.kills.iter().map(|kill| kill.rows.len() as u64).sum::<u64>();
        self.tables.iter().map(|change| kills(change).saturating_add(u64::from(change.rows.len()))).sum()
    }

    /// Returns the record's bytes, as the journal with `seed` holds them.
    ///
    /// # Errors
    /// [`crate::Error::Limit`] if it is too large for a journal.
    pub(crate) fn encode(&self, seed: u64, sequence: u64) -> Result<Vec<u8>> {
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
/// A record that is not whole ends the journal, silently: it was being written when the writer died, and never acknowledged. If a
/// later record follows it, it was synced once and is damaged.
///
/// # Errors
/// [`crate::Error::Version`] or [`crate::Error::Corrupt`], naming the file.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    identity: &Identity,
    schemas: &[Arc<Schema>],
) -> Result<Contents> {
    check_head(path, bytes, JOURNAL_MAGIC, JOURNAL_VERSION)?;
    check_identity(bytes, identity)
        .and_then(|()| read_records(bytes, identity, schemas))
        .map_err(|damage| damage.in_file(path, 0))
}

fn check_identity(bytes: &[u8], identity: &Identity) -> std::result::Result<(), Damage> {
    if bytes.len() as u64 > JOURNAL_BYTES_MAX {
        let what = format!("it has {} bytes, the limit is {JOURNAL_BYTES_MAX}", bytes.len());
        return Err(Damage::new(bytes.len(), what));
    }
    match bytes.get(..JOURNAL_RECORDS_OFFSET) {
        Some(head) if head == encode_empty(identity).as_slice() => Ok(()),
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
    let mut offset = JOURNAL_RECORDS_OFFSET;
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
        records.push(record);
        offset = payload_offset.saturating_add(payload.len());
    }
    let torn_bytes = bytes.len().saturating_sub(offset) as u64;
    Ok(Contents { records, valid_bytes: offset as u64, torn_bytes })
}

/// Returns the payload of the record in front of `rest`, or breaks if it is not whole.
fn take_record(
    rest: &[u8],
    seed: u64,
    sequence: u64,
    offset: usize,
) -> std::result::Result<ControlFlow<(), &[u8]>, Damage> {
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

/// Refuses a record that is not whole although a later one exists. A record is only written after the one before was synced.
fn check_nothing_follows(
    bytes: &[u8],
    seed: u64,
    sequence: u64,
    offset: usize,
) -> std::result::Result<(), Damage> {
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
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::schema::{Column, Kind};
    use crate::value::Value;

    const IDENTITY: Identity = Identity { manifest: 7, seed: 99, sequence: 40 };

    fn schema() -> Arc<Schema> {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        Arc::new(Schema {
            name: "t".into(),
            columns: vec![column("a", Kind::U32), column("b", Kind::Bytes)],
            primary: vec![0],
            indexes: Vec::new(),
        })
    }

    fn record(number: u32) -> Record {
        let mut rows = Rows::new(&schema());
        for row in 0..number {
            rows.push(&[Value::U32(row), Value::Bytes(b"some bytes")]).unwrap();
        }
        let kills = vec![Kill { part: 0, rows: vec![1, number + 4] }, Kill { part: 3, rows: vec![2] }];
        Record {
            tables: vec![TableChange { table: 0, kills, rows }],
            attachments: [("text".to_owned(), number.to_le_bytes().as_slice().into())].into(),
        }
    }

    /// Returns a journal with three records, and where each begins.
    fn sample() -> (Vec<u8>, [usize; 3]) {
        let mut bytes = encode_empty(&IDENTITY);
        let starts = [1, 2, 3].map(|number| {
            let start = bytes.len();
            bytes
                .extend(record(number).encode(IDENTITY.seed, IDENTITY.sequence + u64::from(number)).unwrap());
            start
        });
        (bytes, starts)
    }

    fn read_bytes(bytes: &[u8]) -> Result<Contents> {
        read(Path::new("/store/journal-7"), bytes, &IDENTITY, &[schema()])
    }

    #[test]
    fn records_come_back() {
        let (bytes, _) = sample();
        let contents = read_bytes(&bytes).unwrap();
        assert_eq!((contents.valid_bytes, contents.torn_bytes), (bytes.len() as u64, 0));
        for (found, number) in contents.records.iter().zip(1..) {
            let expected = record(number);
            assert_eq!(found.attachments, expected.attachments);
            assert_eq!(found.tables[0].kills, expected.tables[0].kills);
            assert_eq!(found.tables[0].rows.len(), number);
            assert_eq!(found.row_count(), u64::from(number) + 3);
        }
        assert_eq!(contents.records.len(), 3);
    }

    #[test]
    fn a_cut_gives_the_shorter_prefix_and_a_cut_head_is_damage() {
        let (bytes, starts) = sample();
        for length in 0..bytes.len() {
            let contents = read_bytes(&bytes[..length]);
            if length < JOURNAL_RECORDS_OFFSET {
                assert!(contents.unwrap_err().to_string().contains("/store/journal-7"), "cut at {length}");
                continue;
            }
            let contents = contents.unwrap();
            let ends = starts[1..].iter().filter(|&&end| end <= length).count();
            assert_eq!(contents.records.len(), ends, "cut at {length}");
            assert_eq!(contents.valid_bytes + contents.torn_bytes, length as u64);
        }
    }

    #[test]
    fn a_flipped_bit_is_damage_and_in_the_last_record_the_shorter_prefix() {
        let (bytes, starts) = sample();
        for offset in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[offset] ^= 1 << bit;
                match read_bytes(&damaged) {
                    Ok(contents) => {
                        assert!(offset >= starts[2], "bit {bit} of byte {offset} must be seen");
                        assert_eq!(contents.records.len(), 2);
                        assert_eq!(contents.valid_bytes, starts[2] as u64);
                    }
                    Err(error) => {
                        assert!(offset < starts[2], "{error}");
                        assert!(error.to_string().contains("/store/journal-7"), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn zeros_behind_the_last_record_are_a_torn_tail() {
        let (mut bytes, _) = sample();
        let valid_bytes = bytes.len() as u64;
        bytes.resize(bytes.len() + 1000, 0);
        let contents = read_bytes(&bytes).unwrap();
        assert_eq!(
            (contents.records.len(), contents.valid_bytes, contents.torn_bytes),
            (3, valid_bytes, 1000)
        );
    }

    #[test]
    fn another_journal_or_another_order_is_damage() {
        let (bytes, starts) = sample();
        for other in [
            Identity { manifest: 8, ..IDENTITY },
            Identity { seed: 98, ..IDENTITY },
            Identity { sequence: 41, ..IDENTITY },
            Identity { sequence: 39, ..IDENTITY },
        ] {
            let result = read(Path::new("/store/journal-7"), &bytes, &other, &[schema()]);
            assert!(matches!(result, Err(Error::Corrupt { .. })), "{other:?}");
        }
        let mut without_second = bytes[..starts[1]].to_vec();
        without_second.extend(&bytes[starts[2]..]);
        assert!(read_bytes(&without_second).unwrap_err().to_string().contains("record 43 stands where 42"));
    }

    #[test]
    fn a_newer_version_is_said_as_such() {
        let (mut bytes, _) = sample();
        bytes[8] = 2;
        assert!(matches!(read_bytes(&bytes), Err(Error::Version { found: 2, newest: 1, .. })));
    }

    #[test]
    fn changed_payloads_under_right_checksums_never_panic() {
        let good = record(3).encode(IDENTITY.seed, 41).unwrap();
        for offset in RECORD_PAYLOAD_OFFSET..good.len() {
            for value in [0, 1, 2, 0x7f, 0xff] {
                let mut payload = good[RECORD_PAYLOAD_OFFSET..].to_vec();
                payload[offset - RECORD_PAYLOAD_OFFSET] = value;
                let mut bytes = encode_empty(&IDENTITY);
                bytes.extend(encode_head(IDENTITY.seed, 41, &payload));
                bytes.extend(&payload);
                let _ = read_bytes(&bytes);
            }
        }
    }

    #[test]
    fn limits_are_kept_by_the_writer_and_the_reader() {
        let mut large = record(1);
        let most = usize::try_from(JOURNAL_BYTES_MAX).unwrap();
        large.attachments.insert("large".into(), vec![0; most].into());
        assert!(matches!(large.encode(1, 1), Err(Error::Limit { what: "bytes in a journal record", .. })));
        let many = record(JOURNAL_ROWS_MAX - 2).encode(IDENTITY.seed, 41).unwrap();
        let bytes = [encode_empty(&IDENTITY), many].concat();
        assert!(read_bytes(&bytes).unwrap_err().to_string().contains("4097 rows, the limit is 4096"));
        let mut long = sample().0;
        long.resize(most + 8, 0);
        assert!(read_bytes(&long).unwrap_err().to_string().contains("the limit is 1048576"));
    }
}
