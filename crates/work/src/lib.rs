//! What a caller lends to long work: someone who watches it, and a way to stop it.
//!
//! Every crate that works for longer than a moment takes a [`Progress`]: a pass over the mail, a backup, the
//! recovery of a snapshot. A front end implements it once. A [`Cancel`] stops a request: from another thread,
//! or at a deadline. This crate knows nothing of the work itself and never prints.

mod cancel;
mod progress;

pub use cancel::Cancel;
pub use progress::{Progress, Silent, Stage};
