//! `cargo xtask damage`: attacks the real program for long: damaged files, kills, a system that refuses.
//!
//! Input: how many rounds, and a seed. Output: what the attacks in the program's tests found, each with the
//! words that show it again. Does not know what is attacked, nor how.

use crate::run::{cargo, run, say};
use anyhow::Result;
use clap::Args;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long, and which random numbers.
#[derive(Args)]
pub struct DamageArguments {
    /// Rounds of each kind of attack; 1,000 take about a quarter of an hour.
    #[arg(long, default_value_t = 1000)]
    rounds: u64,
    /// The seed of all random numbers [default: another one each time].
    #[arg(long)]
    seed: Option<u64>,
}

/// Attacks.
///
/// # Errors
/// If an attack found something: what it prints says what, and how to see it again.
pub fn damage(arguments: &DamageArguments) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = arguments.seed.unwrap_or(now);
    say(&format!("{} rounds of each attack; repeat them with --seed {seed}", arguments.rounds));
    let mut command = cargo(&["test", "--package", "pneu-cli", "--test", "main", "attacks::"]);
    command.env("PNEU_DAMAGE_ROUNDS", arguments.rounds.to_string()).env("PNEU_DAMAGE_SEED", seed.to_string());
    run(&mut command)
}
