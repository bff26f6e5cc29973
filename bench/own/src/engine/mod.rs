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
use crate::child::Sample;
use crate::plan::say;
use crate::recovery::watch;
use crate::report::{Report, Series};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
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
pub(crate) struct EngineArguments {
    /// What to do.
    #[arg(value_enum)]
    job: Job,
    /// Where its files lie.
    directory: PathBuf,
    /// A Maildir of generated mail.
    #[arg(long)]
    mail: PathBuf,
    /// How often.
    #[arg(long)]
    rounds: usize,
}

/// The merge's series.
pub(crate) const MERGE: &str = "store: merge of 1,000 runs of 8,660 ids into a file in memory";
/// The same with twice as many runs.
pub(crate) const MERGE_TWICE: &str = "store: the same with every run twice";
/// Entries of all runs.
pub(crate) const MERGE_ENTRIES: u64 = merges::ENTRY_COUNT;

/// How often each run is merged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Times {
    Once,
    Twice,
}

/// Measures all jobs.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    make_runs(options)?;
    let goal = "<= 75 ns and 50 B an entry";
    for (job, name, goal, entries) in [
        (Job::Merge, MERGE, goal, MERGE_ENTRIES),
        (Job::MergeTwice, MERGE_TWICE, goal, MERGE_ENTRIES * 2),
        (Job::MergeToDisk, "store: the same, once, synced to the disk", "", MERGE_ENTRIES),
    ] {
        let mut series = Series::new(name, goal);
        for round in 0..=options.rounds {
            let watched = call(options, job, 1)?;
            if round > 0 {
                series.samples.push(watched.until_ready());
            }
        }
        let peak = series.peak_bytes();
        let each = |amount: f64| amount / entries as f64;
        series.note = format!("{:.1} ns, {:.1} B an entry", each(series.wall().0 * 1e9), each(peak as f64));
        say(&format!("  {}: {}", series.name, series.note));
        report.series.push(series);
    }
    for job in [Job::Lookups, Job::LookupsLarge, Job::Scans, Job::Codecs, Job::IndexFiles] {
        let watched = call(options, job, options.rounds)?;
        report.series.extend(told(&watched)?);
    }
    Ok(())
}

/// Makes what is merged, if it is not there.
pub(crate) fn make_runs(options: &Options) -> Result<()> {
    call(options, Job::MakeRuns, 1).map(drop)
}

/// Merges once, into memory, and returns a series of one sample.
pub(crate) fn merge(options: &Options, times: Times) -> Result<Series> {
    let (job, name) = match times {
        Times::Once => (Job::Merge, MERGE),
        Times::Twice => (Job::MergeTwice, MERGE_TWICE),
    };
    let mut series = Series::new(name, "");
    series.samples.push(call(options, job, 1)?.until_ready());
    say(&format!("  {name}: {:.3} s, {} MB", series.wall().0, series.peak_bytes() / 1_000_000));
    Ok(series)
}

fn call(options: &Options, job: Job, rounds: usize) -> Result<watch::Watched> {
    let directory = options.corpora.join("engine");
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mail = crate::corpora::text_path(options);
    if job == Job::Codecs {
        crate::corpora::text(options)?;
    }
    let mut command = Command::new(std::env::current_exe()?);
    let name = job.to_possible_value().context("each job has a name")?;
    command.args(["engine", name.get_name()]).arg(&directory).arg("--mail").arg(&mail);
    command.arg(format!("--rounds={rounds}"));
    watch::run(&mut command)
}

/// Makes series of the lines that a job printed: name, goal, note, seconds, how many things were done; and CPU time, if it knows.
pub(crate) fn told(watched: &watch::Watched) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    for line in watched.said.iter().filter_map(|line| line.strip_prefix(MARK)) {
        let fields: Vec<&str> = line.split('\t').collect();
        let ([name, goal, note, seconds, count] | [name, goal, note, seconds, count, _]) = fields[..] else {
            bail!("a job printed {line:?}");
        };
        let user_seconds = fields.get(5).map_or(Ok(0.0), |cpu| cpu.parse())?;
        let wall_seconds: f64 = seconds.parse()?;
        let count: f64 = count.parse()?;
        let sample = Sample {
            wall_seconds,
            user_seconds,
            peak_bytes: watched.peak_bytes,
            load_before: watched.load_before,
            ..Sample::default()
        };
        let series = match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series,
            None => {
                all.push(Series::new(name, goal));
                all.last_mut().context("it was just put there")?
            }
        };
        series.samples.push(sample);
        series.note = format!("{:.1} ns each{note}", series.wall().0 * 1e9 / count);
    }
    for series in &all {
        say(&format!("  {}: {}", series.name, series.note));
    }
    Ok(all)
}

/// Where files lie in memory: a merge as other programs do it, without a disk.
const MEMORY: &str = "/dev/shm";

/// What a line begins with that says what was measured.
pub(crate) const MARK: &str = "measured\t";

/// Prints what was measured once.
fn tell(name: &str, goal: &str, seconds: f64, count: u64, note: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{MARK}store: {name}\t{goal}\t{note}\t{seconds:.9}\t{count}")?;
    Ok(())
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
        Job::Codecs => codecs::measure(directory, mail, *rounds)?,
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
