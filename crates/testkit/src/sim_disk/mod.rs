//! A disk in memory that counts, refuses and crashes, and then shows every state it could be found in.
//!
//! Input: the operations of a [`disk::Disk`]. Output: the answers that a real disk gives, until a test asks
//! for a fault. Does not depend on what the files mean.
//!
//! # What is modelled
//!
//! The rules are those of [the crate `disk`](disk#what-is-durable-and-when), taken at their word: what they
//! do not promise does not hold. In particular
//!
//! - written bytes are seen by everybody at once, and after a crash by nobody for sure until
//!   [`disk::File::sync`]. Until then each 512-byte sector is there or not (not: zeros, or what was there
//!   before), and the file has any length between the two;
//! - a created, renamed or removed name is seen at once, and after a crash for sure only after
//!   [`disk::Disk::sync_directory`]. Until then each such change has happened or not, whatever was asked
//!   before or after it; a file that was synced may have no name, and a file whose name is there may be
//!   empty. One rename happens wholly or not at all;
//! - a sector that was written is never torn, and bytes that were synced stay what they were: decay is what
//!   [`SimDisk::flip`] and [`SimDisk::cut`] are for;
//! - a [`disk::File`] whose write or sync was refused refuses all else, as the real one does, and has cut the
//!   file back or not (a matter of the seed); a refused write may have written a part;
//! - locks are between those who use one `SimDisk`. Who asks to wait for a held lock gets an error: tests
//!   have one thread, and would wait forever. All locks end with a crash.
//!
//! Not modelled: hard and symbolic links, modes, several paths for one file (`a/../b`), SIGBUS (maps are
//! copies), and a system that calls pages clean which it failed to write *and* could not cut.
//!
//! # Numbers
//!
//! Operations are counted from 0, reading ones too. Everything is the same each time for the same seed.

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
