//! The contents of all spaces after a snapshot and its logs.
//!
//! Input: spaces and rows of a snapshot, then rows of logs, block after block. Output: the rows that count.
//! Does not know files.
//!
//! Only whole transactions count: their rows are applied when the last one arrives. Rows that the snapshot
//! already has are skipped. Synchronous transactions, and all that come after them, wait until they are
//! confirmed, and are dropped if they are rolled back. `tables` applies rows; this module decides which.

mod batch;
mod key_table;
mod limbo;
mod open_transactions;
mod operate;
mod rejected_rows;
mod space_rows;
mod tables;
mod vinyl;

use crate::error::Damage;
use crate::file::row::{Row, rows};
use crate::space::{SPACE_SYSTEM_MAX, Spaces};
use crate::vclock::VClock;
use crate::vinyl::VinylTree;
use limbo::{Limbo, OwnedRow, Verdict, WaitsFor};
use open_transactions::{OpenTransactions, check_whole};
use rejected_rows::RejectedRows;
use store::Loaded;
use tables::{Existing, Tables};
use vinyl::PendingTrees;

pub use rejected_rows::{ApplyError, OnRejectedRow, REJECTED_ROWS_MAX, RejectedRow};
pub use space_rows::FinishedSpace;
pub(crate) use space_rows::double_fields;
pub(crate) use vinyl::TreeSource;

/// Bytes of memory for waiting rows, which wait for a later block with the end of their transaction, or for a
/// verdict.
pub const WAITING_BYTES_MAX: usize = 1 << 30;

/// The contents of all spaces at some time.
pub struct State<'v> {
    tables: Tables<'v>,
    vclock: VClock,
    /// Rows of transactions whose end is in a later block.
    open: OpenTransactions,
    limbo: Limbo,
    /// [`WAITING_BYTES_MAX`]; less in tests.
    waiting_bytes_max: usize,
    rejected: RejectedRows,
    /// How many rows were about terms, votes and leaders.
    election_count: u64,
}

/// The state after all logs were read.
#[derive(Debug)]
pub struct Finished {
    /// Every space with durable rows, by number.
    pub spaces: Vec<FinishedSpace>,
    /// How far the rows reach.
    pub vclock: VClock,
    /// Remarks, a sentence each.
    pub remarks: Vec<String>,
    /// Changes that were not applied and cannot be repaired.
    pub left_out: Vec<String>,
    /// Rows that were left out, at most [`REJECTED_ROWS_MAX`] of them.
    pub rejected: Vec<RejectedRow>,
}

