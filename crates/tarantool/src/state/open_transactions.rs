//! Transactions whose end was not read yet, and the check whether one is complete.
//!
//! Input: rows, in the order of a log. Output: the rows of a transaction, when its last one arrives. Does not
//! know what rows do.
//!
//! Rows of several replicas may be interleaved: versions 2.8 to 2.10 of Tarantool wrote such logs. Tarantool
//! reads them only with `force_recovery`, and tells transactions apart by their replicas, as this module
//! does.

use super::limbo::OwnedRow;
use crate::file::row::{GROUP_LOCAL, Row};
use std::collections::BTreeMap;

/// Rows that wait for the last row of their transaction, by replica.
#[derive(Debug, Default)]
pub(super) struct OpenTransactions {
    rows: BTreeMap<u32, Vec<OwnedRow>>,
    memory_bytes: usize,
}

impl OpenTransactions {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns approximately how many bytes of memory all waiting rows take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the number of an open transaction, if there is one.
    pub(super) fn tsn(&self) -> Option<i64> {
        self.rows.values().flatten().next().map(OwnedRow::tsn)
    }

    /// Adds a row to its transaction.
    pub(super) fn push(&mut self, row: &Row) {
        let replica = self.replica_of(row);
        let row = OwnedRow::new(row);
        self.memory_bytes += row.memory_bytes();
        self.rows.entry(replica).or_default().push(row);
    }

    /// Removes and returns the waiting rows of this row's transaction.
    pub(super) fn take(&mut self, row: &Row) -> Vec<OwnedRow> {
        self.remove(self.replica_of(row))
    }

    /// Removes and returns rows of an older transaction of the same replica, whose end will never come.
    pub(super) fn take_others(&mut self, row: &Row) -> Vec<OwnedRow> {
        let replica = self.replica_of(row);
        let is_other =
            self.rows.get(&replica).and_then(|rows| rows.last()).is_some_and(|last| last.tsn() != row.tsn);
        if is_other { self.remove(replica) } else { Vec::new() }
    }

    fn remove(&mut self, replica: u32) -> Vec<OwnedRow> {
        let rows = self.rows.remove(&replica).unwrap_or_default();
        self.memory_bytes -= rows.iter().map(OwnedRow::memory_bytes).sum::<usize>();
        rows
    }

    /// Removes and returns all waiting rows.
    pub(super) fn take_all(&mut self) -> Vec<OwnedRow> {
        self.memory_bytes = 0;
        std::mem::take(&mut self.rows).into_values().flatten().collect()
    }

    /// Returns the replica of a row's transaction. A row without a replica belongs to the transaction with
    /// its number.
    fn replica_of(&self, row: &Row) -> u32 {
        if row.replica != 0 {
            return row.replica;
        }
        let has_its_number = |rows: &[OwnedRow]| rows.last().is_some_and(|last| last.tsn() == row.tsn);
        let found = self.rows.iter().find(|(_, rows)| has_its_number(rows));
        found.map_or(0, |(&replica, _)| replica)
    }
}

/// Checks by their numbers that the rows of a transaction are complete: the first row has the transaction's
/// number, and the numbers are consecutive. Rows that are not replicated have numbers of their own.
///
/// # Errors
/// What is missing.
pub(super) fn check_whole(rows: &[Row]) -> Result<(), &'static str> {
    let mut next = None;
    for row in rows.iter().filter(|row| row.group != GROUP_LOCAL) {
        if next.unwrap_or(row.tsn) != row.lsn {
            return Err("rows of its transaction before it are missing");
        }
        next = Some(row.lsn.saturating_add(1));
    }
    match rows.first() {
        Some(first) if next.is_none() && first.lsn != first.tsn => {
            Err("rows of its transaction before it are missing")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::row::{Body, RowKind};

    fn row(replica: u32, lsn: i64, tsn: i64) -> Row<'static> {
        let (kind, group) = (RowKind::Nop, u64::from(replica == 0) * GROUP_LOCAL);
        let body = Body { bytes: &[7; 100], ..Body::default() };
        Row { kind, replica, lsn, timestamp: 0.0, group, tsn, is_commit: false, flags: 0, body }
    }

    #[test]
    fn rows_go_to_the_transaction_of_their_replica_or_of_their_number() {
        let mut open = OpenTransactions::default();
        for next in
            [row(1, 10, 10), row(2, 70, 70), row(0, 5, 70), row(1, 11, 10), row(0, 6, 10), row(0, 7, 7)]
        {
            open.push(&next);
        }
        let numbers = |rows: Vec<OwnedRow>| rows.iter().map(OwnedRow::lsn).collect::<Vec<_>>();
        assert_eq!(numbers(open.take(&row(2, 71, 70))), [70, 5]);
        assert_eq!(numbers(open.take(&row(0, 8, 10))), [10, 11, 6]);
        assert_eq!(numbers(open.take_all()), [7]);
        assert_eq!((open.memory_bytes(), open.is_empty()), (0, true));
    }

    #[test]
    fn a_transaction_is_whole_if_its_numbers_are() {
        for rows in [
            &[row(1, 10, 10), row(1, 11, 10)][..],
            &[row(0, 3, 10), row(1, 10, 10)],
            &[row(0, 3, 3), row(0, 4, 3)],
        ] {
            assert_eq!(check_whole(rows), Ok(()), "{rows:?}");
        }
        for rows in [
            &[row(1, 11, 10)][..],
            &[row(1, 10, 10), row(1, 12, 10)],
            &[row(0, 3, 10), row(1, 11, 10)],
            &[row(0, 4, 3)],
        ] {
            assert!(check_whole(rows).is_err(), "{rows:?}");
        }
    }
}
