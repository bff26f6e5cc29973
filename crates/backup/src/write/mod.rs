//! Writes a backup: all Maildirs that the index knows, as one snapshot.
//!
//! `backup` is the whole; `store_mail` stores the directories from the deepest up; `files` stores the files
//! of one directory. A file that has not changed since the last backup is not opened.

pub(crate) mod backup;
pub(crate) mod compare;
pub(crate) mod context;
pub(crate) mod expected;
pub(crate) mod extras;
pub(crate) mod files;
pub(crate) mod layout;
pub(crate) mod look_ahead;
pub(crate) mod pneu_files;
pub(crate) mod save_file;
pub(crate) mod seen;
pub(crate) mod snapshot;
pub(crate) mod store_mail;
pub(crate) mod unchanged;

#[cfg(test)]
mod tests;
