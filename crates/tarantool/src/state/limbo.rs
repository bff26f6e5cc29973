//! Synchronous transactions that wait for a confirmation, and those that wait after them. Tarantool calls
//! this the limbo.
//!
//! Input: rows, and verdicts on earlier rows. Output: transactions that count. Does not know what rows do.

use crate::file::row::{Body, Row, RowKind};
use crate::msgpack::{Class, Reader, Result as Read};
use std::collections::VecDeque;

/// The flag of a transaction that waits, either for an answer or for another transaction.
pub(super) const FLAG_WAIT_SYNC: u64 = 2;
/// The flag of a transaction that waits for an answer.
pub(super) const FLAG_WAIT_ACK: u64 = 4;

/// What a transaction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// A verdict.
    Answer,
    /// The transactions before it.
    Turn,
}

/// A row that owns its bytes.
#[derive(Clone, Debug)]
pub(super) struct OwnedRow {
    head: Row<'static>,
    body: Body<'static>,
    key: Option<Vec<u8>>,
    tuple: Option<Vec<u8>>,
    ops: Option<Vec<u8>>,
    bytes: Vec<u8>,
}

impl OwnedRow {
    pub(super) fn new(row: &Row) -> OwnedRow {
        let Row { kind, replica, lsn, timestamp, group, tsn, is_commit, flags, body } = *row;
        let Body { space, index, index_base, key, tuple, ops, bytes } = body;
        let head = Row { kind, replica, lsn, timestamp, group, tsn, is_commit, flags, body: Body::default() };
        OwnedRow {
            head,
            body: Body { space, index, index_base, ..Body::default() },
            key: key.map(<[u8]>::to_vec),
            tuple: tuple.map(<[u8]>::to_vec),
            ops: ops.map(<[u8]>::to_vec),
            bytes: if Verdict::is_one(kind) { bytes.to_vec() } else { Vec::new() },
        }
    }

    /// Returns approximately how many bytes of memory it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let parts = [&self.key, &self.tuple, &self.ops];
        let parts: usize = parts.into_iter().flatten().map(Vec::len).sum();
        size_of::<OwnedRow>() + parts + self.bytes.len()
    }

    pub(super) fn tsn(&self) -> i64 {
        self.head.tsn
    }

    pub(super) fn lsn(&self) -> i64 {
        self.head.lsn
    }

    pub(super) fn as_row(&self) -> Row<'_> {
        let body = Body {
            key: self.key.as_deref(),
            tuple: self.tuple.as_deref(),
            ops: self.ops.as_deref(),
            bytes: &self.bytes,
            ..self.body
        };
        Row { body, ..self.head }
    }
}

/// A verdict on waiting transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Transactions of a replica up to this number count.
    Confirm { replica: u32, lsn: i64 },
    /// Transactions of a replica from this number on do not count.
    Rollback { replica: u32, lsn: i64 },
    /// Transactions up to this number count and all others do not, because another replica leads now.
    Promote { replica: u32, lsn: i64 },
}

impl Verdict {
    fn is_one(kind: RowKind) -> bool {
        matches!(kind, RowKind::Confirm | RowKind::Rollback | RowKind::Promote | RowKind::Demote)
    }

    /// Parses a row as a verdict, if it is one. Its body is `{2: replica, 3: lsn}`.
    pub(super) fn of(row: &Row) -> Option<Verdict> {
        if !Verdict::is_one(row.kind) {
            return None;
        }
        let (replica, lsn) = read(row.body.bytes).ok()?;
        Some(match row.kind {
            RowKind::Confirm => Verdict::Confirm { replica, lsn },
            RowKind::Rollback => Verdict::Rollback { replica, lsn },
            _ => Verdict::Promote { replica, lsn },
        })
    }
}

fn read(body: &[u8]) -> Read<(u32, i64)> {
    let (mut replica, mut lsn) = (0, 0);
    let mut reader = Reader::new(body);
    for _ in 0..reader.map_len()? {
        let key = if reader.peek()? == Class::Unsigned { reader.uint()? } else { u64::MAX };
        match key {
            2 => replica = u32::try_from(reader.uint()?).unwrap_or(u32::MAX),
            3 => lsn = i64::try_from(reader.uint()?).unwrap_or(i64::MAX),
            u64::MAX => {
                reader.skip_many(2)?;
            }
            _ => {
                reader.skip()?;
            }
        }
    }
    Ok((replica, lsn))
}

