//! Compared things take turns: A B A B, after a round that does not count.
//!
//! Input: trials. Output: their samples. Does not know what the trials measure.

use crate::child::{self, Outcome, Sample};
use crate::cold;
use crate::series::{Series, seconds};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Makes the next command of a trial. Its own work is not measured.
type Prepare<'a> = Box<dyn FnMut() -> Result<Command> + 'a>;
/// Checks the output of a run.
type Check<'a> = Box<dyn FnMut(&Outcome) -> Result<()> + 'a>;
/// Returns the disk space after a run.
type Size<'a> = Box<dyn FnMut() -> Result<u64> + 'a>;

/// The beginning of a series's note if its program failed.
const LEFT_OUT: &str = "left out: ";

/// A thing to measure several times.
pub struct Trial<'a> {
    series: Series,
    prepare: Prepare<'a>,
    check: Option<Check<'a>>,
    size: Option<Size<'a>>,
    /// The expected number of lines, if known.
    lines: Option<u64>,
    cache: Cache,
    failure: Failure,
}

/// What happens to the turns if a trial fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// They end.
    IsTheEnd,
    /// They continue without it.
    LeavesItOut,
}

/// The content of the page cache when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cache {
    /// What earlier runs left there.
    #[default]
    Warm,
    /// Nothing.
    Cold,
}

impl Cache {
    /// Prepares the page cache.
    ///
    /// # Errors
    /// If it must be empty, and this process is not allowed to drop it.
    pub fn prepare(self) -> Result<()> {
        match self {
            Cache::Warm => Ok(()),
            Cache::Cold => cold::drop_caches(),
        }
    }
}

impl<'a> Trial<'a> {
    /// Returns the trial of the command that `prepare` returns. The work of `prepare` is not measured.
    pub fn new(series: Series, prepare: impl FnMut() -> Result<Command> + 'a) -> Trial<'a> {
        Trial {
            series,
            prepare: Box::new(prepare),
            check: None,
            size: None,
            lines: None,
            cache: Cache::Warm,
            failure: Failure::IsTheEnd,
        }
    }

    /// Returns the trial as one of another program: if it fails, its samples are discarded, its series has
    /// the reason, and the other trials continue.
    pub fn of_a_peer(self) -> Trial<'a> {
        Trial { failure: Failure::LeavesItOut, ..self }
    }

