//! mairix: indexes and finds mail, without phrases.
//!
//! Input: directories, words. Output: commands. Does not know what is measured.

use crate::peer::{Installed, Peer};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "mairix",
    variable: "PEER_MAIRIX",
    program: "mairix",
    version: &["-V"],
    packages: &["mairix"],
    module: None,
};

/// The program with one database.
pub(crate) struct Mairix {
    program: PathBuf,
    home: PathBuf,
}

impl Mairix {
    /// Returns the program with its database in `home`.
    pub(crate) fn new(installed: &Installed, home: &Path) -> Mairix {
        Mairix { program: installed.program.clone(), home: home.to_owned() }
    }

    /// Returns the directory of the database.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Writes the configuration for a Maildir. The configuration names the parent directory, so that the
    /// Maildir's own `cur` and `new` count, too.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn init(&self, maildir: &Path) -> Result<()> {
        fs::create_dir_all(&self.home).with_context(|| format!("cannot make {}", self.home.display()))?;
        let base = maildir.parent().context("a Maildir has a parent")?.display();
        let name = maildir.file_name().unwrap_or_default().to_string_lossy();
        // They have a meaning in mairix's configuration.
        ensure!(!name.contains([':', '*', '?', '[', ']']), "mairix has no way to name {name:?}");
        let home = self.home.display();
        let text =
            format!("base={base}\nmaildir={name}...\nmfolder={home}/found\ndatabase={home}/database\n");
        let path = self.configuration();
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the command that updates the database. Of the options, `-F` compares only names, and `-p`
    /// removes messages that are gone.
    pub(crate) fn index(&self, options: &[&str]) -> Command {
        let mut command = self.command();
        command.args(options);
        command
    }

    /// Returns the command that prints the paths of the messages that match all expressions.
    pub(crate) fn paths(&self, expressions: &[&str]) -> Command {
        let mut command = self.command();
        command.arg("-r").args(expressions);
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-f").arg(self.configuration());
        command
    }

    fn configuration(&self) -> PathBuf {
        self.home.join("mairixrc")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maildir_is_named_by_its_parent() {
        let place = tempfile::tempdir().unwrap();
        let installed = Installed { program: PathBuf::from("mairix"), version: String::new() };
        let mairix = Mairix::new(&installed, place.path());
        mairix.init(Path::new("/some/mail")).unwrap();
        let text = fs::read_to_string(place.path().join("mairixrc")).unwrap();
        assert!(text.starts_with("base=/some\nmaildir=mail...\n"), "{text}");
    }
}
