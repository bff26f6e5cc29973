//! Rows by column: in memory, in a journal record, and as a source of rows.
//!
//! Used by all other folders except `file` and `payload`. Does not depend on files.

pub(crate) mod batch;
pub(crate) mod column;
pub(crate) mod in_memory;
pub(crate) mod source;
pub(crate) mod transaction;
