//! Commands of pneu, and the walk that it is compared with.
//!
//! Input: paths. Output: commands. Does not know what is measured with them.

use anyhow::Result;
use measure::walk::Look;
use measure::{corpora, walk};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program with one Maildir and one index.
pub struct Pneu {
    program: PathBuf,
    maildir: PathBuf,
    data: PathBuf,
}

impl Pneu {
    /// Returns the program for `maildir`. The index is beside it.
    pub fn new(program: &Path, maildir: &Path) -> Pneu {
        Pneu {
            program: program.to_owned(),
            maildir: maildir.to_owned(),
            data: maildir.with_extension("data"),
        }
    }

    /// Returns the program for `maildir` with an index in `data`.
    pub fn at(program: &Path, maildir: &Path, data: &Path) -> Pneu {
        Pneu { program: program.to_owned(), maildir: maildir.to_owned(), data: data.to_owned() }
    }

    /// Returns whether the program is there.
    pub fn is_built(&self) -> bool {
        self.program.is_file()
    }

    /// Returns the Maildir.
    pub fn maildir(&self) -> &Path {
        &self.maildir
    }

    /// Returns the directory of the index.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns `pneu` with `arguments`. The user's configuration is not used.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--data")
            .arg(&self.data)
            .args(arguments)
            .env("XDG_CONFIG_HOME", self.data.join("config"));
        command
    }

    /// Returns `pneu index`.
    pub fn index(&self) -> Command {
        let mut command = self.command(&["--quiet", "index", "--maildir"]);
        command.arg(&self.maildir);
        command
    }

    /// Returns `pneu index` with more options.
    pub fn index_with(&self, options: &[&str]) -> Command {
        let mut command = self.index();
        command.args(options);
        command
    }

    /// Removes the index, so that the next one is the first.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget(&self) -> Result<()> {
        corpora::clear(&self.data)
    }

    /// Returns the plain walk of the Maildir.
    ///
    /// # Errors
    /// If the path of this program is unknown.
    pub fn walk(&self, threads: usize, look: Look) -> Result<Command> {
        walk::command(&self.maildir, threads, look)
    }
}
