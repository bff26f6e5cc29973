//! How long a request waits for other processes that write.
//!
//! Input: what stops the request, and when a wait begins. Output: whether to go on. Does not know what is
//! waited for.

use pneu::{Cancel, Progress};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The longest wait of an action for others. A pass holds the lock for less, an index that is made anew for
/// longer.
const WAIT: Duration = Duration::from_secs(10);

/// Watches one action.
pub(crate) struct Patience {
    cancel: Cancel,
    waits_since: OnceLock<Instant>,
}

impl Patience {
    pub(crate) fn new(cancel: Cancel) -> Patience {
        Patience { cancel, waits_since: OnceLock::new() }
    }
}

impl Progress for Patience {
    fn waiting(&self, _holder: &str) {
        self.waits_since.get_or_init(Instant::now);
    }

    fn gives_up(&self) -> bool {
        self.is_cancelled() || self.waits_since.get().is_some_and(|since| since.elapsed() >= WAIT)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