impl<'v> State<'v> {
    /// Returns a state with the spaces of a snapshot, at the vector clock of the snapshot.
    pub fn new(spaces: Spaces, vclock: VClock, on_rejected_row: OnRejectedRow) -> State<'v> {
        State {
            tables: Tables::new(spaces),
            vclock,
            open: OpenTransactions::default(),
            limbo: Limbo::default(),
            waiting_bytes_max: WAITING_BYTES_MAX,
            rejected: RejectedRows::new(on_rejected_row),
            election_count: 0,
        }
    }

    /// Sets where the rows of vinyl's spaces up to their last dump come from.
    pub(crate) fn set_vinyl(
        &mut self,
        trees: impl Iterator<Item = &'v VinylTree>,
        source: &'v dyn TreeSource,
    ) {
        self.tables.set_trees(PendingTrees::new(trees, source));
    }

    /// Sets the snapshot's rows of a space. The rows must have been made for its table.
    ///
    /// # Errors
    /// If there is no such space, or it has a different table.
    pub fn set_base(&mut self, id: u32, base: Loaded) -> Result<(), String> {
        self.tables.set_base(id, base)
    }

    /// Returns the current spaces.
    pub fn spaces(&self) -> &Spaces {
        self.tables.spaces()
    }

    /// Returns how far the rows reach.
    pub fn vclock(&self) -> &VClock {
        &self.vclock
    }

    /// Applies the rows of a block. A transaction that does not end in it waits for the next block.
    ///
    /// # Errors
    /// Damage; a row that does not fit, unless such rows are left out.
    pub fn apply(&mut self, payload: &[u8]) -> Result<(), ApplyError> {
        self.apply_rows(rows(payload))
    }

    /// Applies rows, like [`apply`](State::apply).
    ///
    /// # Errors
    /// Same as [`apply`](State::apply).
    pub fn apply_rows<'r>(
        &mut self,
        rows: impl Iterator<Item = Result<Row<'r>, Damage>>,
    ) -> Result<(), ApplyError> {
        let mut open: Vec<Row> = Vec::new();
        for row in rows {
            let row = row?;
            if row.is_commit && open.is_empty() && self.open.is_empty() {
                self.transaction(std::slice::from_ref(&row))?;
                self.check_waiting()?;
                continue;
            }
            if !self.rejected.are_refused() {
                self.apply_interleaved(&row)?;
                continue;
            }
            let tsn = open.first().map(|first| first.tsn).or(self.open.tsn());
            if tsn.is_some_and(|tsn| tsn != row.tsn) {
                open.iter().for_each(|row| self.open.push(row));
                open.clear();
                self.drop_open()?;
            }
            open.push(row);
            if row.is_commit {
                self.finish_transaction(&open)?;
                open.clear();
                self.check_waiting()?;
            }
        }
        open.iter().for_each(|row| self.open.push(row));
        self.check_waiting()
    }

    /// Adds a row when transactions of several replicas may be interleaved.
    fn apply_interleaved(&mut self, row: &Row) -> Result<(), ApplyError> {
        let without_end = self.open.take_others(row);
        self.drop_rows(&without_end)?;
        if row.is_commit {
            let first = self.open.take(row);
            let rows: Vec<Row> = first.iter().map(OwnedRow::as_row).chain([*row]).collect();
            self.transaction(&rows)?;
        } else {
            self.open.push(row);
        }
        self.check_waiting()
    }

    /// Refuses rows beyond the limit of waiting rows.
    fn check_waiting(&self) -> Result<(), ApplyError> {
        if self.open.memory_bytes() + self.limbo.memory_bytes() <= self.waiting_bytes_max {
            return Ok(());
        }
        Err(Damage::new(0, "over 1 GiB of rows wait for the end of their transaction or to be confirmed")
            .into())
    }

    /// Drops the rows of transactions without an end.
    fn drop_open(&mut self) -> Result<(), RejectedRow> {
        let without_end = self.open.take_all();
        self.drop_rows(&without_end)
    }

    fn drop_rows(&mut self, without_end: &[OwnedRow]) -> Result<(), RejectedRow> {
        for row in without_end {
            self.rejected
                .add(RejectedRow { lsn: row.lsn(), what: "its transaction has no end".to_owned() })?;
        }
        Ok(())
    }

    /// Applies the last rows of a transaction, together with its rows in earlier blocks.
    fn finish_transaction(&mut self, last: &[Row]) -> Result<(), RejectedRow> {
        if self.open.is_empty() {
            return self.transaction(last);
        }
        let first = self.open.take_all();
        let rows: Vec<Row> = first.iter().map(OwnedRow::as_row).chain(last.iter().copied()).collect();
        self.transaction(&rows)
    }

    /// Applies a whole transaction, or lets it wait.
    fn transaction(&mut self, rows: &[Row]) -> Result<(), RejectedRow> {
        // The snapshot has all rows of a transaction or none.
        let mut is_new = false;
        for row in rows {
            is_new |= self.vclock.follow(row.replica, row.lsn);
        }
        if !is_new {
            return Ok(());
        }
        if let Err(what) = check_whole(rows) {
            return self.leave_out(rows, rows.len() - 1, what);
        }
        self.election_count += rows.iter().filter(|row| row.kind.is_of_election()).count() as u64;
        if let [row] = rows
            && let Some(verdict) = Verdict::of(row)
        {
            return self.decide(verdict);
        }
        if let Some(waits_for) = self.waits_for(rows) {
            self.limbo.push(waits_for, self.vclock.signature(), rows);
            return Ok(());
        }
        self.carry_out(rows, self.vclock.signature())
    }

    /// Returns what a transaction waits for: by its flags, in old logs by its spaces, or because earlier
    /// transactions wait.
    fn waits_for(&self, rows: &[Row]) -> Option<WaitsFor> {
        let is_of_synchronous = |row: &Row| row.body.space.is_some_and(|id| self.tables.is_synchronous(id));
        let has_flag = |flag| rows.iter().any(|row| row.flags & flag != 0);
        if has_flag(limbo::FLAG_WAIT_ACK) || rows.iter().any(is_of_synchronous) {
            return Some(WaitsFor::Answer);
        }
        let waits = !self.limbo.is_empty() || has_flag(limbo::FLAG_WAIT_SYNC);
        waits.then_some(WaitsFor::Turn)
    }

    fn decide(&mut self, verdict: Verdict) -> Result<(), RejectedRow> {
        for (signature, transaction) in self.limbo.decide(verdict) {
            self.carry_out(&transaction.iter().map(OwnedRow::as_row).collect::<Vec<_>>(), signature)?;
        }
        Ok(())
    }

    /// Applies a transaction that counts: all of its rows, or none if one cannot be applied. A transaction
    /// that changes definitions is applied row by row, because changes of definitions cannot be undone.
    /// `signature` is the sum of the VClock after it.
    fn carry_out(&mut self, rows: &[Row], signature: i64) -> Result<(), RejectedRow> {
        let is_of_system = |row: &Row| row.body.space.is_some_and(|id| id <= SPACE_SYSTEM_MAX);
        let can_be_undone = !self.rejected.are_refused() && rows.len() > 1 && !rows.iter().any(is_of_system);
        // If rows are missing, one of them may have deleted the old tuple of an insert.
        let existing = if self.rejected.are_refused() { Existing::Impossible } else { Existing::Possible };
        let mut undo = Vec::new();
        self.tables.begin(signature);
        for (place, row) in rows.iter().enumerate() {
            match self.tables.takes(row) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(what) => return Err(RejectedRow { lsn: row.lsn, what }),
            }
            if can_be_undone {
                undo.extend(self.tables.before(row));
            }
            let Err(what) = self.tables.change(row, existing) else { continue };
            if !can_be_undone {
                self.rejected.add(RejectedRow { lsn: row.lsn, what })?;
                continue;
            }
            undo.into_iter().rev().for_each(|undo| self.tables.take_back(&undo));
            return self.leave_out(rows, place, &what);
        }
        Ok(())
    }

    /// Lists all rows of a transaction as left out. The reason belongs to the row at `place`.
    fn leave_out(&mut self, rows: &[Row], place: usize, what: &str) -> Result<(), RejectedRow> {
        for (number, row) in rows.iter().enumerate() {
            let what = if number == place { what } else { "another row of its transaction does not fit" };
            self.rejected.add(RejectedRow { lsn: row.lsn, what: what.to_owned() })?;
        }
        Ok(())
    }

    /// Drops all transactions that have no end or no verdict yet. Returns a remark if any waited for a
    /// verdict.
    pub fn drop_undecided(&mut self) -> Option<String> {
        self.open.take_all();
        let count = self.limbo.take_all().len();
        (count > 0).then(|| {
            format!(
                "{} not confirmed at that point, or waited for one that was not: left out",
                if count == 1 {
                    "1 transaction was".to_owned()
                } else {
                    format!("{count} transactions were")
                }
            )
        })
    }

    /// Finishes. Transactions that still wait for an answer count.
    ///
    /// # Errors
    /// Errors of the store for a row that is too large; an invalid definition.
    pub fn finish(mut self) -> Result<Finished, RejectedRow> {
        let rejected_row = |what: String| RejectedRow { lsn: 0, what };
        let mut remarks = Vec::new();
        remarks.extend(elections_line(self.election_count));
        self.drop_open()?;
        let waiting = self.limbo.take_all();
        if !waiting.is_empty() {
            let count = waiting.len();
            remarks.push(format!(
                "{count} synchronous transactions were neither confirmed nor rolled back: \
                 they count, as in Tarantool's memory"
            ));
        }
        for (signature, transaction) in waiting {
            self.carry_out(&transaction.iter().map(OwnedRow::as_row).collect::<Vec<_>>(), signature)?;
        }
        let reached = self.vclock.signature();
        let (spaces, mut left_out) = self.tables.finish(reached, &mut remarks).map_err(rejected_row)?;
        left_out.extend(self.rejected.unnamed_line());
        Ok(Finished { spaces, vclock: self.vclock, remarks, left_out, rejected: self.rejected.named })
    }
}

