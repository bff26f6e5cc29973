//! Gives out the parts of a message: a list of them, and the decoded content of each.
//!
//! `info` is what the list says of a part, `parts` numbers the parts and reads them. Does not depend on where
//! contents go. Names of parts are those that the sender gave, and no file names.

pub(crate) mod info;
pub(crate) mod parts;
#[cfg(test)]
mod tests;
