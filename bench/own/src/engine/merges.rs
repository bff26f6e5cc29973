//! Merges many sorted runs of blobs, and as many runs of packs, into one index.
//!
//! Input: a directory. Output: 1,000 segments of each kind, or one merged from them. Does not know who
//! measures.
//!
//! The result is searchable at once: it has a hash index of the blobs' ids and one of the packs'. The runs
//! have none, since a merge does not read them.

use super::ids::{self, Hashed};
use super::job;
use anyhow::{Context, Result, ensure};
use disk::{Disk, RealDisk};
use measure::{told, watch};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use store::{Form, Order, Schema, Segment, Source, Value, sort_by_primary, write_segment};

/// Runs.
const RUN_COUNT: u64 = 1_000;
/// Entries of a run.
const RUN_ENTRIES: u64 = 8_660;
/// Packs of a run.
const RUN_PACKS: u64 = 1_000;
/// Entries of all runs.
pub(super) const ENTRY_COUNT: u64 = RUN_COUNT * RUN_ENTRIES;
/// Prefix of the line with the number of bytes made.
pub(super) const MADE: &str = "made\t";

/// The kind of what is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Blobs,
    Packs,
}

impl Content {
    fn schema(self, hashed: Hashed) -> Arc<Schema> {
        match self {
            Content::Blobs => ids::schema(hashed),
            Content::Packs => ids::pack_schema(hashed),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Content::Blobs => "blobs",
            Content::Packs => "packs",
        }
    }

    fn of_run(self) -> u64 {
        match self {
            Content::Blobs => RUN_ENTRIES,
            Content::Packs => RUN_PACKS,
        }
    }

    fn run_path(self, directory: &Path, number: u64) -> PathBuf {
        runs(directory).join(format!("{number:04}.{}.seg", self.word()))
    }
}

/// Returns where the runs are.
pub(super) fn runs(directory: &Path) -> PathBuf {
    directory.join("runs-with-packs")
}

/// Writes the runs, if they are not there.
pub(super) fn make(directory: &Path) -> Result<()> {
    if Content::Packs.run_path(directory, RUN_COUNT - 1).exists() {
        return Ok(());
    }
    RealDisk.create_directory(&runs(directory))?;
    for content in [Content::Blobs, Content::Packs] {
        let schema = content.schema(Hashed::No);
        for number in 0..RUN_COUNT {
            let numbers = number * content.of_run()..(number + 1) * content.of_run();
            let rows = match content {
                Content::Blobs => ids::rows_in(&schema, numbers, &|number| number * RUN_PACKS / RUN_ENTRIES)?,
                Content::Packs => ids::packs(&schema, numbers)?,
            };
            let path = content.run_path(directory, number);
            job::remove(&path)?;
            write_segment(&RealDisk, &path, &schema, &[&rows], (Order::AsIs, Form::Plain))?;
        }
    }
    Ok(())
}

/// Merges the runs, each taken `times` times, into files in `target`. Prints the time and the number of bytes
/// made. The runs are opened before.
pub(super) fn merge(directory: &Path, times: usize, target: &Path, name: &str) -> Result<()> {
    let all = [Content::Blobs, Content::Packs];
    let runs = all.map(|content| opened(directory, content, times));
    target_paths(target).iter().try_for_each(|path| job::remove(path))?;
    let mut output = std::io::stdout();
    writeln!(output, "{}", watch::FROM_HERE)?;
    let process = std::process::id();
    let (begin, cpu) = (Instant::now(), watch::cpu_seconds(process)?);
    let mut bytes = 0;
    for (content, runs) in all.iter().zip(runs) {
        bytes += merged(*content, &runs?, times, &target_path(target, *content))?;
    }
    let (seconds, cpu) = (begin.elapsed().as_secs_f64(), watch::cpu_seconds(process)? - cpu);
    let count = ENTRY_COUNT * times as u64;
    writeln!(output, "{}\t{cpu:.3}\n{MADE}{bytes}", told::line(name, "", "", seconds, count))?;
    job::ready()?;
    for content in all {
        let path = target_path(target, content);
        check_that_it_answers(content, &path)?;
        job::remove(&path)?;
    }
    Ok(())
}

/// Returns the paths of the merged files in `target`.
pub(super) fn target_paths(target: &Path) -> [PathBuf; 2] {
    [Content::Blobs, Content::Packs].map(|content| target_path(target, content))
}

fn target_path(target: &Path, content: Content) -> PathBuf {
    target.join(format!("pneu-bench-merged.{}.seg", content.word()))
}

/// Opens all runs, each `times` times.
fn opened(directory: &Path, content: Content, times: usize) -> Result<Vec<Segment>> {
    let schema = content.schema(Hashed::No);
    let open = |number| Segment::open(&RealDisk, &content.run_path(directory, number), &schema);
    let mut runs = Vec::new();
    for _ in 0..times {
        runs.extend((0..RUN_COUNT).map(open).collect::<store::Result<Vec<_>>>()?);
    }
    Ok(runs)
}

/// Merges runs and returns how many bytes the file has.
fn merged(content: Content, runs: &[Segment], times: usize, path: &Path) -> Result<u64> {
    let schema = content.schema(Hashed::Yes);
    let sources: Vec<&dyn Source> = runs.iter().map(|run| run as &dyn Source).collect();
    let sorted = sort_by_primary(&schema, &sources, &|_| true)?;
    let written = write_segment(&RealDisk, path, &schema, &sources, (sorted.order(), Form::Plain))?;
    let count = RUN_COUNT * content.of_run();
    ensure!(u64::from(written.row_count) == count, "{} {} are left", written.row_count, content.word());
    let replaced = u64::from(sorted.replaced);
    ensure!(replaced == count * (times as u64 - 1), "{replaced} {} were replaced", content.word());
    Ok(written.file_bytes)
}

/// Checks that the merged file finds some ids through its hash index, and finds no unknown id.
fn check_that_it_answers(content: Content, path: &Path) -> Result<()> {
    let segment = Segment::open(&RealDisk, path, &content.schema(Hashed::Yes))?;
    let count = RUN_COUNT * content.of_run();
    let id = match content {
        Content::Blobs => ids::id,
        Content::Packs => ids::pack_id,
    };
    let mut rows = Vec::new();
    for (number, expected) in [(0, 1), (count / 2, 1), (count - 1, 1), (count, 0)] {
        rows.clear();
        segment.find(0, &[Value::Id(&id(number))], &mut rows).context("cannot look up in what was made")?;
        ensure!(
            rows.len() == expected,
            "number {number} of {} is found {} times",
            content.word(),
            rows.len()
        );
    }
    Ok(())
}
