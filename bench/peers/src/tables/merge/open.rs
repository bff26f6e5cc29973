//! A repository of millions of blobs. pneu's crate and restic's command open it to look up one blob. Then
//! commands check it, count its contents, and find a file in it.
//!
//! Input: the installed programs, sizes. Output: series. Does not know how either program works.
//!
//! The blob does not exist, so `restic cat blob` only opens the repository and loads its index, without a
//! lock, as pneu's crate takes none either. `restic cat config` does the same without the index, and thereby
//! shows the time that restic takes to derive the key. One snapshot has a file for each data blob. The
//! commands that count it and search it use caches that are filled once, since restic copies all trees into
//! its own.

use super::names::{COLUMNS, ours, theirs};
use super::pair::Ours;
use crate::bench::Bench;
use crate::options::counted;
use crate::peers::restic::{self, Restic};
use crate::tables::left_out::leave_out;
use anyhow::{Context, Result, ensure};
use bench_own::archive::{self, Job};
use measure::turns::{Cache, tell};
use measure::{Outcome, Series, child, cold, corpora, named};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The commands that look up a blob.
const BESIDE: &str = "by pneu's crate and by restic cat blob --no-lock";

/// Looking up a blob without a cache. The cache is written.
pub(super) fn look_first(blobs: u64) -> String {
    format!("look up one blob in {}, {BESIDE}, no cache yet", counted(blobs))
}

/// The same with the cache.
pub(super) fn look(blobs: u64) -> String {
    format!("look up one blob in {}, {BESIDE}, cached", counted(blobs))
}

/// The same with the cache, and nothing in the page cache.
pub(super) fn look_cold(blobs: u64) -> String {
    format!("{}, cold", look(blobs))
}

/// How many blobs the snapshot uses, and how large they are.
pub(super) fn stats(blobs: u64) -> String {
    format!("stats of {} blobs, by restic with --mode raw-data", counted(blobs))
}

/// The name of a file in the middle.
pub(super) fn find(blobs: u64) -> String {
    format!("find one file name in a snapshot of {} blobs", counted(blobs))
}

/// The series of reading all index files.
pub(super) fn read_index(blobs: u64) -> String {
    named("floor", &format!("reading the index files of {} blobs", counted(blobs)))
}

/// The series of reading all trees of the snapshot.
pub(super) fn read_trees(blobs: u64) -> String {
    named("floor", &format!("reading the trees of {} blobs", counted(blobs)))
}

/// The series of reading both.
pub(super) fn read_both(blobs: u64) -> String {
    named("floor", &format!("reading the index files and the trees of {} blobs", counted(blobs)))
}

/// The series of a process that does nothing.
pub(super) fn nothing(blobs: u64, start: &str) -> String {
    named("floor", &format!("a process that does nothing, beside {} blobs{start}", counted(blobs)))
}

/// Checking the repository, without reading packs.
pub(super) fn check(blobs: u64) -> String {
    format!("check of a snapshot of {} blobs", counted(blobs))
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
    /// restic with a cache that stays.
    filled: Option<Restic>,
    /// The index files.
    index: Vec<PathBuf>,
    /// The packs with the snapshot's trees.
    trees: Vec<PathBuf>,
}

/// One measured step.
struct Step {
    /// The program, unless this is the floor.
    who: &'static str,
    series: String,
    command: Command,
    answer: Answer,
}

/// The expected answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// There is no such blob.
    NotThere,
    /// The repository is sound.
    Sound,
    /// This many blobs are used.
    Used(u64),
    /// One line ends with this.
    Line(String),
    /// Any output.
    Text,
    /// No output.
    Nothing,
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
    let filled = [directory.join("pneu-cache"), directory.join("restic-filled-cache")];
    filled.iter().try_for_each(|cache| corpora::clear(cache))?;
    let mut both = Both {
        corpora: &corpora,
        blobs,
        ours: Ours { pneu: &pneu, repository: repository.clone(), cache: filled[0].clone() },
        restic: installed.as_ref().map(|installed| Restic::new(installed, &repository, &caches[1])),
        filled: installed.map(|installed| Restic::new(&installed, &repository, &filled[1])),
        index: files_below(&repository.join("index"))?,
        trees: files_below(&repository.join("data"))?.into_iter().filter(|file| is_no_hole(file)).collect(),
    };
    both.check_that_it_is_missing(bench);
    for round in 0..=bench.rounds() {
        caches.iter().try_for_each(|cache| corpora::clear(cache))?;
        both.run(bench, round, both.warm()?, Cache::Warm)?;
        both.run(bench, round, both.in_snapshot()?, Cache::Warm)?;
        if cold::is_possible() {
            let mut steps = both.looks(&look_cold(blobs))?;
            steps.push(beneath(nothing(blobs, ", cold"), Command::new("true")));
            both.run(bench, round, steps, Cache::Cold)?;
        }
    }
    caches.iter().chain(&filled).try_for_each(|cache| corpora::clear(cache))
}

