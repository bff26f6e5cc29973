//! How the kernel tells what changed in directories, and when it does not.
//!
//! Input: directories to watch. Output: names that appeared, disappeared or were written there, and moments
//! after which nothing is certain: lost events, another set of mounted file systems, the end of a suspension.
//! Uses inotify(7). Does not know what the names mean, and reads no directory.

mod alarm;
mod file_system;
mod watcher;

pub use file_system::gives_no_events;
pub use watcher::{Covered, Entry, Interest, Refused, Report, Watcher, watches_max};
