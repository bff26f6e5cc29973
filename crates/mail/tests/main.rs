//! Integration tests of the crate `mail`: directories and files on a real disk, and parsed messages.
//!
//! Lists the test modules, and contains no test itself.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod email;
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
