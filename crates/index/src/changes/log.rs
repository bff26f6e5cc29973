//! The change log as a table: what each commit did, for as long as it is kept.
//!
//! Input: a store's snapshot, and the events of the next commit. Output: rows in the transaction of that
//! commit, so that no crash parts the two. Old rows are deleted in their order, so that whole segments lose
//! all their rows and are dropped unread. Must not know what the events mean.
//!
//! Each row has a digest of everything that was logged up to it, beginning with the random identity of the
//! log. So a token that holds the digest of its commit is recognised by the same log alone, even if the store
//! was put back from a copy and has gone on in another way.

use crate::changes::event::{self, Group};
use crate::environment::{CLOCK_SECONDS, Environment};
use crate::error::{Error, Result};
use std::ops::Bound;
use store::{Column, Kind, PRIMARY, RowId, Rows, Schema, Snapshot, Table, Transaction, Value};
use xxhash_rust::xxh3::xxh3_64;

/// The table's name.
pub(crate) const TABLE: &str = "changes";
/// The number of the commit (u64, first of the primary key).
const COMMIT: usize = 0;
/// The time of the commit, in seconds since 1970 (i64).
const TIME: usize = 2;
/// The digest of the log up to here (u64).
const DIGEST: usize = 3;
/// What happened (bytes).
const EVENTS: usize = 4;

/// Name of the attachment that holds a [`Log`].
const ATTACHMENT: &str = "changes";
/// First bytes of the attachment.
pub const MAGIC: [u8; 8] = *b"PNEULOG1";

/// For how long changes are kept if the configuration does not say so: 30 days.
pub const KEPT_SECONDS: i64 = 30 * 24 * 60 * 60;
/// The most rows that are kept, whatever their age. A row is one commit of usual size.
const ROWS_MAX: u64 = 1 << 20;
/// Rows are dropped together, when the oldest is this part older than they are kept.
const SLACK: i64 = 10;

/// Returns the schema of the table.
pub(crate) fn schema() -> Schema {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    Schema {
        name: TABLE.into(),
        columns: vec![
            column("commit", Kind::U64),
            // A large commit takes several rows.
            column("part", Kind::U32),
            column("time", Kind::I64),
            column("digest", Kind::U64),
            column("events", Kind::Bytes),
        ],
        primary: vec![0, 1],
        indexes: vec![],
    }
}

/// What a store says about its change log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// A random number that no other log has; 0 if nothing was ever logged.
    pub identity: u64,
    /// The digest of everything that was logged.
    pub digest: u64,
    /// All changes after this commit are in the table.
    pub complete_after: u64,
    /// The digest of everything that was logged up to that commit.
    pub complete_after_digest: u64,
}

/// One commit of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Its number.
    pub commit: u64,
    /// Its time, in seconds since 1970.
    pub time_seconds: i64,
    /// What happened.
    pub groups: Vec<Group>,
}

