//! The crate `mail` from outside: directories and files on a real disk, and messages taken apart.
//!
//! Comes in: the modules below. Goes out: one test program. This file must not hold a test.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod folder;
mod message;
mod message_copies;
mod message_golden;
mod message_limits;
mod message_random;
mod message_real;
mod message_wrapped;
mod privileges;
mod read;
mod scan;
