//! Runs the real program on small directories. All integration tests of the crate, in one binary.
//!
//! They check what the built program prints, leaves on disk and returns, and know nothing of its modules.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod against_tarantool;
mod cache;
mod cat;
mod cat_against_tarantoolctl;
mod cat_follow;
mod cat_support;
mod commands;
mod diff;
mod generated;
mod import;
mod indexes;
mod indexes_against_tarantool;
mod made;
mod query;
mod query_against_tarantool;
mod repair;
mod support;
mod tables;
mod until;
mod until_against_tarantool;
