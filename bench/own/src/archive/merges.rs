//! Merges of index entries, look-ups and decoding: by pneu's crates, and by restic's own benchmarks and what was put beside them.
//!
//! Comes in: options. Goes out: series. Must not know how either does it.

use super::restic::benchmarks::Benchmarks;
use super::{Job, LOOKUP_BLOB_COUNT, call, command};
use crate::Options;
use crate::engine::{self, told};
use crate::recovery::watch;
use crate::report::{Report, Series};
use anyhow::Result;

/// Entries of the index file that both decode: what restic's generator makes of 200,000 packs.
pub(super) const DECODED_COUNT: u64 = 1_730_000;
/// restic's own benchmarks of look-ups ask for so many ids, over and over.
pub(super) const ASKED_COUNT: u64 = 100_000;

/// Measures merges, each alone and interleaved, and restic's own, which makes what it merges too.
pub(super) fn merges(options: &Options, report: &mut Report) -> Result<()> {
    let benchmarks = Benchmarks::kept(&options.corpora)?;
    engine::make_runs(options)?;
    for round in 0..=options.rounds {
        let mut series = vec![engine::merge(options, engine::Times::Once)?];
        series.extend(benchmarks.measure("TestMeasuredMerge")?);
        series.push(engine::merge(options, engine::Times::Twice)?);
        series.extend(benchmarks.measure("TestMeasuredMergeTwice")?);
        series.extend(benchmarks.own(&["BenchmarkMasterIndexMerge"])?);
        add_after_first(round, report, series);
    }
    Ok(())
}

/// Measures look-ups and decoding.
pub(super) fn lookups(options: &Options, report: &mut Report) -> Result<()> {
    let benchmarks = Benchmarks::kept(&options.corpora)?;
    let json = benchmarks.json()?;
    call(options, Job::Make, LOOKUP_BLOB_COUNT, 1)?;
    call(options, Job::OpenCold, LOOKUP_BLOB_COUNT, 1)?;
    for round in 0..=options.rounds {
        let mut series = told(&call(options, Job::Lookups, LOOKUP_BLOB_COUNT, 1)?)?;
        let mut decode = command(options, Job::Decode, DECODED_COUNT, 1)?;
        series.extend(told(&watch::run(decode.arg("--json").arg(&json))?)?);
        let own = ["BenchmarkDecodeIndex", "BenchmarkIndexHasUnknown", "BenchmarkIndexHasKnown"];
        series.extend(benchmarks.own(&own)?);
        add_after_first(round, report, series);
    }
    Ok(())
}

fn add_after_first(round: usize, report: &mut Report, series: Vec<Series>) {
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
