//! Recovery: the same snapshots and logs of Tarantool, by pneu and by Tarantool itself, until both indexes answer.
//!
//! Comes in: what is installed, sizes, and where files are kept. Goes out: series, and a table of them. Must not know how either program does it.
//!
//! The clock runs from the start of the process to the line in which it says that it is ready; CPU time and memory are those up to that
//! line. Memory is the peak of anonymous memory, looked at every few milliseconds: what is mapped of a file belongs to the file
//! cache.

mod bare;
mod files;
mod rows;
mod unpack;

pub(crate) use files::{MakeArguments, make};
pub(crate) use unpack::{UnpackArguments, unpack};

use crate::bench::Bench;
use crate::options::Sizes;
use crate::peer::Installed;
use crate::peers::tarantool::{self, PEER};
use anyhow::{Context, Result, bail};
use files::{Content, Files, Kind, Order, Rows};
use measure::turns::{Cache, tell};
use measure::{Sample, Series, Table, child, cold, corpora, named, watch};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The programs.
pub(crate) const COLUMNS: [&str; 2] = ["pneu", "Tarantool"];

/// Rows from which one round has to be enough.
const ONCE_FROM: u64 = 32_000_000;
/// Rows from which files are not kept: all of 16 million would take 4 GB.
const REMOVED_FROM: u64 = 8_000_000;
/// A key that every file has, in both fields.
const KEY: u64 = 777;

/// Returns the rows.
pub(crate) fn table(sizes: &Sizes) -> Table {
    Table {
        name: "recovery",
        title: "Recovery".to_owned(),
        about: "The same snapshots and logs of tuples {unsigned, unsigned, text of 1 to 100 letters}, with an index over each number, from the start of \
                the process to the first look-up through both. Memory is what belongs to no file. The floor is to read, check and \
                unpack the same files on all cores, and to keep nothing."
            .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: rows::all(&contents(sizes)),
        growths: rows::growths(sizes),
    }
}

/// Returns what is recovered, in order.
fn contents(sizes: &Sizes) -> Vec<Content> {
    let mut contents = Vec::new();
    for &count in &sizes.recovery_rows {
        for order in [Order::Ascending, Order::Shuffled] {
            for kind in [Kind::Tree, Kind::Hash] {
                contents.push(Content { count, order, kind, rows: Rows::Snapshot });
            }
        }
    }
    let most = sizes.recovery_rows.iter().copied().max().unwrap_or(sizes.log_rows);
    for rows in [Rows::OneByOne, Rows::ByThousands] {
        let count = sizes.log_rows.min(most);
        contents.push(Content { count, order: Order::Shuffled, kind: Kind::Tree, rows });
    }
    contents
}

/// Measures snapshots of all sizes and orders, logs, and the sealed store.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let directory = bench.corpora().join("recovery");
    fs::create_dir_all(&directory)?;
    let tarantool = bench.installed(&PEER);
    for content in contents(&bench.options.sizes()) {
        let files = Files::kept(&directory, content, tarantool.as_ref())?;
        measure_files(bench, tarantool.as_ref(), &files)?;
        bench.save()?;
    }
    Ok(())
}

/// Measures both programs in turn on the same files, then the store that pneu made of them.
fn measure_files(bench: &mut Bench<'_>, tarantool: Option<&Installed>, files: &Files) -> Result<()> {
    let content = files.content();
    let store = files.directory().with_extension("store");
    let (warm, rounds) = if content.count >= ONCE_FROM { (0, 1) } else { (1, bench.rounds()) };
    // Reads the files once, for the cache.
    files.warm()?;
    let mut round_of = |round: usize, work: &str, cache: Cache| -> Result<()> {
        let samples = recover_once(&bench.options.program, tarantool, files, &store, cache)?;
        if round >= warm {
            for (name, sample) in samples.named(work) {
                bench.report.add(Series::of(&name, sample));
            }
        }
        Ok(())
    };
    let work = rows::work(&content);
    for round in 0..warm + rounds {
        round_of(round, &work, Cache::Warm)?;
    }
    if rows::is_cold(&content) && cold::is_possible() {
        for round in warm..warm + rounds {
            round_of(round, &rows::work_cold(&content), Cache::Cold)?;
        }
    }
    let tuple_bytes = files.tuple_bytes();
    for name in COLUMNS.map(|column| named(column, &work)) {
        if let Some(series) = bench.report.series.iter_mut().find(|series| series.name == name) {
            let times = series.peak_bytes() as f64 / tuple_bytes as f64;
            series.note = format!("memory {times:.2} x the tuples");
            tell(series);
        }
    }
    measure_store(bench, content, &store)?;
    // A store of 64 M rows takes 6 GB, and the files it is made of 3.5 GB.
    corpora::clear(&store)?;
    if content.count >= REMOVED_FROM { files.remove() } else { Ok(()) }
}

