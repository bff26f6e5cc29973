//! Index and cleanup: mail is indexed, indexes are kept in step and asked, by pneu, mu, notmuch and mairix.
//!
//! Comes in: what is installed, sizes. Goes out: series, and a table of them.
//!
//! All programs index the same mailbox, a copy by links of one that is kept, each into an index of its own, and take turns. What
//! they do only counts if their answers are equal to pneu's, path by path; a program whose are not is left out, and the run says so.

mod changes;
mod programs;
mod rows;

use crate::bench::Bench;
use crate::options::{Sizes, counted};
use crate::peers::{mairix, mu, notmuch};
use anyhow::Result;
use changes::Moved;
use measure::changes::{Arrivals, Flagged};
use measure::walk::Look;
use measure::{Series, Trial, child, cold, corpora, named, say, take_turns, take_turns_at_once, walk};
use programs::{Indexer, MairixIndexer, Mode, MuIndexer, NotmuchIndexer, Question};
pub(crate) use rows::table;
use rows::{CHANGED, PASSES, Pass, QUESTIONS, TOUCHED, many_works};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use testkit::corpus::{CorpusOptions, facts};

/// The programs.
pub(crate) const COLUMNS: [&str; 4] = ["pneu", "mu", "notmuch", "mairix"];
/// How many files change at a time.
const CHANGED_COUNT: u32 = 1000;
/// Times that are younger are believed by nobody.
const SETTLE: Duration = Duration::from_millis(2500);
/// Folders of messages with text: those behind have files that are compressed, which the others do not read.
const TEXT_FOLDERS: usize = 8;
/// Queries are measured this many times as often as passes.
const QUERY_ROUNDS_TIMES: usize = 3;

/// A mailbox.
struct Mailbox {
    /// How it is called in names of work.
    label: String,
    kind: Kind,
    options: CorpusOptions,
}

/// What is in a mailbox, and so what is measured on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Very many small messages: everything.
    Small,
    /// Messages with text: what depends on it, the first index and queries.
    Text,
}

impl Kind {
    /// Returns how it is called in the directory of what is kept.
    fn name(self) -> &'static str {
        match self {
            Kind::Small => "small",
            Kind::Text => "plain",
        }
    }
}

/// Returns the mailboxes: many small messages, so that growth shows, and one as people have it.
fn mailboxes(sizes: &Sizes) -> Vec<Mailbox> {
    let small = |&messages: &u32| Mailbox {
        label: counted(messages.into()),
        kind: Kind::Small,
        options: CorpusOptions::small(messages, corpora::SEED),
    };
    let text =
        CorpusOptions { folders: TEXT_FOLDERS, ..CorpusOptions::varied(sizes.text_messages, corpora::SEED) };
    let text = Mailbox {
        label: format!("{} with text", counted(sizes.text_messages.into())),
        kind: Kind::Text,
        options: text,
    };
    sizes.index_messages.iter().map(small).chain([text]).collect()
}

/// Measures everything.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let asked = &bench.options.mailboxes;
    let is_asked = |mailbox: &Mailbox| asked.is_empty() || asked.contains(&mailbox.label);
    for mailbox in mailboxes(&bench.options.sizes()).into_iter().filter(is_asked) {
        say(&format!("= {}", mailbox.label));
        let kept = corpora::kept(bench.corpora(), mailbox.kind.name(), &mailbox.options)?;
        let place = bench.corpora().join("peers-index");
        corpora::clear(&place)?;
        let maildir = place.join("mail");
        changes::link_all(&kept, &maildir)?;
        let side = Side {
            programs: programs(bench, &maildir, &place),
            rounds: bench.rounds(),
            slow_rounds: bench.slow_rounds(),
            unequal: RefCell::default(),
            mailbox: &mailbox,
            maildir,
        };
        let measured = side.measure(bench.corpora());
        corpora::clear(&place)?;
        bench.report.add_all(measured?);
        bench.save()?;
        let unequal = side.unequal.take();
        if !unequal.is_empty() {
            let before = bench.report.facts.iter().find(|(name, _)| *name == UNEQUAL);
            let mut all: Vec<String> = before.map(|(_, value)| value.clone()).into_iter().collect();
            all.extend(unequal);
            bench.report.set_fact(UNEQUAL, all.join("; "));
        }
    }
    Ok(())
}

