//! All integration tests of the crate `restic`, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

#[cfg(feature = "s3")]
mod certificate;
mod crashes;
mod forget;
mod hostile;
mod local;
#[cfg(feature = "s3")]
mod object;
mod pruning;
mod reread;
mod restic;
mod restoring;
mod retry;
mod rewriting;
mod saving;
mod seal;
#[cfg(feature = "s3")]
mod server;
#[cfg(feature = "s3")]
mod servers;
mod support;
mod tidying;
mod trees;
mod walking;
