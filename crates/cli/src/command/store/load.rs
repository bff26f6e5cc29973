//! `pneu store load`: fills a store from Tarantool's snapshot and logs.

use super::open;
use crate::amount::{count, people};
use crate::command::info::size;
use crate::environment::Stopwatch;
use crate::exit::Outcome;
use crate::output;
use crate::progress::ByteProgress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use store::{Options, Snapshot};
use xlog::{Depth, Error, FileKind, FormatVersion, Header, Mode, ORIGIN, Plan, PlanOptions, Recovered};

/// Fill a store from the newest snapshot in a directory and the logs behind it
///
/// First everything is read and all indexes are built in memory: it is said when that is done, and that the last row of each space was found through
/// each of its indexes. Then it is written into the store, which is there whole or not at all. DIR is not changed.
///
/// Damage, or rows missing between two files, is an error: nothing is loaded. --salvage takes what is whole and lists what is lost: bytes
/// of files, and numbers of rows. What a crash tore at the end of the last log was never whole, and is left out and said.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu store load /var/lib/tarantool/shop --into shop.store
  pneu store load snapshots --wal logs --into shop.store --salvage

Exit code 3: done, but something was lost.")]
pub(crate) struct Arguments {
    /// The directory with the snapshots
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The store, which is made
    #[arg(long, value_name = "STORE")]
    into: PathBuf,
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    wal: Option<PathBuf>,
    /// Take what is whole, and list what is lost
    #[arg(long)]
    salvage: bool,
}

/// Runs the command.
///
/// # Errors
/// There is nothing to load, it is damaged, or the store cannot be written.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    refuse_used(session, &arguments.into)?;
    let since = Stopwatch::start();
    let mode = if arguments.salvage { Mode::Salvage } else { Mode::Strict };
    let (plan, recovered) = recover(arguments, session, mode)?;
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
    let options =
        Options { holder: session.index.holder.clone(), seed: session.index.seed, ..Options::default() };
    let mut attachments = vec![(ORIGIN.to_owned(), origin(&plan, &recovered).text().into_bytes())];
    attachments.extend(xlog::lost_attachment(&lost));
    recovered.seal(&session.index.disk, &arguments.into, options, attachments)?;
    if !session.is_quiet {
        let (seconds, bytes) = (since.elapsed().as_secs_f64(), people(size(session, &arguments.into)));
        output.line(&format!("sealed   in {seconds:.3} s more: {bytes} in {}", arguments.into.display()))?;
    }
    output.finish()?;
    Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
}

/// Returns all that the store lacks, a line each.
fn lost_lines(plan: &Plan, recovered: &Recovered) -> Vec<String> {
    let lost = plan.lost.iter().map(ToString::to_string);
    let misfits = recovered.misfits.iter();
    let misfits = misfits.map(|misfit| format!("the row with LSN {}: {}", misfit.lsn, misfit.what));
    lost.chain(recovered.left_out.iter().cloned()).chain(misfits).collect()
}

/// Refuses a store that has rows, before anything is read.
fn refuse_used(session: &Session, directory: &Path) -> Result<()> {
    match Snapshot::open(&session.index.disk, directory) {
        Ok(snapshot) if snapshot.tables().iter().any(|table| table.row_count() > 0) => {
            bail!("{} holds rows already: name another directory", directory.display())
        }
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Recovers what the directory holds. If only reading the newest snapshot's rows shows that it is damaged, an older one may stand in.
fn recover(arguments: &Arguments, session: &Session, mode: Mode) -> Result<(Plan, Recovered)> {
    let disk = session.index.disk.as_ref();
    let mut options = PlanOptions { log_directory: arguments.wal.clone(), mode, ..PlanOptions::default() };
    if mode == Mode::Salvage {
        // What is whole has to be known before anything is loaded.
        let logs = arguments.wal.as_deref().unwrap_or(&arguments.directory);
        options.checked = Some(open::read_ahead(session, &arguments.directory, logs, "looking for damage")?);
    }
    let plan = xlog::plan(disk, &arguments.directory, &options)?;
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
    let plan = xlog::plan(disk, &arguments.directory, &options)?;
    let recovered = read(&plan, session, mode)?;
    Ok((plan, recovered))
}

fn read(plan: &Plan, session: &Session, mode: Mode) -> xlog::Result<Recovered> {
    let files = plan.snapshot.iter().chain(&plan.logs);
    let bytes = files.map(|file| file.bytes.len() as u64).sum();
    let progress = ByteProgress::start(session.stderr_is_terminal && !session.is_quiet, "reading", bytes);
    let recovered = xlog::recover(plan, mode, &|bytes| progress.advance(bytes as u64));
    progress.finish();
    recovered
}

/// Returns the header of a snapshot with the same rows, by which an export begins.
fn origin(plan: &Plan, recovered: &Recovered) -> Header {
    let first = plan.snapshot.iter().chain(&plan.logs).next();
    Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: xlog::PROGRAM.to_owned(),
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
