//! Rows that cannot be carried out.
//!
//! Comes in: such rows, one by one. Goes out: a refusal, or a list that does not grow with what a file holds. Must not know what rows do.

use crate::error::Damage;

/// Rows that do not fit that are named; of more the number is told.
pub const MISFITS_MAX: usize = 1000;

/// What to do with a row that does not fit those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMisfit {
    /// Go no further.
    Refuse,
    /// Leave it out, and say so.
    LeaveOut,
}

/// A row that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The number of the row.
    pub lsn: i64,
    /// Why.
    pub what: String,
}

/// Why a block's rows cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its bytes are damaged.
    Damage(Damage),
    /// A row does not fit those before it.
    Misfit(Misfit),
}

impl From<Damage> for Trouble {
    fn from(damage: Damage) -> Trouble {
        Trouble::Damage(damage)
    }
}

impl From<Misfit> for Trouble {
    fn from(misfit: Misfit) -> Trouble {
        Trouble::Misfit(misfit)
    }
}

/// Rows that did not fit so far.
pub(super) struct Misfits {
    on_misfit: OnMisfit,
    /// The first of them.
    pub(super) named: Vec<Misfit>,
    count: u64,
}

impl Misfits {
    pub(super) fn new(on_misfit: OnMisfit) -> Misfits {
        Misfits { on_misfit, named: Vec::new(), count: 0 }
    }

    /// Says whether no row may be left out.
    pub(super) fn are_refused(&self) -> bool {
        self.on_misfit == OnMisfit::Refuse
    }

    /// Takes up a row that does not fit.
    ///
    /// # Errors
    /// The row, if none may be left out.
    pub(super) fn add(&mut self, misfit: Misfit) -> Result<(), Misfit> {
        if self.are_refused() {
            return Err(misfit);
        }
        self.count += 1;
        if self.named.len() < MISFITS_MAX {
            self.named.push(misfit);
        }
        Ok(())
    }

    /// Returns what is said of those that are not named.
    pub(super) fn unnamed_line(&self) -> Option<String> {
        let unnamed = self.count - self.named.len() as u64;
        (unnamed > 0).then(|| format!("{unnamed} more rows of the logs that do not fit those before them"))
    }
}
