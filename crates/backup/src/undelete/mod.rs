//! Puts deleted messages back: finds the best file of each in the snapshots, and writes it into its folder.
//!
//! Writes into Maildirs, and is the only part of this crate that does.

pub(crate) mod candidates;
pub(crate) mod put_back;
