//! The first index of real mail: a Maildir tree that the user names, in the place of generated ones.
//!
//! Input: the installed programs, a directory. Output: series, facts, and a plot.
//!
//! The mail is indexed where it is, and only read: indexes are in the directory of generated mail. Results
//! have counts and sizes, and nothing else about the mail: errors, which name files, are only printed.

mod known;
mod mail;
mod rows;

use super::programs::{Indexer, Mode, Question};
use super::rows::FIRST;
use super::{Start, programs, trial};
use crate::bench::Bench;
use crate::tables::left_out::leave_out;
use anyhow::{Context, Result, bail, ensure};
use bench_own::Pneu;
use known::Difference;
pub(crate) use mail::RealMail;
use measure::plot::{Shares, shares};
use measure::threads::{self, Threads};
use measure::walk::{self, Look};
use measure::{
    CachedFiles, Sample, Series, Trial, cold, corpora, one_core, say, take_turns, take_turns_at_once,
};
use rows::Cores;
pub(crate) use rows::table;
use std::process::Command;
use std::thread;

/// The fact with the number and the size of messages.
const MAIL: &str = rows::LABEL;
/// The fact with the differences between the disk and what the programs know.
const KNOWN: &str = "files of real mail that programs know";
/// What the results say of an error.
const PRINTED: &str = "it failed; the error is only printed, because it may name mail";
/// A column of the plot is a fiftieth of the time.
const SLICES: usize = 50;
/// The program whose threads are watched; it must not fail.
const PROGRAM: &str = super::COLUMNS[0];

/// Measures everything.
pub(crate) fn measure(bench: &mut Bench<'_>, mail: &RealMail) -> Result<()> {
    let place = bench.corpora().join("peers-index");
    mail.is_outside(&place)?;
    corpora::clear(&place)?;
    std::fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    // notmuch takes relative paths from the home directory.
    let place = place.canonicalize()?;
    let pneu = Pneu::at(&bench.options.program, mail.root(), &place.join("pneu"));
    let programs = programs(bench, pneu, mail.root(), &place);
    bench.report.set_fact(MAIL, mail.said());
    let mut side = Side { bench, mail, programs, failed: Vec::new(), known: Vec::new() };
    let measured = side.measure();
    corpora::clear(&place)?;
    without_names(measured)
}

/// Prints an error, which may name files, and returns one for the results.
fn without_names(measured: Result<()>) -> Result<()> {
    let Err(error) = measured else { return Ok(()) };
    say(&format!("{}: {error:#}", rows::LABEL));
    bail!("{}: {PRINTED}", rows::LABEL);
}

/// The programs side by side in front of the mail.
struct Side<'a, 'b> {
    bench: &'a mut Bench<'b>,
    mail: &'a RealMail,
    programs: Vec<Box<dyn Indexer>>,
    /// Programs that failed, or know other files than those on the disk.
    failed: Vec<&'static str>,
    /// What each program knew at last.
    known: Vec<(&'static str, Difference)>,
}

impl Side<'_, '_> {
    fn measure(&mut self) -> Result<()> {
        self.warm()?;
        if cold::is_possible() {
            let series = take_turns_at_once(self.bench.rounds(), self.alone(Start::Cold))?;
            self.keep(series)?;
        }
        Ok(())
    }

    /// Measures everything that finds its files in the page cache.
    fn warm(&mut self) -> Result<()> {
        // As for generated mail: some programs read for minutes, and the system may drop files.
        let _held = CachedFiles::files(&corpora::messages(self.mail.root())?)?;
        let rounds = self.bench.rounds();
        let floors = take_turns(rounds, self.floors(Start::Warm))?;
        self.keep(floors)?;
        let slow_rounds = if self.programs.len() > 1 { self.bench.slow_rounds() } else { 0 };
        for round in 0..rounds.max(slow_rounds) {
            self.round(round < rounds, round < slow_rounds)?;
        }
        for _ in 0..rounds {
            self.sample_threads()?;
        }
        Ok(())
    }

    /// Lets each program make a first index, pneu on all cores and on one. Asks what it knows, and keeps the
    /// results: the next program may need minutes.
    fn round(&mut self, is_pneus: bool, is_peers: bool) -> Result<()> {
        for place in 0..self.programs.len() {
            let Some(program) = self.programs.get(place) else { break };
            let name = program.name();
            let is_asked = if name == PROGRAM { is_pneus } else { is_peers };
            if !is_asked || self.failed.contains(&name) {
                continue;
            }
            let trials = match name {
                PROGRAM => self.alone(Start::Warm),
                _ => vec![first(program.as_ref(), Start::Warm, Cores::All)],
            };
            let series = take_turns_at_once(1, trials)?;
            let is_measured = series.iter().all(|series| !series.samples.is_empty());
            let paths = program.paths(Question::All);
            self.keep(series)?;
            if is_measured {
                self.judge(name, known::difference(paths, self.mail.root()))?;
            }
            self.bench.save()?;
        }
        Ok(())
    }

