//! `pneu-tarantool load`: loads Tarantool's snapshot and logs into a store.

use crate::recovery::{RecoveryOptions, recover};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use printable::sanitise::one_line;
use std::path::{Path, PathBuf};
use store::{Options, Snapshot};
use tarantool::ORIGIN;
use tarantool::export::snapshot_header;
use terminal::amount::people;
use terminal::command_line::Run;
use terminal::environment::Stopwatch;
use terminal::exit::Outcome;

/// Load the newest snapshot in a directory, and the logs after it, into a store
///
/// First reads everything and builds all indexes in memory, looks the last row of each space up in each
/// index, and prints how long that took. Then writes the store, which appears whole or not at all. DIR is not
/// changed.
///
/// Damage, or rows missing between two files, is an error, and nothing is loaded. --salvage loads what is
/// sound and lists what is lost: bytes of files, and numbers of rows. A write that a crash tore at the end of
/// the last log was never complete: it is left out, with a message.
///
/// --until loads the state at an earlier point, from the newest snapshot before it and the logs up to it.
/// What is damaged or missing after the point does not matter. A transaction counts whole or not at all. If
/// the state at the point is not known, nothing is loaded.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool load /var/lib/tarantool/shop --into shop.store
  pneu-tarantool load /var/lib/tarantool/shop --into noon.store --until 2024-03-01T12:00
  pneu-tarantool load snapshots --wal logs --into shop.store --salvage

Exit code 3: done, but something was lost.")]
pub(crate) struct Arguments {
    /// The directory with the snapshots
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The store to create
    #[arg(long, value_name = "STORE")]
    into: PathBuf,
    #[command(flatten)]
    recovery: RecoveryOptions,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        refuse_used(session, &self.into)?;
        let since = Stopwatch::start();
        let recovery = recover(session, &self.directory, &self.recovery)?;
        let checked = recovery.recovered.check()?;
        let ready = since.elapsed();
        recovery.tell_remarks();
        let mut output = session.output();
        let lost = recovery.lost_lines();
        for line in &lost {
            output.line(&one_line(&format!("lost     {line}")))?;
        }
        if !session.is_quiet {
            output.line(&one_line(&format!("read     {}", recovery.read_line())))?;
            if let Some(line) = recovery.until_line() {
                output.line(&one_line(&format!("until    {line}")))?;
            }
            let seconds = ready.as_secs_f64();
            output.line(&format!(
                "ready    after {seconds:.3} s: the last rows were found through {checked} indexes"
            ))?;
        }
        // Sealing takes longer than all before it: what is known so far is not kept back.
        output.finish()?;
        let mut output = session.output();
        let since = Stopwatch::start();
        let options = Options { holder: session.holder.clone(), seed: session.seed, ..Options::default() };
        let mut attachments = vec![(
            ORIGIN.to_owned(),
            snapshot_header(&recovery.plan, &recovery.recovered).text().into_bytes(),
        )];
        attachments.extend(tarantool::lost_attachment(&lost));
        recovery.recovered.seal(&session.disk, &self.into, options, attachments)?;
        if !session.is_quiet {
            let (seconds, bytes) = (since.elapsed().as_secs_f64(), people(size_bytes(session, &self.into)));
            output.line(&format!("sealed   in {seconds:.3} s more: {bytes} in {}", self.into.display()))?;
        }
        output.finish()?;
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

/// Refuses a store that has rows, before anything is read.
fn refuse_used(session: &Session, directory: &Path) -> Result<()> {
    match Snapshot::open(&session.disk, directory) {
        Ok(snapshot) if snapshot.tables().iter().any(|table| table.row_count() > 0) => {
            bail!("{} holds rows already: name another directory", directory.display())
        }
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the bytes of the files in a directory. A file that goes away meanwhile has none.
fn size_bytes(session: &Session, directory: &Path) -> u64 {
    let names = session.disk.list(directory).unwrap_or_default();
    let metadata = names.iter().filter_map(|name| std::fs::metadata(directory.join(name)).ok());
    metadata.filter(std::fs::Metadata::is_file).map(|metadata| metadata.len()).sum()
}
