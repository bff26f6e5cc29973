//! Repairs a directory, so that Tarantool starts from it.
//!
//! Input: a directory. Output: first what is wrong, what would be done and what is lost; then, on request,
//! the repaired files. Does not ask anybody.
//!
//! If only the end of the last log is torn, it is cut off. If a snapshot is damaged, but an older one and the
//! logs have the same rows, it is set aside. Else the sound rows are written as a new snapshot, and all files
//! that Tarantool would look at instead are set aside: they get another name in the same directory. So are
//! old files whose headers Tarantool refuses. No byte of damage is thrown away, except a torn end and what a
//! log without any row has.
//!
//! The new snapshot appears whole before anything else changes. Until all files are set aside, Tarantool
//! refuses the directory as before, or starts from the new snapshot; repairing again gives the same rows.

use crate::check::scan::Depth;
use crate::error::{Error, Result};
use crate::export::{Exported, Target, export, snapshot_header};
use crate::file::header::FileKind;
use crate::inspect::{FileReport, inspect};
use crate::own_spaces;
use crate::plan::{Mode, Plan, PlanOptions, Torn, cut_torn_tail, plan};
use crate::recover::{Recovered, recover};
use crate::space::Engine;
use crate::tuples::Tuples;
use disk::Disk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Progress;

/// How the names of files end that were set aside.
pub const SET_ASIDE: &str = "damaged";

/// A change of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The torn end of a log is cut off.
    Cut(Torn),
    /// A log without any content is removed.
    Remove(Torn),
    /// A damaged file is copied under another name, because a new one takes its own.
    Keep {
        /// The file.
        path: PathBuf,
        /// Its copy.
        copy: PathBuf,
    },
    /// A snapshot with all sound rows is written.
    Write {
        /// Its path.
        path: PathBuf,
    },
    /// A file gets another name.
    SetAside {
        /// The file.
        path: PathBuf,
        /// Its new name.
        aside: PathBuf,
    },
}

/// What is wrong in a directory, and how it is repaired.
pub struct Repair {
    /// The directory of the snapshots.
    pub directory: PathBuf,
    /// What was read.
    pub plan: Plan,
    /// The rows that stay.
    pub recovered: Recovered,
    /// Why Tarantool or a load refuses the directory, if it does.
    pub refused: Option<Error>,
    /// What is changed in the directory, in this order. Empty if nothing is wrong.
    pub steps: Vec<Step>,
    /// Whether a space is kept by vinyl, whose rows are in files of their own.
    pub has_vinyl: bool,
}

/// Finds out what is wrong in `directory`, and how it is repaired. Reads everything, and loads it in memory
/// on `thread_count` threads. The mode, depth and end in `options` are not used.
///
/// # Errors
/// Disk errors; the directory has no snapshot of which anything is left, or a new one would lack what
/// Tarantool does not start without.
pub fn examine(
    disk: &dyn Disk,
    directory: &Path,
    options: &PlanOptions,
    thread_count: usize,
    progress: &dyn Progress,
) -> Result<Repair> {
    let read = |mode| {
        let options = PlanOptions { mode, depth: Depth::Rows, until: None, ..options.clone() };
        let plan = plan(disk, directory, &options)?;
        let recovered = recover(&plan, mode, thread_count, progress)?;
        Ok((plan, recovered))
    };
    let (refused, (plan, recovered)) = match read(Mode::Strict) {
        Ok((plan, recovered)) if plan.lost.is_empty() => (None, (plan, recovered)),
        Ok(_) => (None, read(Mode::Salvage)?),
        Err(error @ (Error::Store(_) | Error::Disk(_) | Error::Cancelled)) => return Err(error),
        Err(error) => (Some(error), read(Mode::Salvage)?),
    };
    let is_rewritten = refused.is_some() || !plan.lost.is_empty();
    let definitions = Tuples::in_memory(&recovered, directory)?.definitions()?;
    let mut has_vinyl = false;
    for id in definitions.ids() {
        let space = definitions.get(id).map_err(|damage| damage.in_file(directory, 0))?;
        has_vinyl |= space.is_some_and(|space| space.engine == Engine::Vinyl);
    }
    let mut repair =
        Repair { directory: directory.to_owned(), plan, recovered, refused, steps: Vec::new(), has_vinyl };
    let reports = reports(disk, directory, options)?;
    let mut names = Names::new(disk, directory, options)?;
    repair.steps = if is_rewritten {
        repair.check_startable()?;
        repair.steps_of_new_snapshot(&reports, &mut names)
    } else {
        repair.steps_of_torn_end(&reports, &mut names)
    };
    let remarks = repair.remarks_of_old(&reports);
    repair.plan.remarks.extend(remarks);
    Ok(repair)
}

