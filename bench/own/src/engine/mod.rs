//! Measures the crate `store` alone: merges, look-ups, ordered scans, payload codecs; and decoding for
//! `archive`.
//!
//! Input: a directory for files. Output: series. Unlike other measurements, this calls crates of pneu instead
//! of its program. Each job runs in its own process (`run`), which times itself and prints a line per
//! measurement and round. Its peak of anonymous memory is measured from outside, as mapped files belong to
//! the file cache.

mod codecs;
mod ids;
mod index_files;
mod job;
mod lookups;
mod merges;
mod scans;

use crate::options::Options;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use measure::turns::tell;
use measure::{Report, Sample, Series, bytes_below, told, watch};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one process measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Job {
    /// Makes the runs that are merged.
    MakeRuns,
    /// Merges 1,000 runs of 8,660 blobs, and as many of 1,000 packs, into memory.
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
pub const MERGE: &str =
    "store: merge of 1,000 runs of 8,660 blobs and 1,000 packs, with hash indexes, into memory";
/// The same with twice as many runs.
pub const MERGE_TWICE: &str = "store: the same with every run twice";
/// The note on memory that includes the merged runs.
pub const WITH_RUNS: &str = "; memory with the mapped runs";
/// The same as the first, to the disk.
const MERGE_TO_DISK: &str = "store: the same, once, synced to the disk";
/// The goal of both merges.
const MERGE_GOAL: &str = "<= 75 ns and 50 B an entry";
/// Entries of all runs.
pub const MERGE_ENTRIES: u64 = merges::ENTRY_COUNT;

/// How often each run is merged.
#[derive(Debug, Clone, Copy)]
pub enum Times {
    /// Once.
    Once,
    /// Twice: every entry is in two runs.
    Twice,
}

/// Measures all jobs.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let corpora = &options.corpora;
    make_runs(corpora)?;
    for (job, name, goal, entries) in [
        (Job::Merge, MERGE, MERGE_GOAL, MERGE_ENTRIES),
        (Job::MergeTwice, MERGE_TWICE, MERGE_GOAL, MERGE_ENTRIES * 2),
        (Job::MergeToDisk, MERGE_TO_DISK, "", MERGE_ENTRIES),
    ] {
        let mut series = Series::new(name, goal);
        for round in 0..=options.rounds {
            let sample = merge_by(corpora, job)?;
            if round > 0 {
                series.samples.push(sample);
            }
        }
        let made = series.samples.first().map_or(0, |sample| sample.size_bytes);
        let each = |amount: f64| amount / entries as f64;
        series.note = format!(
            "{:.1} ns, {:.1} B of memory an entry; it made {:.1} B",
            each(series.wall().0 * 1e9),
            each(series.peak_bytes() as f64),
            each(made as f64)
        );
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

/// Makes the runs to merge, unless they exist.
///
/// # Errors
/// If it cannot be written.
pub fn make_runs(corpora: &Path) -> Result<()> {
    call(corpora, Job::MakeRuns, &[]).map(drop)
}

/// Returns the directory of the runs.
pub fn runs(corpora: &Path) -> PathBuf {
    merges::runs(&corpora.join("engine"))
}

/// Merges once, into memory. Returns two series with one sample each: one with anonymous memory and the
/// merged files, and one that also counts the mapped runs.
///
/// # Errors
/// If the merge fails, or makes a wrong result.
pub fn merge(corpora: &Path, times: Times) -> Result<[Series; 2]> {
    let (job, name) = match times {
        Times::Once => (Job::Merge, MERGE),
        Times::Twice => (Job::MergeTwice, MERGE_TWICE),
    };
    let sample = merge_by(corpora, job)?;
    let with_runs = Sample { peak_bytes: sample.peak_bytes + bytes_below(&runs(corpora))?, ..sample };
    let series = Series::of(name, sample);
    tell(&series);
    Ok([series, Series::of(&format!("{name}{WITH_RUNS}"), with_runs)])
}

/// Merges once in its own process, which times only the merge. Files made in memory count as memory.
fn merge_by(corpora: &Path, job: Job) -> Result<Sample> {
    let in_memory = match job {
        Job::MergeToDisk => Vec::new(),
        _ => Vec::from(merges::target_paths(Path::new(MEMORY))),
    };
    let watched = watch::run_with_files(&mut command(corpora, job, &[])?, &in_memory)?;
    let made = watched.said.iter().find_map(|line| line.strip_prefix(merges::MADE)?.parse::<u64>().ok());
    let told = told::series(&watched)?.pop().context("a merge did not say what it took")?;
    let sample = *told.samples.first().context("a merge was not measured")?;
    Ok(Sample {
        peak_bytes: watched.until_ready.peak_bytes,
        size_bytes: made.context("a merge did not say what it made")?,
        ..sample
    })
}

fn call(corpora: &Path, job: Job, more: &[&OsStr]) -> Result<watch::Watched> {
    watch::run(&mut command(corpora, job, more)?)
}

fn command(corpora: &Path, job: Job, more: &[&OsStr]) -> Result<Command> {
    let directory = corpora.join("engine");
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut command = Command::new(std::env::current_exe()?);
    let name = job.to_possible_value().context("each job has a name")?;
    command.args(["engine", name.get_name()]).arg(&directory).args(more);
    Ok(command)
}

/// A directory in memory, to merge without a disk as other programs do.
const MEMORY: &str = "/dev/shm";

/// Does one job.
pub(crate) fn run(arguments: &EngineArguments) -> Result<()> {
    let EngineArguments { job, directory, mail, rounds } = arguments;
    match job {
        Job::MakeRuns => merges::make(directory)?,
        Job::Merge => merges::merge(directory, 1, Path::new(MEMORY), MERGE)?,
        Job::MergeTwice => merges::merge(directory, 2, Path::new(MEMORY), MERGE_TWICE)?,
        Job::MergeToDisk => merges::merge(directory, 1, directory, MERGE_TO_DISK)?,
        Job::Lookups => lookups::measure(directory, 1_730_000, *rounds)?,
        Job::LookupsLarge => lookups::measure(directory, 50_000_000, *rounds)?,
        Job::Scans => scans::measure(directory, *rounds)?,
        Job::Codecs => codecs::measure(directory, mail.as_deref().context("of which mail?")?, *rounds)?,
        Job::IndexFiles => index_files::measure(*rounds)?,
    }
    job::ready()
}
