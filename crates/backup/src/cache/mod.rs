//! The cache of earlier backups: the stat and the content of each file, so that an unchanged file is not
//! opened.
//!
//! The cache is a small store below the data directory, one per repository. It can always be rebuilt from the
//! repository, so a part that cannot be read counts as unknown. `write` reads and updates it; `read` looks up
//! pieces in it. Does not depend on the index or the Maildirs.

mod columns;
mod file;
mod list;
mod read;
mod tables;
mod update;

pub(crate) use file::{CachedDirectory, CachedFile, FileState};
pub(crate) use read::{Cache, Opened, cache_directory, newest_cache};
pub(crate) use update::{CacheUpdate, Difference, discard};