    /// Keeps series. Those of programs that failed lose their reasons, which may name mail.
    fn keep(&mut self, series: Vec<Series>) -> Result<()> {
        for series in series {
            match self.programs.iter().find(|program| {
                series.samples.is_empty()
                    && series.name == rows::series(program.name(), Start::Warm, Cores::All)
            }) {
                Some(program) => {
                    self.failed.push(program.name());
                    leave_out(&mut self.bench.report, &series.name, &PRINTED);
                }
                None => self.bench.report.add(series),
            }
        }
        self.bench.save()
    }

    /// Records which files a program knows. A program that knows too many or too few is left out; pneu must
    /// not.
    fn judge(&mut self, name: &'static str, difference: Result<Difference>) -> Result<()> {
        let difference = match difference {
            Err(error) if name == PROGRAM => return Err(error),
            Err(error) => {
                say(&format!("  {name} does not say which files it knows: {error:#}"));
                self.failed.push(name);
                let series = rows::series(name, Start::Warm, Cores::All);
                leave_out(&mut self.bench.report, &series, &PRINTED);
                return Ok(());
            }
            Ok(difference) => difference,
        };
        match self.known.iter_mut().find(|(other, _)| *other == name) {
            Some((_, known)) => *known = difference,
            None => self.known.push((name, difference)),
        }
        let all: Vec<String> =
            self.known.iter().map(|(name, known)| format!("{name}: {}", known.said())).collect();
        self.bench.report.set_fact(KNOWN, all.join("; "));
        if !difference.is_small() {
            ensure!(
                name != PROGRAM,
                "{name} knows other files than those on the disk: {}",
                difference.said()
            );
            self.failed.push(name);
            let series = rows::series(name, Start::Warm, Cores::All);
            let what = format!("it knows other files: {}", difference.said());
            leave_out(&mut self.bench.report, &series, &what);
        }
        Ok(())
    }

    /// Returns what is measured of pneu alone: a first index on all cores and on one. Cold ones have their
    /// floors beside them.
    fn alone(&self, start: Start) -> Vec<Trial<'_>> {
        let pneu = self.programs.first().into_iter();
        let firsts = pneu.flat_map(|pneu| Cores::BOTH.map(|cores| first(pneu.as_ref(), start, cores)));
        let floors = if start == Start::Cold { self.floors(start) } else { Vec::new() };
        firsts.chain(floors).collect()
    }

    /// Returns the bare reading of every file, on all cores and on one.
    fn floors(&self, start: Start) -> Vec<Trial<'_>> {
        let root = self.mail.root();
        let floor = |cores: Cores| {
            let trial = Trial::new(Series::new(&rows::floor(start, cores), ""), move || {
                let threads = if cores == Cores::All { all_cores() } else { 1 };
                cores.command(walk::command(root, threads, Look::Contents)?)
            });
            start.of(trial)
        };
        Cores::BOTH.map(floor).into()
    }

    /// Makes one more first index, which counts no time, and watches the threads.
    fn sample_threads(&mut self) -> Result<()> {
        let pneu = self.programs.first().context("pneu is a program")?;
        let mut command = first_command(pneu.as_ref())?;
        rustix::fs::sync();
        let threads = threads::run(&mut command)?;
        let cores = all_cores();
        let sample = |seconds| Sample { wall_seconds: seconds, ..Sample::default() };
        let of_threads = rows::of_threads(&threads, cores).into_iter().map(|(name, note, seconds)| Series {
            note: note.to_owned(),
            ..Series::of(&name, sample(seconds))
        });
        self.bench.report.add_all(of_threads);
        self.bench.report.set_plot(plot(&threads, cores));
        self.bench.save()
    }
}

/// Returns a plot of the running threads.
fn plot(threads: &Threads, cores: usize) -> measure::plot::Plot {
    let bands = threads::bands(cores);
    shares(&Shares {
        title: format!("{}: {FIRST}, running threads of {PROGRAM} over time", rows::LABEL),
        file_name: "real-mail-threads.svg".to_owned(),
        bands: bands.iter().map(|band| band.name.as_str()).collect(),
        seconds: threads.seconds(),
        slices: threads.slices(SLICES, &bands),
    })
}

/// Returns the trial of a first index.
fn first(program: &dyn Indexer, start: Start, cores: Cores) -> Trial<'_> {
    let series = Series::new(&rows::series(program.name(), start, cores), "");
    let trial = trial(program, series, move || cores.command(first_command(program)?));
    start.of(trial.sized(|| program.size()))
}

/// Forgets the index, and returns the command that makes it again.
fn first_command(program: &dyn Indexer) -> Result<Command> {
    program.forget()?;
    program.index(Mode::Full).context("every program has a first index")
}

