//! Locks, as restic keeps them: who may work on a repository at the same time.
//!
//! Every process that works on a repository leaves a file in `locks/`
//! (<https://restic.readthedocs.io/en/stable/100_references.html>, "Locks"; the waits are those of restic
//! 0.19). Many processes may hold a shared lock; an exclusive lock excludes all others. A storage has no
//! atomic test-and-set, so [`acquire`] looks for other locks, writes its own file, waits until everybody sees
//! it ([`Storage::settle_time`](crate::Storage::settle_time)), and looks again. Two processes that start at
//! the same time may both give up; they never both go on.

mod acquire;
mod held_lock;
mod lock_file;
mod unlock;

pub use acquire::{Told, acquire};
pub use held_lock::{HeldLock, LockReleaser};
pub use lock_file::LockKind;
pub use unlock::{WhichLocks, unlock};
