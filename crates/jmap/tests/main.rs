//! All integration tests of the crate, in one binary.
//!
//! Input: requests. Output: whether the responses are those of the RFC. Does not depend on its modules.

mod mutations;
mod protocol;
mod random;
mod todo;
