//! One row: a change to a space, and its time.
//!
//! Reads [`Row`]s that borrow from a block's payload, and writes them. Does not know the contents of spaces,
//! or how rows are applied.
//!
//! A row is a map (the head) and, except for [`RowKind::Nop`], a second map (the body). Unknown keys are
//! skipped. A head without a type is damage; otherwise any bytes that look like empty maps would be rows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::msgpack::{self, Number, Reader, put_map_len, put_uint};
use crate::vclock::REPLICA_MAX;

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Puts a tuple where none is.
    Insert,
    /// Puts a tuple in place of any with its key.
    Replace,
    /// Changes fields of the tuple with a key.
    Update,
    /// Deletes the tuple with a key.
    Delete,
    /// Changes the tuple with the same key, or inserts one if there is none.
    Upsert,
    /// Does nothing, but has a number.
    Nop,
    /// Inserts rows by column.
    InsertArrow,
    /// Deletes the tuples between two keys.
    DeleteRange,
    /// States a replica's term and vote.
    Raft,
    /// Makes a replica the leader.
    Promote,
    /// Ends a replica's leadership.
    Demote,
    /// Confirms synchronous transactions.
    Confirm,
    /// Rolls back synchronous transactions.
    Rollback,
    /// Any other number. 0 means that the row has no type; such rows are never returned.
    Other(u64),
}

impl RowKind {
    /// Returns the kind with a number.
    pub fn of(number: u64) -> RowKind {
        match number {
            2 => RowKind::Insert,
            3 => RowKind::Replace,
            4 => RowKind::Update,
            5 => RowKind::Delete,
            9 => RowKind::Upsert,
            12 => RowKind::Nop,
            17 => RowKind::InsertArrow,
            18 => RowKind::DeleteRange,
            30 => RowKind::Raft,
            31 => RowKind::Promote,
            32 => RowKind::Demote,
            40 => RowKind::Confirm,
            41 => RowKind::Rollback,
            other => RowKind::Other(other),
        }
    }

    /// Returns whether the kind is about terms, votes and leaders instead of tuples.
    pub fn is_of_election(self) -> bool {
        matches!(self, RowKind::Raft | RowKind::Promote | RowKind::Demote)
    }

    /// Returns the number of the kind.
    pub fn number(self) -> u64 {
        match self {
            RowKind::Insert => 2,
            RowKind::Replace => 3,
            RowKind::Update => 4,
            RowKind::Delete => 5,
            RowKind::Upsert => 9,
            RowKind::Nop => 12,
            RowKind::InsertArrow => 17,
            RowKind::DeleteRange => 18,
            RowKind::Raft => 30,
            RowKind::Promote => 31,
            RowKind::Demote => 32,
            RowKind::Confirm => 40,
            RowKind::Rollback => 41,
            RowKind::Other(number) => number,
        }
    }
}

/// A row. Values that its head does not state are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// What the row does.
    pub kind: RowKind,
    /// Which replica wrote it.
    pub replica: u32,
    /// Its number among that replica's rows. In a snapshot, its position in the file.
    pub lsn: i64,
    /// When it was written, in seconds since 1970.
    pub timestamp: f64,
    /// 1 if its space is not replicated.
    pub group: u64,
    /// The number of the first row of its transaction.
    pub tsn: i64,
    /// Whether it is the last of its transaction.
    pub is_commit: bool,
    /// Whether the transaction waits for replicas (bit 1) and for their answers (bit 2). Bit 0 marks the
    /// commit.
    pub flags: u64,
    /// What the row changes.
    pub body: Body<'a>,
}

/// The body of a row. Slices are whole msgpack values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Body<'a> {
    /// The space's number.
    pub space: Option<u32>,
    /// The number of the index that the key is of.
    pub index: Option<u32>,
    /// The number of the first field in an update's operations.
    pub index_base: Option<i64>,
    /// The key.
    pub key: Option<&'a [u8]>,
    /// The tuple. For an update, the operations.
    pub tuple: Option<&'a [u8]>,
    /// The operations of an upsert.
    pub ops: Option<&'a [u8]>,
    /// All bytes of the body, also those of unknown keys.
    pub bytes: &'a [u8],
}

/// The group of rows that are not replicated. Their replica is 0, whichever replica's transaction they belong
/// to.
pub(crate) const GROUP_LOCAL: u64 = 1;

