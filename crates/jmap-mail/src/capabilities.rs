//! The names of pneu's own capabilities: docs/jmap-extensions.md says what each has. Must not know what they
//! do.

/// What can be undone.
pub const ACTIONS: &str = "urn:pneu:params:jmap:actions";
/// Messages whose files are gone.
pub(crate) const ARCHIVE: &str = "urn:pneu:params:jmap:archive";
/// Threads that a late message joined.
pub(crate) const CONVERSATIONS: &str = "urn:pneu:params:jmap:conversations";
/// The mail of a moment in the past.
pub(crate) const MOMENT: &str = "urn:pneu:params:jmap:moment";
/// Queries in pneu's language.
pub(crate) const QUERY: &str = "urn:pneu:params:jmap:query";
/// What helps to search: saved queries, tags, suggestions.
pub const SEARCH: &str = "urn:pneu:params:jmap:search";
/// Counts of mail over time and by people.
pub const STATISTICS: &str = "urn:pneu:params:jmap:statistics";

/// All of them.
pub(crate) const OWN: [&str; 7] = [ACTIONS, ARCHIVE, CONVERSATIONS, MOMENT, QUERY, SEARCH, STATISTICS];
