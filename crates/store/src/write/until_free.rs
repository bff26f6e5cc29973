//! Waits for a lock so that the wait can be stopped: the system's own wait cannot.
//!
//! Input: what takes the lock, and what stops the wait, if anything does. Output: the lock. Does not know
//! which lock it is.

use crate::error::{Error, Result};
use disk::Wait;
use std::time::Duration;
use work::Cancel;

/// The times between two tries: the shortest first, then ever longer ones. No process has the lock for long,
/// unless it is stopped meanwhile.
const TRY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(25));

/// Takes a lock with `take`, which is told what to do if another process has it. If nothing stops the wait,
/// the system waits.
///
/// # Errors
/// [`Error::Cancelled`] if another process has the lock and `cancel` says to stop; those of `take`.
pub fn until_free<T>(cancel: Option<&Cancel>, mut take: impl FnMut(Wait) -> Result<T>) -> Result<T> {
    match cancel {
        Some(cancel) => until_free_or(&|| cancel.is_cancelled(), take),
        None => take(Wait::Block),
    }
}

/// Does what [`until_free`] does; `is_stopped` says when to stop.
///
/// # Errors
/// As [`until_free`].
pub fn until_free_or<T>(is_stopped: &dyn Fn() -> bool, mut take: impl FnMut(Wait) -> Result<T>) -> Result<T> {
    let (mut pause, longest) = TRY;
    loop {
        match take(Wait::Refuse) {
            Err(Error::Io(disk::Error::Locked { .. })) if is_stopped() => return Err(Error::Cancelled),
            Err(Error::Io(disk::Error::Locked { .. })) => {}
            taken => return taken,
        }
        std::thread::sleep(pause);
        pause = longest.min(pause.saturating_mul(2));
    }
}
