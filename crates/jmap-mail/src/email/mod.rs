//! Emails: contents, each for itself (RFC 8621, section 4).
//!
//! Input: calls. Output: responses. `keywords` joins flags and tags; `get` with `gone`, `parse`, `query`,
//! `query_changes` and `changes` answer the methods; `filter`, `pneu_query`, `search_text` and `sort` read
//! what a query asks for; `properties` reads what is asked of an email, and `body` and `header` tell it from
//! the bytes of a message.

mod body;
mod changes;
mod filter;
mod get;
mod gone;
mod header;
pub(crate) mod keywords;
mod parse;
mod pneu_query;
mod properties;
mod query;
mod query_changes;
mod search_text;
mod sort;

pub(crate) use changes::maximum;
pub(crate) use filter::{Condition, Conditions, read_filter};
pub(crate) use header::nfc;
pub(crate) use parse::is_message;
pub(crate) use search_text::{Scope, phrases};
pub(crate) use sort::SORT_PROPERTIES;
