//! `pneu-tarantool load`: loads Tarantool's snapshot and logs into a store.

use crate::open;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use printable::sanitise::one_line;
use std::path::{Path, PathBuf};
use store::{Options, Snapshot};
use tarantool::{Depth, Error, FileKind, FormatVersion, Header, Mode, ORIGIN, Plan, PlanOptions, Recovered};
use terminal::amount::{count, people};
use terminal::command_line::Run;
use terminal::environment::Stopwatch;
use terminal::exit::Outcome;
use terminal::output;

/// Load the newest snapshot in a directory, and the logs after it, into a store
///
/// First reads everything and builds all indexes in memory, looks the last row of each space up in each
/// index, and prints how long that took. Then writes the store, which appears whole or not at all. DIR is not
/// changed.
///
/// Damage, or rows missing between two files, is an error, and nothing is loaded. --salvage loads what is
/// sound and lists what is lost: bytes of files, and numbers of rows. A write that a crash tore at the end of
/// the last log was never complete: it is left out, with a message.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool load /var/lib/tarantool/shop --into shop.store
  pneu-tarantool load snapshots --wal logs --into shop.store --salvage

Exit code 3: done, but something was lost.")]
pub(crate) struct Arguments {
    /// The directory with the snapshots
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The store to create
    #[arg(long, value_name = "STORE")]
    into: PathBuf,
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    wal: Option<PathBuf>,
    /// Load what is sound, and list what is lost
    #[arg(long)]
    salvage: bool,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        refuse_used(session, &self.into)?;
        let since = Stopwatch::start();
        let mode = if self.salvage { Mode::Salvage } else { Mode::Strict };
        let (plan, recovered) = recover(self, session, mode)?;
        let checked = recovered.check()?;
        let ready = since.elapsed();
        for torn in &plan.torn {
            output::complain(format!("{}; they are left out", open::torn_line(torn)));
        }
        plan.remarks.iter().chain(&recovered.remarks).for_each(output::complain);
        let mut output = session.output();
        let lost = lost_lines(&plan, &recovered);
        for line in &lost {
            output.line(&one_line(&format!("lost     {line}")))?;
        }
        if !session.is_quiet {
            output.line(&format!("read     {}", read_line(&plan, &recovered)))?;
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
        let mut attachments = vec![(ORIGIN.to_owned(), origin(&plan, &recovered).text().into_bytes())];
        attachments.extend(tarantool::lost_attachment(&lost));
        recovered.seal(&session.disk, &self.into, options, attachments)?;
        if !session.is_quiet {
            let (seconds, bytes) = (since.elapsed().as_secs_f64(), people(size_bytes(session, &self.into)));
            output.line(&format!("sealed   in {seconds:.3} s more: {bytes} in {}", self.into.display()))?;
        }
        output.finish()?;
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

/// Returns all that the store lacks, a line each.
fn lost_lines(plan: &Plan, recovered: &Recovered) -> Vec<String> {
    let lost = plan.lost.iter().map(ToString::to_string);
    let rejected = recovered.rejected.iter();
    let rejected =
        rejected.map(|rejected_row| format!("the row with LSN {}: {}", rejected_row.lsn, rejected_row.what));
    lost.chain(recovered.left_out.iter().cloned()).chain(rejected).collect()
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

/// Recovers what the directory holds. If only reading the newest snapshot's rows shows that it is damaged, an
/// older one may stand in.
fn recover(arguments: &Arguments, session: &Session, mode: Mode) -> Result<(Plan, Recovered)> {
    let disk = session.disk.as_ref();
    let mut options = PlanOptions { log_directory: arguments.wal.clone(), mode, ..PlanOptions::default() };
    if mode == Mode::Salvage {
        // What is whole has to be known before anything is loaded.
        let logs = arguments.wal.as_deref().unwrap_or(&arguments.directory);
        options.checked = Some(open::read_ahead(session, &arguments.directory, logs, "looking for damage")?);
    }
    let plan = tarantool::plan(disk, &arguments.directory, &options)?;
    let damaged = match read(&plan, session, mode) {
        Ok(recovered) => return Ok((plan, recovered)),
        Err(error) => error,
    };
    let is_in_snapshot = matches!(&damaged, Error::Damage { path, .. }
        if plan.snapshot.as_ref().is_some_and(|snapshot| snapshot.path == *path));
    if !is_in_snapshot {
        return Err(damaged.into());
    }
    options.depth = Depth::Rows;
    let plan = tarantool::plan(disk, &arguments.directory, &options)?;
    let recovered = read(&plan, session, mode)?;
    Ok((plan, recovered))
}

fn read(plan: &Plan, session: &Session, mode: Mode) -> tarantool::Result<Recovered> {
    let files = plan.snapshot.iter().chain(&plan.logs);
    let bytes = files.map(|file| file.bytes.len() as u64).sum();
    let progress = session.progress("reading", bytes);
    let recovered = tarantool::recover(plan, mode, session.thread_count, &progress);
    progress.finish();
    recovered
}

/// Returns the header of a snapshot with the same rows, by which an export begins.
fn origin(plan: &Plan, recovered: &Recovered) -> Header {
    let first = plan.snapshot.iter().chain(&plan.logs).next();
    Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: tarantool::PROGRAM.to_owned(),
        instance: first.map_or([0; 16], |file| file.header.instance),
        vclock: recovered.vclock.clone(),
        previous: None,
    }
}

fn read_line(plan: &Plan, recovered: &Recovered) -> String {
    let snapshot = match &plan.snapshot {
        Some(file) => file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        None => "no snapshot".to_owned(),
    };
    let (rows, spaces) = (recovered.row_count(), recovered.tables.len());
    let logs = count(plan.logs.len() as u64, "log");
    let (rows, spaces) = (count(rows, "row"), count(spaces as u64, "space"));
    format!("{snapshot} and {logs}, up to {{{}}}: {rows} of {spaces}", recovered.vclock)
}

/// Returns the bytes of the files in a directory. A file that goes away meanwhile has none.
fn size_bytes(session: &Session, directory: &Path) -> u64 {
    let names = session.disk.list(directory).unwrap_or_default();
    let metadata = names.iter().filter_map(|name| std::fs::metadata(directory.join(name)).ok());
    metadata.filter(std::fs::Metadata::is_file).map(|metadata| metadata.len()).sum()
}
