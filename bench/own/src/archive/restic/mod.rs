//! restic: its commands, and what it prints.
//!
//! Comes in: directories. Goes out: commands, and what their output says. Must not know what is measured.
//!
//! The program is that of PEER_RESTIC, else that which go installed, else that of the path. Its options are those that it has by itself.

pub(super) mod benchmarks;

use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What opens repositories.
pub(super) const PASSWORD: &str = super::make::PASSWORD;

/// restic with one repository and one cache.
pub(super) struct Restic {
    program: PathBuf,
    repository: PathBuf,
    cache: PathBuf,
}

/// What a backup said of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Saved {
    /// The beginning of the snapshot's id.
    pub(super) snapshot: String,
    pub(super) file_count: u64,
}

/// Returns the program.
fn program() -> PathBuf {
    let installed = env::var_os("HOME").map(|home| Path::new(&home).join("go/bin/restic"));
    let installed = installed.filter(|program| program.exists());
    env::var_os("PEER_RESTIC").map(PathBuf::from).or(installed).unwrap_or_else(|| PathBuf::from("restic"))
}

/// Returns what it says of its version, with what it was built.
pub(super) fn version() -> Result<String> {
    let mut command = Command::new(program());
    command.arg("version");
    Ok(answer(&mut command)?.trim().to_owned())
}

impl Restic {
    /// Returns restic for a repository, with a cache of its own.
    pub(super) fn new(repository: &Path, cache: &Path) -> Restic {
        Restic { program: program(), repository: repository.to_owned(), cache: cache.to_owned() }
    }

    /// Returns the repository.
    pub(super) fn repository(&self) -> &Path {
        &self.repository
    }

    /// Returns the directory of the cache.
    pub(super) fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns restic with `arguments`.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command.env("RESTIC_REPOSITORY", &self.repository).env("RESTIC_PASSWORD", PASSWORD);
        command.env("RESTIC_CACHE_DIR", &self.cache);
        command
    }

    /// Makes the repository. Large files are cut where `other` cuts them, so that both name equal content equally.
    pub(super) fn init_like(&self, other: &Path) -> Result<()> {
        let mut command = self.command(&["init", "--copy-chunker-params", "--from-repo"]);
        answer(command.arg(other).env("RESTIC_FROM_PASSWORD", PASSWORD))?;
        Ok(())
    }

    /// Returns the backup of a directory.
    pub(super) fn backup(&self, directory: &Path) -> Command {
        let mut command = self.command(&["backup"]);
        command.arg(directory);
        command
    }

    /// Returns the restore of a directory of the latest snapshot.
    pub(super) fn restore(&self, directory: &Path, target: &Path) -> Command {
        let mut command = self.command(&["restore", "--target"]);
        command.arg(target).arg(format!("latest:{}", directory.display()));
        command
    }

    /// Returns the directory `directory` of a snapshot, as it is stored: it names all that is below by content.
    pub(super) fn tree(&self, snapshot: &str, directory: &Path) -> Result<String> {
        answer(&mut self.command(&["cat", "tree", &format!("{snapshot}:{}", directory.display())]))
    }
}

/// Reads what `restic backup` printed.
pub(super) fn saved(said: &str) -> Result<Saved> {
    let between = |before: &str, after: &str| {
        said.lines().find_map(|line| Some(line.strip_prefix(before)?.split_once(after)?.0))
    };
    let (Some(files), Some(snapshot)) = (between("processed ", " files"), between("snapshot ", " saved"))
    else {
        bail!("restic said nothing of what it saved: {said}");
    };
    Ok(Saved { snapshot: snapshot.to_owned(), file_count: files.parse()? })
}

/// Runs a command that has to succeed, and returns what it printed.
fn answer(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_backup_said_is_understood() {
        let said = "using parent snapshot ef010866\n\nFiles:           0 new,     0 changed,  2068 unmodified\n\n\
                    processed 2068 files, 19.033 MiB in 0:00\nsnapshot 92545acc saved\n";
        assert_eq!(saved(said).unwrap(), Saved { snapshot: "92545acc".to_owned(), file_count: 2068 });
        assert!(saved("processed 2068 files, 19.033 MiB in 0:00\n").is_err());
    }
}
