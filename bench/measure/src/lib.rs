//! Shared by measurements: a measured child, turns, generated mail, facts about the machine, tables, plots.
//!
//! Input: commands, and where files go. Output: samples, and what is written of them. Does not depend on any
//! program that is measured.

pub mod cached_files;
pub mod changes;
pub mod child;
pub mod cold;
pub mod corpora;
mod counted;
pub mod equal;
mod figures;
pub mod machine;
mod markdown;
pub mod one_core;
pub mod plot;
pub mod quantity;
pub mod report;
pub mod resume;
pub mod series;
pub mod starter;
pub mod strace;
pub mod syncs;
pub mod table;
pub mod threads;
pub mod told;
pub mod turns;
pub mod walk;
pub mod watch;
mod write;

pub use cached_files::CachedFiles;
pub use child::{Outcome, Sample};
pub use corpora::bytes_below;
pub use quantity::Quantity;
pub use report::Report;
pub use series::{Series, named};
pub use table::{Goal, Growth, Row, Table};
pub use turns::{Trial, say, take_turns, take_turns_at_once};

use anyhow::Result;
use clap::Subcommand;

/// The jobs of a measuring program that calls itself, so that everything measured is a separate process.
#[derive(Subcommand)]
pub enum Errand {
    /// List all directories below a directory, with as little work as possible.
    #[command(hide = true)]
    Walk(walk::WalkArguments),
    /// Start the measured process.
    #[command(hide = true)]
    Start(starter::StartArguments),
    /// Run a program on one core.
    #[command(hide = true)]
    OnOneCore(one_core::OneCoreArguments),
    /// Write to the disk, and wait until it is there.
    #[command(hide = true)]
    Sync(syncs::SyncArguments),
    /// Keep files in memory.
    #[command(hide = true)]
    Hold,
    /// Generate mail.
    #[command(hide = true)]
    Generate(corpora::GenerateArguments),
}

/// Runs a job.
///
/// # Errors
/// If it fails.
pub fn run(errand: &Errand) -> Result<()> {
    match errand {
        Errand::Walk(arguments) => walk::walk(arguments),
        Errand::Start(arguments) => starter::start(arguments),
        Errand::OnOneCore(arguments) => one_core::run(arguments),
        Errand::Sync(arguments) => syncs::sync(arguments),
        Errand::Hold => cached_files::hold(),
        Errand::Generate(arguments) => corpora::generate(arguments),
    }
}
