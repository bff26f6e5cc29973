//! What helps against an error of a repository.
//!
//! A value, not a sentence: how a remedy is asked for is known to the program alone, which has the commands
//! and options.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remedy {
    /// Make a repository ([`Repository::init`](crate::Repository::init)).
    MakeRepository,
    /// Remove locks whose process has ended ([`unlock`](crate::unlock)), if that is the case here.
    RemoveStaleLocks,
    /// Remove all locks, if no other process uses the repository.
    RemoveAllLocks,
    /// Check the repository ([`check`](crate::check)), which says what is damaged and what can be done.
    Check,
    /// Rebuild the index files from the packs, which this library cannot do: restic can.
    RepairIndex,
    /// Set the access key and the secret key of the object store, outside of the address.
    SetKeys,
    /// List the snapshots, and choose one.
    ListSnapshots,
}
