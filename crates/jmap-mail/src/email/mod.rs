//! Emails: contents, each for itself (RFC 8621, section 4).
//!
//! Input: calls. Output: responses. `keywords` joins flags and tags; `get`, `query` and `changes` answer the
//! methods; `filter`, `search_text` and `sort` read what a query asks for. Properties that need the bytes of
//! a message are not offered.

mod changes;
mod filter;
mod get;
pub(crate) mod keywords;
mod query;
mod search_text;
mod sort;

pub(crate) use changes::maximum;
pub(crate) use filter::{Condition, Conditions, read_filter};
pub(crate) use search_text::{Scope, phrases};
pub(crate) use sort::SORT_PROPERTIES;
