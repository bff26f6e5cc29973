//! Stops a request from outside. Input: a call, or a deadline. Output: whether to go on.

use crate::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Says whether a request is still wanted. Clones stop together.
///
/// A check costs an atomic load, and with a deadline a look at the monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    is_cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
    /// Says whether all work of the program is to stop.
    program: Option<fn() -> bool>,
}

impl Cancel {
    /// Returns a request that nobody has stopped.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Returns the same request, which also stops at `deadline`.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Cancel {
        let deadline = self.deadline.map_or(deadline, |earlier| earlier.min(deadline));
        Cancel { deadline: Some(deadline), ..self }
    }

    /// Returns a request that stops when `is_stopped` says so: what a signal asks of the whole program.
    pub fn when(is_stopped: fn() -> bool) -> Cancel {
        Cancel { program: Some(is_stopped), ..Cancel::default() }
    }

    /// Stops the request.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the request or the program was stopped, or the deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
            || self.program.is_some_and(|is_stopped| is_stopped())
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Progress for Cancel {
    fn is_cancelled(&self) -> bool {
        Cancel::is_cancelled(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn clones_stop_together() {
        let (request, other) = (Cancel::new(), Cancel::new());
        let clone = request.clone();
        clone.cancel();
        assert_eq!([request.is_cancelled(), clone.is_cancelled(), other.is_cancelled()], [true, true, false]);
    }

    #[test]
    fn a_deadline_stops_when_it_has_passed_and_the_earlier_one_counts() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        assert!(!Cancel::new().with_deadline(later).is_cancelled());
        assert!(Cancel::new().with_deadline(now).with_deadline(later).is_cancelled());
        assert!(Cancel::new().with_deadline(later).with_deadline(now).is_cancelled());
    }
}
