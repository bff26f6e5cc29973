//! Measures the release program `pneu` on generated mail, beside a plain walk of the same directories, and
//! some of its crates alone.
//!
//! Input: the program, a directory for mail that is kept between runs, a directory for results. Output: a
//! table and all samples. Except for `engine` and `archive`, it does not know how pneu works: it runs the
//! program as a user does, and checks its answers against the known mail. Other programs are measured by
//! `bench/peers`, which uses this crate for pneu.

mod actions;
pub mod archive;
pub mod engine;
mod folder;
mod modes;
mod options;
mod percentiles;
mod plan;
mod pneu;
mod running;
mod serve;
mod small;
mod text;
mod used;
mod watch;

pub use actions::{Chosen, letter, seconds};
pub use options::Options;
pub use plan::measure;
pub use pneu::Pneu;

use anyhow::Result;
use clap::Subcommand;

/// The jobs of a measuring program that calls itself, so that everything measured is a separate process.
#[derive(Subcommand)]
pub enum Errand {
    /// A job of any measuring program.
    #[command(flatten)]
    Common(::measure::Errand),
    /// Do one job with the store alone.
    #[command(hide = true)]
    Engine(engine::EngineArguments),
    /// Do one job with the crate for repositories alone.
    #[command(hide = true)]
    Archive(archive::ArchiveArguments),
}

/// Runs a job.
///
/// # Errors
/// If it fails.
pub fn run(errand: &Errand) -> Result<()> {
    match errand {
        Errand::Common(errand) => ::measure::run(errand),
        Errand::Engine(arguments) => engine::run(arguments),
        Errand::Archive(arguments) => archive::run(arguments),
    }
}
