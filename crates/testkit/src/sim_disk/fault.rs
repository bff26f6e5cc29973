//! Faults, and when they happen.
//!
//! Input: faults that a test requests. Output: the error of an operation. Does not depend on what the
//! operations do.

use super::operation::Operation;
use std::fmt;
use std::io;
use std::ops::Range;

/// A reason to refuse an operation. It determines which operations are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// EIO: any operation.
    Broken,
    /// ENOSPC: operations that need space.
    Full,
    /// EROFS: operations that change anything, and locking, because it writes who holds the lock.
    ReadOnly,
}

impl Refusal {
    fn concerns(self, operation: &Operation) -> bool {
        match self {
            Refusal::Broken => true,
            Refusal::Full => operation.needs_space(),
            Refusal::ReadOnly => operation.changes(),
        }
    }

    /// Returns the operating system's error, for its number and its words.
    fn error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            Refusal::Broken => 5,
            Refusal::Full => 28,
            Refusal::ReadOnly => 30,
        })
    }
}

/// What happens right before an operation.
pub(super) type Interrupt = Box<dyn FnOnce() + Send>;

/// The requested faults.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) crash_at: Option<usize>,
    pub(super) has_crashed: bool,
    pub(super) refuse: Option<(Range<usize>, Refusal)>,
    pub(super) interrupt: Option<(usize, Interrupt)>,
}

impl Faults {
    /// Returns the error that prevents operation `number`, if there is one.
    pub(super) fn error(&self, number: usize, operation: &Operation) -> Option<io::Error> {
        if self.has_crashed {
            return Some(io::Error::other(Crashed));
        }
        let (range, refusal) = self.refuse.as_ref()?;
        (range.contains(&number) && refusal.concerns(operation)).then(|| refusal.error())
    }

    /// Crashes, if operation `number` is the one to crash at.
    pub(super) fn crashes(&mut self, number: usize) -> bool {
        let is_now = self.crash_at == Some(number);
        self.has_crashed |= is_now;
        is_now
    }
}

/// Marks the errors of a crash.
#[derive(Debug)]
pub(super) struct Crashed;

impl fmt::Display for Crashed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the simulated crash")
    }
}

impl std::error::Error for Crashed {}
