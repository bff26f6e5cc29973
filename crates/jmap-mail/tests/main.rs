//! All integration tests of the crate, in one binary: whole requests as JSON, text in and text out.
//!
//! Input: small Maildirs. Output: responses. Does not depend on its modules.

mod archive;
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
mod moment;
mod pages;
mod parse;
mod pneu_queries;
mod real;
mod submissions;
mod support;
