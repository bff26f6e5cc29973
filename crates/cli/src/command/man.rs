//! `pneu man`: writes the manual pages.

use crate::args;
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;

/// Write the manual pages into a directory
///
/// One for the program and one for each command, as "man pneu" and "man pneu-find" show them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu man ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The directory; it is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// The directory cannot be written.
pub(crate) fn run(arguments: &Arguments, _: &Session) -> Result<Outcome> {
    let failed = || format!("cannot write manual pages to {}", arguments.directory.display());
    std::fs::create_dir_all(&arguments.directory).with_context(failed)?;
    clap_mangen::generate_to(args::for_pages(), &arguments.directory).with_context(failed)?;
    Ok(Outcome::Done)
}
