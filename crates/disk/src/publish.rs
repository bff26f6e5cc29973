//! Makes whole files appear at once: writes a temporary file beside the target, syncs it, renames it, and
//! syncs the directory.

use crate::{Disk, Result};
use std::path::Path;

/// Writes `bytes` to the new file `path` and syncs it. The name is durable only after the directory is
/// synced.
///
/// # Errors
/// Disk errors; an existing file is an error.
pub fn write_new(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = disk.create(path)?;
    file.write(bytes)?;
    file.sync()
}

/// Replaces or creates `directory/name` with `bytes`. A reader sees the old file or the new one, and after
/// the return the new one is durable. A leftover `name.new` of an interrupted call is replaced. The caller
/// holds a lock that makes it the only writer.
///
/// # Errors
/// Disk errors. Then the old file is still in place, or the new one is there whole but may not be durable.
pub fn publish(disk: &dyn Disk, directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let beside = directory.join(format!("{name}.new"));
    disk.remove(&beside)?;
    write_new(disk, &beside, bytes)?;
    disk.rename(&beside, &directory.join(name))?;
    disk.sync_directory(directory)
}
