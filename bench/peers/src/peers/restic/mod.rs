//! restic: its commands, and their output.
//!
//! Input: directories. Output: commands, and the parsed output. Does not know what is measured.
//!
//! It runs with its default options.

pub(crate) mod benchmarks;

use crate::peer::{Installed, Peer, said};
use anyhow::{Result, bail};
use bench_own::archive::PASSWORD;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "restic",
    variable: "PEER_RESTIC",
    program: "restic",
    version: &["version"],
    packages: &["restic"],
    module: Some(("github.com/restic/restic/cmd/restic", "v0.19.1")),
};

/// restic with one repository and one cache.
pub(crate) struct Restic {
    program: PathBuf,
    repository: PathBuf,
    cache: PathBuf,
}

/// The summary of a backup.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The beginning of the snapshot's id.
    pub(crate) snapshot: String,
    pub(crate) file_count: u64,
}

impl Restic {
    /// Returns restic for a repository, with its own cache.
    pub(crate) fn new(restic: &Installed, repository: &Path, cache: &Path) -> Restic {
        let program = restic.program.clone();
        Restic { program, repository: repository.to_owned(), cache: cache.to_owned() }
    }

    /// Returns the repository.
    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    /// Returns restic with `arguments`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command.env("RESTIC_REPOSITORY", &self.repository).env("RESTIC_PASSWORD", PASSWORD);
        command.env("RESTIC_CACHE_DIR", &self.cache);
        command
    }

    /// Creates the repository. Large files are cut at the same places as in `other`, so that both give equal
    /// content the same name.
    pub(crate) fn init_like(&self, other: &Path) -> Result<()> {
        let mut command = self.command(&["init", "--copy-chunker-params", "--from-repo"]);
        said(command.arg(other).env("RESTIC_FROM_PASSWORD", PASSWORD))?;
        Ok(())
    }

    /// Returns the backup of a directory.
    pub(crate) fn backup(&self, directory: &Path) -> Command {
        let mut command = self.command(&["backup"]);
        command.arg(directory);
        command
    }

    /// Returns the restore of a directory of the latest snapshot.
    pub(crate) fn restore(&self, directory: &Path, target: &Path) -> Command {
        let mut command = self.command(&["restore", "--target"]);
        command.arg(target).arg(format!("latest:{}", directory.display()));
        command
    }

    /// Returns the tree of `directory` in a snapshot, as stored. It identifies everything below by content.
    pub(crate) fn tree(&self, snapshot: &str, directory: &Path) -> Result<String> {
        said(&mut self.command(&["cat", "tree", &format!("{snapshot}:{}", directory.display())]))
    }
}

/// Reads what `restic backup` printed.
pub(crate) fn saved(said: &str) -> Result<Saved> {
    let between = |before: &str, after: &str| {
        said.lines().find_map(|line| Some(line.strip_prefix(before)?.split_once(after)?.0))
    };
    let (Some(files), Some(snapshot)) = (between("processed ", " files"), between("snapshot ", " saved"))
    else {
        bail!("restic said nothing of what it saved: {said}");
    };
    Ok(Saved { snapshot: snapshot.to_owned(), file_count: files.parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_backup_said_is_understood() {
        let said = "using parent snapshot ef010866\n\nFiles:           0 new,     0 changed,  2068 \
            unmodified\n\n\
            processed 2068 files, 19.033 MiB in 0:00\nsnapshot 92545acc saved\n";
        assert_eq!(saved(said).unwrap(), Saved { snapshot: "92545acc".to_owned(), file_count: 2068 });
        assert!(saved("processed 2068 files, 19.033 MiB in 0:00\n").is_err());
    }
}
