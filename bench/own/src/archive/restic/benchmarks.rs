//! restic's own benchmarks of its index, and two of ours in its source: what they merge is what its own merges.
//!
//! Comes in: where its source may be copied to. Goes out: series. Must not know what they are compared with.
//!
//! The source is that of the installed version, from the cache of Go's modules.

use super::answer;
use crate::child::Sample;
use crate::engine::told;
use crate::recovery::watch;
use crate::report::Series;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is added to restic's tests.
const ADDED: &str = include_str!("measured_test.go");
/// Where its tests of the index are.
const PACKAGE: &str = "internal/repository/index";

/// restic's tests of its index, built.
pub(in crate::archive) struct Benchmarks {
    directory: PathBuf,
}

impl Benchmarks {
    /// Returns the tests, built now in `corpora` if they are not there.
    pub(in crate::archive) fn kept(corpora: &Path) -> Result<Benchmarks> {
        let version = super::version()?;
        let version =
            version.split_whitespace().nth(1).context("restic does not say its version")?.to_owned();
        let directory = corpora.join(format!("restic-{version}"));
        let benchmarks = Benchmarks { directory };
        let added = benchmarks.source().join(PACKAGE).join("measured_test.go");
        if !benchmarks.source().exists() {
            let mut go = Command::new("go");
            let modules = answer(go.args(["env", "GOMODCACHE"]))?;
            let module = Path::new(modules.trim()).join(format!("github.com/restic/restic@v{version}"));
            if !module.exists() {
                bail!(
                    "{} is not there: go mod download github.com/restic/restic@v{version}",
                    module.display()
                );
            }
            fs::create_dir_all(&benchmarks.directory)?;
            // The cache of modules may not be written to.
            let mut copy = Command::new("cp");
            answer(copy.args(["-r", "--no-preserve=mode"]).arg(&module).arg(benchmarks.source()))?;
        }
        if fs::read_to_string(&added).ok().as_deref() != Some(ADDED) || !benchmarks.program().exists() {
            fs::write(&added, ADDED).with_context(|| format!("cannot write {}", added.display()))?;
            let mut build = Command::new("go");
            build.args(["test", "-c", "-o"]).arg(benchmarks.program()).arg(format!("./{PACKAGE}"));
            answer(build.current_dir(benchmarks.source()))?;
        }
        Ok(benchmarks)
    }

    fn source(&self) -> PathBuf {
        self.directory.join("source")
    }

    fn program(&self) -> PathBuf {
        self.directory.join("index.test")
    }

    /// Returns the index file that restic's benchmark decodes, written now if it is not there.
    pub(in crate::archive) fn json(&self) -> Result<PathBuf> {
        let path = self.directory.join("index.json");
        if !path.exists() {
            let making = path.with_extension("making");
            answer(self.added("TestMeasuredJSON").env("MEASURED_JSON", &making))?;
            fs::rename(&making, &path)?;
        }
        Ok(path)
    }

    /// Measures one of those that were added, in a process of its own.
    pub(in crate::archive) fn measure(&self, name: &str) -> Result<Vec<Series>> {
        told(&watch::run(&mut self.added(name))?)
    }

    fn added(&self, name: &str) -> Command {
        let mut command = Command::new(self.program());
        command.arg(format!("-test.run=^{name}$")).arg("-test.timeout=10m");
        command
    }

    /// Measures some of restic's own benchmarks, in one process: a series of one sample for each, with what was allocated as note.
    pub(in crate::archive) fn own(&self, names: &[&str]) -> Result<Vec<Series>> {
        let mut command = Command::new(self.program());
        command.args(["-test.run=^$", "-test.benchmem", "-test.timeout=10m"]);
        command.arg(format!("-test.bench=^({})$", names.join("|")));
        let said = answer(&mut command)?;
        let series: Vec<Series> = said.lines().filter_map(own_series).collect();
        if series.len() != names.len() {
            bail!("{command:?} measured something else: {said}");
        }
        Ok(series)
    }
}

/// Returns the name of the series of one of restic's own benchmarks.
pub(in crate::archive) fn own_name(benchmark: &str) -> String {
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
    let (name, _) = name.rsplit_once('-')?;
    let wall_seconds = value("ns/op")? / 1e9;
    let mut series = Series::new(&own_name(&format!("Benchmark{name}")), "");
    series.samples.push(Sample {
        wall_seconds,
        load_before: crate::machine::load_of_a_minute(),
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
