//! What a restore did, and what it could not do.

/// Something that was not restored, or not completely.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RestoreProblem {
    /// The path below the tree.
    pub path: Vec<u8>,
    /// A sentence.
    pub what: String,
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Files, links, pipes and devices that were restored.
    pub file_count: u64,
    /// Those that existed and were kept.
    pub kept_count: u64,
    /// Directories that were created or existed.
    pub directory_count: u64,
    /// Bytes written.
    pub bytes: u64,
    /// What was not restored, by path.
    pub problems: Vec<RestoreProblem>,
}
