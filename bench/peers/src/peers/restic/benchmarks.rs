//! restic's own benchmarks of its index, and two of ours, added to its source, which merge the same indexes
//! as its own.
//!
//! Input: a directory for its source. Output: series. Does not know what they are compared with.
//!
//! The source is that of the installed version, as a Go module.

use super::PEER;
use crate::bench::Bench;
use crate::peer::said;
use anyhow::{Context, Result, bail};
use measure::{Sample, Series, machine, say, told, watch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file added to restic's tests.
const ADDED: &str = include_str!("measured_test.go");
/// A package of restic, with its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Package {
    /// The index.
    Index,
    /// The code that reads and writes files of a repository.
    Repository,
}

impl Package {
    fn directory(self) -> &'static str {
        match self {
            Package::Index => "internal/repository/index",
            Package::Repository => "internal/repository",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Package::Index => "index.test",
            Package::Repository => "repository.test",
        }
    }
}

/// The tests of a package of restic, built.
pub(crate) struct Benchmarks {
    directory: PathBuf,
    package: Package,
}

impl Benchmarks {
    /// Returns the tests, building them if needed. Returns `None` if restic, go or the source is missing.
    pub(crate) fn kept(bench: &mut Bench<'_>, package: Package) -> Result<Option<Benchmarks>> {
        let Some(restic) = bench.installed(&PEER) else { return Ok(None) };
        let version = restic.version.split_whitespace().nth(1).context("restic does not say its version")?;
        let directory = bench.corpora().join(format!("restic-{version}"));
        let benchmarks = Benchmarks { directory, package };
        match benchmarks.build(version) {
            Ok(()) => Ok(Some(benchmarks)),
            Err(error) => {
                say(&format!("restic's own benchmarks: {error:#}"));
                bench.report.set_fact("restic's own benchmarks", format!("dashes: {error:#}"));
                Ok(None)
            }
        }
    }

    fn build(&self, version: &str) -> Result<()> {
        if !self.source().exists() {
            let module = format!("github.com/restic/restic@v{version}");
            let mut download = Command::new("go");
            said(download.args(["mod", "download", &module]).env("GOFLAGS", "-mod=mod"))?;
            let modules = said(Command::new("go").args(["env", "GOMODCACHE"]))?;
            fs::create_dir_all(&self.directory)?;
            // The module cache must not be written to.
            let mut copy = Command::new("cp");
            copy.args(["-r", "--no-preserve=mode"]).arg(Path::new(modules.trim()).join(&module));
            said(copy.arg(self.source()))?;
        }
        let added = self.source().join(Package::Index.directory()).join("measured_test.go");
        if fs::read_to_string(&added).ok().as_deref() != Some(ADDED) || !self.program().exists() {
            fs::write(&added, ADDED).with_context(|| format!("cannot write {}", added.display()))?;
            let mut build = Command::new("go");
            build
                .args(["test", "-c", "-o"])
                .arg(self.program())
                .arg(format!("./{}", self.package.directory()));
            said(build.current_dir(self.source()))?;
        }
        Ok(())
    }

    fn source(&self) -> PathBuf {
        self.directory.join("source")
    }

    fn program(&self) -> PathBuf {
        self.directory.join(self.package.program())
    }

    /// Returns the index file that restic's benchmark decodes. Writes it if it does not exist.
    pub(crate) fn json(&self) -> Result<PathBuf> {
        let path = self.directory.join("index.json");
        if !path.exists() {
            let making = path.with_extension("making");
            said(self.added("TestMeasuredJSON").env("MEASURED_JSON", &making))?;
            fs::rename(&making, &path)?;
        }
        Ok(path)
    }

    /// Measures one of the added benchmarks in its own process. Memory counts up to its signal; after that it
    /// checks its result.
    pub(crate) fn measure(&self, name: &str) -> Result<Vec<Series>> {
        let watched = watch::run(&mut self.added(name))?;
        let mut all = told::series(&watched)?;
        for sample in all.iter_mut().flat_map(|series| &mut series.samples) {
            sample.peak_bytes = watched.until_ready.peak_bytes;
        }
        Ok(all)
    }

    fn added(&self, name: &str) -> Command {
        let mut command = Command::new(self.program());
        command.arg(format!("-test.run=^{name}$")).arg("-test.timeout=10m");
        command
    }

    /// Measures some of restic's own benchmarks in one process. Returns a series of one sample for each, with
    /// the allocations as note. A nested benchmark, such as `BenchmarkLoadIndex/v2`, must be requested alone.
    pub(crate) fn own(&self, names: &[&str]) -> Result<Vec<Series>> {
        // Its tests read files in their directory.
        let mut command = Command::new(self.program().canonicalize()?);
        command.current_dir(self.source().join(self.package.directory()));
        command.args(["-test.run=^$", "-test.benchmem", "-test.timeout=10m"]);
        // A slash separates levels of names, and each level is a pattern of its own.
        let levels = names.join("|").split('/').map(|level| format!("^({level})$")).collect::<Vec<_>>();
        command.arg(format!("-test.bench={}", levels.join("/")));
        let answer = said(&mut command)?;
        let series: Vec<Series> = answer.lines().filter_map(own_series).collect();
        if series.len() != names.len() {
            bail!("{command:?} measured something else: {answer}");
        }
        Ok(series)
    }
}

/// Returns the name of the series of one of restic's own benchmarks.
pub(crate) fn own_name(benchmark: &str) -> String {
    format!("restic's {benchmark}")
}

/// Reads a line such as `BenchmarkDecodeIndex-2   1   7004000000 ns/op   16 B/op   2 allocs/op`.
fn own_series(line: &str) -> Option<Series> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let value = |unit: &str| -> Option<f64> {
        let place = fields.iter().position(|field| *field == unit)?;
        fields.get(place.checked_sub(1)?)?.parse().ok()
    };
    let name = fields.first()?.strip_prefix("Benchmark")?;
    // With a single core, the name does not end with the number of cores.
    let (name, _) = name.rsplit_once('-').unwrap_or((name, ""));
    let wall_seconds = value("ns/op")? / 1e9;
    let mut series = Series::new(&own_name(&format!("Benchmark{name}")), "");
    series.samples.push(Sample {
        wall_seconds,
        load_before: machine::load_of_a_minute(),
        ..Sample::default()
    });
    if let Some(allocated) = value("B/op") {
        series.note = format!("{:.0} MB allocated", allocated / 1e6);
    }
    Some(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_prints_of_a_benchmark_is_understood() {
        let line =
            "BenchmarkMasterIndexMerge-2   \t       1\t2504000000 ns/op\t1316000000 B/op\t 2009 allocs/op";
        let series = own_series(line).unwrap();
        assert_eq!(series.name, "restic's BenchmarkMasterIndexMerge");
        assert!((series.wall().0 - 2.504).abs() < 1e-9, "{series:?}");
        assert_eq!(series.note, "1316 MB allocated");
        assert!(own_series("cpu: AMD EPYC").is_none() && own_series("PASS").is_none());
    }
}
