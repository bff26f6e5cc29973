//! What is known before there is an index: the configuration, the roots, where mail may be, whose it is.
//!
//! A front end reads files and environment; this module interprets them.

pub mod account;
pub mod accounts;
pub(crate) mod address;
pub mod addresses;
pub mod attachments;
pub mod configuration;
mod configuration_error;
pub mod discover;
pub mod find_mail;
pub mod roles;
pub mod roots;
pub mod rules;
pub mod template;
pub mod units;
