//! The names of pneu's own capabilities: docs/jmap-extensions.md says what each has. Must not know what they
//! do.

/// Queries in pneu's language.
pub(crate) const QUERY: &str = "urn:pneu:params:jmap:query";
/// Messages whose files are gone.
pub(crate) const ARCHIVE: &str = "urn:pneu:params:jmap:archive";
/// The mail of a moment in the past.
pub(crate) const MOMENT: &str = "urn:pneu:params:jmap:moment";
