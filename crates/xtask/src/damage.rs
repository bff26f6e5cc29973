//! `cargo xtask damage`: attacks the real program for a long time: damaged files, kills, a system that
//! refuses.
//!
//! Input: the number of rounds, and a seed. Output: the findings of the attacks in the program's tests, each
//! with the command that repeats it. Does not know what is attacked, or how.

use crate::run::{cargo, run, say};
use anyhow::Result;
use clap::Args;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many rounds, and which random numbers.
#[derive(Args)]
pub struct DamageArguments {
    /// Rounds of each kind of attack; 1,000 take about a quarter of an hour.
    #[arg(long, default_value_t = 1000)]
    rounds: u64,
    /// The seed of all random numbers [default: a different one each time].
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the attacks.
///
/// # Errors
/// If an attack found something. Its output describes the finding, and how to repeat it.
pub fn damage(arguments: &DamageArguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = arguments.seed.unwrap_or(now);
    say(&format!("{} rounds of each attack; repeat them with --seed {seed}", arguments.rounds));
    let mut command = cargo(&["test", "--package", "pneu-cli", "--test", "main", "attacks::"]);
    command.env("PNEU_DAMAGE_ROUNDS", arguments.rounds.to_string()).env("PNEU_DAMAGE_SEED", seed.to_string());
    run(&mut command)
}
