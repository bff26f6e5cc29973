//! The change log: which messages each commit added, moved, flagged, tagged or lost.
//!
//! Input: the rows of a commit that is being made; a token. Output: rows of the log in the same commit; the
//! events since the token. Must not know what messages and folders are called.
//!
//! Two stores have a log each: the index, of files and messages, and `user/`, of tags. A commit has the
//! number by which its store counts it. docs/FORMAT.md describes rows and tokens.

mod event;
mod log;
mod notes;
mod token;

pub use event::FlagsAndKeywords;
pub(crate) use event::{Event, Forgotten, Group};
pub use log::{KEPT_SECONDS as CHANGES_KEPT_SECONDS, MAGIC};
pub(crate) use log::{Log, Logged, schema};
pub(crate) use notes::{Fates, Notes, folder_group};
pub(crate) use token::Token;
