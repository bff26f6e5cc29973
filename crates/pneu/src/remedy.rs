//! Remedies as data. A front end puts them into words.

/// A remedy for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// A remedy for a failure of the index.
    Index(index::Remedy),
    /// A remedy for a failure of the repository.
    Repository(restic::Remedy),
    /// A remedy for a failure to read mail from the repository.
    Backup(backup::Remedy),
    /// Update the index, because files moved.
    UpdateAgain,
    /// Update the index, and read files that changed in place.
    UpdateThoroughly,
    /// Narrow the query, or choose from a list of its matches.
    NarrowQuery,
    /// List the saved queries, or save one.
    SaveQuery,
    /// Create the folder, or update the index if it is new.
    CreateFolder,
    /// Name the folder by its path.
    NameByPath,
    /// Name the folder with this role in the configuration, or create one.
    NameRole(crate::setup::roles::Role),
    /// Rebuild the repository's index files from its packs.
    RepairRepositoryIndex,
}