/// Returns the remark about rows on terms, votes and leaders.
pub(crate) fn elections_line(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "{} of elections (terms, votes, leaders) and {}: \
             what is exported begins without, as a new instance does",
            if count == 1 { "1 row tells".to_owned() } else { format!("{count} rows tell") },
            if count == 1 { "is not kept" } else { "are not kept" }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::row::{Body, RowKind, put_row};

    /// A row of replica 1 that waits, with these flags or for the end of its transaction.
    fn row(lsn: i64, flags: u64, is_commit: bool) -> Vec<u8> {
        let body = [&[0x82, 0x10, 0xcd, 0x02, 0x00, 0x21, 0xc5, 0x03, 0xe8][..], &[7; 1000]].concat();
        let mut out = Vec::new();
        let head = Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 1.0,
            group: 0,
            tsn: if is_commit { lsn } else { 1 },
            is_commit,
            flags,
            body: Body { bytes: &body, ..Body::default() },
        };
        put_row(&mut out, &head);
        out
    }

    /// Returns after how many rows, one in each block, no more are accepted.
    fn taken(flags: u64, is_commit: bool) -> (i64, ApplyError) {
        let mut state = State::new(Spaces::new(), VClock::default(), OnRejectedRow::LeaveOut);
        state.waiting_bytes_max = 100_000;
        for lsn in 1..1000 {
            if let Err(error) = state.apply(&row(lsn, flags, is_commit)) {
                return (lsn, error);
            }
        }
        panic!("there is no limit");
    }

    #[test]
    fn rows_that_wait_have_a_limit() {
        let one = 1003 + i64::try_from(size_of::<OwnedRow>()).expect("it is small");
        let wait = "over 1 GiB of rows wait for the end of their transaction or to be confirmed";
        for (flags, is_commit) in [(6, true), (0, false)] {
            let expected = (100_000 / one + 1, ApplyError::Damage(Damage::new(0, wait)));
            assert_eq!(taken(flags, is_commit), expected);
        }
    }
}
