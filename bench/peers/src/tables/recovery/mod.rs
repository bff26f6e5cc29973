//! Recovery: pneu and Tarantool recover the same snapshots and logs, until both indexes can be searched.
//!
//! Input: the installed programs, sizes, and a directory for files. Output: series, and a table of them. Does
//! not know how either program works.
//!
//! The clock runs from the start of the process to the line in which it reports that it is ready. CPU time
//! and memory count up to that line; in other rows they count up to the end, when pneu has written its store.
//! Memory is the peak of anonymous memory, sampled every few milliseconds; mapped files belong to the file
//! cache.

mod bare;
mod files;
mod rows;
mod unpack;

pub(crate) use files::{MakeArguments, make};
pub(crate) use rows::COLUMNS;
pub(crate) use unpack::{UnpackArguments, unpack};

use crate::bench::Bench;
use crate::options::{Sizes, counted};
use crate::peer::{Installed, said};
use crate::peers::tarantool::{self, PEER};
use crate::tables::left_out::leave_out;
use anyhow::{Context, Result, bail};
use files::{Content, Files, Kind, Order, Rows, Tuple};
use measure::turns::{Cache, tell};
use measure::{Sample, Series, Table, child, cold, corpora, named, watch};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Rows from which a round takes half a minute.
const SLOW_FROM: u64 = 32_000_000;
/// Rows from which files are not kept: all of 16 million would take 4 GB.
const REMOVED_FROM: u64 = 8_000_000;
/// A key that every file has, in both fields.
const KEY: u64 = 777;

/// Returns the rows.
pub(crate) fn table(sizes: &Sizes) -> Table {
    Table {
        name: "recovery",
        title: "Recovery".to_owned(),
        about: "The same snapshots and logs of tuples {unsigned, unsigned, text of 1 to 100 letters}, with \
            an index over each number, from the start of the process to the first look-up through both \
            indexes. Tarantool is ready then. pneu also writes its store: other rows include that, and so \
            do the goals for memory. Memory is the memory that belongs to no file. The floor is to read, \
            check and unpack the same files on all cores, and to keep nothing."
            .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: rows::all(&contents(sizes)),
        growths: rows::growths(sizes),
    }
}

/// Returns the contents to recover, in order.
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
    let options = bench.options;
    let contents = contents(&options.sizes());
    for content in contents.into_iter().filter(|content| options.is_asked(&counted(content.count))) {
        let work = rows::work(&content);
        let (files, tarantool) = match Files::kept(&directory, content, tarantool.as_ref()) {
            // If it was not Tarantool's, ours has the same.
            Err(error) if tarantool.is_some() => {
                leave_out(&mut bench.report, &named(COLUMNS[1], &work), &error);
                (Files::kept(&directory, content, None)?, None)
            }
            files => (files?, tarantool.as_ref()),
        };
        measure_files(bench, tarantool, &files)?;
        bench.save()?;
    }
    Ok(())
}

