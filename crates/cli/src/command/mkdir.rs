//! `pneu mkdir`: creates a folder for mail.

use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::Silent;
use terminal::command_line::Run;

/// Create a folder
///
/// Creates a directory with "cur", "new" and "tmp" in it, and indexes it. If there are several roots, the
/// folder is named by its path. In a Maildir++, where folders are directories such as ".lists.rust" beside
/// each other, "lists/rust" becomes such a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu mkdir archive/2026
  pneu mkdir ~/Mail/work/lists/rust")]
pub(crate) struct Arguments {
    /// The folder: its name below the root, or its path
    #[arg(value_name = "FOLDER")]
    folder: String,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is such a folder; the name is not valid or leads out of the root; the disk cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let path = session.host()?.create_folder(&self.folder, &Silent)?;
        Ok(session.conclude(&one_line(&path.to_string_lossy()), Outcome::Done))
    }
}
