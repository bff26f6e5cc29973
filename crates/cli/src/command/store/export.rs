//! `pneu store export`: writes a store as a snapshot that Tarantool loads.

use super::open::{self, Content};
use crate::amount::count;
use crate::environment;
use crate::exit::Outcome;
use crate::output;
use crate::progress::ByteProgress;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use std::path::PathBuf;
use xlog::export::{Target, export};

/// Write a store as a snapshot that Tarantool loads
///
/// The directory is made if it is not there, and must not hold files of Tarantool. To use it, start Tarantool with memtx_dir and wal_dir
/// set to it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu store export shop.store --to new/

Exit code 3: done, but the store lacks something of the files that it was made of.")]
pub(crate) struct Arguments {
    /// A store that "pneu store load" made
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// The directory for the snapshot
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// There is no store, it is damaged, or the snapshot cannot be written.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let snapshot = open::store(session, &arguments.store)?;
    let header = xlog::stored_header(&snapshot)?;
    let header = header.ok_or_else(|| {
        anyhow!(
            "{} was not made of Tarantool's files: it does not say of which instance it is",
            arguments.store.display()
        )
    })?;
    let disk = &session.index.disk;
    disk.create_directory(&arguments.to)?;
    if open::content(session, &arguments.to)? == Content::Tarantool {
        bail!("{} holds files of Tarantool already: name another directory", arguments.to.display());
    }
    let spaces = xlog::stored_spaces(&snapshot)?;
    let rows = snapshot.tables().iter().map(store::Table::row_count).sum();
    let progress = ByteProgress::start(session.stderr_is_terminal && !session.is_quiet, "writing rows", rows);
    let seconds = environment::clock_ns() as f64 / 1e9;
    let target = Target { disk, directory: &arguments.to, seconds };
    let exported = export(&snapshot, &spaces, &header, target, &|rows| progress.advance(rows));
    progress.finish();
    let exported = exported?;
    exported.remarks.iter().for_each(output::complain);
    let lost = xlog::stored_lost(&snapshot);
    lost.iter().for_each(|line| output::complain(format!("the snapshot lacks what the store lacks: {line}")));
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&format!("{} in {}", count(exported.row_count, "row"), exported.path.display()))?;
        output.finish()?;
    }
    Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
}
