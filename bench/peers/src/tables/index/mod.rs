//! Index and cleanup: pneu, mu, notmuch and mairix index mail, update their indexes and answer queries.
//!
//! Input: the installed programs, sizes. Output: series, and a table of them.
//!
//! All programs index the same mailbox, a hard-linked copy of a kept one, each into its own index, and take
//! turns. A result counts only if the program finds exactly the files on disk, path by path, and answers
//! queries as pneu does. A program that does not is left out, and the run says so.

mod changes;
mod mailboxes;
mod programs;
pub(crate) mod real;
mod rows;

use crate::bench::Bench;
use crate::options::{Options, Passes};
use crate::peers::{mairix, mu, notmuch};
use anyhow::{Result, bail, ensure};
use bench_own::Pneu;
use changes::Moved;
pub(crate) use mailboxes::COLUMNS;
use mailboxes::{Kind, Mailbox, mailboxes};
use measure::changes::{Arrivals, Flagged};
use measure::walk::Look;
use measure::{
    CachedFiles, Series, Trial, child, cold, corpora, named, say, take_turns, take_turns_at_once, walk,
};
use programs::{Indexer, MairixIndexer, Mode, MuIndexer, NotmuchIndexer, Question};
pub(crate) use rows::table;
use rows::{CHANGED, PASSES, Pass, QUESTIONS, TOUCHED, many_works};
use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;
use testkit::corpus::facts;

/// How many files change at a time.
const CHANGED_COUNT: u32 = 1000;
/// No program trusts times that are more recent than this.
const SETTLE: Duration = Duration::from_millis(2500);
/// Queries are measured this many times as often as passes.
const QUERY_ROUNDS_TIMES: usize = 3;

/// Measures everything on generated mail.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let options = bench.options;
    let mailboxes = mailboxes(&options.sizes());
    for mailbox in mailboxes.into_iter().filter(|mailbox| options.is_asked(&mailbox.label)) {
        say(&format!("= {}", mailbox.label));
        let kept = corpora::kept(bench.corpora(), mailbox.kind.name(), &mailbox.options)?;
        let place = bench.corpora().join("peers-index");
        corpora::clear(&place)?;
        let maildir = place.join("mail");
        corpora::link_all(&kept, &maildir)?;
        let side = Side {
            programs: programs(bench, bench.pneu(&maildir), &maildir, &place),
            options,
            unequal: RefCell::default(),
            mailbox: &mailbox,
            maildir,
        };
        // Hours may pass between the first series and the last.
        let measured = side.measure(&mut |series| {
            bench.report.add_all(series);
            bench.save()
        });
        corpora::clear(&place)?;
        let unequal = side.unequal.take();
        if !unequal.is_empty() {
            bench.report.series.retain(|series| !unequal.contains(&series.name));
            let before = bench.report.facts.iter().find(|(name, _)| *name == UNEQUAL);
            let mut all: Vec<String> = before.map(|(_, value)| value.clone()).into_iter().collect();
            all.extend(unequal);
            bench.report.set_fact(UNEQUAL, all.join("; "));
        }
        bench.save()?;
        measured?;
    }
    Ok(())
}

/// The fact with the programs that were left out.
const UNEQUAL: &str = "left out because the answers differ";

/// Returns the installed programs, each with an index in `place`; pneu is the first.
fn programs(bench: &Bench<'_>, pneu: Pneu, maildir: &Path, place: &Path) -> Vec<Box<dyn Indexer>> {
    let mut all: Vec<Box<dyn Indexer>> = vec![Box::new(pneu)];
    let maildir = maildir.to_owned();
    if let Some(found) = bench.installed(&mu::PEER) {
        let mu = mu::Mu::new(&found, &place.join("mu"));
        all.push(Box::new(MuIndexer { mu, maildir: maildir.clone() }));
    }
    if let Some(found) = bench.installed(&notmuch::PEER) {
        let notmuch = notmuch::Notmuch::new(&found, &place.join("notmuch"));
        all.push(Box::new(NotmuchIndexer { notmuch, maildir: maildir.clone() }));
    }
    if let Some(found) = bench.installed(&mairix::PEER) {
        let mairix = mairix::Mairix::new(&found, &place.join("mairix"));
        all.push(Box::new(MairixIndexer { mairix, maildir }));
    }
    all
}

/// The result of a query: how many lines, and the sum of their hashes.
type Answer = (u64, u64);

/// Mailboxes up to this size are compared after every change, larger ones after the first of each kind.
const COMPARED_ALWAYS_MAX: u32 = 200_000;

/// The programs side by side in front of one mailbox.
struct Side<'a> {
    options: &'a Options,
    programs: Vec<Box<dyn Indexer>>,
    mailbox: &'a Mailbox,
    maildir: PathBuf,
    /// Names of series that do not count, and why.
    unequal: RefCell<Vec<String>>,
}

