//! What every program of this project does on a terminal: it reads its surroundings, prints results and
//! messages, shows progress, handles signals, and returns an exit code.
//!
//! The programs `pneu` and `pneu-tarantool` use it. It does not depend on mail, Tarantool or restic: a
//! program passes its commands, the meaning of its errors and its locks as values and traits. Unlike the
//! other libraries it reads the environment and prints.

pub mod allocator;
pub mod amount;
pub mod command_line;
pub mod complaint;
pub mod completion;
pub mod confirm;
pub mod documents;
pub mod environment;
pub mod exit;
pub mod output;
pub mod pager;
pub mod progress;
pub mod screen;
pub mod signals;
pub mod words;
pub mod zone;
