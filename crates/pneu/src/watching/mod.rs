//! Follows the mail on the disk, and the index: brings what changed in step at once, and waits for messages.
//!
//! `follow` is the loop that updates the index, `beside` reads attachments meanwhile, `cover` decides which
//! directories are watched, `todo` turns what happened in them into places for a pass, and `wait` waits for
//! messages that a query matches. How the kernel tells of changes is the secret of the crate `watch`; how a
//! pass finds out what they are is that of `index`.

mod beside;
mod cover;
mod follow;
#[cfg(test)]
mod tests;
mod todo;
mod wait;

pub use follow::{FollowNote, FollowObserver};
