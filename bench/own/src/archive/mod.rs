//! The crate `archive` alone with large indexes: opening them, look-ups, decoding.
//!
//! Input: where files are kept. Output: series. Each job is a process of its own, which times itself, as in
//! `engine`.

mod blobs;
mod decode;
mod load;
mod make;
mod open;
mod snapshot;

pub use blobs::{PASSWORD, unknown_id};
pub use decode::{BYTES_TOUCHED, DECODED, DECODED_COUNT, SCANNED};
pub use load::{LOADED, LOADED_COUNT};
pub use open::{ANY, ASKED_COUNT, CACHED, COLD, TOUCHED, again_name, open_name};
pub use snapshot::{middle_name, used_count};

use crate::options::Options;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use measure::{Report, told, watch};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one process measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Job {
    /// Makes a repository.
    Make,
    /// Opens its index without a cache, and leaves one.
    OpenCold,
    /// Opens it with the cache.
    OpenCached,
    /// Opens it without a place for a cache.
    OpenInMemory,
    /// Looks ids up, with the cache.
    Lookups,
    /// Opens it and looks up one unknown id, as a command would.
    Look,
    /// Scans an index file, and makes an index of it.
    Decode,
    /// Loads an index file of a repository into an index.
    Load,
}

/// The name of a job.
#[derive(Args)]
pub struct ArchiveArguments {
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
pub const BLOB_COUNT: u64 = 5_000_000;
/// Blobs of the repository in which ids are looked up.
pub const LOOKUP_BLOB_COUNT: u64 = 1_730_000;

/// Measures opening a large index, and look-ups in a smaller one.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    open(&options.corpora, BLOB_COUNT, options.rounds, report)?;
    let job = |job, rounds| call(&options.corpora, job, LOOKUP_BLOB_COUNT, rounds);
    job(Job::Make, 1)?;
    job(Job::OpenCold, 1)?;
    report.add_all(told::series(&job(Job::Lookups, options.rounds)?)?);
    Ok(())
}

/// Opens an index, with and without a cache.
///
/// # Errors
/// If the repository cannot be made or opened.
pub fn open(corpora: &Path, blobs: u64, rounds: usize, report: &mut Report) -> Result<()> {
    call(corpora, Job::Make, blobs, 1)?;
    for round in 0..=rounds {
        // Separate processes: memory that was released is cheaper to get again.
        for job in [Job::OpenCold, Job::OpenCached, Job::OpenInMemory] {
            let series = told::series(&call(corpora, job, blobs, 1)?)?;
            if round > 0 {
                report.add_all(series);
            }
        }
    }
    Ok(())
}

/// Returns the directory of the repository with this many blobs. Its cache is beside it.
pub fn directory(corpora: &Path, blobs: u64) -> PathBuf {
    corpora.join(format!("archive-{blobs}"))
}

/// Returns a command that runs this program for a job.
///
/// # Errors
/// If the path of this program is unknown.
pub fn command(corpora: &Path, job: Job, blobs: u64, rounds: usize) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = job.to_possible_value().context("each job has a name")?;
    command.args(["archive", name.get_name()]).arg(directory(corpora, blobs));
    command.arg(format!("--blobs={blobs}")).arg(format!("--rounds={rounds}"));
    Ok(command)
}

/// Does a job in a process of its own.
///
/// # Errors
/// If it fails.
pub fn call(corpora: &Path, job: Job, blobs: u64, rounds: usize) -> Result<watch::Watched> {
    watch::run(&mut command(corpora, job, blobs, rounds)?)
}

/// Does one job.
pub(crate) fn run(arguments: &ArchiveArguments) -> Result<()> {
    let ArchiveArguments { job, directory, blobs, rounds, json } = arguments;
    match job {
        Job::Make => make::make(directory, *blobs)?,
        Job::OpenCold => open::open_cold(directory, *blobs)?,
        Job::OpenCached => open::open_cached(directory, *blobs)?,
        Job::OpenInMemory => open::open_in_memory(directory, *blobs)?,
        Job::Lookups => open::look_up(directory, *blobs, *rounds)?,
        Job::Look => open::look(directory, *blobs)?,
        Job::Load => load::load(directory, *blobs)?,
        Job::Decode => decode::decode(json.as_deref().context("which index file?")?, *blobs)?,
    }
    writeln!(std::io::stdout(), "ready")?;
    Ok(())
}
