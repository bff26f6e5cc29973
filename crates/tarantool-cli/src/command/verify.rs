//! `pneu-tarantool verify`: reads everything and reports damage.

use crate::open::{self, Content};
use crate::remedy::explained;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use printable::sanitise::one_line;
use std::path::PathBuf;
use tarantool::{CutReport, Depth, FileReport, PlanOptions, ReadPages};
use terminal::command_line::Run;
use terminal::exit::Outcome;
use terminal::output::{self, Output, said_of};

/// Read everything in a directory of Tarantool, or in a store, and report damage
///
/// For a directory: checks every checksum and row of each snapshot and log, and of the runs of vinyl that the
/// newest snapshot needs, and whether rows are missing between files. For a store: checks every checksum, key
/// and index. Writes nothing unless --cut is given.
///
/// A crash can tear the end of the last log. The torn bytes hold no whole transaction. A load skips them;
/// Tarantool itself may refuse the log. --cut removes them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool verify /var/lib/tarantool/shop
  pneu-tarantool verify shop.store
  pneu-tarantool verify --cut /var/lib/tarantool/shop")]
pub(crate) struct Arguments {
    /// A directory with Tarantool's files, or a store
    #[arg(value_name = "DIR|STORE")]
    directory: PathBuf,
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    wal: Option<PathBuf>,
    /// Where the log and the runs of vinyl are, if not in DIR
    #[arg(long, value_name = "DIR")]
    vinyl_dir: Option<PathBuf>,
    /// Cut off the torn end of the last log. Refused while Tarantool runs there
    #[arg(long)]
    cut: bool,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let mut output = session.output();
        let is_whole = match open::content(session, &self.directory)? {
            Content::Tarantool => verify_files(self, session, &mut output)?,
            Content::Store => verify_store(self, session, &mut output)?,
        };
        if is_whole && !session.is_quiet {
            output.line("no damage found")?;
        }
        output.finish()?;
        Ok(if is_whole { Outcome::Done } else { Outcome::Damaged })
    }
}

fn verify_store(arguments: &Arguments, session: &Session, output: &mut Output) -> Result<bool> {
    let snapshot = open::open_store(session, &arguments.directory)?;
    let damage = store::verify(&snapshot);
    for damage in &damage {
        output.line(&one_line(&said_of(&damage.file.display().to_string(), &damage.what)))?;
    }
    Ok(damage.is_empty())
}

fn verify_files(arguments: &Arguments, session: &Session, output: &mut Output) -> Result<bool> {
    let disk = session.disk.as_ref();
    let logs = arguments.wal.as_deref().unwrap_or(&arguments.directory);
    let _alone = if arguments.cut { Some(open::lock_directory(logs)?) } else { None };
    let mut lines = Vec::new();
    let options = PlanOptions {
        log_directory: arguments.wal.clone(),
        vinyl_directory: arguments.vinyl_dir.clone(),
        depth: Depth::Rows,
        checked: Some(open::read_ahead(session, &arguments.directory, logs, "verifying")?),
        ..PlanOptions::default()
    };
    let plan = tarantool::plan(disk, &arguments.directory, &options);
    // The torn end of the last log is reported separately, with what can be done about it.
    let torn = plan.as_ref().map(|plan| plan.torn.clone()).unwrap_or_default();
    tarantool::inspect(disk, &arguments.directory, &options, |report| {
        if !torn.iter().any(|torn| torn.path == report.path) {
            lines.extend(damage_lines(&report));
        }
        true
    })?;
    let mut is_whole = lines.is_empty();
    for line in lines {
        output.line(&one_line(&line))?;
    }
    match &plan {
        Err(error) => {
            output.line(&one_line(&format!("a load is refused: {}", explained(error))))?;
            is_whole = false;
        }
        Ok(plan) => {
            for line in
                plan.remarks.iter().chain(&plan.lost.iter().map(ToString::to_string).collect::<Vec<_>>())
            {
                output.line(&one_line(line))?;
            }
            is_whole &= plan.lost.is_empty();
            is_whole &= vinyl_is_whole(session, plan, output)?;
            is_whole &= torn_ends(arguments, session, plan, output)?;
        }
    }
    Ok(is_whole)
}

/// Reports damage of vinyl's runs. Returns whether there is none.
fn vinyl_is_whole(session: &Session, plan: &tarantool::Plan, output: &mut Output) -> Result<bool> {
    let Some(vinyl) = &plan.vinyl else { return Ok(true) };
    let mut is_whole = true;
    for report in vinyl.reports(session.disk.as_ref(), ReadPages::Yes) {
        for line in &report.damage {
            output.line(&one_line(line))?;
        }
        is_whole &= report.damage.is_empty();
    }
    Ok(is_whole)
}

/// Reports torn ends, and cuts them with `--cut`. Returns whether none is left.
fn torn_ends(
    arguments: &Arguments,
    session: &Session,
    plan: &tarantool::Plan,
    output: &mut Output,
) -> Result<bool> {
    if !arguments.cut {
        for torn in &plan.torn {
            output.line(&one_line(&open::torn_line(torn)))?;
        }
        if plan.torn.iter().any(|torn| !torn.was_closed) {
            output::complain("a load leaves these bytes out; \"pneu-tarantool verify --cut\" cuts them off");
        }
        return Ok(plan.torn.is_empty());
    }
    let mut is_cut = true;
    for report in tarantool::cut_torn_tail(session.disk.as_ref(), plan)? {
        is_cut &= !matches!(report, CutReport::Kept(_));
        let line = match report {
            CutReport::Cut(torn) => format!("{}; cut off", open::torn_line(&torn)),
            CutReport::Removed(torn) => format!("{}; removed", open::torn_line(&torn)),
            CutReport::Kept(torn) => {
                format!("{}; not cut off: the file was closed after them", open::torn_line(&torn))
            }
        };
        output.line(&one_line(&line))?;
    }
    Ok(is_cut)
}

/// Returns what is wrong in a file, a line each.
fn damage_lines(report: &FileReport) -> Vec<String> {
    match &report.header {
        Err(error) => vec![error.to_string()],
        Ok(_) => report.damage.iter().map(ToString::to_string).collect(),
    }
}
