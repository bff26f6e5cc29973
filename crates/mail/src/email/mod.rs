//! A message as JMAP Mail (RFC 8621) sees it: its header fields in their forms, its body as a tree.
//!
//! `structure` builds the tree of what `part` defines, `lists` chooses what of it is text and what is
//! attached, `value` gives out contents, which `content` decodes, and texts, `field` reads header fields,
//! and `form` says which form a field may be read in. Does not depend on JSON, accounts and the index. Parts
//! have the numbers that `extract` gives them.

mod content;
pub(crate) mod field;
pub(crate) mod form;
mod lists;
pub(crate) mod part;
pub(crate) mod structure;
#[cfg(test)]
mod tests;
pub(crate) mod value;
