//! A cold start: drops the page cache.
//!
//! Output: an empty cache, or that this is not possible. Does not know what is measured.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::Path;

/// Writing 3 to this file drops the page cache and the caches of directories and inodes.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Returns whether the cache can be dropped: only root may.
pub fn is_possible() -> bool {
    can_write(Path::new(DROP_CACHES))
}

fn can_write(path: &Path) -> bool {
    File::options().write(true).open(path).is_ok()
}

/// Writes all dirty pages, and drops the cache.
///
/// # Errors
/// If this process is not allowed to.
pub fn drop_caches() -> Result<()> {
    rustix::fs::sync();
    fs::write(DROP_CACHES, "3").with_context(|| format!("cannot write to {DROP_CACHES}: only root may"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_cannot_be_written() {
        let place = tempfile::tempdir().unwrap();
        assert!(!can_write(&place.path().join("none")));
        fs::write(place.path().join("there"), "").unwrap();
        assert!(can_write(&place.path().join("there")));
    }
}
