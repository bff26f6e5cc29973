//! The merge of many sorted runs into one segment.
//!
//! Comes in: a directory. Goes out: 1,000 segments, or one of them all. Must not know who measures.

use super::ids::{self, Hashed};
use anyhow::{Result, ensure};
use disk::{Disk, RealDisk};
use std::path::{Path, PathBuf};
use store::{Order, Segment, Source, sort_by_primary, write_segment};

/// Runs.
const RUN_COUNT: u64 = 1_000;
/// Entries of a run.
const RUN_ENTRIES: u64 = 8_660;
/// Entries of all runs.
pub(super) const ENTRY_COUNT: u64 = RUN_COUNT * RUN_ENTRIES;

/// Returns where the runs are.
pub(super) fn runs(directory: &Path) -> PathBuf {
    directory.join("runs")
}

fn run_path(directory: &Path, number: u64) -> PathBuf {
    runs(directory).join(format!("{number:04}.seg"))
}

/// Writes the runs, if they are not there.
pub(super) fn make(directory: &Path) -> Result<()> {
    if run_path(directory, RUN_COUNT - 1).exists() {
        return Ok(());
    }
    RealDisk.create_directory(&runs(directory))?;
    let schema = ids::schema(Hashed::No);
    for number in 0..RUN_COUNT {
        let rows = ids::rows(&schema, number * RUN_ENTRIES..(number + 1) * RUN_ENTRIES)?;
        let path = run_path(directory, number);
        super::remove(&path)?;
        write_segment(&RealDisk, &path, &schema, &[&rows], Order::AsIs)?;
    }
    Ok(())
}

/// Merges the runs, each taken so many times, into a file in `target`.
pub(super) fn merge(directory: &Path, times: usize, target: &Path) -> Result<()> {
    let schema = ids::schema(Hashed::No);
    let open = |number| Segment::open(&RealDisk, &run_path(directory, number), &schema);
    let mut runs = Vec::new();
    for _ in 0..times {
        runs.extend((0..RUN_COUNT).map(open).collect::<store::Result<Vec<_>>>()?);
    }
    let sources: Vec<&dyn Source> = runs.iter().map(|run| run as &dyn Source).collect();
    let sorted = sort_by_primary(&schema, &sources, &|_| true)?;
    let path = target.join("pneu-bench-merged.seg");
    super::remove(&path)?;
    let written = write_segment(&RealDisk, &path, &schema, &sources, sorted.order())?;
    ensure!(u64::from(written.row_count) == ENTRY_COUNT, "{} entries are left", written.row_count);
    ensure!(
        u64::from(sorted.replaced) == ENTRY_COUNT * (times as u64 - 1),
        "{} were replaced",
        sorted.replaced
    );
    super::ready()?;
    super::remove(&path)
}
