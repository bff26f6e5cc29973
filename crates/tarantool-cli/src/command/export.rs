//! `pneu-tarantool export`: writes a store or a directory as a snapshot that Tarantool loads.

use crate::open::{self, Content};
use crate::recovery::{RecoveryOptions, recover};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use printable::sanitise::one_line;
use std::path::PathBuf;
use tarantool::export::{Exported, Target, export};
use tarantool::{Header, Tuples};
use terminal::amount::count;
use terminal::command_line::Run;
use terminal::environment;
use terminal::exit::Outcome;
use terminal::output;

/// Write a store, or a directory of Tarantool, as a snapshot that Tarantool loads
///
/// A directory is read like "pneu-tarantool load" reads it, in memory, also up to an earlier point (--until).
/// It is not changed.
///
/// The target directory is created if it does not exist. It must not hold files of Tarantool. To use the
/// snapshot, start Tarantool with memtx_dir and wal_dir set to the directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool export shop.store --to new/
  pneu-tarantool export /var/lib/tarantool/shop --until 2024-03-01T12:00 --to noon/

Exit code 3: done, but the snapshot lacks some rows of the files it was made of.")]
pub(crate) struct Arguments {
    /// A directory with Tarantool's files, or a store made by "pneu-tarantool load"
    #[arg(value_name = "DIR|STORE")]
    source: PathBuf,
    /// The directory for the snapshot
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    recovery: RecoveryOptions,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let lost = match self.source.is_dir().then(|| open::content(session, &self.source)).transpose()? {
            Some(Content::Tarantool) => self.of_directory(session)?,
            _ => self.of_store(session)?,
        };
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

impl Arguments {
    /// Exports a directory. Returns what the snapshot lacks.
    fn of_directory(&self, session: &Session) -> Result<Vec<String>> {
        self.refuse_used(session)?;
        let recovery = recover(session, &self.source, &self.recovery)?;
        recovery.tell_remarks();
        let lost = recovery.lost_lines();
        lost.iter().for_each(|line| output::complain(format!("lost: {line}")));
        let tuples = Tuples::in_memory(&recovery.recovered, &self.source)?;
        let exported = self.write(session, &tuples, &recovery.origin())?;
        if !session.is_quiet {
            let mut output = session.output();
            output.line(&one_line(&format!("read     {}", recovery.read_line())))?;
            if let Some(line) = recovery.until_line() {
                output.line(&one_line(&format!("until    {line}")))?;
            }
            output.line(&one_line(&format!("written  {}", written(&exported))))?;
            output.finish()?;
        }
        Ok(lost)
    }

    /// Exports a store. Returns what the snapshot lacks.
    fn of_store(&self, session: &Session) -> Result<Vec<String>> {
        if let Some(option) = self.recovery.given() {
            bail!(
                "{option} is for a directory with Tarantool's files, and {} is a store",
                self.source.display()
            );
        }
        let snapshot = open::open_store(session, &self.source)?;
        let header = tarantool::stored_header(&snapshot)?;
        let header = header.ok_or_else(|| {
            anyhow!("{} was not made of Tarantool's files: it names no instance", self.source.display())
        })?;
        self.refuse_used(session)?;
        let exported = self.write(session, &Tuples::of_store(&snapshot)?, &header)?;
        let lost = tarantool::stored_lost(&snapshot);
        lost.iter()
            .for_each(|line| output::complain(format!("the snapshot lacks what the store lacks: {line}")));
        if !session.is_quiet {
            let mut output = session.output();
            output.line(&written(&exported))?;
            output.finish()?;
        }
        Ok(lost)
    }

    /// Refuses a target with files of Tarantool, before anything is read.
    fn refuse_used(&self, session: &Session) -> Result<()> {
        session.disk.create_directory(&self.to)?;
        if open::content(session, &self.to)? == Content::Tarantool {
            bail!("{} holds files of Tarantool already: name another directory", self.to.display());
        }
        Ok(())
    }

    fn write(&self, session: &Session, tuples: &Tuples, header: &Header) -> Result<Exported> {
        let definitions = tuples.definitions()?;
        let progress = session.progress("writing rows", tuples.row_count());
        let seconds = environment::clock_ns() as f64 / 1e9;
        let target = Target { disk: &session.disk, directory: &self.to, seconds };
        let exported = export(tuples, &definitions, header, target, &progress);
        progress.finish();
        let exported = exported?;
        exported.remarks.iter().for_each(output::complain);
        Ok(exported)
    }
}

fn written(exported: &Exported) -> String {
    format!("{} in {}", count(exported.row_count, "row"), exported.path.display())
}
