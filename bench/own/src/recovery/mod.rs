//! Recovery: the same snapshots and logs of Tarantool, by pneu and by Tarantool itself, until both indexes answer.
//!
//! Comes in: sizes, and where files are kept. Goes out: series. Must not know how either program does it.
//!
//! The clock runs from the start of the process to the line in which it says that it is ready; CPU time and memory are those up to that
//! line. Memory is the peak of anonymous memory, looked at every few milliseconds: what is mapped of a file belongs to the file
//! cache.

mod files;
mod tarantool;
pub(crate) mod watch;

pub(crate) use files::{MakeArguments, make};

use crate::Options;
use crate::child::{Sample, measure as measure_child};
use crate::plan::say;
use crate::report::{Report, Series};
use anyhow::{Context, Result, bail};
use files::{Files, Kind, Order, Rows};
use std::fs;
use std::path::Path;
use std::process::Command;
use watch::Watched;

/// Rows from which one round has to be enough, and files are not kept.
const ONCE_FROM: u64 = 32_000_000;
/// A key that every file has, in both fields.
const KEY: u64 = 777;
/// Rows of a log.
const LOG_ROWS: u64 = 4_000_000;

/// Measures snapshots of all sizes and orders, logs, and the sealed store.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let directory = options.corpora.join("recovery");
    fs::create_dir_all(&directory)?;
    let mut sizes = options.recovery_rows.clone();
    sizes.sort_unstable();
    for rows in sizes {
        for order in [Order::Ascending, Order::Shuffled] {
            for kind in [Kind::Tree, Kind::Hash] {
                let files = Files::snapshot(&directory, rows, order, kind)?;
                measure_files(options, report, &files)?;
            }
        }
    }
    for rows in [Rows::OneByOne, Rows::ByThousands] {
        let count = LOG_ROWS.min(options.recovery_rows.iter().copied().max().unwrap_or(LOG_ROWS));
        let files = Files::log(&directory, count, rows)?;
        measure_files(options, report, &files)?;
    }
    Ok(())
}

/// Measures both programs in turn on the same files, then the store that pneu made of them.
fn measure_files(options: &Options, report: &mut Report, files: &Files) -> Result<()> {
    let name = files.name();
    let store = files.directory().with_extension("store");
    let mut ours = Series::new(&format!("pneu, {name}: first answers"), files.goal());
    let mut sealing = Series::new(&format!("pneu, {name}: sealing after that"), "");
    let mut theirs = Series::new(&format!("Tarantool, {name}: first answers"), "");
    let (warm, rounds) = if files.rows() >= ONCE_FROM { (0, 1) } else { (1, options.recovery_rounds) };
    let mut faults = (Vec::new(), Vec::new());
    // Reads the file once, for the cache.
    files.warm()?;
    for round in 0..warm + rounds {
        if store.exists() {
            fs::remove_dir_all(&store)?;
        }
        let mut load = Command::new(&options.program);
        load.args(["store", "load"]).arg(files.directory()).arg("--into").arg(&store);
        let loaded = watch::run(&mut load)?;
        let recovered = watch::run(&mut tarantool::load(files, KEY)?)?;
        if round >= warm {
            faults.0.push(loaded.ready_faults);
            faults.1.push(recovered.ready_faults);
            ours.samples.push(loaded.until_ready());
            sealing.samples.push(loaded.after_ready());
            theirs.samples.push(recovered.until_ready());
        }
    }
    let tuple_bytes = files.tuple_bytes();
    ours.note = memory_note(&ours, tuple_bytes, faults.0);
    theirs.note = memory_note(&theirs, tuple_bytes, faults.1);
    let ours = ours.against(&theirs.name);
    for series in [&ours, &sealing, &theirs] {
        let (median, least, most) = series.wall();
        say(&format!("  {}: {median:.3} s ({least:.3} to {most:.3}) {}", series.name, series.note));
    }
    report.series.extend([ours, sealing, theirs]);
    measure_store(options, report, files, &store)?;
    // A store of 64 M rows takes 6 GB, and the files it is made of 3.5 GB.
    fs::remove_dir_all(&store).with_context(|| format!("cannot remove {}", store.display()))?;
    if files.rows() >= ONCE_FROM { files.remove() } else { Ok(()) }
}

/// Says how much memory it is for each byte of tuples, and how often a page of it was asked for first (the median).
fn memory_note(series: &Series, tuple_bytes: u64, mut faults: Vec<u64>) -> String {
    let peak = series.samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or(0);
    faults.sort_unstable();
    let faults = faults.get(faults.len() / 2).copied().unwrap_or(0);
    format!("memory {:.2} x the tuples, {} k page faults", peak as f64 / tuple_bytes as f64, faults / 1000)
}

/// Measures the start on the sealed store: a look-up through either index, and a walk of many rows.
fn measure_store(options: &Options, report: &mut Report, files: &Files, store: &Path) -> Result<()> {
    let pneu = |arguments: &[&str]| {
        let mut command = Command::new(&options.program);
        command.args(["store", arguments[0]]).arg(store).arg(files::SPACE).args(&arguments[1..]);
        command
    };
    let key = KEY.to_string();
    for index in files::INDEXES {
        let name = format!("pneu, {}: open the sealed store, look up through {index}", files.name());
        let mut series = Series::new(&name, "<= 20 ms");
        for round in 0..=options.rounds {
            let sample = measure_child(&mut pneu(&["get", "--index", index, &key]))?;
            if sample.lines != 1 {
                bail!("{name}: {} lines came, expected 1", sample.lines);
            }
            if round > 0 {
                series.samples.push(sample);
            }
        }
        say(&format!("  {}: {:.4} s", series.name, series.wall().0));
        report.series.push(series);
    }
    Ok(())
}

impl Watched {
    /// Returns what was measured up to the word.
    pub(crate) fn until_ready(&self) -> Sample {
        Sample {
            wall_seconds: self.ready_seconds,
            user_seconds: self.ready_user_seconds,
            system_seconds: self.ready_system_seconds,
            peak_bytes: self.ready_peak_bytes,
            lines: 1,
            output_bytes: 0,
            load_before: self.load_before,
        }
    }

    fn after_ready(&self) -> Sample {
        Sample {
            wall_seconds: self.wall_seconds - self.ready_seconds,
            user_seconds: self.user_seconds - self.ready_user_seconds,
            system_seconds: self.system_seconds - self.ready_system_seconds,
            peak_bytes: self.peak_bytes,
            lines: 0,
            output_bytes: 0,
            load_before: self.load_before,
        }
    }
}