/// What is known of each file.
fn reports(disk: &dyn Disk, directory: &Path, options: &PlanOptions) -> Result<Vec<FileReport>> {
    let mut reports = Vec::new();
    let options = PlanOptions { depth: Depth::Rows, ..options.clone() };
    inspect(disk, directory, &options, |report| {
        reports.push(report);
        true
    })?;
    Ok(reports)
}

fn is_damaged(report: &FileReport) -> bool {
    let is_cut_off = report.kind == FileKind::Snapshot && !report.is_closed;
    report.header.is_err() || !report.damage.is_empty() || is_cut_off
}

impl Repair {
    /// Returns whether there is nothing to repair.
    pub fn is_sound(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns whether a new snapshot is written.
    pub fn is_rewritten(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Write { .. }))
    }

    /// Checks that Tarantool would start from a snapshot with the rows that stay.
    ///
    /// # Errors
    /// There is no snapshot, or the rows lack Tarantool's own spaces, or its instance in them.
    pub fn check_startable(&self) -> Result<()> {
        let unsupported = |what| Error::Unsupported { path: self.directory.clone(), what };
        let Some(snapshot) = &self.plan.snapshot else {
            return Err(unsupported(
                "holds no snapshot of which anything is left, and Tarantool does not start without its own \
                 spaces; put a snapshot back"
                    .to_owned(),
            ));
        };
        let tuples = Tuples::in_memory(&self.recovered, &self.directory)?;
        match own_spaces::missing(&tuples, snapshot.header.instance)? {
            None => Ok(()),
            Some(missing) => Err(unsupported(format!(
                "{missing}, and Tarantool does not start without its own spaces; put a snapshot back"
            ))),
        }
    }

    fn steps_of_torn_end(&self, reports: &[FileReport], names: &mut Names) -> Vec<Step> {
        let torn = self.plan.torn.iter().map(|torn| match torn.keep_bytes {
            0 => Step::Remove(torn.clone()),
            _ => Step::Cut(torn.clone()),
        });
        let mut steps: Vec<Step> = torn.collect();
        let newer = self.newer_snapshots(reports).filter(|report| is_damaged(report));
        let aside = newer.chain(reports.iter().filter(|report| self.is_refused(report)));
        let aside: BTreeSet<&Path> = aside.map(|report| report.path.as_path()).collect();
        steps.extend(aside.into_iter().map(|path| names.set_aside(path)));
        steps
    }

    /// Returns the snapshots that are newer than the one that was used.
    fn newer_snapshots<'a>(&self, reports: &'a [FileReport]) -> impl Iterator<Item = &'a FileReport> {
        let used = self.plan.snapshot.as_ref().map(|file| file.path.clone());
        let snapshots = reports.iter().filter(|report| report.kind == FileKind::Snapshot);
        snapshots.skip_while(move |report| Some(&report.path) != used.as_ref()).skip(1)
    }

    /// Returns whether Tarantool refuses the directory for the header of this file, however old it is. What
    /// is cut or removed does not count.
    fn is_refused(&self, report: &FileReport) -> bool {
        let is_torn = self.plan.torn.iter().any(|torn| torn.path == report.path);
        !is_torn && (report.header.is_err() || self.is_foreign(report))
    }

    fn is_foreign(&self, report: &FileReport) -> bool {
        let own = self.plan.snapshot.as_ref().map(|file| file.header.instance);
        let other = report.header.as_ref().ok().map(|header| header.instance);
        let is_known = |instance: &Option<[u8; 16]>| instance.is_some_and(|instance| instance != [0; 16]);
        report.kind == FileKind::Log && is_known(&own) && is_known(&other) && own != other
    }

    /// Tells why files are set aside of which nothing else is said.
    fn remarks_of_old(&self, reports: &[FileReport]) -> Vec<String> {
        let told = self.newer_snapshots(reports).map(|report| &report.path);
        let told: BTreeSet<&PathBuf> = told.chain(self.plan.lost.iter().map(|lost| &lost.path)).collect();
        let old = reports.iter().filter(|report| self.is_refused(report) && !told.contains(&report.path));
        let what = |report: &FileReport| match &report.header {
            Err(error) => error.to_string(),
            Ok(_) => format!("{} belongs to another instance than the snapshot", report.path.display()),
        };
        old.map(|report| {
            format!("{}; no row is needed from it, but Tarantool reads its header", what(report))
        })
        .collect()
    }

    fn steps_of_new_snapshot(&self, reports: &[FileReport], names: &mut Names) -> Vec<Step> {
        let path = self.directory.join(snapshot_header(&self.plan, &self.recovered).file_name());
        let mut aside: BTreeSet<&Path> = self.plan.logs.iter().map(|log| log.path.as_path()).collect();
        let refused = reports.iter().filter(|report| is_damaged(report) || self.is_refused(report));
        aside.extend(refused.map(|report| report.path.as_path()));
        let known = |path: &Path| reports.iter().any(|report| report.path == path);
        aside.extend(self.plan.lost.iter().map(|lost| lost.path.as_path()).filter(|path| known(path)));
        aside.extend(self.plan.torn.iter().map(|torn| torn.path.as_path()));
        let mut steps = Vec::new();
        if reports.iter().any(|report| report.path == path) {
            aside.remove(path.as_path());
            steps.push(Step::Keep { copy: names.free(&path), path: path.clone() });
        }
        steps.push(Step::Write { path });
        steps.extend(aside.into_iter().map(|path| names.set_aside(path)));
        steps
    }

    /// Carries out the steps. `seconds` is the time of the rows of a new snapshot. Tarantool must not run in
    /// the directory. Returns remarks, a sentence each.
    ///
    /// # Errors
    /// Disk errors; a file is not the one any more that was read, or a name is taken by now. Then the
    /// directory is as before, or repaired, or between the two: repairing again gives the same rows.
    pub fn carry_out(
        &self,
        disk: &Arc<dyn Disk>,
        seconds: f64,
        progress: &dyn Progress,
    ) -> Result<Vec<String>> {
        let mut remarks = Vec::new();
        let mut directories = BTreeSet::new();
        for step in &self.steps {
            match step {
                Step::Cut(torn) | Step::Remove(torn) => {
                    let mut only = self.plan.clone();
                    only.torn = vec![torn.clone()];
                    cut_torn_tail(disk.as_ref(), &only)?;
                }
                Step::Keep { path, copy } => keep(disk.as_ref(), path, copy)?,
                Step::Write { .. } => {
                    let like = self.plan.snapshot.as_ref().map(|file| file.path.as_path());
                    let target = Target { disk, directory: &self.directory, seconds, like };
                    remarks.extend(self.write(target, progress)?.remarks);
                }
                Step::SetAside { path, aside } => {
                    disk.rename_new(path, aside)?;
                    directories.extend(path.parent());
                }
            }
        }
        for directory in directories {
            disk.sync_directory(directory)?;
        }
        Ok(remarks)
    }

    /// Writes the rows that stay as a snapshot into a directory.
    ///
    /// # Errors
    /// Disk errors; Tarantool would not start from it. Then there is no new snapshot.
    pub fn write_into(
        &self,
        disk: &Arc<dyn Disk>,
        directory: &Path,
        seconds: f64,
        progress: &dyn Progress,
    ) -> Result<Exported> {
        self.check_startable()?;
        self.write(Target { disk, directory, seconds, like: None }, progress)
    }

    fn write(&self, target: Target, progress: &dyn Progress) -> Result<Exported> {
        let tuples = Tuples::in_memory(&self.recovered, &self.directory)?;
        let header = snapshot_header(&self.plan, &self.recovered);
        export(&tuples, &tuples.definitions()?, &header, target, progress)
    }
}

