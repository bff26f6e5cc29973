//! Integration tests of the library: hosts and views, and where a message is read.
#![expect(
    clippy::unwrap_used,
    reason = "clippy takes helpers of integration tests for code that is not tested"
)]

mod archives;
mod handles;
mod hosts;
mod in_step;
mod reading;
mod saved_queries;
mod support;