/// Measures both programs in turn on the same files, then the store that pneu made of them.
fn measure_files(bench: &mut Bench<'_>, mut tarantool: Option<&Installed>, files: &Files) -> Result<()> {
    let content = files.content();
    let store = files.directory().with_extension("store");
    let (warm, rounds) =
        if content.count >= SLOW_FROM { (0, bench.slow_rounds()) } else { (1, bench.rounds()) };
    // Reads the files once, for the cache.
    files.warm()?;
    let mut round_of = |round: usize, work: &str, cache: Cache| -> Result<()> {
        let samples = recover_once(&bench.options.tarantool_program(), files, &store, cache)?;
        let theirs = tarantool.map(|installed| recover_theirs(installed, files, cache));
        if let Some(Err(error)) = &theirs {
            leave_out(&mut bench.report, &named(COLUMNS[1], work), error);
            tarantool = None;
        }
        if round >= warm {
            for (name, sample) in samples.named(work) {
                bench.report.add(Series::of(&name, sample));
            }
            if let Some(Ok(sample)) = theirs {
                bench.report.add(Series::of(&named(COLUMNS[1], work), sample));
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
    let (tuple_bytes, tuples) = files.tuples();
    let [own, other] = COLUMNS.map(|column| named(column, &work));
    for name in [own, named(COLUMNS[0], &rows::whole(&work)), other] {
        let has_samples = |series: &&mut Series| series.name == name && !series.samples.is_empty();
        if let Some(series) = bench.report.series.iter_mut().find(has_samples) {
            let times = series.peak_bytes() as f64 / tuple_bytes as f64;
            series.note = format!("memory {times:.2} x the tuples");
            tell(series);
        }
    }
    measure_store(bench, content, &store)?;
    check_tuples(&bench.options.tarantool_program(), &store, &tuples)?;
    // A store of 64 M rows takes 6 GB, and the files it is made of 3.5 GB.
    corpora::clear(&store)?;
    if content.count >= REMOVED_FROM { files.remove() } else { Ok(()) }
}

/// The results of one round.
struct Round {
    floor: Sample,
    ours: Sample,
    sealing: Sample,
    whole: Sample,
}

impl Round {
    /// Returns the samples with the names of their series.
    fn named(self, work: &str) -> [(String, Sample); 4] {
        let own = |work: &str| named(COLUMNS[0], work);
        [
            (rows::floor(work), self.floor),
            (own(work), self.ours),
            (rows::sealing(work), self.sealing),
            (own(&rows::whole(work)), self.whole),
        ]
    }
}

/// Unpacks alone, and recovers by pneu, which ends with an error if a look-up through either index is wrong.
fn recover_once(program: &Path, files: &Files, store: &Path, cache: Cache) -> Result<Round> {
    corpora::clear(store)?;
    let mut unpack = Command::new(std::env::current_exe()?);
    let floor = watched(unpack.arg("unpack").arg(files.directory()), cache)?.until_ready;
    let mut load = Command::new(program);
    load.arg("load").arg(files.directory()).arg("--into").arg(store);
    let loaded = watched(&mut load, cache)?;
    check_rows(&said(Command::new(program).arg("info").arg(store))?, files.content().count)?;
    Ok(Round { floor, ours: loaded.until_ready, sealing: loaded.after_ready(), whole: loaded.whole })
}

/// Recovers by Tarantool, which ends with an error if a look-up through either index, or the number of rows,
/// is wrong.
fn recover_theirs(tarantool: &Installed, files: &Files, cache: Cache) -> Result<Sample> {
    let Content { count, .. } = files.content();
    let mut command = tarantool::load(tarantool, files.directory(), files.content().space(), count, KEY)?;
    Ok(watched(&mut command, cache)?.until_ready)
}

fn watched(command: &mut Command, cache: Cache) -> Result<watch::Watched> {
    // Flush pending writes, so that no program pays for those of another.
    rustix::fs::sync();
    cache.prepare()?;
    watch::run(command)
}

/// Checks that the space has all rows, using pneu's description of the store: `space 512 bench: indexes
/// first, second, 16000000 rows in 1 segments`.
fn check_rows(said: &str, count: u64) -> Result<()> {
    let named = format!(" {}: ", files::SPACE);
    let rows = said.lines().filter(|line| line.starts_with("space ")).find_map(|line| {
        let (_, facts) = line.split_once(&named)?;
        facts.split(", ").find_map(|fact| fact.split_once(" rows")?.0.parse::<u64>().ok())
    });
    if rows == Some(count) {
        return Ok(());
    }
    bail!("pneu said nothing of {count} rows: {said}")
}

/// Makes sure that some tuples are those that were put into the files, through either index.
fn check_tuples(program: &Path, store: &Path, tuples: &[Tuple]) -> Result<()> {
    for tuple in tuples {
        for (index, key) in files::INDEXES.into_iter().zip(tuple.keys) {
            let mut command = Command::new(program);
            command.arg("get").arg(store).args([files::SPACE, "--index", index]);
            let found = said(command.arg(key.to_string()))?;
            if found.trim_end() != tuple.json() {
                bail!("key {key} of index {index} is {found:?}, expected {}", tuple.json());
            }
        }
    }
    Ok(())
}

/// Measures the start on the sealed store: a look-up through either index.
fn measure_store(bench: &mut Bench<'_>, content: Content, store: &Path) -> Result<()> {
    let pneu = |arguments: &[&str]| {
        let mut command = Command::new(bench.options.tarantool_program());
        command.arg(arguments[0]).arg(store).arg(files::SPACE).args(&arguments[1..]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_space_and_of_nothing_else() {
        let info = |rows: &str| {
            format!(
                "instance   496364fc\nreaches    {{1: 1000000}}\nspace      512 bench: indexes first, \
                 second, {rows} rows in 1 segments\n\
                 spaces     25 of the system besides\n"
            )
        };
        check_rows(&info("1000000"), 1_000_000).unwrap();
        assert!(check_rows(&info("11000000"), 1_000_000).is_err());
        assert!(check_rows(&info("999999"), 1_000_000).is_err());
        assert!(check_rows(&info("1000000").replace("bench", "bench-1000000"), 1_000_000).is_err());
    }
}
