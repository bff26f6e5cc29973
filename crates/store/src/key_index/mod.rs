//! Hash indexes and ordered indexes: how they are built and searched.
//!
//! Used by segments and by loaded rows. Does not depend on files.

pub(crate) mod hash;
pub(crate) mod memory;
pub(crate) mod ordered;
pub(crate) mod search;
