//! Recovers what a directory of Tarantool holds, for the commands that need its rows.
//!
//! Input: a directory, and the options that all these commands have. Output: the rows in memory, and what is
//! said of them. Does not know what becomes of the rows.

use crate::open;
use crate::position::position;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use tarantool::import::{Addition, EachTuple, import};
use tarantool::text::time_of_seconds;
use tarantool::{Depth, Error, Mode, Plan, PlanOptions, Recovered, VinylPlan};
use terminal::amount::count;
use terminal::output;

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecoveryOptions {
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    pub wal: Option<PathBuf>,
    /// Where the log and the runs of vinyl are, if not in DIR
    #[arg(long, value_name = "DIR")]
    pub vinyl_dir: Option<PathBuf>,
    /// End before this LSN or time; or after the rows of this VClock, such as "{1: 5}". A transaction counts
    /// if its last row does, and a synchronous one if it was confirmed by then
    #[arg(long, value_name = "POSITION")]
    pub until: Option<String>,
    /// Load what is sound, and list what is lost
    #[arg(long)]
    pub salvage: bool,
}

impl RecoveryOptions {
    /// Returns the first option that is given, as it is written.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--wal", self.wal.is_some()),
            ("--vinyl-dir", self.vinyl_dir.is_some()),
            ("--until", self.until.is_some()),
            ("--salvage", self.salvage),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// Returns what tells apart ways to read the same files.
    pub(crate) fn key(&self) -> String {
        format!("{:?} {:?}", self.mode(), self.until)
    }

    fn mode(&self) -> Mode {
        if self.salvage { Mode::Salvage } else { Mode::Strict }
    }
}

/// The rows of a directory.
pub(crate) struct Recovery {
    /// What was read.
    pub plan: Plan,
    /// The rows.
    pub recovered: Recovered,
}

/// Recovers what the directory holds. If only reading the newest snapshot's rows shows that it is damaged, an
/// older one may stand in.
///
/// # Errors
/// An option has no meaning; the directory cannot be recovered.
pub(crate) fn recover(session: &Session, directory: &Path, options: &RecoveryOptions) -> Result<Recovery> {
    recover_with(session, directory, options, &mut read)
}

/// Recovers what the directory holds, and adds rows to one of its spaces.
///
/// # Errors
/// As [`recover`]; the rows cannot be added.
pub(crate) fn recover_and_import(
    session: &Session,
    directory: &Path,
    options: &RecoveryOptions,
    (addition, each_tuple): (&Addition, &mut EachTuple),
) -> Result<Recovery> {
    recover_with(session, directory, options, &mut |plan: &Plan, session: &Session, mode: Mode| {
        import(plan, mode, (session.thread_count, &work::Silent), addition, each_tuple)
    })
}

/// Reads the rows of a plan.
type ReadPlan<'a> = dyn FnMut(&Plan, &Session, Mode) -> tarantool::Result<Recovered> + 'a;

fn recover_with(
    session: &Session,
    directory: &Path,
    options: &RecoveryOptions,
    read: &mut ReadPlan<'_>,
) -> Result<Recovery> {
    let disk = session.disk.as_ref();
    let mode = options.mode();
    let mut plan_options = PlanOptions {
        log_directory: options.wal.clone(),
        vinyl_directory: options.vinyl_dir.clone(),
        mode,
        until: position(options.until.as_deref())?,
        ..PlanOptions::default()
    };
    if mode == Mode::Salvage {
        // What is whole has to be known before anything is loaded.
        let logs = options.wal.as_deref().unwrap_or(directory);
        plan_options.checked = Some(open::read_ahead(session, directory, logs, "looking for damage")?);
    }
    let plan = tarantool::plan(disk, directory, &plan_options)?;
    let damaged = match read(&plan, session, mode) {
        Ok(recovered) => return Ok(Recovery { plan, recovered }),
        Err(error) => error,
    };
    let is_in_snapshot = matches!(&damaged, Error::Damage { path, .. }
        if plan.snapshot.as_ref().is_some_and(|snapshot| snapshot.path == *path));
    if !is_in_snapshot {
        return Err(damaged.into());
    }
    plan_options.depth = Depth::Rows;
    let plan = tarantool::plan(disk, directory, &plan_options)?;
    let recovered = read(&plan, session, mode)?;
    Ok(Recovery { plan, recovered })
}

