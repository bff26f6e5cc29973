//! Mailboxes: each folder of each root (RFC 8621, section 2).
//!
//! Input: calls. Output: responses. `list` is what there is, `folders` makes it, and `names` names it; `get`,
//! `query` and `changes` answer the methods.

mod changes;
mod folders;
mod get;
mod list;
mod names;
mod query;

pub(crate) use folders::Tree;
pub(crate) use list::{Folders, first_order};
