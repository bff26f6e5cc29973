//! `pneu-tarantool info`: shows what is in a file or directory of Tarantool, or in a store.

use crate::file_summary;
use crate::open::{self, Content};
use crate::remedy::explained;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use printable::sanitise::one_line;
use std::path::PathBuf;
use tarantool::space::{Space, Spaces};
use tarantool::table::{SpaceTable, table_name};
use tarantool::{FileKind, FileReport, OnDamage, PlanOptions, ReadPages, SnapshotFile, VinylPlan, uuid_text};
use terminal::amount::{count, people};
use terminal::command_line::Run;
use terminal::exit::Outcome;
use terminal::output::{Output, complain_why};

/// Show what is in a file or directory of Tarantool, or in a store
///
/// For a file: its header, its size when compressed and decompressed, its spaces with their rows and indexes,
/// and for each replica the first and last LSN and time, with gaps between LSNs. The whole file is read.
///
/// For a directory: each snapshot and log with its VClock, what a load would read, the indexes of vinyl with
/// their ranges and runs, and the spaces of the newest snapshot. For a store: its spaces, with rows and
/// indexes. Prints a line for everything that cannot be represented. Reads only the heads of blocks;
/// "pneu-tarantool verify" reads everything.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool info /var/lib/tarantool/shop
  pneu-tarantool info 00000000000000000118.xlog
  pneu-tarantool info /var/lib/tarantool/shop --format json | jq .rows
  pneu-tarantool info shop.store")]
pub(crate) struct Arguments {
    /// A file of Tarantool, a directory with such files, or a store
    #[arg(value_name = "FILE|DIR|STORE")]
    path: PathBuf,
    /// text is for people; json is an object for each file, all of which are read completely
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Form,
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    wal: Option<PathBuf>,
    /// Where the log and the runs of vinyl are, if not in DIR
    #[arg(long, value_name = "DIR")]
    vinyl_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let mut output = session.output();
        if !self.path.is_dir() {
            let form = if self.format == Form::Json { file_summary::json } else { file_summary::text };
            let outcome = form(session, &self.path, &mut output)?;
            output.finish()?;
            return Ok(outcome);
        }
        if self.format == Form::Json {
            let outcome = tell_files_in_json(self, session, &mut output)?;
            output.finish()?;
            return Ok(outcome);
        }
        let outcome = match open::content(session, &self.path)? {
            Content::Tarantool => tell_files(self, session, &mut output)?,
            Content::Store => {
                tell_store(self, session, &mut output)?;
                Outcome::Done
            }
        };
        output.finish()?;
        Ok(outcome)
    }
}

fn say(output: &mut Output, line: &str) -> Result<()> {
    output.line(&one_line(line))
}

