//! mu: indexes and finds mail.
//!
//! Input: directories, queries. Output: commands. Does not know what is measured.

use crate::peer::{Installed, Peer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "mu",
    variable: "PEER_MU",
    program: "mu",
    version: &["--version"],
    packages: &["maildir-utils"],
    module: None,
};

/// Since this version, a cleanup goes through the database instead of the directories.
const INCREMENTAL_SINCE: (u32, u32) = (1, 14);
/// Since this version, `move` changes a file and the database.
const MOVE_SINCE: (u32, u32) = (1, 12);
/// With this variable it cleans up in the old way.
const LEGACY_CLEANUP: &str = "MU_NO_INCREMENTAL_CLEANUP";

/// The program with one database.
pub(crate) struct Mu {
    program: PathBuf,
    home: PathBuf,
    version: Option<(u32, u32)>,
}

impl Mu {
    /// Returns the program with its database in `home`.
    pub(crate) fn new(installed: &Installed, home: &Path) -> Mu {
        let version = version(&installed.version);
        Mu { program: installed.program.clone(), home: home.to_owned(), version }
    }

    /// Returns the directory of the database.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the command that makes an empty database for a Maildir.
    pub(crate) fn init(&self, maildir: &Path) -> Command {
        let mut command = self.command("init");
        command.arg("--quiet").arg("-m").arg(maildir);
        command
    }

    /// Returns `mu index` with more options.
    pub(crate) fn index(&self, options: &[&str]) -> Command {
        let mut command = self.command("index");
        command.arg("--quiet").args(options).env_remove(LEGACY_CLEANUP);
        command
    }

    /// Returns `mu index` with the cleanup of versions before 1.14, or `None` for such a version: its only
    /// cleanup is the old one.
    pub(crate) fn index_with_legacy_cleanup(&self, options: &[&str]) -> Option<Command> {
        if self.version < Some(INCREMENTAL_SINCE) {
            return None;
        }
        let mut command = self.index(options);
        command.env(LEGACY_CLEANUP, "yes");
        Some(command)
    }

    /// Returns the command that prints the paths of the messages found.
    pub(crate) fn paths(&self, query: &str) -> Command {
        let mut command = self.command("find");
        command.args(["--fields", "l", query]);
        command
    }

    /// Returns `mu move` with a change of flags, such as `+P`; the file's path is still missing. `None` if
    /// this version has no such command.
    pub(crate) fn flag(&self, change: &str) -> Option<Command> {
        if self.version < Some(MOVE_SINCE) {
            return None;
        }
        let mut command = self.command("move");
        command.arg(format!("--flags={change}"));
        Some(command)
    }

    /// Returns the command that moves a file to a folder of its Maildir. `None` if this version has no such
    /// command.
    pub(crate) fn move_to(&self, file: &Path, folder: &str) -> Option<Command> {
        if self.version < Some(MOVE_SINCE) {
            return None;
        }
        let mut command = self.command("move");
        command.arg(file).arg(folder);
        Some(command)
    }

    /// Returns the command that prints names and addresses that contain a text.
    pub(crate) fn people(&self, text: &str) -> Command {
        let mut command = self.command("cfind");
        command.args((!text.is_empty()).then_some(text));
        command
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).arg(format!("--muhome={}", self.home.display()));
        command
    }
}

/// Returns the first two numbers of a version: `mu (mail indexer/searcher) version 1.8.13`, `version 1.14.2`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_whitespace().last()?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_moved_since_the_database_follows() {
        let flag = |version: &str| {
            let installed = Installed { program: PathBuf::from("mu"), version: version.to_owned() };
            Mu::new(&installed, Path::new("/home")).flag("+P")
        };
        assert!(flag("mu (mail indexer/searcher) version 1.8.13").is_none());
        let command = flag("version 1.14.2").unwrap();
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["move", "--muhome=/home", "--flags=+P"]);
        let move_to = |version: &str| {
            let installed = Installed { program: PathBuf::from("mu"), version: version.to_owned() };
            Mu::new(&installed, Path::new("/home")).move_to(Path::new("/mail/cur/1:2,"), "/archive")
        };
        assert!(move_to("mu (mail indexer/searcher) version 1.8.13").is_none());
        let command = move_to("version 1.14.2").unwrap();
        let expected = ["move", "--muhome=/home", "/mail/cur/1:2,", "/archive"];
        assert_eq!(command.get_args().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_old_cleanup_is_a_choice_since_it_is_not_the_only_one() {
        let mu = |version: &str| {
            let installed = Installed { program: PathBuf::from("mu"), version: version.to_owned() };
            Mu::new(&installed, Path::new("/home"))
        };
        assert!(mu("mu (mail indexer/searcher) version 1.8.13").index_with_legacy_cleanup(&[]).is_none());
        assert!(mu("version 1.14.2").index_with_legacy_cleanup(&[]).is_some());
        assert!(mu("version 2.0").index_with_legacy_cleanup(&[]).is_some());
        assert!(mu("nothing").index_with_legacy_cleanup(&[]).is_none());
    }
}
