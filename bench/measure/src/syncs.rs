//! Bare syncs: the least time in which something is durable on this disk.
//!
//! Input: a directory, and how many. Output: nothing. Does not know which program's syncs these are.

use anyhow::{Context, Result};
use clap::Args;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each sync makes durable.
const BYTES: [u8; 1024] = [b'x'; 1024];
/// The file.
const FILE: &str = "syncs";

/// Where, and how many.
#[derive(Args)]
pub struct SyncArguments {
    directory: PathBuf,
    #[arg(long)]
    count: u64,
}

/// Returns a command that runs this program as bare syncs of a file in a directory.
///
/// # Errors
/// If the path of this program is unknown.
pub fn command(directory: &Path, count: u64) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("sync").arg(directory).arg(format!("--count={count}"));
    Ok(command)
}

/// Makes a file, appends to it, and waits after each time until that is on the disk. Removes the file.
///
/// # Errors
/// If the disk cannot be written.
pub fn sync(arguments: &SyncArguments) -> Result<()> {
    let path = arguments.directory.join(FILE);
    let mut file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    for _ in 0..arguments.count {
        file.write_all(&BYTES)?;
        file.sync_all()?;
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let sync = |directory: &Path| sync(&SyncArguments { directory: directory.to_owned(), count: 3 });
        sync(place.path()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(sync(&place.path().join("none")).is_err());
    }
}
