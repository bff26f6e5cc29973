//! All integration tests of the crate `disk`, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod child;
mod fault;
mod lock;
mod map;
mod modes;
mod publish;
mod real;
