//! What the caller provides: a clock, random bytes, and the identity of the process.
//!
//! The library reads neither the environment nor the clock itself, so that every test can be repeated.

use std::time::Duration;
use work::Context;

/// The environment of all work.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The clock, how many threads may run, and whether the user asked to stop. After that, nothing waits for
    /// a storage any more.
    pub context: Context,
    /// Fills a buffer with unpredictable random bytes, for keys and nonces.
    pub fill_random: fn(&mut [u8]),
    /// Waits. Only locks and attempts to reach a storage again wait.
    pub sleep: fn(Duration),
    /// The machine's name.
    pub hostname: String,
    /// The user's name.
    pub username: String,
    /// The user's number.
    pub uid: u32,
    /// The number of the user's group.
    pub gid: u32,
    /// The process.
    pub process: u32,
    /// Returns whether a process of this machine is alive.
    pub is_alive: fn(u32) -> bool,
    /// Identifies the run of the kernel and the namespaces in which numbers and start times of processes are
    /// comparable; `None` if unknown.
    pub place: Option<String>,
    /// Returns when a process of this place began, in a unit that is the same for all of them; `None` if that
    /// cannot be seen.
    pub started: fn(u32) -> Option<u64>,
}
