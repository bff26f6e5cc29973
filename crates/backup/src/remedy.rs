//! What helps against an error or a problem of a backup.
//!
//! A value, not a sentence: how a remedy is asked for is known to the program alone, which has the commands
//! and options.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remedy {
    /// What helps against a failure of the index.
    Index(index::Remedy),
    /// What helps against a failure of the repository.
    Repository(restic::Remedy),
    /// Set the clock, or remove the snapshot without a policy.
    SetClockOrRemoveById,
    /// Say into which folder messages are put back.
    ChooseFolder,
    /// Show the message from the repository, which has it until the next prune.
    ShowMessage,
}
