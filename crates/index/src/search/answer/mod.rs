//! Answers queries and handles: which messages are meant.
//!
//! In: a query or a handle, and a mailbox. Out: sets of messages, and hits in order. `prepare` says what
//! answers each leaf, `plan` in which order, `eval` carries it out, with leaves in `values` (columns of
//! messages), `files` (columns of files) and the text index. Must not know what is shown of a message.

mod analysis;
mod eval;
mod files;
mod find;
mod handle;
mod hints;
mod pattern;
mod plan;
mod prepare;
mod values;

pub use analysis::{Analysis, AnalysisStep};
pub use hints::FolderHint;
