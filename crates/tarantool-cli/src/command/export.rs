//! `pneu-tarantool export`: writes a store as a snapshot that Tarantool loads.

use crate::open::{self, Content};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use std::path::PathBuf;
use tarantool::export::{Target, export};
use terminal::amount::count;
use terminal::command_line::Run;
use terminal::environment;
use terminal::exit::Outcome;
use terminal::output;

/// Write a store as a snapshot that Tarantool loads
///
/// The directory is created if it does not exist. It must not hold files of Tarantool. To use the snapshot,
/// start Tarantool with memtx_dir and wal_dir set to the directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool export shop.store --to new/

Exit code 3: done, but the store lacks some rows of the files it was made of.")]
pub(crate) struct Arguments {
    /// A store made by "pneu-tarantool load"
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// The directory for the snapshot
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let snapshot = open::open_store(session, &self.store)?;
        let header = tarantool::stored_header(&snapshot)?;
        let header = header.ok_or_else(|| {
            anyhow!("{} was not made of Tarantool's files: it names no instance", self.store.display())
        })?;
        let disk = &session.disk;
        disk.create_directory(&self.to)?;
        if open::content(session, &self.to)? == Content::Tarantool {
            bail!("{} holds files of Tarantool already: name another directory", self.to.display());
        }
        let spaces = tarantool::stored_spaces(&snapshot)?;
        let rows = snapshot.tables().iter().map(store::Table::row_count).sum();
        let progress = session.progress("writing rows", rows);
        let seconds = environment::clock_ns() as f64 / 1e9;
        let target = Target { disk, directory: &self.to, seconds };
        let exported = export(&snapshot, &spaces, &header, target, &progress);
        progress.finish();
        let exported = exported?;
        exported.remarks.iter().for_each(output::complain);
        let lost = tarantool::stored_lost(&snapshot);
        lost.iter()
            .for_each(|line| output::complain(format!("the snapshot lacks what the store lacks: {line}")));
        if !session.is_quiet {
            let mut output = session.output();
            output.line(&format!("{} in {}", count(exported.row_count, "row"), exported.path.display()))?;
            output.finish()?;
        }
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}
