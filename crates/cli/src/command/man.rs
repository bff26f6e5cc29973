//! `pneu man`: writes the manual pages.

use crate::exit::Outcome;
use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use terminal::command_line::Run;
use terminal::documents::write_manual_pages;

/// Write the manual pages into a directory
///
/// Writes one page for the program and one for each command, for "man pneu" and "man pneu-find".
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu man ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The directory. It is created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The directory cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        write_manual_pages((session.definition)(), &self.directory)
            .with_context(|| format!("cannot write manual pages to {}", self.directory.display()))?;
        Ok(Outcome::Done)
    }
}
