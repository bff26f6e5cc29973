//! Writes the user's configuration, or another file of the user's, if there is none.
//!
//! Takes a path and a text. Writes a file that only this user can read. Does not know what the text says.

use anyhow::{Context, Result, anyhow, bail};
use pneu::setup::configuration as config;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes the file, if there is none. Returns whether it is new.
///
/// # Errors
/// There is another one; it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<bool> {
    write_as("configuration", path, text)
}

/// Writes a file of this kind as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub(crate) fn write_as(kind: &str, path: &Path, text: &str) -> Result<bool> {
    let shown = path.display();
    if let Some(directory) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("cannot make {}", directory.display()))?;
    }
    match write_new(path, text) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.exists() => {
            refuse_another_as(kind, path, text)?;
            Ok(false)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{shown} is a link that leads nowhere; remove it first")
        }
        Err(error) => Err(anyhow!("cannot write {shown}: {error}")),
    }
}

/// Writes a file that must not be there, whole and durable or not at all: half of a configuration would be
/// valid, too, and would never be replaced.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside).and_then(
            |mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                fs::hard_link(&beside, path).or_else(|error| match error.kind() {
                    ErrorKind::AlreadyExists => Err(error),
                    // A file system without hard links.
                    _ => Ok(renameat_with(CWD, &beside, CWD, path, RenameFlags::NOREPLACE)?),
                })
            },
        );
    let _ = fs::remove_file(&beside);
    written?;
    path.parent().map_or(Ok(()), |directory| fs::File::open(directory)?.sync_all())
}

/// Refuses an existing configuration with other content.
///
/// # Errors
/// It has other content, or cannot be read.
pub(crate) fn refuse_another(path: &Path, text: &str) -> Result<()> {
    refuse_another_as("configuration", path, text)
}

fn refuse_another_as(kind: &str, path: &Path, text: &str) -> Result<()> {
    let shown = path.display();
    match config::read(path) {
        Ok(there) if there == text => Ok(()),
        Ok(_) => {
            bail!("the {kind} {shown} already exists with other content; it was not changed")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(anyhow!("cannot read {shown}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_configuration_is_written_once_whole_and_for_its_user_only() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("pneu/config.toml");
        assert!(write(&path, "headers = []\n").unwrap());
        assert!(!write(&path, "headers = []\n").unwrap(), "it is there already");
        let refused = write(&path, "").unwrap_err().to_string();
        assert!(refused.contains("already exists with other content"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "headers = []\n");
        let mode = |path: &Path| std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap()) & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_no_configuration() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config.toml");
        symlink("nowhere", &path).unwrap();
        let refused = write(&path, "").unwrap_err().to_string();
        assert!(refused.contains("is a link that leads nowhere"), "{refused}");
        assert!(!place.path().join("nowhere").exists());
    }
}