/// Keys of the head.
const KEY_KIND: u64 = 0x00;
const KEY_REPLICA: u64 = 0x02;
const KEY_LSN: u64 = 0x03;
const KEY_TIMESTAMP: u64 = 0x04;
const KEY_GROUP: u64 = 0x07;
const KEY_TSN: u64 = 0x08;
const KEY_FLAGS: u64 = 0x09;
/// Keys of the body.
const KEY_SPACE: u64 = 0x10;
const KEY_INDEX: u64 = 0x11;
const KEY_INDEX_BASE: u64 = 0x15;
const KEY_KEY: u64 = 0x20;
const KEY_TUPLE: u64 = 0x21;
const KEY_OPS: u64 = 0x28;
/// The flag of a transaction's last row.
const FLAG_COMMIT: u64 = 1;

/// Iterates over the rows of a block's payload. Ends after damage.
pub fn rows(payload: &[u8]) -> RowIter<'_> {
    RowIter { reader: Reader::new(payload) }
}

/// The rows of a payload.
#[derive(Clone, Debug)]
pub struct RowIter<'a> {
    reader: Reader<'a>,
}

impl RowIter<'_> {
    /// Returns where the next row begins, in bytes from the payload's beginning.
    pub fn offset(&self) -> usize {
        self.reader.offset()
    }
}

impl<'a> Iterator for RowIter<'a> {
    type Item = msgpack::Result<Row<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let row = read_row(&mut self.reader);
        if row.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(row)
    }
}

/// Reads one row.
fn read_row<'a>(reader: &mut Reader<'a>) -> msgpack::Result<Row<'a>> {
    let mut row = Row {
        kind: RowKind::Other(0),
        replica: 0,
        lsn: 0,
        timestamp: 0.0,
        group: 0,
        tsn: 0,
        is_commit: false,
        flags: 0,
        body: Body::default(),
    };
    let begin = reader.offset();
    let tsn_distance = read_head(reader, &mut row)?;
    if row.kind == RowKind::Other(0) {
        return Err(Damage::new(begin, "a row has no type"));
    }
    // A transaction of one row names neither its first row nor its last.
    row.is_commit = tsn_distance.is_none() || row.flags & FLAG_COMMIT != 0;
    // The first row of a transaction may be from another replica and have a greater number, so the distance
    // can wrap around.
    row.tsn = row.lsn.wrapping_sub_unsigned(tsn_distance.unwrap_or(0));
    if row.kind != RowKind::Nop && !reader.is_empty() {
        row.body = read_body(reader)?;
    }
    Ok(row)
}

/// Reads the head into `row`. Returns the distance to the transaction's first row, if the head states it.
#[inline]
fn read_head(reader: &mut Reader, row: &mut Row) -> msgpack::Result<Option<u64>> {
    let mut tsn_distance = None;
    for _ in 0..reader.map_len()? {
        let Some(key) = key(reader)? else { continue };
        match key {
            KEY_KIND => row.kind = RowKind::of(reader.uint()?),
            KEY_REPLICA => row.replica = replica(reader)?,
            KEY_LSN => row.lsn = signed(reader)?,
            KEY_TIMESTAMP => row.timestamp = seconds(reader)?,
            KEY_GROUP => row.group = reader.uint()?,
            KEY_TSN => tsn_distance = Some(reader.uint()?),
            KEY_FLAGS => row.flags = reader.uint()?,
            _ => {
                reader.skip()?;
            }
        }
    }
    Ok(tsn_distance)
}

#[inline]
fn read_body<'a>(reader: &mut Reader<'a>) -> msgpack::Result<Body<'a>> {
    let mut body = Body::default();
    let whole = reader.rest();
    let begin = reader.offset();
    for _ in 0..reader.map_len()? {
        let Some(key) = key(reader)? else { continue };
        match key {
            KEY_SPACE => body.space = Some(narrow(reader)?),
            KEY_INDEX => body.index = Some(narrow(reader)?),
            KEY_INDEX_BASE => body.index_base = Some(signed(reader)?),
            KEY_KEY => body.key = Some(reader.skip()?),
            KEY_TUPLE => body.tuple = Some(reader.skip()?),
            KEY_OPS => body.ops = Some(reader.skip()?),
            _ => {
                reader.skip()?;
            }
        }
    }
    body.bytes = whole.get(..reader.offset().saturating_sub(begin)).unwrap_or_default();
    Ok(body)
}

