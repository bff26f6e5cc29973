//! The same header records in our store and in other embedded stores, with each compression.
//!
//! Input: a folder. Output: series. Does not know how stores work.

use super::folder::label;
use super::names;
use super::rows::{self, Start};
use crate::bench::Bench;
use crate::options::Sizes;
use crate::stores::{Codec, StoreKind};
use anyhow::{Result, ensure};
use measure::{
    Outcome, Series, Trial, bytes_below, child, cold, corpora, named, take_turns, take_turns_at_once,
};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many records the end has.
const NEWEST_COUNT: &str = "50";

/// Measures all stores that this program was built with.
pub(super) fn measure(bench: &mut Bench<'_>, sizes: &Sizes, maildir: &Path, place: &Path) -> Result<()> {
    std::fs::create_dir_all(place)?;
    let file = place.join("records");
    let mut make = errand("records")?;
    child::run(make.arg(maildir).arg(&file))?;
    let stores = Stores { label: label(sizes), place: place.to_owned(), file };
    let rounds = bench.rounds();
    bench.report.add_all(stores.measure(rounds)?);
    Ok(())
}

fn errand(job: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("stores").arg(job);
    Ok(command)
}

struct Stores {
    label: String,
    place: PathBuf,
    file: PathBuf,
}

impl Stores {
    fn measure(&self, rounds: usize) -> Result<Vec<Series>> {
        let all = child::run(errand("bytes")?.arg(&self.file))?.said;
        let newest = RefCell::new(None);
        let mut series = take_turns_at_once(1, vec![self.packed()])?;
        for codec in Codec::ALL {
            let kinds =
                StoreKind::ALL.into_iter().filter(|kind| kind.is_built() && kind.before(codec).is_some());
            let kinds: Vec<StoreKind> = kinds.collect();
            let mut trials = vec![self.floor(Start::Warm)];
            for &kind in &kinds {
                trials.push(self.fill(kind, codec));
                trials.push(self.all(kind, codec, Start::Warm, &all));
                trials.push(self.newest(kind, codec, &newest));
            }
            series.extend(take_turns(rounds, trials)?);
            if cold::is_possible() {
                let trials = kinds.iter().map(|&kind| self.all(kind, codec, Start::Cold, &all));
                series.extend(take_turns(
                    rounds,
                    [self.floor(Start::Cold)].into_iter().chain(trials).collect(),
                )?);
            }
            for &kind in &kinds {
                corpora::clear(&self.home(kind))?;
            }
        }
        Ok(series)
    }

    fn home(&self, kind: StoreKind) -> PathBuf {
        self.place.join(kind.argument())
    }

    fn floor(&self, start: Start) -> Trial<'_> {
        let series = Series::new(&named("floor", &names::work(&self.label, &start.work(rows::BYTES))), "");
        start.of(Trial::new(series, || {
            let mut command = Command::new("dd");
            command.arg(format!("if={}", self.file.display())).args(["of=/dev/null", "bs=1M", "status=none"]);
            Ok(command)
        }))
    }

    /// Returns the size of the records if nothing but size matters.
    fn packed(&self) -> Trial<'_> {
        let packed = self.place.join("packed");
        let series = Series::new(&named("floor", &names::work(&self.label, rows::PACKED)), "");
        let size = packed.clone();
        let trial = Trial::new(series, move || {
            let mut command = errand("pack")?;
            command.arg(&self.file).arg(&packed);
            Ok(command)
        });
        trial.sized(move || Ok(size.metadata()?.len()))
    }

    fn series(&self, kind: StoreKind, codec: Codec, work: &str) -> Series {
        Series::new(&named(rows::heading(kind), &rows::kept(&self.label, codec, work)), "")
    }

    fn fill(&self, kind: StoreKind, codec: Codec) -> Trial<'_> {
        let (home, size) = (self.home(kind), self.home(kind));
        let trial = Trial::new(self.series(kind, codec, rows::FILL), move || {
            corpora::clear(&home)?;
            let mut command = errand("fill")?;
            command.args([kind.argument(), codec.argument()]).arg(&self.file).arg(&home);
            Ok(command)
        });
        trial.sized(move || bytes_below(&size))
    }

    fn all<'a>(&'a self, kind: StoreKind, codec: Codec, start: Start, expected: &'a str) -> Trial<'a> {
        let (home, size) = (self.home(kind), self.home(kind));
        let trial = Trial::new(self.series(kind, codec, &start.work(rows::READ_ALL)), move || {
            let mut command = errand("all")?;
            command.args([kind.argument(), codec.argument()]).arg(&home);
            Ok(command)
        });
        let trial = trial.sized(move || bytes_below(&size));
        start.of(trial.checked(move |outcome| {
            ensure!(outcome.said == expected, "{:?} was read, not {expected:?}", outcome.said);
            Ok(())
        }))
    }

    fn newest<'a>(
        &'a self,
        kind: StoreKind,
        codec: Codec,
        expected: &'a RefCell<Option<String>>,
    ) -> Trial<'a> {
        let (home, size) = (self.home(kind), self.home(kind));
        let trial = Trial::new(self.series(kind, codec, rows::NEWEST), move || {
            let mut command = errand("newest")?;
            command.args([kind.argument(), codec.argument()]).arg(&home).arg(NEWEST_COUNT);
            Ok(command)
        });
        let same = |outcome: &Outcome| {
            let mut expected = expected.borrow_mut();
            let expected = expected.get_or_insert_with(|| outcome.said.clone());
            ensure!(outcome.said == *expected, "{:?} was read, not {expected:?}", outcome.said);
            Ok(())
        };
        trial.sized(move || bytes_below(&size)).checked(same)
    }
}
