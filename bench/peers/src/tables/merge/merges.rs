//! Merges of index entries, look-ups and decoding, by pneu's crates, by restic's own benchmarks, and by those
//! added to them.
//!
//! Input: the installed programs. Output: series. Does not know how either program works.

use super::names::theirs;
use crate::bench::Bench;
use crate::peers::restic::benchmarks::{Benchmarks, Package, own_name};
use crate::tables::left_out::leave_out;
use anyhow::Result;
use bench_own::archive::{self, DECODED_COUNT, Job, LOOKUP_BLOB_COUNT};
use bench_own::engine::{self, Times};
use measure::{Report, Series, child, told, watch};
use std::fs;
use std::process::Command;

/// The least work of every merge: all entries are read, and written to memory.
pub(super) const MERGE_FLOOR: &str = "cat of 1,000 runs into a file in memory";
/// restic's merge; the name comes from its test.
pub(super) const MERGE_OF_RESTIC: &str = "merge of 1,000 indexes of 1,000 packs";
/// The same with every index twice.
pub(super) const MERGE_TWICE_OF_RESTIC: &str = "the same with every index twice";
/// The target of the plain copy of entries.
const COPY: &str = "/dev/shm/pneu-bench-copied";

/// Measures merges, alone and interleaved, and restic's own benchmark, which also makes the indexes that it
/// merges.
pub(super) fn merges(bench: &mut Bench<'_>) -> Result<()> {
    let mut benchmarks = Benchmarks::kept(bench, Package::Index)?;
    let corpora = bench.corpora().to_owned();
    engine::make_runs(&corpora)?;
    let copy = format!("cat {:?}/* > {COPY}", engine::runs(&corpora));
    for round in 0..=bench.slow_rounds() {
        let mut series = Vec::from(engine::merge(&corpora, Times::Once)?);
        series.push(Series::of(MERGE_FLOOR, child::measure(Command::new("sh").args(["-c", &copy]))?));
        fs::remove_file(COPY)?;
        let once = [theirs(MERGE_OF_RESTIC)];
        series.extend(of_restic(bench, &mut benchmarks, &once, |it| it.measure("TestMeasuredMerge")));
        series.extend(engine::merge(&corpora, Times::Twice)?);
        let twice = [theirs(MERGE_TWICE_OF_RESTIC)];
        series.extend(of_restic(bench, &mut benchmarks, &twice, |it| it.measure("TestMeasuredMergeTwice")));
        if !bench.options.quick {
            series.extend(own_of_restic(bench, &mut benchmarks, &["BenchmarkMasterIndexMerge"]));
        }
        add_after_first(round, &mut bench.report, series);
    }
    Ok(())
}

/// Measures look-ups and decoding.
pub(super) fn lookups(bench: &mut Bench<'_>) -> Result<()> {
    let mut benchmarks = Benchmarks::kept(bench, Package::Index)?;
    let corpora = bench.corpora().to_owned();
    archive::call(&corpora, Job::Make, LOOKUP_BLOB_COUNT, 1)?;
    archive::call(&corpora, Job::OpenCold, LOOKUP_BLOB_COUNT, 1)?;
    let json = match benchmarks.as_ref().map(Benchmarks::json).transpose() {
        Ok(json) => json,
        Err(error) => {
            leave_out(&mut bench.report, &own_name("BenchmarkDecodeIndex"), &error);
            benchmarks = None;
            None
        }
    };
    for round in first_round(bench)..=bench.slow_rounds() {
        let mut series = told::series(&archive::call(&corpora, Job::Lookups, LOOKUP_BLOB_COUNT, 1)?)?;
        if let Some(json) = &json {
            let mut decode = archive::command(&corpora, Job::Decode, DECODED_COUNT, 1)?;
            series.extend(told::series(&watch::run(decode.arg("--json").arg(json))?)?);
        }
        let own = ["BenchmarkDecodeIndex", "BenchmarkIndexHasUnknown", "BenchmarkIndexHasKnown"];
        series.extend(own_of_restic(bench, &mut benchmarks, &own));
        add_after_first(round, &mut bench.report, series);
    }
    Ok(())
}

/// Measures some of restic's own benchmarks, as [`of_restic`] does.
pub(super) fn own_of_restic(
    bench: &mut Bench<'_>,
    benchmarks: &mut Option<Benchmarks>,
    names: &[&str],
) -> Vec<Series> {
    let series: Vec<String> = names.iter().map(|name| own_name(name)).collect();
    of_restic(bench, benchmarks, &series, |benchmarks| benchmarks.own(names))
}

/// Measures a benchmark of restic's, if available. If it fails, its series are left out, and restic is not
/// run again.
fn of_restic(
    bench: &mut Bench<'_>,
    benchmarks: &mut Option<Benchmarks>,
    series: &[String],
    measure: impl FnOnce(&Benchmarks) -> Result<Vec<Series>>,
) -> Vec<Series> {
    match benchmarks.as_ref().map(measure) {
        Some(Ok(series)) => series,
        Some(Err(error)) => {
            series.iter().for_each(|name| leave_out(&mut bench.report, name, &error));
            *benchmarks = None;
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// restic's benchmarks repeat themselves, and take half a minute to prepare, so a quick run has no warm-up
/// round.
fn first_round(bench: &Bench<'_>) -> usize {
    usize::from(bench.options.quick && bench.rounds() > 0)
}

pub(super) fn add_after_first(round: usize, report: &mut Report, series: Vec<Series>) {
    for mut series in series {
        // The note is about a single round, but would be shown for all.
        if let Some((_, note)) = series.note.split_once(" ns each") {
            series.note = note.trim_start_matches("; ").to_owned();
        }
        if round > 0 {
            report.add(series);
        }
    }
}
