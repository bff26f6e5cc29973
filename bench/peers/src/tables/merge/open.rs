//! A repository of millions of blobs, opened by pneu's crate and by restic to look one blob up; and what there is in it, and whether it is sound, by
//! both commands.
//!
//! Comes in: what is installed, sizes. Goes out: series. Must not know how either program does it.
//!
//! The blob is one that is not there: then `restic cat blob` does nothing besides opening the repository, locking it and loading its
//! index. `restic cat config` is the same without the index: it shows what deriving the key and the lock take in restic.

use super::pair::Ours;
use super::{ours, theirs};
use crate::bench::Bench;
use crate::options::counted;
use crate::peers::restic::{self, Restic};
use anyhow::{Result, ensure};
use bench_own::archive::{self, Job};
use measure::turns::{Cache, tell};
use measure::{Series, child, cold, corpora};
use std::path::Path;
use std::process::{Command, Stdio};

/// Looking for a blob without a cache; the cache is written.
pub(super) fn look_first(blobs: u64) -> String {
    format!("look one blob up in {}, no cache yet", counted(blobs))
}

/// The same with the cache.
pub(super) fn look(blobs: u64) -> String {
    format!("look one blob up in {}, cached", counted(blobs))
}

/// The same with the cache, and nothing in the page cache.
pub(super) fn look_cold(blobs: u64) -> String {
    format!("{}, cold", look(blobs))
}

/// What is in the repository, with the cache.
pub(super) fn stats(blobs: u64) -> String {
    format!("archive stats; stats --mode raw-data, of {} blobs, cached", counted(blobs))
}

/// Whether it is sound, without reading packs.
pub(super) fn check(blobs: u64) -> String {
    format!("check of {} blobs", counted(blobs))
}

/// Opening the repository without its index.
pub(super) fn key(blobs: u64) -> String {
    format!("cat config, of {} blobs", counted(blobs))
}

/// Both programs in one repository.
struct Both<'a> {
    corpora: &'a Path,
    blobs: u64,
    ours: Ours<'a>,
    restic: Option<Restic>,
}

/// Measures both in turn.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let corpora = bench.corpora().to_owned();
    let blobs = bench.options.sizes().blobs;
    archive::call(&corpora, Job::Make, blobs, 1)?;
    let directory = archive::directory(&corpora, blobs);
    let repository = directory.join("repository");
    let pneu = bench.pneu(&directory.join("mail"));
    let installed = bench.installed(&restic::PEER);
    let caches = [directory.join("cache"), directory.join("restic-cache")];
    let both = Both {
        corpora: &corpora,
        blobs,
        ours: Ours { pneu: &pneu, repository: repository.clone(), cache: directory.join("pneu-cache") },
        restic: installed.map(|installed| Restic::new(&installed, &repository, &caches[1])),
    };
    both.check_that_it_is_missing()?;
    for round in 0..=bench.rounds() {
        caches.iter().try_for_each(|cache| corpora::clear(cache))?;
        both.run(bench, round, both.warm()?, Cache::Warm)?;
        if cold::is_possible() {
            both.run(bench, round, both.cold()?, Cache::Cold)?;
        }
    }
    Ok(())
}

impl Both<'_> {
    /// Returns what is measured in a round, in order: the first ones fill the caches.
    fn warm(&self) -> Result<Vec<(String, Command)>> {
        let blobs = self.blobs;
        let mut commands = self.looks(&look_first(blobs))?;
        commands.extend(self.looks(&look(blobs))?);
        commands.push((ours(&stats(blobs)), self.ours.command(&["stats"])));
        let of_restic = |work: String, arguments: &[&str]| {
            self.restic.as_ref().map(|restic| (theirs(&work), restic.command(arguments)))
        };
        commands.extend(of_restic(stats(blobs), &["stats", "--mode", "raw-data"]));
        commands.push((ours(&check(blobs)), self.ours.command(&["check"])));
        commands.extend(of_restic(check(blobs), &["check"]));
        commands.extend(of_restic(key(blobs), &["cat", "config"]));
        Ok(commands)
    }

    /// Makes sure that restic fails for the reason that is meant: it ends with 1 for many others, too.
    fn check_that_it_is_missing(&self) -> Result<()> {
        let Some(restic) = &self.restic else { return Ok(()) };
        let output = restic.command(&["cat", "blob", &archive::unknown_id(self.blobs)]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(said.contains("blob not found"), "restic cat blob failed otherwise: {said}");
        Ok(())
    }

    fn cold(&self) -> Result<Vec<(String, Command)>> {
        self.looks(&look_cold(self.blobs))
    }

    fn looks(&self, work: &str) -> Result<Vec<(String, Command)>> {
        let unknown = archive::unknown_id(self.blobs);
        let mut commands = vec![(ours(work), archive::command(self.corpora, Job::Look, self.blobs, 1)?)];
        let theirs =
            self.restic.as_ref().map(|restic| (theirs(work), restic.command(&["cat", "blob", &unknown])));
        commands.extend(theirs.map(|(name, mut command)| {
            // It says each time that there is no such blob.
            command.stderr(Stdio::null());
            (name, command)
        }));
        Ok(commands)
    }

    fn run(
        &self,
        bench: &mut Bench<'_>,
        round: usize,
        commands: Vec<(String, Command)>,
        cache: Cache,
    ) -> Result<()> {
        for (name, mut command) in commands {
            cache.prepare()?;
            let outcome = child::run(&mut command)?;
            // Who looks a blob up that is not there says so elsewhere.
            let is_look = name.contains("look one blob up");
            ensure!(is_look || !outcome.said.is_empty(), "{command:?} said nothing");
            ensure!(
                !name.contains("check of") || says_sound(&outcome.said),
                "{command:?} found something: {}",
                outcome.said
            );
            if round > 0 {
                let series = Series::of(&name, outcome.sample);
                tell(&series);
                bench.report.add(series);
            }
        }
        Ok(())
    }
}

/// Says whether a check found nothing wrong, in the words of either program.
fn says_sound(said: &str) -> bool {
    said.contains("no damage found") || said.contains("no errors were found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_say_that_a_repository_is_sound() {
        assert!(says_sound("check snapshots, trees and blobs\nno errors were found\n"));
        assert!(says_sound("1,000 packs, 5,000,000 blobs: no damage found\n"));
        assert!(!says_sound("Fatal: repository contains errors\n"));
    }
}
