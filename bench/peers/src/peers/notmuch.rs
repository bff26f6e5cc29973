//! notmuch: indexes, tags and finds mail.
//!
//! Input: directories, queries. Output: commands. Does not know what is measured.

use crate::peer::{Installed, Peer};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "notmuch",
    variable: "PEER_NOTMUCH",
    program: "notmuch",
    version: &["--version"],
    packages: &["notmuch"],
    module: None,
};

/// The program with one database.
pub(crate) struct Notmuch {
    program: PathBuf,
    home: PathBuf,
}

impl Notmuch {
    /// Returns the program with its database in `home`.
    pub(crate) fn new(installed: &Installed, home: &Path) -> Notmuch {
        Notmuch { program: installed.program.clone(), home: home.to_owned() }
    }

    /// Returns the directory of the database.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Writes the configuration for a Maildir: no tags for new messages, and no messages excluded from
    /// answers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn init(&self, maildir: &Path) -> Result<()> {
        fs::create_dir_all(&self.home).with_context(|| format!("cannot make {}", self.home.display()))?;
        let text = format!(
            "[database]\npath={}\nmail_root={}\n[user]\nname=nobody\nprimary_email=nobody@nowhere.example\n\
             [new]\ntags=\n[search]\nexclude_tags=\n[maildir]\nsynchronize_flags=true\n",
            self.home.display(),
            maildir.display()
        );
        let path = self.configuration();
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns `notmuch new` with more options.
    pub(crate) fn new_mail(&self, options: &[&str]) -> Command {
        let mut command = self.command("new");
        command.args(["--quiet", "--no-hooks"]).args(options);
        command
    }

    /// Returns the command that prints the paths of the messages found.
    pub(crate) fn paths(&self, query: &str) -> Command {
        let mut command = self.command("search");
        command.args(["--output=files", query]);
        command
    }

    /// Returns the command that changes a tag, such as `+work`, of the messages found. Some tags are flags.
    pub(crate) fn tag(&self, change: &str, query: &str) -> Command {
        let mut command = self.command("tag");
        command.args([change, "--", query]);
        command
    }

    /// Returns the command that stores a message from standard input in the root's folder.
    pub(crate) fn insert(&self) -> Command {
        let mut command = self.command("insert");
        command.arg("--no-hooks");
        command
    }

    /// Returns the command that prints the addresses of the senders of the messages found.
    pub(crate) fn senders(&self, query: &str) -> Command {
        let mut command = self.command("address");
        command.args(["--deduplicate=address", "--output=sender", query]);
        command
    }

    /// Returns the command that prints all addresses of all messages.
    pub(crate) fn people(&self) -> Command {
        let mut command = self.command("address");
        command.args(["--deduplicate=address", "--output=sender", "--output=recipients", "*"]);
        command
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).env("NOTMUCH_CONFIG", self.configuration()).env_remove("NOTMUCH_PROFILE");
        command
    }

    fn configuration(&self) -> PathBuf {
        self.home.join("config")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_the_maildir_and_the_database() {
        let place = tempfile::tempdir().unwrap();
        let installed = Installed { program: PathBuf::from("notmuch"), version: String::new() };
        let notmuch = Notmuch::new(&installed, &place.path().join("database"));
        notmuch.init(Path::new("/mail")).unwrap();
        let text = fs::read_to_string(notmuch.home().join("config")).unwrap();
        assert!(text.contains("\nmail_root=/mail\n"), "{text}");
        assert!(text.contains(&format!("\npath={}\n", notmuch.home().display())), "{text}");
    }
}
