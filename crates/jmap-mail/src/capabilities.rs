//! The names of pneu's own capabilities: docs/jmap-extensions.md says what each has. Must not know what they
//! do.

/// Queries in pneu's language.
pub(crate) const QUERY: &str = "urn:pneu:params:jmap:query";
