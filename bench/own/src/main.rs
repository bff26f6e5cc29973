//! `bench-own`: measures the release program `pneu` on generated mail, beside a bare walk of the same
//! directories, and its crates alone.
//!
//! Input: the program, a directory for mail that is kept between runs, a directory for results. Output: a
//! table and all samples. Does not know how anything is measured.

use anyhow::Result;
use bench_own::{Errand, Options};
use clap::Parser;

/// Measures pneu alone on generated mail.
#[derive(Parser)]
#[command(name = "bench-own")]
struct Arguments {
    #[command(subcommand)]
    errand: Option<Errand>,
    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.errand {
        Some(errand) => bench_own::run(&errand),
        None => bench_own::measure(&arguments.options),
    }
}
