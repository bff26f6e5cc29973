//! All integration tests of the crate, in one binary.
//!
//! Input: tables. Output: whether other programs read what was written, and what files say of themselves.
//! Does not depend on its modules.

mod description;
mod readers;