/// Recovers a snapshot alone, whatever its name.
///
/// # Errors
/// An option has no meaning; the file is no snapshot, or cannot be recovered.
pub(crate) fn recover_snapshot(
    session: &Session,
    path: &Path,
    options: &RecoveryOptions,
) -> Result<Recovery> {
    if let Some(option) = options.given().filter(|option| *option != "--salvage") {
        bail!("{option} is for directories, and {} is a file", path.display());
    }
    let mode = options.mode();
    let plan_options = PlanOptions { mode, ..PlanOptions::default() };
    let plan = tarantool::plan_snapshot(session.disk.as_ref(), path, &plan_options)?;
    let recovered = read(&plan, session, mode)?;
    Ok(Recovery { plan, recovered })
}

fn read(plan: &Plan, session: &Session, mode: Mode) -> tarantool::Result<Recovered> {
    let files = plan.snapshot.iter().chain(&plan.logs);
    let bytes: u64 = files.map(|file| file.bytes.len() as u64).sum();
    let bytes = bytes + plan.vinyl.as_ref().map_or(0, VinylPlan::length_bytes);
    let progress = session.progress("reading", bytes);
    let recovered = tarantool::recover(plan, mode, session.thread_count, &progress);
    progress.finish();
    recovered
}

impl Recovery {
    /// Tells on standard error what is worth a remark and is not lost.
    pub(crate) fn tell_remarks(&self) {
        for torn in &self.plan.torn {
            output::complain(format!("{}; they are left out", open::torn_line(torn)));
        }
        self.plan.remarks.iter().chain(&self.recovered.remarks).for_each(output::complain);
    }

    /// Returns all that the rows lack, a line each.
    pub(crate) fn lost_lines(&self) -> Vec<String> {
        lost_lines(&self.plan, &self.recovered)
    }

    /// Returns which files were read, and how far their rows reach.
    pub(crate) fn read_line(&self) -> String {
        read_line(&self.plan, &self.recovered)
    }

    /// Returns the first row that is left out because it comes after the point in time.
    pub(crate) fn until_line(&self) -> Option<String> {
        let cut = self.plan.cut.as_ref()?;
        let time = time_of_seconds(cut.timestamp).unwrap_or_else(|| format!("@{}", cut.timestamp));
        let replica = if cut.replica == 0 { String::new() } else { format!(" of replica {}", cut.replica) };
        let row = format!("the transaction that ends with LSN {}{replica}, of {time}", cut.lsn);
        let name = cut.path.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("{row}, in {name}, and all after it are left out"))
    }
}

/// Returns all that recovered rows lack, a line each.
pub(crate) fn lost_lines(plan: &Plan, recovered: &Recovered) -> Vec<String> {
    let lost = plan.lost.iter().map(ToString::to_string);
    let rejected = recovered.rejected.iter();
    let rejected =
        rejected.map(|rejected_row| format!("the row with LSN {}: {}", rejected_row.lsn, rejected_row.what));
    lost.chain(recovered.left_out.iter().cloned()).chain(rejected).collect()
}

/// Returns which files were read, and how far their rows reach.
pub(crate) fn read_line(plan: &Plan, recovered: &Recovered) -> String {
    let snapshot = match &plan.snapshot {
        Some(file) => file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        None => "no snapshot".to_owned(),
    };
    let (rows, spaces) = (recovered.row_count(), recovered.tables.len());
    let logs = count(plan.logs.len() as u64, "log");
    let (rows, spaces) = (count(rows, "row"), count(spaces as u64, "space"));
    format!("{snapshot} and {logs}, up to {{{}}}: {rows} of {spaces}", recovered.vclock)
}
