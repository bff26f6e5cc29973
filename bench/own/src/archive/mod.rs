//! Backups of mail by pneu and by restic, and what both do with large indexes: commands of both, and the crate `archive` alone.
//!
//! Comes in: where files are kept. Goes out: series, and which of them are compared. Each job of the crate alone is a process of its own,
//! which times itself, as in `engine`. What knows restic is in `restic`.

mod backups;
mod decode;
mod equal;
mod find;
mod index;
mod make;
mod merges;
mod open;
mod pair;
mod restic;
mod restore;
mod rows;

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
    /// Opens it and looks up one id that is not there, as a command would.
    Look,
    /// Decodes an index file.
    Decode,
}

/// What can be measured by itself, in the order in which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Piece {
    /// Backups with nothing changed.
    Unchanged,
    /// First backups.
    First,
    /// Backups after new messages.
    Arrived,
    /// Backups after changes of flags.
    Flagged,
    /// A file name in many snapshots.
    Find,
    /// Restores.
    Restore,
    /// Merges of index entries.
    Merges,
    /// Look-ups of ids, and decoding.
    Lookups,
    /// Opening the index of a large repository, by the crate alone.
    Index,
    /// Opening a large repository, by both.
    Open,
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
    /// The index file that is decoded.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Blobs of the repository whose index is opened.
const BLOB_COUNT: u64 = 5_000_000;
/// Blobs of the repository in which ids are looked up.
const LOOKUP_BLOB_COUNT: u64 = 1_730_000;

/// Measures the pieces that were asked for, or all.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    report.facts.push(("restic", restic::version()?));
    report.facts.push((
        "how restic is called",
        "without options but the repository and a cache directory of its own: backup MAILDIR, restore latest:MAILDIR --target DIR, \
         find NAME, cat blob ID, stats --mode raw-data"
            .to_owned(),
    ));
    report.comparisons = rows::all();
    for piece in Piece::value_variants() {
        if !options.archive.is_empty() && !options.archive.contains(piece) {
            continue;
        }
        say(&format!("= {piece:?}"));
        match piece {
            Piece::Unchanged => backups::unchanged(options, report)?,
            Piece::First => backups::first(options, report)?,
            Piece::Arrived => backups::arrived(options, report)?,
            Piece::Flagged => backups::flagged(options, report)?,
            Piece::Find => find::measure(options, report)?,
            Piece::Restore => restore::measure(options, report)?,
            Piece::Merges => merges::merges(options, report)?,
            Piece::Lookups => merges::lookups(options, report)?,
            Piece::Index => open_index(options, report)?,
            Piece::Open => open::measure(options, report)?,
        }
    }
    Ok(())
}

/// Opens the index alone, with and without a cache, by the crate.
fn open_index(options: &Options, report: &mut Report) -> Result<()> {
    call(options, Job::Make, BLOB_COUNT, 1)?;
    for round in 0..=options.rounds {
        // A process each: memory that was given back is taken again for less.
        for job in [Job::OpenCold, Job::OpenCached, Job::OpenInMemory] {
            let series = told(&call(options, job, BLOB_COUNT, 1)?)?;
            if round > 0 {
                series.into_iter().for_each(|series| report.add(series));
            }
        }
    }
    Ok(())
}

/// Returns where the repository of so many blobs is, and its cache beside it.
fn repository_directory(options: &Options, blobs: u64) -> PathBuf {
    options.corpora.join(format!("archive-{blobs}"))
}

fn command(options: &Options, job: Job, blobs: u64, rounds: usize) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = job.to_possible_value().context("each job has a name")?;
    command.args(["archive", name.get_name()]).arg(repository_directory(options, blobs));
    command.arg(format!("--blobs={blobs}")).arg(format!("--rounds={rounds}"));
    Ok(command)
}

fn call(options: &Options, job: Job, blobs: u64, rounds: usize) -> Result<watch::Watched> {
    watch::run(&mut command(options, job, blobs, rounds)?)
}

/// Does one job.
pub(crate) fn run(arguments: &ArchiveArguments) -> Result<()> {
    let ArchiveArguments { job, directory, blobs, rounds, json } = arguments;
    match job {
        Job::Make => make::make(directory, *blobs)?,
        Job::OpenCold => index::open_cold(directory, *blobs)?,
        Job::OpenCached => index::open_cached(directory, *blobs)?,
        Job::OpenInMemory => index::open_in_memory(directory, *blobs)?,
        Job::Lookups => index::look_up(directory, *blobs, *rounds)?,
        Job::Look => index::look(directory, *blobs)?,
        Job::Decode => decode::decode(json.as_deref().context("which index file?")?, *blobs)?,
    }
    writeln!(std::io::stdout(), "ready")?;
    Ok(())
}
