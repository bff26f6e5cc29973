//! The order of measurements: which parts, and how things to be compared take turns.
//!
//! Comes in: options. Goes out: results on disk, written anew after each part. Must not know what the parts measure.

use crate::child::{Sample, measure as measure_child};
use crate::report::{Report, Series};
use crate::{Options, Part, archive, engine, folder, machine, recovery, resume, small, text};
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::Command;

/// Something to be measured several times.
pub(crate) struct Trial<'a> {
    series: Series,
    prepare: Box<dyn FnMut() -> Result<Command> + 'a>,
    /// How many lines it prints, if that is known.
    lines: Option<u64>,
}

impl<'a> Trial<'a> {
    /// Returns the trial of the command that `prepare` gives; what `prepare` does itself is not measured.
    pub(crate) fn new(series: Series, prepare: impl FnMut() -> Result<Command> + 'a) -> Trial<'a> {
        Trial { series, prepare: Box::new(prepare), lines: None }
    }

    /// Returns the trial with the number of lines that it has to print.
    pub(crate) fn printing(self, lines: u64) -> Trial<'a> {
        Trial { lines: Some(lines), ..self }
    }

    fn run(&mut self) -> Result<Sample> {
        let mut command = (self.prepare)()?;
        let sample = measure_child(&mut command)?;
        match self.lines {
            Some(lines) if lines != sample.lines => {
                bail!("{}: {command:?} printed {} lines, expected {lines}", self.series.name, sample.lines)
            }
            _ => Ok(sample),
        }
    }
}

/// Runs all trials in turn, `rounds` times after one round that is not counted, and returns their samples.
pub(crate) fn take_turns(rounds: usize, mut trials: Vec<Trial<'_>>) -> Result<Vec<Series>> {
    for round in 0..=rounds {
        for trial in &mut trials {
            let sample = trial.run()?;
            if round > 0 {
                trial.series.samples.push(sample);
            }
        }
    }
    for trial in &trials {
        let (median, least, most) = trial.series.wall();
        say(&format!("  {}: {median:.4} s ({least:.4} to {most:.4})", trial.series.name));
    }
    Ok(trials.into_iter().map(|trial| trial.series).collect())
}

/// Measures one part and adds what it found.
type MeasurePart = fn(&Options, &mut Report) -> Result<()>;

/// Measures what the options ask for.
pub(crate) fn measure(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.corpora)
        .with_context(|| format!("cannot make {}", options.corpora.display()))?;
    let machine = options.machine.clone().unwrap_or_else(machine::name);
    let name = format!("{}-{machine}", machine::today()?);
    let facts = machine::facts(&options.program, &options.corpora)?;
    let mut report = Report { facts, ..Report::default() };
    if options.resume {
        resume::take(&mut report, &options.runs.join(&name))?;
    }
    let parts: [(Part, MeasurePart); 6] = [
        (Part::Text, text::measure),
        (Part::Folder, folder::measure),
        (Part::Small, small::measure),
        (Part::Engine, engine::measure),
        (Part::Recovery, recovery::measure),
        (Part::Archive, archive::measure),
    ];
    for (part, measure_part) in parts {
        if options.only.is_empty() || options.only.contains(&part) {
            say(&format!("== {part:?}"));
            measure_part(options, &mut report)?;
            report.facts.retain(|(name, _)| *name != "load after");
            report.facts.push(("load after", machine::load()));
            let directory = report.write(&options.runs, &name)?;
            say(&format!("written to {}", directory.display()));
        }
    }
    Ok(())
}

/// Prints what goes on, beside the results.
#[expect(clippy::print_stderr, reason = "a long run tells what it does")]
pub(crate) fn say(line: &str) {
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
        let series = take_turns(2, vec![trial("a"), trial("b").printing(1)]).unwrap();
        assert_eq!(series.iter().map(|series| series.samples.len()).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(*order.borrow(), "ababab");
    }

    #[test]
    fn a_wrong_answer_stops_the_run() {
        let trial = Trial::new(Series::new("a", ""), || shell("echo line")).printing(2);
        let error = take_turns(1, vec![trial]).unwrap_err();
        assert!(error.to_string().ends_with("printed 1 lines, expected 2"), "{error}");
    }
}
