//! `pneu check`: looks for damage in the index.

use crate::exit::Outcome;
use crate::output;
use crate::roots;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use index::{Damage, Depth, Root};

/// Look for damage in the index
///
/// Checks that everything opens and that all tables agree with each other; with --deep also every checksum, every key and every
/// record. Prints a line for each file that is damaged. Writes nothing, unless --repair is given.
///
/// An index is made from your mail and can be made again: --repair does so if anything is damaged, beside the old index, which it
/// replaces when the new one is whole. Tags are kept elsewhere and stay.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu check
  pneu check --deep
  pneu check --repair")]
pub(crate) struct Arguments {
    /// Read every byte
    #[arg(long)]
    deep: bool,
    /// Read every byte, and make the index anew if any is damaged
    #[arg(long)]
    repair: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no index, or it cannot even be opened.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if arguments.repair {
        return repair(session);
    }
    let damages = index::diagnose(&session.index, if arguments.deep { Depth::Deep } else { Depth::Quick })?;
    if damages.is_empty() {
        // For its sentence about roots that are not indexed.
        session.mailbox()?;
    }
    if tell(&damages, session)? {
        return Ok(Outcome::Done);
    }
    let directory = session.index.index_directory();
    output::complain(format!("{} is damaged: run \"pneu check --repair\"", directory.display()));
    Ok(Outcome::Damaged)
}

/// Prints what is damaged, or that nothing is; says whether nothing is.
fn tell(damages: &[Damage], session: &Session) -> Result<bool> {
    let mut output = session.output();
    for damage in damages {
        output.line(&one_line(&format!("{}: {}", damage.file.display(), damage.what)))?;
    }
    if damages.is_empty() && !session.is_quiet {
        output.line("no damage found")?;
    }
    output.finish()?;
    Ok(damages.is_empty())
}

/// Checks, and makes the index anew if it is damaged.
fn repair(session: &Session) -> Result<Outcome> {
    let damages = index::diagnose(&session.index, Depth::Deep)?;
    if tell(&damages, session)? {
        return Ok(Outcome::Done);
    }
    let remembered = index::remembered_roots(&session.index).unwrap_or_default();
    super::index::rebuild(session, &roots_of(session, remembered)?)
}

/// Returns the roots to index: those that the index remembers; if that cannot be read, those of the configuration and the command line.
fn roots_of(session: &Session, remembered: Vec<Root>) -> Result<Vec<Root>> {
    let known = if remembered.is_empty() { session.configured()?.roots } else { remembered };
    let roots = roots::joined(&known, session.given_roots.clone()).map_err(|what| anyhow!(what))?;
    if roots.is_empty() {
        bail!(
            "the index is too damaged to say where your mail is; say it: pneu check --repair --maildir DIR"
        );
    }
    Ok(roots)
}
