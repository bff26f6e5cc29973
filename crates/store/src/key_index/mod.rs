//! Hash indexes and ordered indexes: how they are built and searched.
//!
//! Segments and loaded rows use it. It knows nothing of files.

pub(crate) mod hash;
pub(crate) mod memory;
pub(crate) mod ordered;
pub(crate) mod search;
