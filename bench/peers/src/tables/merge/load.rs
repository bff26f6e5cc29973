//! Loads one index file of 5,000 packs with one blob each: reads, decrypts, decompresses and decodes it, and
//! makes an index. Compares restic's BenchmarkLoadIndex with pneu's crate on a file with the same content.
//!
//! Input: the installed programs. Output: series. Does not know how either program works.

use super::merges::{add_after_first, own_of_restic};
use crate::bench::Bench;
use crate::peers::restic::benchmarks::{Benchmarks, Package};
use anyhow::Result;
use bench_own::archive::{self, Job, LOADED_COUNT};
use measure::told;

/// Measures both.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let mut benchmarks = Benchmarks::kept(bench, Package::Repository)?;
    let corpora = bench.corpora().to_owned();
    for round in 0..=bench.rounds() {
        let mut series = told::series(&archive::call(&corpora, Job::Load, LOADED_COUNT, 1)?)?;
        series.extend(own_of_restic(bench, &mut benchmarks, &["BenchmarkLoadIndex/v2"]));
        add_after_first(round, &mut bench.report, series);
    }
    Ok(())
}
