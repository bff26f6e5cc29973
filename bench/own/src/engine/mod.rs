//! The crate `store` alone: merges, look-ups, ordered scans, codecs of payloads; and what `archive` decodes.
//!
//! Comes in: where files are kept. Goes out: series. The only part of the measurements that calls crates of pneu instead of its
//! program. Each job is a process of its own (`run`), which times itself and prints a line for each thing and round; its peak of
//! anonymous memory is looked at from outside: what is mapped of a file belongs to the file cache.

mod codecs;
mod ids;
mod index_files;
mod lookups;
mod merges;
mod scans;

use crate::Options;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use measure::turns::tell;
use measure::{Report, Series, told, watch};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one process measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Job {
    /// Makes the runs that are merged.
    MakeRuns,
    /// Merges 1,000 runs of 8,660 entries, into memory.
    Merge,
    /// The same, each run twice.
    MergeTwice,
    /// The same as the first, written to the disk and synced.
    MergeToDisk,
    /// Look-ups in 1,730,000 ids.
    Lookups,
    /// Look-ups in 50,000,000 ids.
    LookupsLarge,
    /// A range of 1,000,000 rows through a secondary index.
    Scans,
    /// Header records at each codec.
    Codecs,
    /// Index files of the archive.
    IndexFiles,
}

/// How a job is called.
#[derive(Args)]
pub struct EngineArguments {
    /// What to do.
    #[arg(value_enum)]
    job: Job,
    /// Where its files lie.
    directory: PathBuf,
    /// A Maildir of generated mail, for codecs.
    #[arg(long)]
    mail: Option<PathBuf>,
    /// How often.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
}

/// The merge's series.
pub const MERGE: &str = "store: merge of 1,000 runs of 8,660 ids into a file in memory";
/// The same with twice as many runs.
pub const MERGE_TWICE: &str = "store: the same with every run twice";
/// Entries of all runs.
pub const MERGE_ENTRIES: u64 = merges::ENTRY_COUNT;

/// How often each run is merged.
#[derive(Debug, Clone, Copy)]
pub enum Times {
    /// Once.
    Once,
    /// Twice: every entry stands in two runs.
    Twice,
}

/// Measures all jobs.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let corpora = &options.corpora;
    make_runs(corpora)?;
    let goal = "<= 75 ns and 50 B an entry";
    for (job, name, goal, entries) in [
        (Job::Merge, MERGE, goal, MERGE_ENTRIES),
        (Job::MergeTwice, MERGE_TWICE, goal, MERGE_ENTRIES * 2),
        (Job::MergeToDisk, "store: the same, once, synced to the disk", "", MERGE_ENTRIES),
    ] {
        let mut series = Series::new(name, goal);
        for round in 0..=options.rounds {
            let watched = call(corpora, job, &[])?;
            if round > 0 {
                series.samples.push(watched.until_ready);
            }
        }
        let peak = series.peak_bytes();
        let each = |amount: f64| amount / entries as f64;
        series.note = format!("{:.1} ns, {:.1} B an entry", each(series.wall().0 * 1e9), each(peak as f64));
        tell(&series);
        report.add(series);
    }
    let rounds = OsString::from(format!("--rounds={}", options.rounds));
    for job in [Job::Lookups, Job::LookupsLarge, Job::Scans, Job::IndexFiles] {
        report.add_all(told::series(&call(corpora, job, &[&rounds])?)?);
    }
    let mail = options.text()?;
    let watched = call(corpora, Job::Codecs, &[&rounds, OsStr::new("--mail"), mail.as_os_str()])?;
    report.add_all(told::series(&watched)?);
    Ok(())
}

/// Makes what is merged, if it is not there.
///
/// # Errors
/// If it cannot be written.
pub fn make_runs(corpora: &Path) -> Result<()> {
    call(corpora, Job::MakeRuns, &[]).map(drop)
}

/// Returns the directory of what is merged.
pub fn runs(corpora: &Path) -> PathBuf {
    merges::runs(&corpora.join("engine"))
}

/// Merges once, into memory, and returns a series of one sample.
///
/// # Errors
/// If the merge fails, or makes something else.
pub fn merge(corpora: &Path, times: Times) -> Result<Series> {
    let (job, name) = match times {
        Times::Once => (Job::Merge, MERGE),
        Times::Twice => (Job::MergeTwice, MERGE_TWICE),
    };
    let series = Series::of(name, call(corpora, job, &[])?.until_ready);
    tell(&series);
    Ok(series)
}

fn call(corpora: &Path, job: Job, more: &[&OsStr]) -> Result<watch::Watched> {
    let directory = corpora.join("engine");
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut command = Command::new(std::env::current_exe()?);
    let name = job.to_possible_value().context("each job has a name")?;
    command.args(["engine", name.get_name()]).arg(&directory).args(more);
    watch::run(&mut command)
}

/// Where files lie in memory: a merge as other programs do it, without a disk.
const MEMORY: &str = "/dev/shm";

/// Prints what was measured once.
fn tell_line(name: &str, goal: &str, seconds: f64, count: u64, note: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{}", told::line(format!("store: {name}"), goal, note, seconds, count))?)
}

/// Does one job.
pub(crate) fn run(arguments: &EngineArguments) -> Result<()> {
    let EngineArguments { job, directory, mail, rounds } = arguments;
    match job {
        Job::MakeRuns => merges::make(directory)?,
        Job::Merge => merges::merge(directory, 1, Path::new(MEMORY))?,
        Job::MergeTwice => merges::merge(directory, 2, Path::new(MEMORY))?,
        Job::MergeToDisk => merges::merge(directory, 1, directory)?,
        Job::Lookups => lookups::measure(directory, 1_730_000, *rounds)?,
        Job::LookupsLarge => lookups::measure(directory, 50_000_000, *rounds)?,
        Job::Scans => scans::measure(directory, *rounds)?,
        Job::Codecs => codecs::measure(directory, mail.as_deref().context("of which mail?")?, *rounds)?,
        Job::IndexFiles => index_files::measure(*rounds)?,
    }
    ready()
}

/// Says that what is measured is done: a merge is, when its file is written, and before that file is removed. The first time counts.
fn ready() -> Result<()> {
    writeln!(std::io::stdout(), "ready")?;
    Ok(())
}

/// Removes what an earlier run left.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
