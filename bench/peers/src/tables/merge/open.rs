//! A repository of millions of blobs, opened by pneu's crate and by restic's command to look one blob up; and what there is in it, and whether it is
//! sound, by the commands.
//!
//! Comes in: what is installed, sizes. Goes out: series. Must not know how either program does it.
//!
//! The blob is one that is not there: then `restic cat blob` does nothing besides opening the repository and loading its index, without a lock,
//! since pneu's crate takes none either. `restic cat config` is the same without the index: it shows what deriving the key takes in restic.
//! What there is in it pneu says alone: restic counts what snapshots hold, and this repository has none.

use super::pair::Ours;
use super::{COLUMNS, theirs};
use crate::bench::Bench;
use crate::options::counted;
use crate::peers::restic::{self, Restic};
use crate::tables::left_out::leave_out;
use anyhow::{Result, ensure};
use bench_own::archive::{self, Job};
use measure::turns::{Cache, tell};
use measure::{Outcome, Series, child, cold, corpora, named};
use std::path::Path;
use std::process::{Command, Stdio};

/// What restic does where pneu's crate looks a blob up.
const BESIDE: &str = "by pneu's crate, by restic cat blob --no-lock";

/// Looking for a blob without a cache; the cache is written.
pub(super) fn look_first(blobs: u64) -> String {
    format!("look one blob up in {}, {BESIDE}, no cache yet", counted(blobs))
}

/// The same with the cache.
pub(super) fn look(blobs: u64) -> String {
    format!("look one blob up in {}, {BESIDE}, cached", counted(blobs))
}

/// The same with the cache, and nothing in the page cache.
pub(super) fn look_cold(blobs: u64) -> String {
    format!("{}, cold", look(blobs))
}

/// What is in the index, with the cache; pneu alone.
pub(super) fn stats(blobs: u64) -> String {
    format!("archive stats of the index of {} blobs, cached", counted(blobs))
}

/// Whether it is sound, without reading packs.
pub(super) fn check(blobs: u64) -> String {
    format!("check of {} blobs", counted(blobs))
}

/// Opening the repository without its index; restic alone.
pub(super) fn key(blobs: u64) -> String {
    format!("restic cat config --no-lock, of {} blobs", counted(blobs))
}

/// Both programs in one repository.
struct Both<'a> {
    corpora: &'a Path,
    blobs: u64,
    ours: Ours<'a>,
    restic: Option<Restic>,
}

/// One thing that is measured.
struct Step {
    who: &'static str,
    work: String,
    command: Command,
    answer: Answer,
}

/// What is to come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// That there is no such blob.
    NotThere,
    /// That all is sound.
    Sound,
    /// Something.
    Text,
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
    let mut both = Both {
        corpora: &corpora,
        blobs,
        ours: Ours { pneu: &pneu, repository: repository.clone(), cache: directory.join("pneu-cache") },
        restic: installed.map(|installed| Restic::new(&installed, &repository, &caches[1])),
    };
    both.check_that_it_is_missing(bench);
    for round in 0..=bench.rounds() {
        caches.iter().try_for_each(|cache| corpora::clear(cache))?;
        both.run(bench, round, both.warm()?, Cache::Warm)?;
        if cold::is_possible() {
            both.run(bench, round, both.looks(&look_cold(blobs))?, Cache::Cold)?;
        }
    }
    Ok(())
}

impl Both<'_> {
    /// Returns what is measured in a round, in order: the first ones fill the caches.
    fn warm(&self) -> Result<Vec<Step>> {
        let blobs = self.blobs;
        let mut steps = self.looks(&look_first(blobs))?;
        steps.extend(self.looks(&look(blobs))?);
        steps.push(self.own(stats(blobs), &["stats"], Answer::Text));
        steps.push(self.own(check(blobs), &["check"], Answer::Sound));
        steps.extend(self.other(check(blobs), &["check"], Answer::Sound));
        steps.extend(self.other(key(blobs), &["--no-lock", "cat", "config"], Answer::Text));
        Ok(steps)
    }

    fn own(&self, work: String, arguments: &[&str], answer: Answer) -> Step {
        Step { who: COLUMNS[0], work, command: self.ours.command(arguments), answer }
    }

    fn other(&self, work: String, arguments: &[&str], answer: Answer) -> Option<Step> {
        let command = self.restic.as_ref()?.command(arguments);
        Some(Step { who: COLUMNS[1], work, command, answer })
    }

    /// Makes sure that restic fails for the reason that is meant: it ends with 1 for many others, too. Else it looks nothing up.
    fn check_that_it_is_missing(&mut self, bench: &mut Bench<'_>) {
        let Some(restic) = &self.restic else { return };
        let fails_so = || -> Result<()> {
            let mut command = restic.command(&["--no-lock", "cat", "blob", &archive::unknown_id(self.blobs)]);
            let said = String::from_utf8_lossy(&command.output()?.stderr).into_owned();
            ensure!(said.contains("blob not found"), "restic cat blob failed otherwise: {said}");
            Ok(())
        };
        if let Err(error) = fails_so() {
            leave_out(&mut bench.report, &theirs(&look(self.blobs)), &error);
            self.restic = None;
        }
    }

    fn looks(&self, work: &str) -> Result<Vec<Step>> {
        let unknown = archive::unknown_id(self.blobs);
        let command = archive::command(self.corpora, Job::Look, self.blobs, 1)?;
        let mut steps =
            vec![Step { who: COLUMNS[0], work: work.to_owned(), command, answer: Answer::NotThere }];
        let arguments = ["--no-lock", "cat", "blob", &unknown];
        steps.extend(self.other(work.to_owned(), &arguments, Answer::NotThere).map(|mut step| {
            // It says each time that there is no such blob.
            step.command.stderr(Stdio::null());
            step
        }));
        Ok(steps)
    }

    /// Runs all steps. When one of restic's fails, the others go on without restic.
    fn run(&mut self, bench: &mut Bench<'_>, round: usize, steps: Vec<Step>, cache: Cache) -> Result<()> {
        for mut step in steps {
            if step.who == COLUMNS[1] && self.restic.is_none() {
                continue;
            }
            let name = named(step.who, &step.work);
            match step.run(cache) {
                Err(error) if step.who == COLUMNS[1] => {
                    leave_out(&mut bench.report, &name, &error);
                    self.restic = None;
                }
                outcome => {
                    let series = Series::of(&name, outcome?.sample);
                    if round > 0 {
                        tell(&series);
                        bench.report.add(series);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Step {
    fn run(&mut self, cache: Cache) -> Result<Outcome> {
        // Nobody pays for what another one wrote.
        rustix::fs::sync();
        cache.prepare()?;
        let command = &mut self.command;
        // restic ends with 1 when there is no such blob; pneu's crate has made sure of it.
        let outcome = match (self.who, self.answer) {
            (who, Answer::NotThere) if who == COLUMNS[1] => child::ask(command)?,
            _ => child::run(command)?,
        };
        match self.answer {
            Answer::NotThere => {}
            Answer::Sound => {
                ensure!(says_sound(&outcome.said), "{command:?} found something: {}", outcome.said);
            }
            Answer::Text => ensure!(!outcome.said.is_empty(), "{command:?} said nothing"),
        }
        Ok(outcome)
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