/// Returns how many cores a program may use.
fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Cores {
    /// Returns the command on these cores.
    fn command(self, command: Command) -> Result<Command> {
        match self {
            Cores::All => Ok(command),
            Cores::One => one_core::command(&command),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use clap::Parser;
    use measure::Report;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    /// A program that knows the files of a folder.
    struct Knowing(&'static str, PathBuf);

    impl Indexer for Knowing {
        fn name(&self) -> &'static str {
            self.0
        }

        fn forget(&self) -> Result<()> {
            Ok(())
        }

        fn index(&self, _: Mode) -> Option<Command> {
            None
        }

        fn paths(&self, _: Question) -> Command {
            let mut command = Command::new("find");
            command.arg(&self.1).args(["-type", "f"]);
            command
        }

        fn home(&self) -> &Path {
            &self.1
        }
    }

    /// Makes mail of 1,000 messages, of which a folder has 999 and another one has one; lets `check` work on
    /// it, and returns the results.
    fn results(check: impl FnOnce(&mut Side<'_, '_>, &Path)) -> String {
        let place = tempfile::tempdir().unwrap();
        let mail = place.path().join("Secret");
        for message in 0..1000 {
            let folder = mail.join(if message == 0 { "Other/cur" } else { "Most/cur" });
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("secret-{message}")), "From: a\n\n").unwrap();
        }
        let runs = format!("--runs={}", place.path().join("runs").display());
        let options = Arguments::parse_from(["bench-peers", &runs]).options;
        let report = Report { tables: vec![table()], ..Report::default() };
        let name = "run".to_owned();
        let mut bench = Bench { options: &options, report, found: Vec::new(), mail: None, name };
        let real = RealMail::look(&mail).unwrap();
        let programs: Vec<Box<dyn Indexer>> =
            ["pneu", "mu"].map(|name| Box::new(Knowing(name, mail.clone())) as Box<dyn Indexer>).into();
        let mut side =
            Side { bench: &mut bench, mail: &real, programs, failed: Vec::new(), known: Vec::new() };
        check(&mut side, real.root());
        bench.save().unwrap();
        let files = fs::read_dir(place.path().join("runs/run")).unwrap();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    fn measured(name: &str) -> Series {
        Series::of(
            &rows::series(name, Start::Warm, Cores::All),
            Sample { wall_seconds: 2.0, ..Sample::default() },
        )
    }

    fn knows(name: &'static str, folder: &Path) -> Result<Difference> {
        known::difference(Knowing(name, folder.to_owned()).paths(Question::All), folder.parent().unwrap())
    }

    #[test]
    fn a_few_unknown_files_are_a_fact() {
        let text = results(|side, mail| {
            side.keep(vec![measured("pneu"), measured("mu")]).unwrap();
            side.judge("pneu", known::difference(side.programs[0].paths(Question::All), mail)).unwrap();
            side.judge("mu", knows("mu", &mail.join("Most"))).unwrap();
            assert!(side.failed.is_empty());
        });
        let fact = format!("- {KNOWN}: pneu: all; mu: all but 1 of 1,000, and 0 others\n");
        assert!(text.contains(&fact), "{text}");
        assert!(text.contains("2.00 s (n = 1), 1.0 x") && !text.to_lowercase().contains("secret"), "{text}");
    }

    #[test]
    fn many_unknown_files_leave_a_peer_out_and_are_an_error_of_pneu() {
        let text = results(|side, mail| {
            side.keep(vec![measured("pneu"), measured("mu")]).unwrap();
            side.judge("mu", knows("mu", &mail.join("Other"))).unwrap();
            assert_eq!(side.failed, ["mu"]);
            let error = side.judge("pneu", knows("pneu", &mail.join("Other"))).unwrap_err();
            assert!(error.to_string().ends_with("all but 999 of 1,000, and 0 others"), "{error}");
        });
        assert!(text.contains("left out: it knows other files: all but 999 of 1,000"), "{text}");
        assert!(!text.contains("2.00 s (n = 1), 1.0 x") && !text.to_lowercase().contains("secret"), "{text}");
    }

    #[test]
    fn errors_are_not_in_the_results() {
        let is_hidden = |text: String| text.contains(PRINTED) && !text.to_lowercase().contains("secret");
        assert!(is_hidden(results(|side, mail| {
            let name = rows::series("mu", Start::Warm, Cores::All);
            let note = format!("left out: {} cannot be read", mail.display());
            side.keep(vec![Series { note, ..Series::new(&name, "") }]).unwrap();
            assert_eq!(side.failed, ["mu"]);
        })));
        assert!(is_hidden(results(|side, mail| {
            side.judge("mu", Err(anyhow::anyhow!("{} cannot be read", mail.display()))).unwrap();
            assert_eq!(side.failed, ["mu"]);
        })));
        let error = without_names(Err(anyhow::anyhow!("/home/secret cannot be read"))).unwrap_err();
        assert_eq!(format!("{error:#}"), format!("real mail: {PRINTED}"));
        assert!(without_names(Ok(())).is_ok());
    }
}
