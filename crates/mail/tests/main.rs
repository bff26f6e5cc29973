//! The crate `mail` from outside: directories and files on a real disk.
//!
//! Comes in: the modules below. Goes out: one test program. This file must not hold a test.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod folder;
mod privileges;
mod read;
mod scan;
