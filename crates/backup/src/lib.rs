//! Mail becomes snapshots of an archive, and comes back.
//!
//! In: the mail tables, the Maildirs, an open repository. Out: snapshots that hold the Maildirs as they lie on the disk, and from them
//! messages, files and mailboxes as they were. Joins `index`, which knows messages, and `archive`, which knows snapshots; neither
//! knows the other. Must not know terminals.

mod bring_back;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod depot;
#[cfg(test)]
mod entry;
mod error;
#[cfg(test)]
mod extras;
#[cfg(test)]
mod held;
#[cfg(test)]
mod known;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod lost;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod moment;
#[cfg(test)]
mod own;
#[cfg(test)]
mod places;
#[cfg(test)]
mod read;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod store_mail;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod undelete;
#[cfg(test)]
mod vault;

pub use bring_back::bring_back_tags;
pub use error::{Error, Problem, Result};
#[cfg(test)]
pub use {held::Held, lost::Lost, store_mail::Counts, undelete::Undeleted};
