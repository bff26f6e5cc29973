//! A repository of 5,000,000 blobs, opened by pneu's crate and by restic to look one blob up; and what there is in it, by both commands.
//!
//! Comes in: options. Goes out: series. Must not know how either program does it.
//!
//! The blob is one that is not there: then `restic cat blob` does nothing besides opening the repository, locking it and loading its
//! index. `restic cat config` is the same without the index: it shows what deriving the key takes.

use super::backups::{ours, theirs};
use super::pair::{Ours, clear};
use super::restic::Restic;
use super::{BLOB_COUNT, Job, call, make, repository_directory};
use crate::Options;
use crate::child;
use crate::plan::say;
use crate::program::Pneu;
use crate::report::{Report, Series};
use anyhow::{Result, ensure};
use std::process::Command;

/// Looking for a blob without a cache; the cache is written.
pub(super) const COLD: &str = "look one blob up in 5,000,000, no cache yet";
/// The same with the cache.
pub(super) const CACHED: &str = "look one blob up in 5,000,000, cached";
/// What is in the repository, with the cache.
pub(super) const STATS: &str = "archive stats; stats --mode raw-data, of 5,000,000 blobs, cached";
/// Opening the repository without its index.
const KEY: &str = "cat config, of 5,000,000 blobs";

/// Measures both in turn.
pub(super) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    call(options, Job::Make, BLOB_COUNT, 1)?;
    let directory = repository_directory(options, BLOB_COUNT);
    let restic = Restic::new(&directory.join("repository"), &directory.join("restic-cache"));
    let unknown = make::blob_id(BLOB_COUNT).to_string();
    let look = || -> Result<Command> { super::command(options, Job::Look, BLOB_COUNT, 1) };
    let pneu = Pneu::new(&options.program, &directory.join("mail"));
    let ours_here =
        Ours { pneu: &pneu, repository: restic.repository().to_owned(), cache: directory.join("pneu-cache") };
    for round in 0..=options.rounds {
        clear(&directory.join("cache"))?;
        clear(restic.cache())?;
        let restic_look = || restic.command(&["cat", "blob", &unknown]);
        let commands = [
            (ours(COLD), look()?),
            (theirs(COLD), restic_look()),
            (ours(CACHED), look()?),
            (theirs(CACHED), restic_look()),
            (theirs(KEY), restic.command(&["cat", "config"])),
            (ours(STATS), ours_here.command(&["stats"])),
            (theirs(STATS), restic.command(&["stats", "--mode", "raw-data"])),
        ];
        for (name, mut command) in commands {
            let (sample, said) = child::measure_said(&mut command)?;
            ensure!(!name.ends_with(STATS) || !said.is_empty(), "{command:?} said nothing");
            if round > 0 {
                let cpu = sample.user_seconds + sample.system_seconds;
                say(&format!(
                    "  {name}: {:.3} s, {cpu:.2} s of CPU, {} MB",
                    sample.wall_seconds,
                    sample.peak_bytes / 1_000_000
                ));
                let mut series = Series::new(&name, "");
                series.samples.push(sample);
                report.add(series);
            }
        }
    }
    Ok(())
}