impl Log {
    /// Returns the log of a snapshot. A store that never logged anything has an empty one.
    ///
    /// # Errors
    /// Damage.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Log> {
        let Some(bytes) = snapshot.attachment(ATTACHMENT) else { return Ok(Log::default()) };
        decode(bytes).ok_or_else(|| damaged(snapshot))
    }

    /// Adds what the next commit after `snapshot` does to its transaction.
    ///
    /// # Errors
    /// Damage; a limit of the store.
    pub(crate) fn append(
        environment: &Environment,
        snapshot: &Snapshot,
        groups: &[Group],
        transaction: &mut Transaction,
    ) -> Result<()> {
        let mut log = Log::of(snapshot)?;
        let is_new = log.identity == 0;
        if is_new {
            log = Log::new(environment, snapshot);
        }
        let parts = event::encode(groups);
        if parts.is_empty() && !is_new {
            return Ok(());
        }
        let table = snapshot.table(TABLE)?;
        let mut rows = Rows::new(table.schema());
        let commit = snapshot.version().sequence + 1;
        let time = environment.now_seconds();
        let nanoseconds = environment.context.now_ns().cast_unsigned();
        for (part, events) in (0_u32..).zip(&parts) {
            // Two histories may go on with the same events at the same time. The seed keeps them apart.
            let head = [log.digest, environment.seed, nanoseconds].map(u64::to_le_bytes);
            log.digest = xxh3_64(&[head.as_flattened(), events].concat());
            rows.push(&[
                Value::U64(commit),
                Value::U32(part),
                Value::I64(time),
                Value::U64(log.digest),
                Value::Bytes(events),
            ])?;
        }
        if !rows.is_empty() {
            transaction.put(rows);
        }
        transaction.attach(ATTACHMENT, encode(&log));
        Ok(())
    }

    /// Begins a log after a snapshot.
    fn new(environment: &Environment, snapshot: &Snapshot) -> Log {
        let seeds = [environment.seed, environment.context.now_ns().cast_unsigned()].map(u64::to_le_bytes);
        let identity = xxh3_64(seeds.as_flattened()).max(1);
        let complete_after = snapshot.version().sequence;
        Log { identity, digest: identity, complete_after, complete_after_digest: identity }
    }

    /// Returns the digest of what was logged up to a commit, or `None` if that is not known any more.
    ///
    /// # Errors
    /// Damage.
    pub(crate) fn digest_at(&self, snapshot: &Snapshot, commit: u64) -> Result<Option<u64>> {
        if commit < self.complete_after {
            return Ok(None);
        }
        let Some(table) = table(snapshot) else { return Ok(Some(self.complete_after_digest)) };
        let next = [Value::U64(commit.saturating_add(1))];
        let last = table.range(PRIMARY, Bound::Unbounded, Bound::Excluded(&next))?.next_back().transpose()?;
        last.map_or(Ok(Some(self.complete_after_digest)), |row| Ok(Some(u64_at(&table, row, DIGEST)?)))
    }

    /// Returns a transaction that drops what is older than it is kept, if it is time for that.
    ///
    /// # Errors
    /// Damage.
    pub(crate) fn drop_old(environment: &Environment, snapshot: &Snapshot) -> Result<Option<Transaction>> {
        let Some(table) = table(snapshot) else { return Ok(None) };
        let (now, kept) = (environment.now_seconds(), environment.changes_kept_seconds.max(0));
        let all_count = table.row_count();
        let mut rows = table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)?;
        let is_too_old = |row: RowId, kept: i64| -> Result<bool> {
            let time = i64_at(&table, row, TIME)?;
            // A time far in the future is that of a wrong clock, and would be kept for too long.
            Ok(CLOCK_SECONDS.contains(&now) && now.saturating_sub(time).saturating_abs() > kept)
        };
        let Some(first) = rows.next().transpose()? else { return Ok(None) };
        let excess = all_count.saturating_sub(ROWS_MAX - ROWS_MAX / 16);
        if all_count <= ROWS_MAX && !is_too_old(first, kept.saturating_add(kept / SLACK))? {
            return Ok(None);
        }
        let mut log = Log::of(snapshot)?;
        let mut transaction = Transaction::new();
        for (dropped_count, row) in (0_u64..).zip(std::iter::once(Ok(first)).chain(rows)) {
            let row = row?;
            let commit = u64_at(&table, row, COMMIT)?;
            // A commit is dropped with all its rows.
            let is_of_dropped = dropped_count > 0 && commit == log.complete_after;
            if !is_of_dropped && dropped_count >= excess && !is_too_old(row, kept)? {
                break;
            }
            let (commit_value, part) = (table.value(0, row)?.to_owned(), table.value(1, row)?.to_owned());
            transaction.deletes.push((TABLE.to_owned(), vec![commit_value, part]));
            (log.complete_after, log.complete_after_digest) = (commit, u64_at(&table, row, DIGEST)?);
        }
        transaction.attach(ATTACHMENT, encode(&log));
        Ok(Some(transaction))
    }

    /// Returns what was logged after a commit, in order.
    ///
    /// # Errors
    /// Damage.
    pub(crate) fn since(snapshot: &Snapshot, commit: u64) -> Result<Vec<Logged>> {
        let Some(table) = table(snapshot) else { return Ok(Vec::new()) };
        let next = [Value::U64(commit.saturating_add(1))];
        let mut found: Vec<Logged> = Vec::new();
        for row in table.range(PRIMARY, Bound::Included(&next), Bound::Unbounded)? {
            let row = row?;
            let (part, commit) = (table.part(row), u64_at(&table, row, COMMIT)?);
            let groups = event::decode(part.bytes(EVENTS, row.row)?).ok_or_else(|| damaged(snapshot))?;
            match found.last_mut() {
                Some(last) if last.commit == commit => last.groups.extend(groups),
                _ => found.push(Logged { commit, time_seconds: i64_at(&table, row, TIME)?, groups }),
            }
        }
        Ok(found)
    }
}

/// Returns the table; `None` in a store that was made before there was one.
fn table(snapshot: &Snapshot) -> Option<Table> {
    snapshot.table(TABLE).ok()
}

fn u64_at(table: &Table, row: RowId, column: usize) -> Result<u64> {
    Ok(table.part(row).u64_at(column, row.row)?)
}

fn i64_at(table: &Table, row: RowId, column: usize) -> Result<i64> {
    Ok(table.part(row).i64_at(column, row.row)?)
}

fn encode(log: &Log) -> Vec<u8> {
    let numbers = [log.identity, log.digest, log.complete_after, log.complete_after_digest];
    [&MAGIC[..], numbers.map(u64::to_le_bytes).as_flattened()].concat()
}

fn decode(bytes: &[u8]) -> Option<Log> {
    let numbers = bytes.strip_prefix(&MAGIC)?.as_chunks::<8>();
    let ([identity, digest, after, after_digest], []) = numbers else { return None };
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    Some(Log {
        identity: number(identity),
        digest: number(digest),
        complete_after: number(after),
        complete_after_digest: number(after_digest),
    })
}

fn damaged(snapshot: &Snapshot) -> Error {
    Error::Damaged { path: snapshot.directory().to_owned(), what: "the change log" }
}