/// What one round gave.
struct Round {
    floor: Sample,
    ours: Sample,
    sealing: Sample,
    theirs: Option<Sample>,
}

impl Round {
    /// Returns the samples with the names of their series.
    fn named(self, work: &str) -> impl Iterator<Item = (String, Sample)> {
        let [own, other] = COLUMNS.map(|column| named(column, work));
        let all = [
            (rows::floor(work), Some(self.floor)),
            (own, Some(self.ours)),
            (rows::sealing(work), Some(self.sealing)),
            (other, self.theirs),
        ];
        all.into_iter().filter_map(|(name, sample)| Some((name, sample?)))
    }
}

/// Recovers by both programs, and unpacks alone. Both end with an error if a look-up through either index, or the number of rows, is wrong.
fn recover_once(
    program: &Path,
    tarantool: Option<&Installed>,
    files: &Files,
    store: &Path,
    cache: Cache,
) -> Result<Round> {
    corpora::clear(store)?;
    let content = files.content();
    let run = |command: &mut Command| {
        cache.prepare()?;
        watch::run(command)
    };
    let mut unpack = Command::new(std::env::current_exe()?);
    let floor = run(unpack.arg("unpack").arg(files.directory()))?.until_ready;
    let mut load = Command::new(program);
    load.args(["store", "load"]).arg(files.directory()).arg("--into").arg(store);
    let loaded = run(&mut load)?;
    check_rows(&loaded.said, content.count)?;
    let theirs = match tarantool {
        Some(installed) => {
            let space = content.space();
            let mut command = tarantool::load(installed, files.directory(), space, content.count, KEY)?;
            Some(run(&mut command)?.until_ready)
        }
        None => None,
    };
    Ok(Round { floor, ours: loaded.until_ready, sealing: loaded.after_ready(), theirs })
}

/// Makes sure that all rows were loaded, by what pneu says: `bench: 16,000,000 tuples` and the like.
fn check_rows(said: &[String], count: u64) -> Result<()> {
    let digits = count.to_string();
    let has_count = |line: &String| line.replace(',', "").contains(&digits);
    if said.iter().any(has_count) {
        return Ok(());
    }
    bail!("pneu said nothing of {count} rows: {}", said.join("; "))
}

/// Measures the start on the sealed store: a look-up through either index.
fn measure_store(bench: &mut Bench<'_>, content: Content, store: &Path) -> Result<()> {
    let pneu = |arguments: &[&str]| {
        let mut command = Command::new(&bench.options.program);
        command.args(["store", arguments[0]]).arg(store).arg(files::SPACE).args(&arguments[1..]);
        command
    };
    let key = KEY.to_string();
    for index in files::INDEXES {
        let work = rows::look_up(&content, index);
        let mut series = Series::new(&named(COLUMNS[0], &work), "<= 20 ms");
        for round in 0..=bench.rounds() {
            let sample = child::measure(&mut pneu(&["get", "--index", index, &key]))
                .with_context(|| format!("cannot look up in {}", store.display()))?;
            if sample.lines != 1 {
                bail!("{work}: {} lines came, expected 1", sample.lines);
            }
            if round > 0 {
                series.samples.push(sample);
            }
        }
        tell(&series);
        bench.report.add(series);
    }
    Ok(())
}