impl Side<'_> {
    /// Measures one thing after the other, and passes each result to `keep`.
    fn measure(&self, keep: &mut dyn FnMut(Vec<Series>) -> Result<()>) -> Result<()> {
        keep(self.floors()?)?;
        self.first_index(keep)?;
        keep(self.queries(Start::Warm)?)?;
        let is_small = self.mailbox.kind == Kind::Small;
        if is_small && self.options.has_passes(Passes::Unchanged) {
            thread::sleep(SETTLE);
            keep(self.passes(&PASSES, |_| Ok(()))?)?;
            if cold::is_possible() {
                keep(self.cold()?)?;
            }
            keep(self.passes(&TOUCHED, changes::touch)?)?;
        }
        if is_small && self.options.has_passes(Passes::Changes) {
            keep(self.changes()?)?;
        }
        Ok(())
    }

    fn named(&self, who: &str, work: &str) -> String {
        named(who, &rows::work(&self.mailbox.label, work))
    }

    fn series(&self, who: &str, work: &str) -> Series {
        Series::new(&self.named(who, work), "")
    }

    /// Builds all indexes from nothing, round by round.
    fn first_index(&self, keep: &mut dyn FnMut(Vec<Series>) -> Result<()>) -> Result<()> {
        // Some programs read for minutes, and the system may drop files from the cache that were not read for
        // one minute.
        let _held = CachedFiles::files(&corpora::messages(&self.maildir)?)?;
        for _ in 0..self.options.slow_rounds() {
            let trials = self.programs.iter().map(|program| {
                let trial = trial(program.as_ref(), self.series(program.name(), rows::FIRST), || {
                    program.forget()?;
                    program.index(Mode::Full).ok_or_else(|| anyhow::anyhow!("no first index"))
                });
                trial.sized(|| program.size())
            });
            let series = take_turns_at_once(1, trials.collect())?;
            for question in [Question::All, Question::Few, Question::Many] {
                self.agreeing(question, rows::FIRST)?;
            }
            keep(series)?;
        }
        Ok(())
    }

    /// Makes passes in all modes that each program has.
    fn passes(&self, passes: &[Pass], before: impl Fn(&Path) -> Result<()> + Copy) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        for pass in passes {
            for program in &self.programs {
                if program.index(pass.mode).is_none() {
                    continue;
                }
                let series = self.series(program.name(), pass.work);
                trials.push(trial(program.as_ref(), series, move || {
                    before(&self.maildir)?;
                    program.index(pass.mode).ok_or_else(|| anyhow::anyhow!("no such mode"))
                }));
            }
        }
        let series = take_turns(self.options.rounds(), trials)?;
        self.agreeing(Question::All, "passes")?;
        Ok(series)
    }

    fn floors(&self) -> Result<Vec<Series>> {
        let maildir = self.maildir.as_path();
        let walk = |work: &str, threads, look| {
            Trial::new(self.series("floor", work), move || walk::command(maildir, threads, look))
        };
        let trials = vec![
            walk(rows::WALK_ALONE, 1, Look::Names),
            walk(rows::WALK, 2, Look::Names),
            walk(rows::WALK_STATX, 2, Look::Stats),
            walk(rows::READ, 2, Look::Contents),
            walk(rows::DIRECTORIES, 2, Look::Directories),
            Trial::new(self.series("floor", rows::INBOX), move || {
                walk::command(&maildir.join("cur"), 1, Look::Names)
            }),
            Trial::new(self.series("floor", rows::NOTHING), || Ok(Command::new("true"))),
        ];
        take_turns(self.options.rounds(), trials)
    }

    fn queries(&self, start: Start) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        let known = facts(&self.mailbox.options);
        for (question, work, fact) in QUESTIONS {
            let Some(hits) = known.get(fact).map(|fact| fact.messages) else { continue };
            for (program, answer) in self.agreeing(question, work)? {
                let series = self.series(program.name(), &start.work(work));
                let series = Series { note: format!("{hits} hits"), ..series };
                let trial = trial(program, series, move || Ok(program.paths(question)));
                let trial = trial.printing(hits.into()).checked(move |outcome| {
                    anyhow::ensure!(outcome.line_sum == answer.1, "other paths than before");
                    Ok(())
                });
                trials.push(start.of(trial));
            }
        }
        let times = if start == Start::Warm { QUERY_ROUNDS_TIMES } else { 1 };
        take_turns(self.options.rounds() * times, trials)
    }

    fn cold(&self) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        for pass in PASSES.iter().filter(|pass| matches!(pass.mode, Mode::Full | Mode::Lazy)) {
            for program in &self.programs {
                if program.index(pass.mode).is_some() {
                    let series = self.series(program.name(), &Start::Cold.work(pass.work));
                    let trial = trial(program.as_ref(), series, move || {
                        program.index(pass.mode).ok_or_else(|| anyhow::anyhow!("no such mode"))
                    });
                    trials.push(trial.cold());
                }
            }
        }
        let floors =
            [(rows::WALK, Look::Names), (rows::DIRECTORIES, Look::Directories)].map(|(work, look)| {
                let series = self.series("floor", &Start::Cold.work(work));
                Trial::new(series, move || walk::command(&self.maildir, 2, look)).cold()
            });
        trials.extend(floors);
        let nothing = self.series("floor", &Start::Cold.work(rows::NOTHING));
        trials.push(Trial::new(nothing, || Ok(Command::new("true"))).cold());
        let mut series = take_turns(self.options.rounds(), trials)?;
        series.extend(self.queries(Start::Cold)?);
        Ok(series)
    }

    /// Lets another program add, mark, move and remove messages; each program makes a pass after each change,
    /// and must know all files then.
    fn changes(&self) -> Result<Vec<Series>> {
        let count = CHANGED_COUNT as usize;
        let arrivals = RefCell::new(Arrivals::new(&self.options.corpora, CHANGED_COUNT, u64::from(u32::MAX)));
        let flagged = Flagged::choose(&self.maildir, count)?;
        let moved = RefCell::new(Moved::choose(&self.maildir, count, &flagged)?);
        let flagged = RefCell::new(flagged);
        let change = |work: &str| match work {
            rows::ADDED => arrivals.borrow_mut().deliver(&self.maildir),
            rows::FLAGGED => flagged.borrow_mut().toggle(),
            rows::MOVED => moved.borrow_mut().toggle(),
            _ => Arrivals::take_away(&self.maildir),
        };
        let change = &change;
        let always = self.mailbox.options.messages <= COMPARED_ALWAYS_MAX;
        let mut trials = Vec::new();
        for work in CHANGED {
            for (place, program) in self.programs.iter().enumerate() {
                let trial = trial(program.as_ref(), self.series(program.name(), work), move || {
                    if place == 0 {
                        change(work)?;
                    }
                    program.index(Mode::Full).ok_or_else(|| anyhow::anyhow!("no such mode"))
                });
                let mut first = true;
                trials.push(trial.checked(move |_| {
                    if std::mem::take(&mut first) || always {
                        let (known, there) = (answer(program.as_ref(), Question::All)?, self.on_disk()?);
                        ensure!(known == there, "it knows {} files, and there are {}", known.0, there.0);
                    }
                    Ok(())
                }));
            }
        }
        take_turns(self.options.slow_rounds(), trials)
    }

    /// Returns the files on disk in the form of an answer.
    fn on_disk(&self) -> Result<Answer> {
        let files = corpora::messages(&self.maildir)?;
        let lines = files.iter().map(|file| file.as_os_str().as_bytes());
        Ok((files.len() as u64, child::sum_of_lines(lines)))
    }

    /// Returns the programs that find all files, and answer other questions as pneu does; pneu itself must
    /// not fail. Reports the others, and discards their earlier results.
    fn agreeing(&self, question: Question, work: &str) -> Result<Vec<(&dyn Indexer, Answer)>> {
        let mut agreeing: Vec<(&dyn Indexer, Answer)> = Vec::new();
        let mut expected = if question == Question::All { Some(self.on_disk()?) } else { None };
        for program in &self.programs {
            let said = answer(program.as_ref(), question);
            let is_right =
                said.as_ref().is_ok_and(|answer| expected.is_none_or(|expected| expected == *answer));
            match said {
                Ok(answer) if is_right => {
                    expected = Some(answer);
                    agreeing.push((program.as_ref(), answer));
                }
                Err(error) if program.name() == COLUMNS[0] => return Err(error),
                Ok((lines, _)) if program.name() == COLUMNS[0] => {
                    bail!("pneu finds {lines} files, and there are {:?}", expected)
                }
                other => {
                    let what = other
                        .map_or_else(|error| format!("{error:#}"), |(lines, _)| format!("{lines} paths"));
                    self.leave_out(program.name(), &many_works(question, work), &what);
                }
            }
        }
        Ok(agreeing)
    }

    fn leave_out(&self, program: &str, works: &[String], what: &str) {
        for work in works {
            let series = self.named(program, work);
            if self.unequal.borrow().contains(&series) {
                continue;
            }
            say(&format!("  {series} is left out: {what}, which is not what is right"));
            self.unequal.borrow_mut().push(series);
        }
    }
}

/// Returns a trial of a program: pneu may not fail, others may.
fn trial<'a>(
    program: &dyn Indexer,
    series: Series,
    prepare: impl FnMut() -> Result<Command> + 'a,
) -> Trial<'a> {
    let trial = Trial::new(series, prepare);
    if program.name() == COLUMNS[0] { trial } else { trial.of_a_peer() }
}

/// Runs a query once, unmeasured.
fn answer(program: &dyn Indexer, question: Question) -> Result<Answer> {
    let outcome = child::run(&mut program.paths(question))?;
    Ok((outcome.sample.lines, outcome.line_sum))
}

/// The state of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Warm,
    Cold,
}

impl Start {
    fn work(self, work: &str) -> String {
        match self {
            Start::Warm => work.to_owned(),
            Start::Cold => rows::cold(work),
        }
    }

    fn of(self, trial: Trial<'_>) -> Trial<'_> {
        match self {
            Start::Warm => trial,
            Start::Cold => trial.cold(),
        }
    }
}
