//! `pneu-tarantool import`: adds rows of other programs to a space, and writes everything as a new snapshot.

use crate::incoming::{FileFormat, Incoming};
use crate::open::{self, Content};
use crate::recovery::{Recovery, RecoveryOptions, recover_and_import};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use printable::sanitise::one_line;
use std::path::PathBuf;
use tarantool::export::{Target, export, snapshot_header};
use tarantool::import::{Addition, NewSpace, OnConflict, TupleMaker};
use tarantool::space::Space;
use tarantool::{Error, Tuples};
use terminal::amount::count;
use terminal::command_line::Run;
use terminal::environment;
use terminal::exit::Outcome;
use terminal::output;

/// Add rows of JSON Lines, CSV or Parquet to a space, and write a snapshot
///
/// DIR is read like "pneu-tarantool load" reads it, in memory, and is not changed. The snapshot in --to has
/// all its spaces, and the rows of the files in SPACE. To use it, start Tarantool with memtx_dir and wal_dir
/// set to that directory.
///
/// Values take the types of the space's format; a row that does not fit is an error, with its line, and
/// nothing is written. Names in a file are those of fields. The ending of a file's name tells its format; -
/// is standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool import /var/lib/tarantool/shop orders more.csv --to new/
  pneu-tarantool import shop orders corrections.jsonl --replace --to new/
  pneu-tarantool import shop letters letters.parquet --create 'id unsigned, text string?' --to new/
  jq -c '.orders[]' all.json | pneu-tarantool import shop orders - --format jsonl --to new/

Exit code 3: done, but the snapshot lacks some rows of DIR (--salvage).")]
pub(crate) struct Arguments {
    /// A directory with Tarantool's files
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The name of the space
    #[arg(value_name = "SPACE")]
    space: String,
    /// The files with rows
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The directory for the snapshot. Created if it does not exist; must not hold files of Tarantool
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The format of all files
    #[arg(long, value_name = "FORMAT")]
    format: Option<FileFormat>,
    /// A row whose primary key is there already replaces the old one. Without this it is an error
    #[arg(long)]
    replace: bool,
    /// Another name for a column of the files. May be repeated
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<String>,
    /// Create the space, with these fields: names and types, separated by commas. A ? after a type lets the
    /// field be nil
    #[arg(long, value_name = "FIELDS")]
    create: Option<String>,
    /// The fields of the new space's primary key, separated by commas. Without it the first field
    #[arg(long, value_name = "FIELDS", requires = "create")]
    key: Option<String>,
    #[command(flatten)]
    recovery: RecoveryOptions,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        if open::content(session, &self.directory)? != Content::Tarantool {
            bail!("{} has no files of Tarantool", self.directory.display());
        }
        let renames = self.rename.iter().map(|pair| renamed(pair)).collect::<Result<Vec<_>>>()?;
        let files =
            self.files.iter().map(|path| Incoming::new(path, self.format)).collect::<Result<Vec<_>>>()?;
        let new_space = self.create.as_deref().map(|fields| NewSpace::parse(fields, self.key.as_deref()));
        let new_space = new_space.transpose().map_err(|what| anyhow!("--create: {what}"))?;
        if self.to.exists() && open::content(session, &self.to)? == Content::Tarantool {
            bail!("{} holds files of Tarantool already: name another directory", self.to.display());
        }
        let addition = Addition {
            space: &self.space,
            new_space: new_space.as_ref(),
            on_conflict: if self.replace { OnConflict::Replace } else { OnConflict::Refuse },
            seconds: now(),
        };
        let mut added = 0_u64;
        let recovery = {
            let progress = session.progress("adding rows", 0);
            let mut each = |space: &Space, put: &mut dyn FnMut(&[u8]) -> std::result::Result<(), String>| {
                let unsupported = |what| Error::Unsupported { path: self.directory.clone(), what };
                let mut maker = TupleMaker::new(space, &renames).map_err(unsupported)?;
                for file in &files {
                    file.each(&mut maker, &progress, &mut |tuple| {
                        added += 1;
                        put(tuple)
                    })?;
                }
                Ok(())
            };
            let recovery =
                recover_and_import(session, &self.directory, &self.recovery, (&addition, &mut each));
            progress.finish();
            recovery?
        };
        self.write(session, &recovery, added)
    }
}

impl Arguments {
    /// Writes the snapshot, and tells what was done.
    fn write(&self, session: &Session, recovery: &Recovery, added: u64) -> Result<Outcome> {
        recovery.tell_remarks();
        let lost = recovery.lost_lines();
        lost.iter().for_each(|line| output::complain(format!("lost: {line}")));
        let tuples = Tuples::in_memory(&recovery.recovered, &self.directory)?;
        let definitions = tuples.definitions()?;
        let header = snapshot_header(&recovery.plan, &recovery.recovered);
        // Not before: Tarantool would make a new database in an empty directory.
        session.disk.create_directory(&self.to)?;
        let progress = session.progress("writing rows", tuples.row_count());
        let target = Target { disk: &session.disk, directory: &self.to, seconds: now(), like: None };
        let exported = export(&tuples, &definitions, &header, target, &progress);
        progress.finish();
        let exported = exported?;
        exported.remarks.iter().for_each(output::complain);
        if !session.is_quiet {
            let mut output = session.output();
            let written = format!("{} in {}", count(exported.row_count, "row"), exported.path.display());
            output.line(&one_line(&format!("added    {} to {}", count(added, "row"), self.space)))?;
            output.line(&one_line(&format!("written  {written}")))?;
            output.finish()?;
        }
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

fn now() -> f64 {
    environment::clock_ns() as f64 / 1e9
}

fn renamed(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => bail!("--rename {pair}: OLD=NEW is expected"),
    }
}
