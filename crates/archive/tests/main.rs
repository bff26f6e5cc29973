//! All integration tests of the crate `archive`, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod crashes;
mod forget;
mod local;
mod pruning;
mod restic;
mod restoring;
mod saving;
mod seal;
mod support;
mod trees;
mod walking;
