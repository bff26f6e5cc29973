//! Merges of index entries, look-ups and decoding: by pneu's crates, and by restic's own benchmarks and what was put beside them.
//!
//! Comes in: what is installed. Goes out: series. Must not know how either does it.

use crate::bench::Bench;
use crate::peers::restic::benchmarks::{Benchmarks, Package};
use anyhow::Result;
use bench_own::archive::{self, DECODED_COUNT, Job, LOOKUP_BLOB_COUNT};
use bench_own::engine::{self, Times};
use measure::{Report, Series, child, told, watch};
use std::fs;
use std::process::Command;

/// What every merge has to do at least: all entries are read, and written into memory.
pub(super) const MERGE_FLOOR: &str = "cat of 1,000 runs into a file in memory";
/// Where entries are copied to.
const COPY: &str = "/dev/shm/pneu-bench-copied";

/// Measures merges, each alone and interleaved, and restic's own, which makes what it merges too.
pub(super) fn merges(bench: &mut Bench<'_>) -> Result<()> {
    let benchmarks = Benchmarks::kept(bench, Package::Index)?;
    let corpora = bench.corpora().to_owned();
    engine::make_runs(&corpora)?;
    let copy = format!("cat {:?}/* > {COPY}", engine::runs(&corpora));
    for round in 0..=bench.slow_rounds() {
        let mut series = Vec::from(engine::merge(&corpora, Times::Once)?);
        series.push(Series::of(MERGE_FLOOR, child::measure(Command::new("sh").args(["-c", &copy]))?));
        fs::remove_file(COPY)?;
        if let Some(benchmarks) = &benchmarks {
            series.extend(benchmarks.measure("TestMeasuredMerge")?);
        }
        series.extend(engine::merge(&corpora, Times::Twice)?);
        if let Some(benchmarks) = &benchmarks {
            series.extend(benchmarks.measure("TestMeasuredMergeTwice")?);
            if !bench.options.quick {
                series.extend(benchmarks.own(&["BenchmarkMasterIndexMerge"])?);
            }
        }
        add_after_first(round, &mut bench.report, series);
    }
    Ok(())
}

/// Measures look-ups and decoding.
pub(super) fn lookups(bench: &mut Bench<'_>) -> Result<()> {
    let benchmarks = Benchmarks::kept(bench, Package::Index)?;
    let corpora = bench.corpora().to_owned();
    archive::call(&corpora, Job::Make, LOOKUP_BLOB_COUNT, 1)?;
    archive::call(&corpora, Job::OpenCold, LOOKUP_BLOB_COUNT, 1)?;
    for round in first_round(bench)..=bench.slow_rounds() {
        let mut series = told::series(&archive::call(&corpora, Job::Lookups, LOOKUP_BLOB_COUNT, 1)?)?;
        if let Some(benchmarks) = &benchmarks {
            let mut decode = archive::command(&corpora, Job::Decode, DECODED_COUNT, 1)?;
            let json = benchmarks.json()?;
            series.extend(told::series(&watch::run(decode.arg("--json").arg(&json))?)?);
            let own = ["BenchmarkDecodeIndex", "BenchmarkIndexHasUnknown", "BenchmarkIndexHasKnown"];
            series.extend(benchmarks.own(&own)?);
        }
        add_after_first(round, &mut bench.report, series);
    }
    Ok(())
}

/// restic's benchmarks repeat themselves, and take half a minute to make what they measure: a quick run has no round that does not count.
fn first_round(bench: &Bench<'_>) -> usize {
    usize::from(bench.options.quick && bench.rounds() > 0)
}

pub(super) fn add_after_first(round: usize, report: &mut Report, series: Vec<Series>) {
    for mut series in series {
        // What it says of one round would stand for all.
        if let Some((_, note)) = series.note.split_once(" ns each") {
            series.note = note.trim_start_matches("; ").to_owned();
        }
        if round > 0 {
            report.add(series);
        }
    }
}
