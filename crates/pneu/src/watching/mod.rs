//! Follows the mail on the disk, and the index: brings what changed in step at once, and waits for messages.
//!
//! `follow` is the loop that updates the index, `beside` reads attachments meanwhile, `merging` merges what
//! passes wrote, `cover` decides which directories are watched, `ways` finds the links that lead to them,
//! `todo` turns what happened in them into places for a pass, `moved` takes out problems that the next pass
//! mends, `commits` waits for commits, and `wait` for messages that a query matches. How the kernel tells of
//! changes is the secret of the crate `watch`; how a pass finds out what they are is that of `index`.

mod beside;
mod commits;
mod cover;
mod follow;
mod merging;
mod moved;
#[cfg(test)]
mod tests;
mod todo;
mod wait;
mod ways;

pub use commits::Commits;
pub use follow::{FollowNote, FollowObserver};
pub use wait::Wait;
