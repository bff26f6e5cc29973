//! What helps against an error of a recovery.
//!
//! A value, not a sentence: how a remedy is asked for is known to the program alone, which has the options.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Recover what there is and leave out the rest ([`Mode::Salvage`](crate::Mode::Salvage)).
    Salvage,
}
