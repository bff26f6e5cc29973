//! Mail becomes snapshots of an archive, and comes back.
//!
//! In: the mail tables, the Maildirs, an open repository. Out: snapshots that hold the Maildirs as they lie on the disk, and from them
//! messages, files and mailboxes as they were. Joins `index`, which knows messages, and `archive`, which knows snapshots; neither
//! knows the other. Must not know terminals.

mod backup;
mod bring_back;
mod compare;
mod depot;
mod entry;
mod error;
mod expected;
mod extras;
mod held;
mod joined;
mod known;
mod layout;
mod learned;
#[cfg(test)]
mod learned_tests;
mod left_out;
mod lost;
mod messages;
#[cfg(test)]
mod missing_tests;
mod moment;
mod own;
mod piece_list;
mod places;
mod read;
#[cfg(test)]
mod read_tests;
mod recover;
mod settled;
mod standing;
mod store_mail;
mod strays;
#[cfg(test)]
mod tests;
mod unchanged;
mod undelete;
mod vault;

pub use backup::{BackupOptions, BackupReport, Target, backup, keep_messages};
pub use bring_back::{CONFIGURATION_BYTES_MAX, bring_back_queries, bring_back_tags, restored_configuration};
pub use error::{Error, Problem, Result};
pub use held::{Held, Unindexed};
pub use left_out::{excluded, left_out};
pub use lost::{KEPT, Lost, LostReport};
pub use recover::{Archive, Forgotten, UndeleteReport};
pub use settled::settled;
pub use standing::{Chosen, Standing, concerns, first_seconds, standing};
pub use store_mail::Counts;
pub use undelete::Undeleted;
