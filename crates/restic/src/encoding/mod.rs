//! How restic writes values as bytes and text: ids, hexadecimal digits, times, JSON.
//!
//! Every other module may use it. It does not depend on a repository's files.

pub(crate) mod decimal;
pub(crate) mod hex;
pub(crate) mod id;
pub(crate) mod json;
pub(crate) mod time;