/// Copies a file durably.
fn keep(disk: &dyn Disk, path: &Path, copy: &Path) -> Result<()> {
    let bytes = disk.map(path)?;
    let mut begun = copy.as_os_str().to_owned();
    begun.push(".inprogress");
    let begun = PathBuf::from(begun);
    // What an earlier repair began to copy.
    disk.remove(&begun)?;
    let mut file = disk.create(&begun)?;
    file.write(&bytes)?;
    file.sync()?;
    disk.rename_new(&begun, copy)?;
    if let Some(directory) = copy.parent() {
        disk.sync_directory(directory)?;
    }
    Ok(())
}

/// The names in the directories, to find free ones.
struct Names(BTreeSet<PathBuf>);

impl Names {
    fn new(disk: &dyn Disk, directory: &Path, options: &PlanOptions) -> Result<Names> {
        let mut names = BTreeSet::new();
        for directory in [Some(directory), options.log_directory.as_deref()].into_iter().flatten() {
            names.extend(disk.list(directory)?.into_iter().map(|name| directory.join(name)));
        }
        Ok(Names(names))
    }

    /// Returns a free name for a file to set aside. Tarantool and `plan` look only at names that end with
    /// `.snap` and `.xlog`.
    fn free(&mut self, path: &Path) -> PathBuf {
        let name = |number: u32| {
            let mut name = path.as_os_str().to_owned();
            name.push(if number == 1 { format!(".{SET_ASIDE}") } else { format!(".{SET_ASIDE}-{number}") });
            PathBuf::from(name)
        };
        let free = (1..).map(name).find(|name| !self.0.contains(name)).expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }

    fn set_aside(&mut self, path: &Path) -> Step {
        Step::SetAside { path: path.to_owned(), aside: self.free(path) }
    }
}