impl Both<'_> {
    /// Returns the steps of a round, in order. The first ones fill the caches.
    fn warm(&self) -> Result<Vec<Step>> {
        let blobs = self.blobs;
        let mut steps = self.looks(&look_first(blobs))?;
        steps.extend(self.looks(&look(blobs))?);
        steps.push(own(check(blobs), self.ours.command(&["check"]), Answer::Sound));
        steps.extend(self.other(&check(blobs), &["check"], Answer::Sound));
        steps.extend(self.other(&key(blobs), &["--no-lock", "cat", "config"], Answer::Text));
        steps.push(beneath(read_index(blobs), reading(&self.index)));
        steps.push(beneath(nothing(blobs, ""), Command::new("true")));
        Ok(steps)
    }

    /// Returns the queries on the snapshot, with caches that are kept.
    fn in_snapshot(&self) -> Result<Vec<Step>> {
        let blobs = self.blobs;
        let used = Answer::Used(archive::used_count(blobs));
        let name = archive::middle_name(blobs)?;
        let mut steps = Vec::new();
        for (work, ours, theirs, answer) in [
            (stats(blobs), &["stats"][..], &["stats", "--mode", "raw-data"][..], used),
            (find(blobs), &["find", &name], &["find", &name], Answer::Line(name.clone())),
        ] {
            steps.push(own(work.clone(), self.ours.command(ours), answer.clone()));
            steps.extend(self.filled.as_ref().map(|restic| other(work, restic.command(theirs), answer)));
        }
        steps.push(beneath(read_trees(blobs), reading(&self.trees)));
        steps.push(beneath(read_both(blobs), reading(&[&self.index[..], &self.trees].concat())));
        Ok(steps)
    }

    fn other(&self, work: &str, arguments: &[&str], answer: Answer) -> Option<Step> {
        Some(other(work.to_owned(), self.restic.as_ref()?.command(arguments), answer))
    }

    /// Makes sure that restic fails for the expected reason, because it ends with 1 for many others, too.
    /// Otherwise restic's look-ups are left out.
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
        let mut steps = vec![own(work.to_owned(), command, Answer::NotThere)];
        let arguments = ["--no-lock", "cat", "blob", &unknown];
        steps.extend(self.other(work, &arguments, Answer::NotThere).map(|mut step| {
            // It prints each time that there is no such blob.
            step.command.stderr(Stdio::null());
            step
        }));
        Ok(steps)
    }

    /// Runs all steps. If one of restic's fails, the others continue without restic.
    fn run(&mut self, bench: &mut Bench<'_>, round: usize, steps: Vec<Step>, cache: Cache) -> Result<()> {
        for mut step in steps {
            if step.who == COLUMNS[1] && self.restic.is_none() {
                continue;
            }
            match step.run(cache) {
                Err(error) if step.who == COLUMNS[1] => {
                    leave_out(&mut bench.report, &step.series, &error);
                    (self.restic, self.filled) = (None, None);
                }
                outcome => {
                    let series = Series::of(&step.series, outcome?.sample);
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

fn own(work: String, command: Command, answer: Answer) -> Step {
    Step { who: COLUMNS[0], series: ours(&work), command, answer }
}

fn other(work: String, command: Command, answer: Answer) -> Step {
    Step { who: COLUMNS[1], series: theirs(&work), command, answer }
}

/// Returns a step of the floor.
fn beneath(series: String, command: Command) -> Step {
    Step { who: "", series, command, answer: Answer::Nothing }
}

/// Returns a command that reads files and does nothing with them.
fn reading(files: &[PathBuf]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec cat \"$@\" > /dev/null", "sh"]).args(files);
    command
}

/// Returns the files of a directory and of those in it.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

/// Returns whether most of a file is on the disk.
fn is_no_hole(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.blocks() * 512 > metadata.len() / 2)
}

impl Step {
    fn run(&mut self, cache: Cache) -> Result<Outcome> {
        // Flush pending writes, so that no program pays for those of another.
        rustix::fs::sync();
        cache.prepare()?;
        let command = &mut self.command;
        // restic exits with 1 if there is no such blob; pneu's crate checks this itself.
        let outcome = match (self.who, &self.answer) {
            (who, Answer::NotThere) if who == COLUMNS[1] => child::ask(command)?,
            _ => child::run(command)?,
        };
        let said = outcome.said.as_str();
        match &self.answer {
            Answer::NotThere => {}
            Answer::Sound => ensure!(says_sound(said), "{command:?} found something: {said}"),
            Answer::Used(expected) => {
                let count = used_count(said);
                ensure!(count == Some(*expected), "{command:?} counted {count:?}, not {expected}: {said}");
            }
            Answer::Line(end) => {
                let count = said.lines().filter(|line| line.ends_with(end.as_str())).count();
                ensure!(count == 1, "{command:?} found it {count} times: {said}");
            }
            Answer::Text => ensure!(!said.is_empty(), "{command:?} said nothing"),
            Answer::Nothing => ensure!(said.is_empty(), "{command:?} said something: {said}"),
        }
        Ok(outcome)
    }
}

/// Returns whether a check found no fault, by the output of either program.
fn says_sound(said: &str) -> bool {
    said.contains("no damage found") || said.contains("no errors were found")
}

/// Returns how many blobs are used, by the output of either program: `used 4,750,192 blobs, 57 GiB`, `Total
/// Blob Count: 4750192`.
fn used_count(said: &str) -> Option<u64> {
    let of = |line: &str| {
        let count = line.strip_prefix("used ").or_else(|| line.trim().strip_prefix("Total Blob Count:"))?;
        count.split_whitespace().next()?.replace(',', "").parse().ok()
    };
    said.lines().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_count_blobs() {
        assert_eq!(used_count("packed  1 MiB\nused        4,750,192 blobs, 57 GiB\n"), Some(4_750_192));
        assert_eq!(used_count("Stats in raw-data mode:\n    Total Blob Count:  4750192\n"), Some(4_750_192));
        assert_eq!(used_count("nothing"), None);
    }

    #[test]
    fn both_programs_say_that_a_repository_is_sound() {
        assert!(says_sound("check snapshots, trees and blobs\nno errors were found\n"));
        assert!(says_sound("1,000 packs, 5,000,000 blobs: no damage found\n"));
        assert!(!says_sound("Fatal: repository contains errors\n"));
    }
}
