//! What helps against a failure, as data: a front end words it.

/// What helps against a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// What helps against a failure of the index.
    Index(index::Remedy),
    /// Bring the index in step with the disk: files moved.
    UpdateAgain,
    /// Bring the index in step with the disk and read files that changed in place.
    UpdateThoroughly,
}
