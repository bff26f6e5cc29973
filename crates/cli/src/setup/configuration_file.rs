//! Writes the user's configuration if there is none.
//!
//! Takes a path and a text. Writes a file that only this user can read. Does not know what the text says.

use anyhow::{Context, Result, anyhow, bail};
use pneu::setup::configuration as config;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Writes the file, if there is none. Returns whether it is new.
///
/// # Errors
/// There is another one; it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<bool> {
    let shown = path.display();
    if let Some(directory) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("cannot make {}", directory.display()))?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let written = file.write_all(text.as_bytes());
            if written.is_err() {
                // Half of a file would be a valid configuration, too, and would never be replaced.
                let _ = std::fs::remove_file(path);
            }
            written.map(|()| true).map_err(|error| anyhow!("cannot write {shown}: {error}"))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            refuse_another(path, text)?;
            Ok(false)
        }
        Err(error) => Err(anyhow!("cannot write {shown}: {error}")),
    }
}

/// Refuses an existing configuration with other content.
///
/// # Errors
/// It has other content, or cannot be read.
pub(crate) fn refuse_another(path: &Path, text: &str) -> Result<()> {
    let shown = path.display();
    match config::read(path) {
        Ok(there) if there == text => Ok(()),
        Ok(_) => {
            bail!("the configuration {shown} already exists with other content; it was not changed")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(anyhow!("cannot read {shown}: {error}")),
    }
}
