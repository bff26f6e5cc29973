//! Integration tests of backups: with restic, and with a storage that fails at every step.
#![expect(
    clippy::unwrap_used,
    reason = "clippy takes helpers of integration tests for code that is not tested"
)]

mod at_once;
mod crash;
mod erase;
mod look_ahead;
mod restic;
mod support;
