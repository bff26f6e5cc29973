//! Rows that cannot be applied to the rows before them: refused, or collected in a list of limited length.

use crate::error::Damage;

/// At most this many rows that cannot be applied are named. Further ones are only counted.
pub const REJECTED_ROWS_MAX: usize = 1000;

/// What to do with a row that cannot be applied to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRejectedRow {
    /// Stop.
    Refuse,
    /// Leave the row out, and report it.
    LeaveOut,
}

/// A row that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// The number of the row.
    pub lsn: i64,
    /// Why.
    pub what: String,
}

/// Why a block's rows cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// Its bytes are damaged.
    Damage(Damage),
    /// A row cannot be applied to those before it.
    Rejected(RejectedRow),
}

impl From<Damage> for ApplyError {
    fn from(damage: Damage) -> ApplyError {
        ApplyError::Damage(damage)
    }
}

impl From<RejectedRow> for ApplyError {
    fn from(rejected_row: RejectedRow) -> ApplyError {
        ApplyError::Rejected(rejected_row)
    }
}

/// The rows so far that could not be applied.
pub(super) struct RejectedRows {
    on_rejected_row: OnRejectedRow,
    /// The first of them.
    pub(super) named: Vec<RejectedRow>,
    count: u64,
}

impl RejectedRows {
    pub(super) fn new(on_rejected_row: OnRejectedRow) -> RejectedRows {
        RejectedRows { on_rejected_row, named: Vec::new(), count: 0 }
    }

    /// Returns whether no row may be left out.
    pub(super) fn are_refused(&self) -> bool {
        self.on_rejected_row == OnRejectedRow::Refuse
    }

    /// Records a row that cannot be applied.
    ///
    /// # Errors
    /// The row, if none may be left out.
    pub(super) fn add(&mut self, rejected_row: RejectedRow) -> Result<(), RejectedRow> {
        if self.are_refused() {
            return Err(rejected_row);
        }
        self.count += 1;
        if self.named.len() < REJECTED_ROWS_MAX {
            self.named.push(rejected_row);
        }
        Ok(())
    }

    /// Returns a message about rows beyond the limit.
    pub(super) fn unnamed_line(&self) -> Option<String> {
        let unnamed = self.count - self.named.len() as u64;
        (unnamed > 0).then(|| format!("{unnamed} more rows of the logs that do not fit those before them"))
    }
}
