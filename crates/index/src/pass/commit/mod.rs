//! Reads files, makes rows of them, and publishes them in batches.
//!
//! Input: the files of a plan, or archived contents. Output: commits. `pipeline` reads and parses, `publish`
//! puts a commit together on the newest one and publishes it. `number` knows what is new. Must not know
//! which batches there are.

mod archived;
mod batch;
mod contents;
mod dates;
mod findings;
mod holder;
mod link;
mod number;
mod parse;
mod people;
mod pipeline;
mod planned;
mod publish;
mod queue;
mod set_aside;

pub(in crate::pass) use archived::Archived;
pub(in crate::pass) use contents::{Manner, Read, large_bytes, path_of, read_large};
pub(in crate::pass) use findings::{Claim, Counts, End, Findings, Unread};
pub(in crate::pass) use holder::Holder;
pub(in crate::pass) use number::Numbers;
pub(in crate::pass) use parse::{Parsing, Task};
pub(in crate::pass) use pipeline::Pipeline;
pub(in crate::pass) use planned::{Planned, RootChange, directory_of, folders_of, is_moved_only, stat_of};
pub(in crate::pass) use publish::{Published, Publisher, Publishing};
pub(in crate::pass) use queue::FileRead;
pub(in crate::pass) use set_aside::{SetAside, numbers_ahead};
