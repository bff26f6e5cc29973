//! `pneu-tarantool export`: writes a store or a directory as a snapshot that Tarantool loads, or its spaces
//! in other formats.

use crate::open::{self, Content};
use crate::recovery::{RecoveryOptions, recover};
use crate::session::Session;
use crate::tables::{self, Format, Request};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use printable::sanitise::one_line;
use std::path::PathBuf;
use store::Snapshot;
use tarantool::export::{Exported, Target, export, snapshot_header};
use tarantool::text::JsonStyle;
use tarantool::{Header, Tuples};
use terminal::amount::count;
use terminal::command_line::Run;
use terminal::environment;
use terminal::exit::Outcome;
use terminal::output;

/// Write a store or a directory as a snapshot for Tarantool, or in other formats
///
/// A directory is read like "pneu-tarantool load" reads it, in memory, also up to an earlier point (--until).
/// It is not changed.
///
/// The target directory is created if it does not exist. It must not hold files of Tarantool. To use the
/// snapshot, start Tarantool with memtx_dir and wal_dir set to the directory.
///
/// --format jsonl, csv, parquet and arrow write a file for each space into the directory --to; sqlite writes
/// one database, the file --to. Fields have the names of the format of their space; a field without one has
/// its number, from 1. Values that the format cannot hold are reported. Files appear when they are complete;
/// none is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool export shop.store --to new/
  pneu-tarantool export /var/lib/tarantool/shop --until 2024-03-01T12:00 --to noon/
  pneu-tarantool export shop.store --format csv --space orders --rename id=number --to tables/
  pneu-tarantool export /var/lib/tarantool/shop --format sqlite --to shop.sqlite

Exit code 3: done, but the output lacks some rows of the files it was made of.")]
pub(crate) struct Arguments {
    /// A directory with Tarantool's files, or a store made by "pneu-tarantool load"
    #[arg(value_name = "DIR|STORE")]
    source: PathBuf,
    /// The directory for the snapshot or the files; for sqlite, the file
    #[arg(long, value_name = "DIR|FILE")]
    to: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT", default_value = "snapshot")]
    format: Form,
    /// Only this space. May be repeated. Without it, all but Tarantool's own. Not for snapshots
    #[arg(long, value_name = "NAME|ID")]
    space: Vec<String>,
    /// Another name for a field. May be repeated. Not for snapshots
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<String>,
    /// In JSON, mark decimals, UUIDs, times and bytes, so that the same values can be made of it
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    recovery: RecoveryOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Snapshot,
    Jsonl,
    Csv,
    Parquet,
    Arrow,
    Sqlite,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.exact && self.format != Form::Jsonl {
            bail!("--exact is for --format jsonl");
        }
        if self.format == Form::Snapshot && !(self.space.is_empty() && self.rename.is_empty()) {
            bail!("a snapshot has all spaces as they are: --space and --rename are for other formats");
        }
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
        let format = self.table_format();
        if format.is_none() {
            self.refuse_used(session)?;
        }
        let recovery = recover(session, &self.source, &self.recovery)?;
        recovery.tell_remarks();
        let lost = recovery.lost_lines();
        lost.iter().for_each(|line| output::complain(format!("lost: {line}")));
        let tuples = Tuples::in_memory(&recovery.recovered, &self.source)?;
        let written = match format {
            Some(format) => self.write_tables(session, &tuples, format)?,
            None => {
                let header = snapshot_header(&recovery.plan, &recovery.recovered);
                vec![written(&self.write(session, &tuples, &header)?)]
            }
        };
        if !session.is_quiet {
            let mut output = session.output();
            output.line(&one_line(&format!("read     {}", recovery.read_line())))?;
            if let Some(line) = recovery.until_line() {
                output.line(&one_line(&format!("until    {line}")))?;
            }
            for line in written {
                output.line(&one_line(&format!("written  {line}")))?;
            }
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
        let tuples = Tuples::of_store(&snapshot)?;
        let written = match self.table_format() {
            Some(format) => self.write_tables(session, &tuples, format)?,
            None => vec![self.write_store(session, &snapshot, &tuples)?],
        };
        let lost = tarantool::stored_lost(&snapshot);
        lost.iter()
            .for_each(|line| output::complain(format!("the output lacks what the store lacks: {line}")));
        if !session.is_quiet {
            let mut output = session.output();
            for line in written {
                output.line(&one_line(&line))?;
            }
            output.finish()?;
        }
        Ok(lost)
    }

    /// Writes a store as a snapshot. Returns what is said of it.
    fn write_store(&self, session: &Session, snapshot: &Snapshot, tuples: &Tuples) -> Result<String> {
        let header = tarantool::stored_header(snapshot)?;
        let header = header.ok_or_else(|| {
            anyhow!("{} was not made of Tarantool's files: it names no instance", self.source.display())
        })?;
        self.refuse_used(session)?;
        Ok(written(&self.write(session, tuples, &header)?))
    }

    /// Returns the format, if it is not that of Tarantool.
    fn table_format(&self) -> Option<Format> {
        match self.format {
            Form::Snapshot => None,
            Form::Jsonl if self.exact => Some(Format::JsonLines(JsonStyle::Exact)),
            Form::Jsonl => Some(Format::JsonLines(JsonStyle::Readable)),
            Form::Csv => Some(Format::Csv),
            Form::Parquet => Some(Format::Columns(columnar::Format::Parquet)),
            Form::Arrow => Some(Format::Columns(columnar::Format::Arrow)),
            Form::Sqlite => Some(Format::Sqlite),
        }
    }

    /// Writes spaces in another format. Returns what is said of each.
    fn write_tables(&self, session: &Session, tuples: &Tuples, format: Format) -> Result<Vec<String>> {
        let request = Request { format, spaces: &self.space, renames: &self.rename, to: &self.to };
        let outcome = tables::write(session, tuples, &request)?;
        outcome.remarks.iter().for_each(output::complain);
        let line = |space: &tables::Written| {
            format!("{} of {} in {}", count(space.row_count, "row"), space.name, space.path.display())
        };
        Ok(outcome.written.iter().map(line).collect())
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
        let target = Target { disk: &session.disk, directory: &self.to, seconds, like: None };
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
