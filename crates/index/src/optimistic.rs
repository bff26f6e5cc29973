//! Commits that are put together without the writer's lock.
//!
//! Input: an environment, and what makes a transaction of a commit. Output: that transaction, committed on
//! top of the newest commit. If another process commits meanwhile, the transaction is made anew. Must not
//! know what is committed.

use crate::environment::Environment;
use crate::error::Result;
use crate::open;
use disk::Wait;
use store::{Outcome, Prepared, Snapshot, Transaction, Writer};
use work::Progress;

/// How often a commit is prepared without the lock. Then it is made with the lock held, so that it is made at
/// all.
const PREPARED_COUNT_MAX: usize = 3;

/// What is committed.
pub(crate) struct Committed<T> {
    /// The newest commit: ours, or that on which nothing was to be done.
    pub snapshot: Snapshot,
    /// The writer, with its lock, if there was something to commit.
    pub writer: Option<Writer>,
    /// What was made besides the transaction.
    pub made: T,
}

/// Commits the transaction that `make` makes of the newest commit; none if it makes none. `newest` returns
/// that commit. The observer is told if another process has the lock.
///
/// # Errors
/// Those of `newest` and `make`; damage; a full disk. Nothing is then committed.
pub(crate) fn commit<T>(
    environment: &Environment,
    observer: &dyn Progress,
    newest: impl Fn() -> Result<Snapshot>,
    make: impl Fn(&Snapshot) -> Result<(Option<Transaction>, T)>,
) -> Result<Committed<T>> {
    let options = open::options(environment, Wait::Block);
    for _ in 0..PREPARED_COUNT_MAX {
        let snapshot = newest()?;
        let (transaction, made) = make(&snapshot)?;
        let Some(transaction) = transaction else { return Ok(Committed { snapshot, writer: None, made }) };
        let prepared = Prepared::new(&snapshot, transaction, &options)?;
        drop(snapshot);
        let mut writer = open::writer(environment, observer)?;
        if let Outcome::Committed(_) = writer.commit_prepared(prepared)? {
            return Ok(Committed { snapshot: writer.snapshot()?, writer: Some(writer), made });
        }
    }
    let mut writer = open::writer(environment, observer)?;
    let snapshot = writer.snapshot()?;
    let (transaction, made) = make(&snapshot)?;
    let Some(transaction) = transaction else { return Ok(Committed { snapshot, writer: None, made }) };
    drop(snapshot);
    writer.commit(transaction)?;
    Ok(Committed { snapshot: writer.snapshot()?, writer: Some(writer), made })
}
