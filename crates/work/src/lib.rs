//! What a caller lends to work: a clock, threads, somebody who watches it, and a way to stop it.
//!
//! Every crate that works for longer than a moment takes a [`Progress`]: a pass over the mail, a backup, the
//! recovery of a snapshot. A front end implements it once. A [`Cancel`] stops a request: from another thread,
//! or at a deadline. A [`Context`] is what all work of a program shares. This crate knows nothing of the work
//! itself and never prints.

mod cancel;
mod context;
mod in_order;
mod progress;
mod threads;

pub use cancel::Cancel;
pub use context::Context;
pub use in_order::in_order;
pub use progress::{Cancelled, Progress, Relay, Silent, Stage};
pub use threads::{Threads, Workers, on_threads};