    /// Returns the trial with the number of lines that it must print.
    pub fn printing(self, lines: u64) -> Trial<'a> {
        Trial { lines: Some(lines), ..self }
    }

    /// Returns the trial with a check of each answer. An error ends all turns, because unequal results must
    /// not be compared.
    pub fn checked(self, check: impl FnMut(&Outcome) -> Result<()> + 'a) -> Trial<'a> {
        Trial { check: Some(Box::new(check)), ..self }
    }

    /// Returns the trial with a count of the disk space after each run.
    pub fn sized(self, size: impl FnMut() -> Result<u64> + 'a) -> Trial<'a> {
        Trial { size: Some(Box::new(size)), ..self }
    }

    /// Returns the trial with an empty page cache before each run. Cold and warm trials must not take turns.
    pub fn cold(self) -> Trial<'a> {
        Trial { cache: Cache::Cold, ..self }
    }

    /// Runs once more, unless it has failed.
    fn take_turn(&mut self) -> Result<()> {
        if self.series.note.starts_with(LEFT_OUT) {
            return Ok(());
        }
        match self.run() {
            Ok(sample) => self.series.samples.push(sample),
            Err(error) if self.failure == Failure::LeavesItOut => {
                self.series.samples.clear();
                self.series.note = format!("{LEFT_OUT}{error:#}");
                say(&format!("  {} is {}", self.series.name, self.series.note));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Sample> {
        let mut command = (self.prepare)()?;
        // The writes of earlier runs are finished before this one begins.
        rustix::fs::sync();
        self.cache.prepare()?;
        let outcome = child::run(&mut command)?;
        if let Some(lines) = self.lines.filter(|&lines| lines != outcome.sample.lines) {
            let printed = outcome.sample.lines;
            bail!("{}: {command:?} printed {printed} lines, expected {lines}", self.series.name)
        }
        if let Some(check) = &mut self.check {
            check(&outcome).with_context(|| format!("{}: {command:?}", self.series.name))?;
        }
        let size_bytes = self.size.as_mut().map_or(Ok(0), |size| size())?;
        Ok(Sample { size_bytes, ..outcome.sample })
    }
}

/// Runs all trials in turn, `rounds` times after one round that is not counted, and returns their samples.
///
/// # Errors
/// If a command fails, or gives a wrong answer.
pub fn take_turns(rounds: usize, mut trials: Vec<Trial<'_>>) -> Result<Vec<Series>> {
    for trial in &mut trials {
        trial.take_turn()?;
        trial.series.samples.clear();
    }
    take_turns_at_once(rounds, trials)
}

/// Runs all trials in turn, and counts the first round, too: for work that takes minutes, and reads only what
/// was just read.
///
/// # Errors
/// Same as [`take_turns`].
pub fn take_turns_at_once(rounds: usize, mut trials: Vec<Trial<'_>>) -> Result<Vec<Series>> {
    for _ in 0..rounds {
        for trial in &mut trials {
            trial.take_turn()?;
        }
    }
    for trial in trials.iter().filter(|trial| !trial.series.samples.is_empty()) {
        tell(&trial.series);
    }
    Ok(trials.into_iter().map(|trial| trial.series).collect())
}

/// Prints the values of a series.
pub fn tell(series: &Series) {
    let (median, least, most) = series.wall();
    let [median, least, most, cpu] = [median, least, most, series.cpu().0].map(seconds);
    let spread = if series.samples.len() > 1 { format!(" ({least} to {most})") } else { String::new() };
    let megabytes = series.peak_bytes() / 1_000_000;
    let note = if series.note.is_empty() { String::new() } else { format!("; {}", series.note) };
    say(&format!("  {}: {median}{spread}, {cpu} of CPU, {megabytes} MB{note}", series.name));
}

/// Prints progress on standard error.
#[expect(clippy::print_stderr, reason = "a long run tells what it does")]
pub fn say(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Result<Command> {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        Ok(command)
    }

    #[test]
    fn trials_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let trial = |name: &'static str| {
            Trial::new(Series::new(name, ""), || {
                order.borrow_mut().push_str(name);
                shell("echo line")
            })
        };
        let counts =
            |series: &[Series]| -> Vec<usize> { series.iter().map(|series| series.samples.len()).collect() };
        assert_eq!(counts(&take_turns_at_once(1, vec![trial("x"), trial("y")]).unwrap()), [1, 1]);
        assert_eq!(order.replace(String::new()), "xy", "no round that does not count");
        let series = take_turns(2, vec![trial("a"), trial("b").printing(1).sized(|| Ok(7))]).unwrap();
        assert_eq!(counts(&series), [2, 2]);
        assert_eq!((series[0].samples[1].size_bytes, series[1].samples[1].size_bytes), (0, 7));
        assert_eq!(*order.borrow(), "ababab");
    }

    #[test]
    fn a_peer_that_fails_is_left_out_and_the_others_go_on() {
        let place = tempfile::tempdir().unwrap();
        let mark = place.path().join("mark");
        let line = format!("test ! -e {0} && touch {0}", mark.display());
        let trials = vec![
            Trial::new(Series::new("peer", ""), || shell(&line)).of_a_peer(),
            Trial::new(Series::new("ours", ""), || shell("true")),
        ];
        let series = take_turns_at_once(3, trials).unwrap();
        assert!(
            series[0].note.starts_with("left out: ") && series[0].note.contains("failed"),
            "{}",
            series[0].note
        );
        assert_eq!((series[0].samples.len(), series[1].samples.len()), (0, 3));
        assert!(take_turns(1, vec![Trial::new(Series::new("ours", ""), || shell("exit 1"))]).is_err());
    }

    #[test]
    fn a_wrong_answer_stops_the_run() {
        let trial = Trial::new(Series::new("a", ""), || shell("echo line")).printing(2);
        let error = take_turns(1, vec![trial]).unwrap_err();
        assert!(error.to_string().ends_with("printed 1 lines, expected 2"), "{error}");
        let trial = Trial::new(Series::new("a", ""), || shell("echo line"));
        let trial = trial.checked(|outcome| if outcome.said == "line\n" { bail!("other") } else { Ok(()) });
        let error = take_turns(1, vec![trial]).unwrap_err();
        assert!(format!("{error:#}").ends_with("echo line\": other"), "{error:#}");
    }
}
