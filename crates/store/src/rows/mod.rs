//! Rows by column: in memory, in a journal record, and as a source of rows.
//!
//! All other folders may use it but `file` and `payload`. It knows nothing of files.

pub(crate) mod batch;
pub(crate) mod column;
pub(crate) mod in_memory;
pub(crate) mod source;
pub(crate) mod transaction;
