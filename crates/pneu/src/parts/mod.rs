//! Saves parts of messages as files: which parts, under which names, and how a file appears.
//!
//! `choose` decides which parts are meant, `file_name` makes harmless names, `save` writes one part. The
//! crate `mail` numbers and decodes parts.

mod choose;
mod file_name;
mod save;

#[cfg(test)]
mod testing;

pub use choose::{Besides, Choice, NumberList};
pub use file_name::file_names;
pub use save::{PartError, Saved, save_part};
