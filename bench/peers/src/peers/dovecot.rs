//! Dovecot: an IMAP server with an index per folder. Runs without a daemon, as its imap process with a
//! logged-in user.
//!
//! Input: directories. Output: commands. Does not know what is measured.

use super::terminal::quoted;
use crate::peer::{Installed, Peer};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "Dovecot",
    variable: "PEER_DOVECOT",
    program: "dovecot",
    version: &["--version"],
    packages: &["dovecot-imapd"],
    module: None,
};

/// Paths of its imap process, relative to the server's directory.
const IMAP: [&str; 3] = ["../lib/dovecot/imap", "../libexec/dovecot/imap", "../../usr/lib/dovecot/imap"];
/// It serves no mail to root, so root becomes nobody, with the right to read and write as root.
const AS_NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups \
    --inh-caps=+dac_override,+dac_read_search --ambient-caps=+dac_override,+dac_read_search";

/// The imap process with one folder and one index.
pub(crate) struct Dovecot {
    imap: PathBuf,
    folder: PathBuf,
    place: PathBuf,
}

/// The commands for the server after it has opened the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// None.
    Nothing,
    /// The fields of all messages that a list shows.
    All,
    /// The same for the messages from this number on.
    From(u64),
}

impl Dovecot {
    /// Returns the process for a folder, with its index in `place`.
    ///
    /// # Errors
    /// If there is no imap process beside the server.
    pub(crate) fn new(installed: &Installed, folder: &Path, place: &Path) -> Result<Dovecot> {
        let server = installed.program.canonicalize()?;
        let directory = server.parent().context("a program lies in a directory")?;
        let imap = IMAP.iter().map(|imap| directory.join(imap)).find(|imap| imap.is_file());
        let imap = imap.with_context(|| format!("there is no imap beside {}", server.display()))?;
        Ok(Dovecot { imap, folder: folder.to_owned(), place: place.to_owned() })
    }

    /// Returns the command that opens the folder, fetches, and quits.
    ///
    /// # Errors
    /// If its settings cannot be written.
    pub(crate) fn examine(&self, fetch: Fetch) -> Result<Command> {
        fs::create_dir_all(self.place.join("run"))
            .with_context(|| format!("cannot make {}", self.place.display()))?;
        let place = self.place.display();
        let settings = format!(
            "protocols = imap\nmail_location = maildir:{}:INDEX={place}/index:CONTROL={place}/control\n\
             base_dir = {place}/run\nstate_dir = {place}/run\nlog_path = {place}/log\nssl = \
             no\nfirst_valid_uid = 0\n",
            self.folder.display()
        );
        let items = "(UID FLAGS INTERNALDATE ENVELOPE)";
        let fetched = match fetch {
            Fetch::Nothing => String::new(),
            Fetch::All => format!("2 FETCH 1:* {items}\r\n"),
            Fetch::From(number) => format!("2 FETCH {number}:* {items}\r\n"),
        };
        let asked = format!("1 EXAMINE INBOX\r\n{fetched}3 LOGOUT\r\n");
        fs::write(self.place.join("settings"), settings)?;
        fs::write(self.place.join("asked"), asked)?;
        let [imap, settings, asked, pipe] =
            [&self.imap, &self.place.join("settings"), &self.place.join("asked"), &self.place.join("pipe")]
                .map(|path| quoted(&path.display().to_string()));
        let user = if rustix::process::geteuid().is_root() { AS_NOBODY } else { "" };
        // The server can only wait for a pipe, not for a file, and ends when the last writer closes the pipe.
        // So it holds the other end itself.
        let line = format!(
            "rm -f {pipe}; mkfifo {pipe}; exec 0<>{pipe}; cat {asked} >&0; exec {user} {imap} -c {settings} \
             2>/dev/null"
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(line);
        command.env("USER", "nobody").env("HOME", &self.place);
        Ok(command)
    }
}

/// Returns how many messages the server says are in the folder.
pub(crate) fn exists(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.strip_prefix("* ")?.trim().strip_suffix(" EXISTS")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_messages_stands_in_the_answer() {
        assert_eq!(exists("* FLAGS (x)\r\n* 1313 EXISTS\r\n* 3 RECENT\r\n"), Some(1313));
        assert_eq!(exists("* BYE\r\n"), None);
    }

    #[test]
    fn what_is_asked_lies_beside_the_index() {
        let place = tempfile::tempdir().unwrap();
        let dovecot = Dovecot {
            imap: PathBuf::from("/lib/imap"),
            folder: PathBuf::from("/mail"),
            place: place.path().to_owned(),
        };
        dovecot.examine(Fetch::From(151)).unwrap();
        let asked = fs::read_to_string(place.path().join("asked")).unwrap();
        assert!(asked.starts_with("1 EXAMINE INBOX\r\n2 FETCH 151:* (UID "), "{asked}");
        dovecot.examine(Fetch::Nothing).unwrap();
        assert!(!fs::read_to_string(place.path().join("asked")).unwrap().contains("FETCH"));
    }
}
