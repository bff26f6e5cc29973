//! A disk in memory that counts, refuses and crashes, and then shows every state in which it could be found.
//!
//! Input: the operations of a [`disk::Disk`]. Output: the answers of a real disk, until a test asks for a
//! fault. Does not depend on the meaning of the files.
//!
//! # What is modelled
//!
//! The rules are those of [the crate `disk`](disk#what-is-durable-and-when), taken literally: nothing beyond
//! them holds. In particular
//!
//! - written bytes are visible at once, and certainly durable only after [`disk::File::sync`]. Until then
//!   each 512-byte sector is there or not (not: zeros, or the bytes that were there before), and the file has
//!   any length between the two;
//! - a created, renamed or removed name is visible at once, and certainly durable only after
//!   [`disk::Disk::sync_directory`]. Until then each such change has happened or not, independently of the
//!   others: a file that was synced may have no name, and a file whose name is there may be empty. One rename
//!   happens completely or not at all;
//! - a written sector is never torn, and synced bytes stay the same: [`SimDisk::flip`] and [`SimDisk::cut`]
//!   simulate decay;
//! - a [`disk::File`] whose write or sync was refused refuses everything else, like the real one, and has cut
//!   the file back or not (the seed decides); a refused write may have written a part;
//! - locks are between the users of one `SimDisk`. Waiting for a held lock is an error, because tests have
//!   one thread and would wait forever. All locks end with a crash.
//!
//! Not modelled: hard and symbolic links, modes, several paths for one file (`a/../b`), SIGBUS (maps are
//! copies), and a system that marks pages as clean after it failed to write *and* to cut them.
//!
//! # Numbers
//!
//! Operations are counted from 0, including reads. Everything is the same each time for the same seed.

mod calls;
mod drive;
mod fault;
mod file;
mod images;
mod operation;
mod sim;
mod state;

pub use drive::{
    Acknowledged, Runs, crash_at_every_operation, fail_at_every_operation, interrupt_at_every_operation,
};
pub use fault::Refusal;
pub use images::Image;
pub use operation::Operation;
pub use sim::SimDisk;
