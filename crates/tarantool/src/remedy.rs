//! Remedies for errors of a recovery.
//!
//! Values, not sentences: only the program knows its options and can name the one to use.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Recover the sound parts and leave out the rest ([`Mode::Salvage`](crate::Mode::Salvage)).
    Salvage,
}
