//! All integration tests of the crate, in one binary.
//!
//! Input: tables. Output: whether other programs read what was written. Does not depend on its modules.

mod readers;
