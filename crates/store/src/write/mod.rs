//! Writing a store: transactions, bulk loads, merges, replacement and the second copy.
//!
//! Only `lib.rs` uses it. It decides the order of writes (docs/FORMAT.md, "Order of writes").

pub(crate) mod load;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod policy;
pub(crate) mod publish;
pub(crate) mod replace;
pub(crate) mod resolve;
pub(crate) mod second_copy;
pub(crate) mod until_free;
pub(crate) mod writer;
