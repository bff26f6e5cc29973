//! All integration tests of the crate, in one binary: whole requests as JSON, text in and text out.
//!
//! Input: small Maildirs. Output: responses. Does not depend on its modules.

mod actions;
mod archive;
mod blobs;
mod bodies;
mod changes;
mod conversations;
mod email_create;
mod email_set;
mod emails;
mod filters;
mod headers;
mod mailbox_kept;
mod mailbox_set;
mod mailboxes;
mod moment;
mod pages;
mod parse;
mod pneu_queries;
mod push_subscriptions;
mod query_changes;
mod real;
mod search;
mod statistics;
mod submissions;
mod support;
