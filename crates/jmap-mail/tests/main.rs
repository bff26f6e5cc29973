//! All integration tests of the crate, in one binary: whole requests as JSON, text in and text out.
//!
//! Input: small Maildirs. Output: responses. Does not depend on its modules.

mod blobs;
mod bodies;
mod changes;
mod email_create;
mod email_set;
mod emails;
mod filters;
mod headers;
mod mailbox_set;
mod mailboxes;
mod parse;
mod push_subscriptions;
mod query_changes;
mod real;
mod submissions;
mod support;
