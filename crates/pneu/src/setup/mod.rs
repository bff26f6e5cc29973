//! What is known before there is an index: the configuration, the roots, where mail may be, whose it is.
//!
//! A front end reads files and environment; this module interprets them.

pub mod addresses;
pub mod attachments;
pub mod configuration;
pub mod discover;
pub mod find_mail;
pub mod roots;
pub mod template;
pub mod units;
