//! `pneu-tarantool man`: writes the manual pages.

use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use terminal::command_line::Run;
use terminal::documents::write_manual_pages;
use terminal::exit::Outcome;

/// Write the manual pages into a directory
///
/// Writes one page for the program and one for each command, for "man pneu-tarantool" and
/// "man pneu-tarantool-load".
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool man ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The directory; created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        write_manual_pages((session.definition)(), &self.directory)
            .with_context(|| format!("cannot write manual pages to {}", self.directory.display()))?;
        Ok(Outcome::Done)
    }
}
