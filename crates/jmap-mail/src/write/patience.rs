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
    longest: Duration,
    waits_since: OnceLock<Instant>,
}

impl Patience {
    pub(crate) fn new(cancel: Cancel) -> Patience {
        Patience { cancel, longest: WAIT, waits_since: OnceLock::new() }
    }
}

impl Progress for Patience {
    fn waiting(&self, _holder: &str) {
        self.waits_since.get_or_init(Instant::now);
    }

    fn gives_up(&self) -> bool {
        self.is_cancelled() || self.waits_since.get().is_some_and(|since| since.elapsed() >= self.longest)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_its_time_or_with_the_request() {
        let cancel = Cancel::new();
        let impatient = Patience { longest: Duration::ZERO, ..Patience::new(cancel.clone()) };
        assert!(!impatient.gives_up(), "nothing is waited for");
        impatient.waiting("process 1");
        assert!(impatient.gives_up() && !impatient.is_cancelled());
        let patient = Patience::new(cancel.clone());
        patient.waiting("process 1");
        assert!(!patient.gives_up());
        cancel.cancel();
        assert!(patient.gives_up() && patient.is_cancelled());
    }
}