/// A waiting transaction, with the sum of the VClock after it.
type Waiting = (WaitsFor, i64, Vec<OwnedRow>);

/// Waiting transactions in order. The first one waits for a verdict.
#[derive(Debug, Default)]
pub(super) struct Limbo {
    waiting: VecDeque<Waiting>,
    memory_bytes: usize,
}

impl Limbo {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns approximately how many bytes of memory all waiting transactions take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    pub(super) fn push(&mut self, waits_for: WaitsFor, signature: i64, rows: &[Row]) {
        let rows: Vec<OwnedRow> = rows.iter().map(OwnedRow::new).collect();
        self.memory_bytes += memory_bytes(&rows);
        self.waiting.push_back((waits_for, signature, rows));
    }

    /// Returns the transactions that count by a verdict, in order, and removes those that do not.
    pub(super) fn decide(&mut self, verdict: Verdict) -> Vec<(i64, Vec<OwnedRow>)> {
        match verdict {
            Verdict::Confirm { replica, lsn } => self.confirm(replica, lsn),
            Verdict::Rollback { replica, lsn } => {
                let first = self.waiting.iter().position(|waiting| is_from(waiting, replica, lsn));
                self.forget(first.unwrap_or(self.waiting.len()));
                Vec::new()
            }
            Verdict::Promote { replica, lsn } => {
                let confirmed = self.confirm(replica, lsn);
                self.forget(0);
                confirmed
            }
        }
    }

    pub(super) fn take_all(&mut self) -> Vec<(i64, Vec<OwnedRow>)> {
        self.take(self.waiting.len())
    }

    /// Takes the first transactions out.
    fn take(&mut self, count: usize) -> Vec<(i64, Vec<OwnedRow>)> {
        let taken: Vec<(i64, Vec<OwnedRow>)> =
            self.waiting.drain(..count).map(|(_, signature, rows)| (signature, rows)).collect();
        self.memory_bytes -= taken.iter().map(|(_, rows)| memory_bytes(rows)).sum::<usize>();
        taken
    }

    /// Drops all but the first transactions.
    fn forget(&mut self, count: usize) {
        self.memory_bytes -=
            self.waiting.drain(count..).map(|(_, _, rows)| memory_bytes(&rows)).sum::<usize>();
    }

    fn confirm(&mut self, replica: u32, lsn: i64) -> Vec<(i64, Vec<OwnedRow>)> {
        let next = lsn.saturating_add(1);
        let first = self.waiting.iter().position(|waiting| is_from(waiting, replica, next));
        self.take(first.unwrap_or(self.waiting.len()))
    }
}

fn memory_bytes(rows: &[OwnedRow]) -> usize {
    rows.iter().map(OwnedRow::memory_bytes).sum()
}

/// Returns whether a transaction of `replica` that waits for an answer ends at `lsn` or later.
fn is_from((waits_for, _, rows): &Waiting, replica: u32, lsn: i64) -> bool {
    *waits_for == WaitsFor::Answer
        && rows.last().is_some_and(|last| last.head.replica == replica && last.head.lsn >= lsn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lsn: i64, tuple: &[u8]) -> Row<'_> {
        Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 0.0,
            group: 0,
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body: Body { tuple: Some(tuple), ..Body::default() },
        }
    }

    #[test]
    fn what_leaves_takes_no_memory() {
        let one = size_of::<OwnedRow>() + 100;
        let verdicts = [
            (Verdict::Confirm { replica: 1, lsn: 3 }, 7),
            (Verdict::Rollback { replica: 1, lsn: 4 }, 3),
            (Verdict::Promote { replica: 1, lsn: 4 }, 0),
        ];
        for (verdict, left) in verdicts {
            let mut limbo = Limbo::default();
            for lsn in 1..=10 {
                limbo.push(WaitsFor::Answer, lsn, &[row(lsn, &[7; 100])]);
            }
            assert_eq!(limbo.memory_bytes(), 10 * one);
            limbo.decide(verdict);
            assert_eq!(limbo.memory_bytes(), left * one, "{verdict:?}");
            assert_eq!(limbo.take_all().len(), left);
            assert_eq!(limbo.memory_bytes(), 0);
        }
    }
}
