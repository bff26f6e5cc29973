//! Measures the release program `pneu` on generated mail, beside a bare walk of the same directories, on Tarantool's files, beside
//! Tarantool, and in repositories of restic, beside restic.
//!
//! Comes in: the program, a directory for mail that is kept between runs, a directory for results. Goes out: a table and all
//! samples. Must not know how pneu works, but for `engine` and `archive`: it runs the program as a user does, and checks its answers against what is known of the
//! mail.

mod archive;
mod child;
mod comparison;
mod corpora;
mod engine;
mod flags;
mod folder;
mod machine;
mod modes;
mod plan;
mod program;
mod recovery;
mod report;
mod resume;
mod small;
mod text;
mod walk;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Measures pneu on generated mail and on files of Tarantool.
#[derive(Parser)]
#[command(name = "bench-own")]
struct Arguments {
    #[command(subcommand)]
    errand: Option<Errand>,
    #[command(flatten)]
    options: Options,
}

/// What to measure, and with what.
#[derive(Args)]
struct Options {
    /// The release program.
    #[arg(long, default_value = "target/release/pneu")]
    program: PathBuf,
    /// Where generated mail and its indexes are kept, outside the repository; about 12 GB, and 10 GB for a while.
    #[arg(long, default_value = "/tmp/pneu-bench")]
    corpora: PathBuf,
    /// Where results go: a directory for this run is made in it.
    #[arg(long, default_value = "bench/runs")]
    runs: PathBuf,
    /// The name of this machine in the results [default: from its processor].
    #[arg(long)]
    machine: Option<String>,
    /// How often each thing is measured; the median counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How often a query is measured.
    #[arg(long, default_value_t = 15)]
    query_rounds: usize,
    /// How many messages with text.
    #[arg(long, default_value_t = 200_000)]
    text_messages: u32,
    /// How many small files.
    #[arg(long, default_value_t = 1_370_000)]
    small_messages: u32,
    /// How many rows the snapshots of Tarantool have that are recovered.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000_000, 4_000_000, 16_000_000, 64_000_000])]
    recovery_rows: Vec<u64>,
    /// How often each recovery is measured; from 32,000,000 rows on it is once.
    #[arg(long, default_value_t = 5)]
    recovery_rounds: usize,
    /// How many messages the mailbox has in whose snapshots a file is looked for.
    #[arg(long, default_value_t = 50_000)]
    find_messages: u32,
    /// Only these pieces of the archive's part.
    #[arg(long, value_enum, value_delimiter = ',')]
    archive: Vec<archive::Piece>,
    /// Add to the run of this name and day: what it has of the same commit stays and gets more samples.
    #[arg(long)]
    resume: bool,
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
}

/// A part of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// First index, queries and changes, on messages with text.
    Text,
    /// One large folder and one a tenth of it.
    Folder,
    /// Many small files in many folders.
    Small,
    /// Merges, look-ups, scans and codecs of the store alone, index files of the archive.
    Engine,
    /// Snapshots and logs of Tarantool, by pneu and by Tarantool.
    Recovery,
    /// Backups, by pneu and by restic, and the index of a large repository.
    Archive,
}

/// What the program does when it calls itself, so that everything measured is a process of its own.
#[derive(Subcommand)]
enum Errand {
    /// List all directories below one, as bare as possible.
    #[command(hide = true)]
    Walk(walk::WalkArguments),
    /// Make mail.
    #[command(hide = true)]
    Generate(corpora::GenerateArguments),
    /// Do one job with the store alone.
    #[command(hide = true)]
    Engine(engine::EngineArguments),
    /// Do one job with the crate for repositories alone.
    #[command(hide = true)]
    Archive(archive::ArchiveArguments),
    /// Make tuples for a snapshot or a log of Tarantool.
    #[command(hide = true)]
    MakeTuples(recovery::MakeArguments),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.errand {
        Some(Errand::Walk(arguments)) => walk::walk(&arguments),
        Some(Errand::Generate(arguments)) => corpora::generate(&arguments),
        Some(Errand::Engine(arguments)) => engine::run(&arguments),
        Some(Errand::Archive(arguments)) => archive::run(&arguments),
        Some(Errand::MakeTuples(arguments)) => recovery::make(&arguments),
        None => plan::measure(&arguments.options),
    }
}
