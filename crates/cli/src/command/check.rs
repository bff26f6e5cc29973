//! `pneu check`: looks for damage in the index.

use crate::exit::Outcome;
use crate::output;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use index::Depth;

/// Look for damage in the index
///
/// Checks that everything opens and that all tables agree with each other; with --deep also every checksum, every key and every
/// record. Prints a line for each file that is damaged. Writes nothing. An index is made from your mail and can be made again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu check
  pneu check --deep")]
pub(crate) struct Arguments {
    /// Read every byte
    #[arg(long)]
    deep: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no index, or it cannot even be opened.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    // Opened first for its sentence about roots that are not indexed.
    session.mailbox()?;
    let damages = index::check(&session.index, if arguments.deep { Depth::Deep } else { Depth::Quick })?;
    let mut output = session.output();
    for damage in &damages {
        output.line(&one_line(&format!("{}: {}", damage.file.display(), damage.what)))?;
    }
    if damages.is_empty() && !session.is_quiet {
        output.line("no damage found")?;
    }
    output.finish()?;
    if damages.is_empty() {
        return Ok(Outcome::Done);
    }
    let directory = session.index.index_directory();
    output::complain(format!("{} is damaged: delete it and run \"pneu index\" again", directory.display()));
    Ok(Outcome::Damaged)
}