/// The fact that names what was left out.
const UNEQUAL: &str = "left out because the answers differ";

fn programs(bench: &Bench<'_>, maildir: &Path, place: &Path) -> Vec<Box<dyn Indexer>> {
    let mut all: Vec<Box<dyn Indexer>> = vec![Box::new(bench.pneu(maildir))];
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

/// What a query finds: how many lines, and the sum of their hashes.
type Answer = (u64, u64);

/// The programs side by side in front of one mailbox.
struct Side<'a> {
    programs: Vec<Box<dyn Indexer>>,
    mailbox: &'a Mailbox,
    maildir: PathBuf,
    rounds: usize,
    /// Of what takes long.
    slow_rounds: usize,
    /// Names of series that do not count, and why.
    unequal: RefCell<Vec<String>>,
}

impl Side<'_> {
    fn measure(&self, corpora: &Path) -> Result<Vec<Series>> {
        // They read every file, so that whoever is the first to index does not pay for the disk.
        let mut series = self.floors()?;
        series.extend(self.first_index()?);
        series.extend(self.queries(Start::Warm)?);
        if self.mailbox.kind == Kind::Small {
            thread::sleep(SETTLE);
            series.extend(self.passes(&PASSES, |_| Ok(()))?);
            if cold::is_possible() {
                series.extend(self.cold()?);
            }
            series.extend(self.passes(&TOUCHED, changes::touch)?);
            series.extend(self.changes(corpora)?);
        }
        series.retain(|series| !self.unequal.borrow().contains(&series.name));
        Ok(series)
    }

    fn named(&self, who: &str, work: &str) -> String {
        named(who, &rows::work(&self.mailbox.label, work))
    }

    fn series(&self, who: &str, work: &str) -> Series {
        Series::new(&self.named(who, work), "")
    }

    fn first_index(&self) -> Result<Vec<Series>> {
        let trials = self.programs.iter().map(|program| {
            let trial = Trial::new(self.series(program.name(), rows::FIRST), || {
                program.forget()?;
                program.index(Mode::Full).ok_or_else(|| anyhow::anyhow!("no first index"))
            });
            trial.sized(|| program.size())
        });
        let series = take_turns_at_once(self.slow_rounds, trials.collect())?;
        for question in [Question::All, Question::Few, Question::Many] {
            self.agreeing(question, rows::FIRST)?;
        }
        Ok(series)
    }

    /// Makes passes in all modes that each program has.
    fn passes(&self, passes: &[Pass], before: impl Fn(&Path) -> Result<()> + Copy) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        for pass in passes {
            for program in &self.programs {
                if program.index(pass.mode).is_none() {
                    continue;
                }
                trials.push(Trial::new(self.series(program.name(), pass.work), move || {
                    before(&self.maildir)?;
                    program.index(pass.mode).ok_or_else(|| anyhow::anyhow!("no such mode"))
                }));
            }
        }
        let series = take_turns(self.rounds, trials)?;
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
        ];
        take_turns(self.rounds, trials)
    }

    fn queries(&self, start: Start) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        let known = facts(&self.mailbox.options);
        for (question, work, fact) in QUESTIONS {
            let Some(hits) = known.get(fact).map(|fact| fact.messages) else { continue };
            for (program, answer) in self.agreeing(question, work)? {
                let series = self.series(program.name(), &start.work(work));
                let series = Series { note: format!("{hits} hits"), ..series };
                let trial = Trial::new(series, move || Ok(program.paths(question)));
                let trial = trial.printing(hits.into()).checked(move |outcome| {
                    anyhow::ensure!(outcome.line_sum == answer.1, "other paths than before");
                    Ok(())
                });
                trials.push(start.of(trial));
            }
        }
        let times = if start == Start::Warm { QUERY_ROUNDS_TIMES } else { 1 };
        take_turns(self.rounds * times, trials)
    }

    fn cold(&self) -> Result<Vec<Series>> {
        let mut trials = Vec::new();
        for pass in PASSES.iter().filter(|pass| matches!(pass.mode, Mode::Full | Mode::Lazy)) {
            for program in &self.programs {
                if program.index(pass.mode).is_some() {
                    let series = self.series(program.name(), &Start::Cold.work(pass.work));
                    let trial = Trial::new(series, move || {
                        program.index(pass.mode).ok_or_else(|| anyhow::anyhow!("no such mode"))
                    });
                    trials.push(trial.cold());
                }
            }
        }
        let maildir = self.maildir.as_path();
        let walk = self.series("floor", &Start::Cold.work(rows::WALK));
        trials.push(Trial::new(walk, move || walk::command(maildir, 2, Look::Names)).cold());
        let mut series = take_turns(self.rounds, trials)?;
        series.extend(self.queries(Start::Cold)?);
        Ok(series)
    }

    /// Lets another program add, mark, move and remove messages; each program makes a pass after each change. After the first of
    /// each its answer is compared.
    fn changes(&self, corpora: &Path) -> Result<Vec<Series>> {
        let count = CHANGED_COUNT as usize;
        let arrivals = RefCell::new(Arrivals::new(corpora, CHANGED_COUNT, u64::from(u32::MAX)));
        let flagged = Flagged::choose(&self.maildir, count)?;
        let moved = RefCell::new(Moved::choose(&self.maildir, count, &flagged)?);
        let flagged = RefCell::new(flagged);
        let change = |work: &str| match work {
            rows::ADDED => arrivals.borrow_mut().deliver(&self.maildir),
            rows::FLAGGED => flagged.borrow_mut().toggle(),
            rows::MOVED => moved.borrow_mut().toggle(),
            _ => Arrivals::take_away(&self.maildir),
        };
        let expected: Cell<Option<Answer>> = Cell::new(None);
        let (change, expected) = (&change, &expected);
        let mut trials = Vec::new();
        for work in CHANGED {
            for (place, program) in self.programs.iter().enumerate() {
                let series = self.series(program.name(), work);
                let name = series.name.clone();
                let trial = Trial::new(series, move || {
                    if place == 0 {
                        change(work)?;
                    }
                    program.index(Mode::Full).ok_or_else(|| anyhow::anyhow!("no such mode"))
                });
                let mut first = true;
                trials.push(trial.checked(move |_| {
                    if std::mem::take(&mut first) {
                        let answer = answer(program.as_ref(), Question::All)?;
                        if place == 0 {
                            expected.set(Some(answer));
                        } else if expected.get() != Some(answer) {
                            self.leave_out(&name, answer, expected.get());
                        }
                    }
                    Ok(())
                }));
            }
        }
        take_turns(self.slow_rounds, trials)
    }

    /// Returns the programs that answer as pneu does. The others are told, and what they did before does not count.
    fn agreeing(&self, question: Question, work: &str) -> Result<Vec<(&dyn Indexer, Answer)>> {
        let mut agreeing: Vec<(&dyn Indexer, Answer)> = Vec::new();
        for program in &self.programs {
            let answer = answer(program.as_ref(), question)?;
            let expected = agreeing.first().map(|(_, answer)| *answer);
            if expected.is_none_or(|expected| expected == answer) {
                agreeing.push((program.as_ref(), answer));
            } else {
                for work in if question == Question::All { many_works(work) } else { vec![work] } {
                    self.leave_out(&self.named(program.name(), work), answer, expected);
                }
            }
        }
        Ok(agreeing)
    }

    fn leave_out(&self, series: &str, answer: Answer, expected: Option<Answer>) {
        let expected = expected.map_or(0, |(lines, _)| lines);
        say(&format!("  {series} is left out: {} paths, not those {expected} of pneu", answer.0));
        self.unequal.borrow_mut().push(series.to_owned());
    }
}

/// Asks once, unmeasured.
fn answer(program: &dyn Indexer, question: Question) -> Result<Answer> {
    let outcome = child::run(&mut program.paths(question))?;
    Ok((outcome.sample.lines, outcome.line_sum))
}

/// What is in the page cache.
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
