//! Plans a recovery: which files are read, in which order, and their faults.
//!
//! Input: the files of a directory. Output: a [`Plan`], or the reason why there is none. Writes nothing, and
//! does not know what rows do.
//!
//! A plan has the newest sound snapshot and every log after it. Nothing may be missing between them: the end
//! of each file is compared with the beginning of the next. Only the last log may end with damage, where a
//! crash tore a write.
//!
//! A plan that ends at a point in time (`until`, `view`) is made of the files as if they ended there.

mod candidate;
mod cut;
mod lesser;
mod logs;
mod options;
mod planned;
mod single;
mod snapshot;
mod until;
mod view;

use crate::check::loss::Loss;
use crate::check::scan::Depth;
use crate::error::{Error, Result};
use crate::file::directory::{self, Named};
use crate::file::header::FileKind;
use crate::vinyl;
use candidate::{Log, open_all};
use disk::Disk;
use lesser::loses_less;
use snapshot::{Chosen, choose};
use std::path::Path;
use view::view;

pub use cut::{CutReport, cut_torn_tail};
pub use options::{Mode, PlanOptions};
pub use planned::{Plan, PlannedFile, Torn};
pub use single::plan_snapshot;
pub use until::Cut;

/// Makes a plan of the files in `directory`.
///
/// # Errors
/// Disk errors; no files, or no snapshot; damage and gaps, unless they are to be listed.
pub fn plan(disk: &dyn Disk, directory: &Path, options: &PlanOptions) -> Result<Plan> {
    let log_directory = options.log_directory.as_deref().unwrap_or(directory);
    let snapshots = directory::list(disk, directory, FileKind::Snapshot)?;
    let logs = directory::list(disk, log_directory, FileKind::Log)?;
    let mut options = options.clone();
    if options.mode == Mode::Salvage {
        options.depth = Depth::Rows;
    }
    let has_files = !(snapshots.is_empty() && logs.is_empty());
    let opened = open_all(disk, &logs)?;
    let until = options.until.clone().filter(|_| has_files);
    let files = Files { disk, directory, log_directory, log_count: logs.len(), has_files };
    let mut plan = match until {
        None => plan_of(files, &snapshots, &opened, &options, None)?,
        Some(until) => {
            let view = view(disk, directory, &until, snapshots, opened)?;
            let plan = plan_of(files, &view.snapshots, &view.logs, &options, view.cut_log())?;
            view.finish(plan)
        }
    };
    if let Some(snapshot) = &plan.snapshot {
        let signature = snapshot.header.vclock.signature();
        let directory = options.vinyl_directory.as_deref().unwrap_or(directory);
        plan.vinyl = Some(vinyl::plan(disk, directory, signature, plan.ends_at_point, options.mode)?);
    }
    Ok(plan)
}

/// Where files are, and whether there are any.
#[derive(Clone, Copy)]
struct Files<'a> {
    disk: &'a dyn Disk,
    directory: &'a Path,
    log_directory: &'a Path,
    log_count: usize,
    has_files: bool,
}

/// Makes a plan of these files. `cut_log` ends at a point in time.
fn plan_of(
    files: Files,
    snapshots: &[Named],
    logs: &[Log],
    options: &PlanOptions,
    cut_log: Option<&Path>,
) -> Result<Plan> {
    let chosen = choose(files.disk, snapshots, logs, options)?;
    if chosen.newest.is_none() && (options.mode == Mode::Strict || !files.has_files) {
        return Err(no_snapshot(files, chosen.refused.into_iter().next()));
    }
    // If the newest snapshot is damaged, an older one and the logs since then have the same rows, provided
    // that they reach as far.
    if let (Some(whole), Some(damaged)) = (&chosen.whole, chosen.refused_signature) {
        let deep = PlanOptions { mode: Mode::Strict, depth: Depth::Rows, ..options.clone() };
        if let Ok(mut plan) = logs::plan(Some(whole.clone()), logs, &deep, cut_log)
            && plan.reached.signature() >= damaged
        {
            let told = chosen.refused.iter().map(ToString::to_string);
            plan.remarks.extend(
                told.map(|told| format!("{told}; an older snapshot and the logs since hold the same")),
            );
            return Ok(plan);
        }
    }
    if options.mode == Mode::Strict {
        return match chosen.refused.into_iter().next() {
            Some(error) => Err(error),
            None => logs::plan(chosen.newest, logs, options, cut_log),
        };
    }
    salvaged(files, chosen, logs, options, cut_log)
}

/// Makes the plan with the snapshot that loses less: the newest one, or an older sound one.
fn salvaged(
    files: Files,
    chosen: Chosen,
    logs: &[Log],
    options: &PlanOptions,
    cut_log: Option<&Path>,
) -> Result<Plan> {
    let has_snapshot = chosen.newest.is_some();
    let mut plan = logs::plan(chosen.newest, logs, options, cut_log)?;
    if !has_snapshot {
        let what = "there is no snapshot: all that was in it".to_owned();
        plan.lost.insert(0, Loss::file(files.directory, FileKind::Snapshot, 0, what));
    }
    if let (Some(whole), Some(damaged)) = (chosen.whole, chosen.refused_signature) {
        let mut older = logs::plan(Some(whole), logs, options, cut_log)?;
        if loses_less(&older, &plan, damaged) {
            let told = chosen.refused.iter();
            let told = told.map(|told| format!("{told}; an older snapshot and the logs since lose less"));
            older.remarks.extend(told);
            return Ok(older);
        }
    }
    Ok(plan)
}

fn no_snapshot(files: Files, refused: Option<Error>) -> Error {
    let Files { directory, log_directory, log_count, .. } = files;
    let what = match log_count {
        0 if directory == log_directory => "holds no snapshot and no log of Tarantool".to_owned(),
        0 => format!("holds no snapshot of Tarantool, and {} no log", log_directory.display()),
        count => {
            let what = format!(
                "holds no snapshot, but {count} logs need one; put the \
                 snapshot back"
            );
            return refused.unwrap_or(Error::Refused { path: directory.to_owned(), what });
        }
    };
    refused.unwrap_or(Error::Unsupported { path: directory.to_owned(), what })
}
