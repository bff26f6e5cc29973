//! What helps against a failure, as data: a front end words it.

/// What helps against a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// What helps against a failure of the index.
    Index(index::Remedy),
    /// What helps against a failure of the repository.
    Repository(restic::Remedy),
    /// What helps against a failure to read mail from the repository.
    Backup(backup::Remedy),
    /// Bring the index in step with the disk: files moved.
    UpdateAgain,
    /// Bring the index in step with the disk and read files that changed in place.
    UpdateThoroughly,
    /// Ask for less, or choose from a list of what matches.
    NarrowQuery,
    /// List the saved queries, or save one.
    SaveQuery,
    /// Make the repository's index files anew from its packs.
    RepairRepositoryIndex,
}
