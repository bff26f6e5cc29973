//! How pneu is called, and what it is compared with.
//!
//! Comes in: paths. Goes out: commands. Must not know what is measured with them.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program with one Maildir and one index.
pub(crate) struct Pneu {
    program: PathBuf,
    maildir: PathBuf,
    data: PathBuf,
}

impl Pneu {
    /// Returns the program for `maildir`; the index lies beside it.
    pub(crate) fn new(program: &Path, maildir: &Path) -> Pneu {
        Pneu {
            program: program.to_owned(),
            maildir: maildir.to_owned(),
            data: maildir.with_extension("data"),
        }
    }

    /// Returns the Maildir.
    pub(crate) fn maildir(&self) -> &Path {
        &self.maildir
    }

    /// Returns the directory of the index.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Returns `pneu` with `arguments`. The person's configuration has no say.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--data")
            .arg(&self.data)
            .args(arguments)
            .env("XDG_CONFIG_HOME", self.data.join("config"));
        command
    }

    /// Returns `pneu index`.
    pub(crate) fn index(&self) -> Command {
        let mut command = self.command(&["--quiet", "index", "--maildir"]);
        command.arg(&self.maildir);
        command
    }

    /// Returns `pneu index` with more options.
    pub(crate) fn index_with(&self, options: &[&str]) -> Command {
        let mut command = self.index();
        command.args(options);
        command
    }

    /// Removes the index, so that the next one is the first.
    pub(crate) fn forget(&self) -> Result<()> {
        if self.data.exists() {
            fs::remove_dir_all(&self.data)
                .with_context(|| format!("cannot remove {}", self.data.display()))?;
        }
        Ok(())
    }

    /// Returns the bare walk over the Maildir.
    pub(crate) fn walk(&self, threads: usize, statx: bool) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("walk").arg(&self.maildir).arg(format!("--threads={threads}"));
        if statx {
            command.arg("--statx");
        }
        Ok(command)
    }
}

/// Returns the length of all files below `directory`, together.
pub(crate) fn bytes_below(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