/// Prints an object for each file of a directory. Reads all of them.
fn tell_files_in_json(arguments: &Arguments, session: &Session, output: &mut Output) -> Result<Outcome> {
    if open::content(session, &arguments.path)? == Content::Store {
        bail!(
            "{} is a store, of which there is no JSON: --format json is for Tarantool's files",
            arguments.path.display()
        );
    }
    let disk = session.disk.as_ref();
    let options = plan_options(arguments);
    let mut paths = Vec::new();
    tarantool::inspect(disk, &arguments.path, &options, |report| {
        paths.push(report.path);
        true
    })?;
    let mut outcome = Outcome::Done;
    for path in paths {
        match file_summary::json(session, &path, output) {
            Ok(Outcome::Done) => {}
            Ok(other) => outcome = other,
            Err(error) if error.is::<tarantool::Error>() => {
                complain_why(&error);
                outcome = Outcome::Partly;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}

fn plan_options(arguments: &Arguments) -> PlanOptions {
    PlanOptions {
        log_directory: arguments.wal.clone(),
        vinyl_directory: arguments.vinyl_dir.clone(),
        ..PlanOptions::default()
    }
}

fn tell_files(arguments: &Arguments, session: &Session, output: &mut Output) -> Result<Outcome> {
    let disk = session.disk.as_ref();
    let options = plan_options(arguments);
    let mut lines = Vec::new();
    tarantool::inspect(disk, &arguments.path, &options, |report| {
        lines.push(file_line(&report));
        true
    })?;
    for line in lines {
        say(output, &line)?;
    }
    let plan = match tarantool::plan(disk, &arguments.path, &options) {
        Ok(plan) => plan,
        Err(error) => {
            say(output, &format!("recovery   refused: {}", explained(&error)))?;
            return Ok(Outcome::Partly);
        }
    };
    let Some(snapshot) = &plan.snapshot else { return Ok(Outcome::Done) };
    if let Some(vinyl) = &plan.vinyl {
        tell_vinyl(vinyl, session, output)?;
    }
    say(output, &format!("instance   {}", uuid_text(&snapshot.header.instance)))?;
    let file_name = |path: &std::path::Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    say(
        output,
        &format!(
            "recovery   {} and {}, up to {{{}}}",
            file_name(&snapshot.path).unwrap_or_default(),
            count(plan.logs.len() as u64, "log"),
            plan.reached
        ),
    )?;
    let told = plan.torn.iter().map(open::torn_line);
    for line in plan.remarks.iter().cloned().chain(told) {
        say(output, &format!("remark     {line}"))?;
    }
    let blocks: Vec<tarantool::BlockPlace> = snapshot.blocks().collect();
    let file = SnapshotFile { path: &snapshot.path, bytes: &snapshot.bytes, blocks: &blocks };
    tell_spaces(&tarantool::read_spaces(file, OnDamage::Refuse)?, output, |_| None)?;
    Ok(Outcome::Done)
}

/// Says what the files of vinyl hold, index by index.
fn tell_vinyl(vinyl: &VinylPlan, session: &Session, output: &mut Output) -> Result<()> {
    let Some((log, length_bytes)) = vinyl.log() else { return Ok(()) };
    let name = log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    say(output, &format!("vinyl      {name}  {}", people(length_bytes)))?;
    for report in vinyl.reports(session.disk.as_ref(), ReadPages::No) {
        let place = format!("vinyl      space {}, index {}", report.space, report.index);
        if report.is_dropped {
            say(output, &format!("{place}: dropped"))?;
            continue;
        }
        say(
            output,
            &format!(
                "{place}: {}, {}, {}, {} up to {}, {}",
                count(report.range_count, "range"),
                count(report.run_count, "run"),
                count(report.page_count, "page"),
                count(report.row_count, "row"),
                report.dump_lsn,
                people(report.length_bytes)
            ),
        )?;
        for line in &report.damage {
            say(output, &format!("remark     {line}"))?;
        }
    }
    Ok(())
}

/// Returns what is said of a file.
fn file_line(report: &FileReport) -> String {
    let name = report.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let what = match report.kind {
        FileKind::Snapshot => "snapshot",
        _ => "log     ",
    };
    let header = match &report.header {
        Ok(header) => header,
        Err(error) => return format!("{what}   {error}"),
    };
    let size = people(report.length_bytes);
    let end = if report.is_closed { "" } else { ", not closed" };
    let damage: String =
        report.damage.iter().map(|lost| format!(", at byte {}: {}", lost.bytes.start, lost.what)).collect();
    format!(
        "{what}   {name}  {{{}}}  {size}, {}, by {}{end}{damage}",
        header.vclock,
        count(report.block_count, "block"),
        header.program
    )
}

fn tell_store(arguments: &Arguments, session: &Session, output: &mut Output) -> Result<()> {
    let snapshot = open::open_store(session, &arguments.path)?;
    let spaces = tarantool::stored_spaces(&snapshot)?;
    if let Some(header) = tarantool::stored_header(&snapshot)? {
        say(output, &format!("instance   {}", uuid_text(&header.instance)))?;
        say(output, &format!("reaches    {{{}}}", header.vclock))?;
    }
    for line in tarantool::stored_lost(&snapshot) {
        say(output, &format!("lost       {line}"))?;
    }
    tell_spaces(&spaces, output, |space| {
        let table = snapshot.table(&table_name(space.id)).ok()?;
        let segments = snapshot.segment_count(&table_name(space.id)).ok()?;
        Some(format!(", {} in {}", count(table.row_count(), "row"), count(segments as u64, "segment")))
    })?;
    for id in spaces.ids() {
        let Ok(Some(space)) = spaces.get(id) else { continue };
        // Of a space without a table there is nothing to say.
        if let Err(error @ tarantool::Error::Unsupported { .. }) =
            tarantool::stored_table(&snapshot, &SpaceTable::new(&space))
        {
            say(output, &format!("remark     {error}"))?;
        }
    }
    Ok(())
}

/// Says what each space looks like, the system's own last and in one line.
fn tell_spaces(spaces: &Spaces, output: &mut Output, more: impl Fn(&Space) -> Option<String>) -> Result<()> {
    let mut system_count = 0;
    for id in spaces.ids() {
        let space =
            spaces.get(id).map_err(|damage| anyhow!("space {id} has no definition: {}", damage.what))?;
        let Some(space) = space else { continue };
        if id <= tarantool::space::SPACE_SYSTEM_MAX {
            system_count += 1;
            continue;
        }
        let table = SpaceTable::new(&space);
        let indexes: Vec<&str> = table.indexes.iter().map(|index| index.name.as_str()).collect();
        let more = more(&space).unwrap_or_default();
        say(
            output,
            &format!("space      {} {}: indexes {}{more}", space.id, space.name, indexes.join(", ")),
        )?;
        for remark in &table.remarks {
            say(output, &format!("remark     {remark}"))?;
        }
    }
    say(output, &format!("spaces     {system_count} of the system besides"))
}
