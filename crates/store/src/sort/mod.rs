//! Puts rows in key order.
//!
//! Indexes, segments and writers use it. It does not depend on what the order is for.

pub(crate) mod by_primary;
pub(crate) mod keys;
pub(crate) mod partition;
pub(crate) mod radix;
pub(crate) mod row_set;
