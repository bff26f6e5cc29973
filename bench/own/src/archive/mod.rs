//! The crate `archive` alone: opening the index of a large repository, and look-ups in it.
//!
//! Comes in: where files are kept. Goes out: series. Each job is a process of its own, which times itself, as in `engine`.

mod index;
mod make;

use crate::engine::told;
use crate::recovery::watch;
use crate::report::Report;
use crate::{Options, plan::say};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// What one process measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Job {
    /// Makes a repository.
    Make,
    /// Opens its index without a cache there yet, and leaves one.
    OpenCold,
    /// Opens it by the cache.
    OpenCached,
    /// Opens it without a place for a cache.
    OpenInMemory,
    /// Looks ids up, by the cache.
    Lookups,
}

/// How a job is called.
#[derive(Args)]
pub(crate) struct ArchiveArguments {
    /// What to do.
    #[arg(value_enum)]
    job: Job,
    /// Where the repository lies, and its cache beside it.
    directory: PathBuf,
    /// How many blobs it has.
    #[arg(long)]
    blobs: u64,
    /// How often.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
}

/// Blobs of the repository whose index is opened.
const BLOB_COUNT: u64 = 5_000_000;
/// Blobs of the repository in which ids are looked up.
const LOOKUP_BLOB_COUNT: u64 = 1_730_000;

/// Measures all jobs.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let call = |job: Job, blobs: u64, rounds: usize| -> Result<watch::Watched> {
        let mut command = Command::new(std::env::current_exe()?);
        let name = job.to_possible_value().context("each job has a name")?;
        let directory = options.corpora.join(format!("archive-{blobs}"));
        command.args(["archive", name.get_name()]).arg(directory);
        command.arg(format!("--blobs={blobs}")).arg(format!("--rounds={rounds}"));
        watch::run(&mut command)
    };
    for blobs in [BLOB_COUNT, LOOKUP_BLOB_COUNT] {
        call(Job::Make, blobs, 1)?;
    }
    for job in [Job::OpenCold, Job::OpenCached, Job::OpenInMemory] {
        // A process each: memory that was given back is taken again for less.
        let mut series = Vec::new();
        for round in 0..=options.rounds {
            let watched = call(job, BLOB_COUNT, 1)?;
            if round > 0 {
                series.push(told(&watched)?);
            }
        }
        for mut one in series.into_iter().flatten() {
            match report.series.iter_mut().find(|series| series.name == one.name) {
                Some(series) => series.samples.append(&mut one.samples),
                None => report.series.push(one),
            }
        }
    }
    say("  index opened");
    call(Job::OpenCold, LOOKUP_BLOB_COUNT, 1)?;
    report.series.extend(told(&call(Job::Lookups, LOOKUP_BLOB_COUNT, options.rounds)?)?);
    Ok(())
}

/// Does one job.
pub(crate) fn run(arguments: &ArchiveArguments) -> Result<()> {
    let ArchiveArguments { job, directory, blobs, rounds } = arguments;
    match job {
        Job::Make => make::make(directory, *blobs)?,
        Job::OpenCold => index::open_cold(directory, *blobs)?,
        Job::OpenCached => index::open_cached(directory, *blobs)?,
        Job::OpenInMemory => index::open_in_memory(directory, *blobs)?,
        Job::Lookups => index::look_up(directory, *blobs, *rounds)?,
    }
    writeln!(std::io::stdout(), "ready")?;
    Ok(())
}
