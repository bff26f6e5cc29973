//! Answers queries and handles with the messages that they mean.
//!
//! Input: a query or a handle, and a mailbox. Output: sets of messages, and hits in order. `prepare` chooses
//! what answers each leaf, `plan` chooses the order, and `eval` runs the plan;
//! `relevance` ranks what it found. Leaves are answered by
//! `values` (columns of messages), `files` (columns of files) and the text index. Must not know which fields
//! of a message are shown.

mod analysis;
mod eval;
mod files;
mod handle;
mod hints;
mod pattern;
mod plan;
mod prepare;
mod relevance;
mod values;

pub use analysis::{Analysis, AnalysisStep};
pub(in crate::search) use files::folder_files;
pub use hints::Hint;
