//! Stores of what was read lately, so that the next question about the same files is answered at once.
//!
//! Input: the files of a snapshot or a directory, and how to make a store of them. Output: the store, opened.
//! Knows nothing of rows.
//!
//! `identity` says what the files are, `place` where stores are kept, and `entries` finds, adds and removes
//! them. Each entry is a directory named by two hashes: of the source, and of the identity of its files. It
//! holds the store, and the identity as text, which is compared before the store is used: two sources with
//! the same hash are not mixed up. An entry is made under another name and renamed when it is complete, so a
//! load that is killed leaves nothing that counts. A store that is open stays readable when its entry goes.

mod entries;
mod identity;
mod place;

pub(crate) use entries::{Cache, Entry, Kept};
pub(crate) use identity::{Identity, identity};
pub(crate) use place::{size_max, temporary_directory};