/// Reads a key. Skips a key that is not a number, together with its value.
#[inline]
fn key(reader: &mut Reader) -> msgpack::Result<Option<u64>> {
    if reader.peek()? == msgpack::Class::Unsigned {
        return reader.uint().map(Some);
    }
    reader.skip_many(2)?;
    Ok(None)
}

/// Replica numbers are small, so that memory per replica cannot grow with the rows.
#[inline]
fn replica(reader: &mut Reader) -> msgpack::Result<u32> {
    let damage = reader.damage("the number of a replica is over 31");
    let number = u32::try_from(reader.uint()?).ok();
    number.filter(|&number| number <= REPLICA_MAX).ok_or(damage)
}

#[inline]
fn narrow(reader: &mut Reader) -> msgpack::Result<u32> {
    let damage = reader.damage("a number is over 32 bits");
    u32::try_from(reader.uint()?).map_err(|_| damage)
}

#[inline]
fn signed(reader: &mut Reader) -> msgpack::Result<i64> {
    let damage = reader.damage("a number is over 63 bits");
    i64::try_from(reader.uint()?).map_err(|_| damage)
}

#[inline]
fn seconds(reader: &mut Reader) -> msgpack::Result<f64> {
    let damage = reader.damage("a time in 64 bits with a point is expected");
    match reader.number()? {
        Number::Double(seconds) => Ok(seconds),
        _ => Err(damage),
    }
}

/// Appends `row` as Tarantool writes it to a log: without zeros, and everything in its shortest form.
pub fn put_row(out: &mut Vec<u8>, row: &Row) {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
    let is_alone = row.is_commit && row.tsn == row.lsn;
    let distance = (!is_alone).then(|| row.lsn.wrapping_sub(row.tsn).cast_unsigned());
    let commit = if !is_alone && row.is_commit { FLAG_COMMIT } else { 0 };
    let flags = (row.flags & !FLAG_COMMIT) | commit;
    let head: [(u64, u64); 4] = [
        (KEY_KIND, row.kind.number()),
        (KEY_REPLICA, u64::from(row.replica)),
        (KEY_GROUP, row.group),
        (KEY_LSN, unsigned(row.lsn)),
    ];
    let given = head.iter().map(|(_, value)| *value != 0);
    let given = given.chain([row.timestamp != 0.0, distance.is_some(), flags != 0]);
    put_map_len(out, given.map(u32::from).fold(0, u32::saturating_add));
    for (key, value) in head {
        put_given(out, key, value);
    }
    if row.timestamp != 0.0 {
        put_uint(out, KEY_TIMESTAMP);
        msgpack::put_double(out, row.timestamp);
    }
    if let Some(distance) = distance {
        put_uint(out, KEY_TSN);
        put_uint(out, distance);
    }
    put_given(out, KEY_FLAGS, flags);
    out.extend_from_slice(row.body.bytes);
}

/// Appends a body with the parts that are set. Ignores `body.bytes`.
pub fn put_body(out: &mut Vec<u8>, body: &Body) {
    let number = |value: Option<u32>| value.map(u64::from);
    let numbers = [
        (KEY_SPACE, number(body.space)),
        (KEY_INDEX, number(body.index)),
        (KEY_INDEX_BASE, body.index_base.and_then(|base| u64::try_from(base).ok())),
    ];
    let values = [(KEY_KEY, body.key), (KEY_TUPLE, body.tuple), (KEY_OPS, body.ops)];
    let given = numbers.iter().map(|(_, value)| value.is_some());
    let given = given.chain(values.iter().map(|(_, value)| value.is_some()));
    put_map_len(out, given.map(u32::from).fold(0, u32::saturating_add));
    for (key, value) in numbers {
        if let Some(value) = value {
            put_uint(out, key);
            put_uint(out, value);
        }
    }
    for (key, value) in values {
        if let Some(value) = value {
            put_uint(out, key);
            out.extend_from_slice(value);
        }
    }
}

fn put_given(out: &mut Vec<u8>, key: u64, value: u64) {
    if value != 0 {
        put_uint(out, key);
        put_uint(out, value);
    }
}
