//! What a program lends to all work: a clock, threads, and a way to stop.
//!
//! Libraries read no clock and count no processors by themselves, so that every test can be repeated.

use crate::{Cancel, Threads};

/// Time, threads and the user's wish to stop. A clone is cheap, and stops together with its original.
#[derive(Clone, Debug)]
pub struct Context {
    /// Returns the time in nanoseconds since 1970.
    pub clock_ns: fn() -> i64,
    /// How many threads may compute. Those that wait for a disk or a network come on top.
    pub threads: Threads,
    /// Stops all work that has this context. Work that reports [`Progress`](crate::Progress) is stopped by
    /// that too.
    pub cancel: Cancel,
}

impl Context {
    /// Returns a context that nobody has stopped.
    pub fn new(clock_ns: fn() -> i64, threads: impl Into<Threads>) -> Context {
        Context { clock_ns, threads: threads.into(), cancel: Cancel::new() }
    }

    /// Returns the same context, stopped by `cancel`.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Context {
        Context { cancel, ..self }
    }

    /// Returns the time in nanoseconds since 1970.
    pub fn now_ns(&self) -> i64 {
        (self.clock_ns)()
    }
}
