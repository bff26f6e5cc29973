//! Acting on mail: tags, flags, moves, copies and what undoes them; a delivery; people; what changed.
//!
//! Input: options. Output: series. Does not know how pneu does it.
//!
//! The Maildir is a copy of links, so that kept mail never changes. Every round undoes what it did.

mod chosen;
mod rows;

use crate::{Options, Pneu};
use anyhow::{Context, Result, ensure};
pub use chosen::{Chosen, seconds};
use measure::{Outcome, Report, Sample, Series, Trial, child, corpora, say, strace, syncs, take_turns};
pub(crate) use rows::table;
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use testkit::corpus::CorpusOptions;

/// How many messages are tagged, and how many are moved and get other flags, if there are as many.
const TAGGED: usize = 10_000;
const ACTED: usize = 1000;
/// The folder to which messages go.
const FOLDER: &str = "bench-folder";
/// More syncs than this are too many for a delivery.
const SYNCS_MAX: u64 = 4;
/// How much of a name is typed.
const TYPED: usize = 3;
/// Words of generated mail.
const WORDS: &str = "velvet dispatch";

/// Measures everything, for each size.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    for messages in options.action_sizes() {
        say(&format!("= {messages} messages"));
        let kept = corpora::kept(&options.corpora, "small", &CorpusOptions::small(messages, corpora::SEED))?;
        let place = options.corpora.join("own-actions");
        corpora::clear(&place)?;
        let maildir = place.join("mail");
        corpora::link_all(&kept, &maildir)?;
        let pneu = Pneu::new(&options.program, &maildir);
        child::measure(&mut pneu.index())?;
        child::measure(&mut pneu.command(&["--quiet", "mkdir", FOLDER]))?;
        let acting = Acting {
            messages,
            all: Chosen::of_all(&maildir, TAGGED)?,
            inbox: Chosen::of_inbox(&maildir, ACTED)?,
            letter: place.join("letter"),
            number: Cell::new(0),
            token: RefCell::default(),
            pneu: &pneu,
        };
        report.add_all(take_turns(options.rounds, acting.actions())?);
        report.add_all(take_turns(options.query_rounds, acting.questions()?)?);
        report.add_all(acting.deliveries(options.rounds)?);
        corpora::clear(&place)?;
    }
    Ok(())
}

/// One Maildir, and what is done with it.
struct Acting<'a> {
    messages: u32,
    /// What is tagged.
    all: Chosen,
    /// What is moved and gets other flags.
    inbox: Chosen,
    /// The file of the next message that is delivered, and how many there were.
    letter: PathBuf,
    number: Cell<u64>,
    /// The state before the flags.
    token: RefCell<String>,
    pneu: &'a Pneu,
}

impl Acting<'_> {
    fn series(&self, work: &str) -> Series {
        Series::new(&rows::series(self.messages, work), "")
    }

    /// Returns everything that changes mail, in an order in which a round leaves it as it was.
    fn actions(&self) -> Vec<Trial<'_>> {
        let (all, inbox) = (&self.all, &self.inbox);
        let tag = |work, change| self.acting(work, all.count, vec!["tag", change, "--", &all.query]);
        let undo = |work| self.acting(work, inbox.count, vec!["undo"]);
        let flag = Series { note: format!("{} messages", inbox.count), ..self.series(rows::FLAG) };
        let flag = Trial::new(flag, || {
            self.token.replace(token(&child::run(&mut self.pneu.command(&["changes"]))?.said)?);
            Ok(self.pneu.command(&["flag", "+P", "--", &inbox.query]))
        });
        let changes = Trial::new(self.series(rows::CHANGES), || {
            Ok(self.pneu.command(&["changes", "--since", &self.token.borrow()]))
        });
        let table = self.letter.with_extension("parquet");
        let export = Trial::new(self.series(rows::EXPORT), move || {
            // It writes over nothing.
            let _ = fs::remove_file(&table);
            let mut export = self.pneu.command(&["--quiet", "export", "--to"]);
            export.arg(&table).arg("*");
            Ok(export)
        });
        vec![
            export,
            self.counting(rows::COUNT_TAGGED, all),
            tag(rows::TAG, "+bench"),
            tag(rows::UNTAG, "-bench"),
            self.counting(rows::COUNT_ACTED, inbox),
            flag.checked(|outcome| says(outcome, inbox.count)),
            // The last line is the next token.
            changes.printing(inbox.count as u64 + 1),
            undo(rows::UNDO_FLAG),
            self.acting(rows::MOVE, inbox.count, vec!["move", &inbox.query, FOLDER]),
            undo(rows::UNDO_MOVE),
            self.acting(rows::COPY, inbox.count, vec!["copy", &inbox.query, FOLDER]),
            undo(rows::UNDO_COPY),
        ]
    }

    /// Returns the trial of a command that says how many messages or files it changed.
    fn acting<'a>(&'a self, work: &str, count: usize, arguments: Vec<&'a str>) -> Trial<'a> {
        let series = Series { note: format!("{count} messages"), ..self.series(work) };
        let trial = Trial::new(series, move || Ok(self.pneu.command(&arguments)));
        trial.checked(move |outcome| says(outcome, count))
    }

    fn counting<'a>(&'a self, work: &str, chosen: &'a Chosen) -> Trial<'a> {
        self.acting(work, chosen.count, vec!["count", &chosen.query])
    }

    /// Returns what people ask while they write and search.
    fn questions(&self) -> Result<Vec<Trial<'_>>> {
        let first = child::run(&mut self.pneu.command(&["contacts", "--max", "1"]))?.said;
        let typed: String = first.chars().take(TYPED).collect();
        ensure!(!typed.trim().is_empty(), "nobody wrote these messages");
        let trial = |work, arguments: Vec<&'static str>| {
            Trial::new(self.series(work), move || Ok(self.pneu.command(&arguments)))
        };
        let complete = Trial::new(self.series(rows::COMPLETE), move || {
            Ok(self.pneu.command(&["contacts", "--max", "20", &typed]))
        });
        let configuration = self.own_configuration()?;
        let own = Trial::new(self.series(rows::OWN), move || {
            let mut contacts = self.pneu.command(&["contacts", "--max", "20"]);
            contacts.env("XDG_CONFIG_HOME", &configuration);
            Ok(contacts)
        });
        Ok(vec![
            complete.checked(has_lines),
            trial(rows::CONTACTS, vec!["contacts", "--max", "20"]).printing(20),
            own.printing(20),
            trial(rows::RELEVANCE, vec!["find", "--sort", "relevance", "--max", "50", WORDS])
                .checked(has_lines),
        ])
    }

    /// Writes a configuration that names addresses of the user, and returns the directory to look for it in.
    fn own_configuration(&self) -> Result<PathBuf> {
        let said = child::run(&mut self.pneu.command(&["contacts", "--max", "3", "--format", "json"]))?.said;
        let addresses: Vec<&str> =
            said.split("\"address\":").skip(1).filter_map(|rest| rest.split('"').nth(1)).collect();
        ensure!(addresses.len() == 3, "three addresses were expected: {said}");
        let directory = self.letter.with_extension("config");
        let file = directory.join("pneu/config.toml");
        fs::create_dir_all(directory.join("pneu"))?;
        fs::write(&file, format!("[user]\naddresses = {addresses:?}\n"))
            .with_context(|| format!("cannot write {}", file.display()))?;
        Ok(directory)
    }

    /// Measures deliveries beside as many bare syncs in the same directory.
    fn deliveries(&self, rounds: usize) -> Result<Vec<Series>> {
        // The first one makes files that the next ones find.
        child::measure(&mut self.delivery()?)?;
        let calls = strace::calls(&self.delivery()?, &strace::SYNCS)?;
        let count = calls.as_ref().map_or(SYNCS_MAX, |calls| calls.len() as u64);
        let inbox = self.pneu.maildir().join("cur");
        let letter = self.letter.clone();
        let trials = vec![
            Trial::new(Series::new(&rows::floor(self.messages), ""), || {
                Ok(child::fed(&syncs::command(&inbox, count)?, &letter))
            }),
            Trial::new(self.series(rows::DELIVER), || self.delivery()),
        ];
        let mut series = take_turns(rounds, trials)?;
        self.is_found()?;
        let note = match calls {
            Some(_) => format!("{count} syncs, of at most {SYNCS_MAX}"),
            None => format!("strace is not there; the floor has {SYNCS_MAX} syncs"),
        };
        say(&format!("  {note}"));
        let [floor, deliver] = &mut series[..] else { return Ok(series) };
        deliver.note = note;
        let beyond = beyond(&rows::series(self.messages, rows::BEYOND_SYNCS), deliver, floor);
        series.push(beyond);
        Ok(series)
    }

    /// Writes the next message, and returns the command that delivers it.
    fn delivery(&self) -> Result<Command> {
        self.number.set(self.number.get() + 1);
        fs::write(&self.letter, letter(self.number.get()))
            .with_context(|| format!("cannot write {}", self.letter.display()))?;
        Ok(child::fed(&self.pneu.command(&["deliver", "/"]), &self.letter))
    }

    /// Makes sure that the last delivery is in the index.
    fn is_found(&self) -> Result<()> {
        let query = format!("msgid:{}", message_id(self.number.get()));
        says(&child::ask(&mut self.pneu.command(&["count", &query]))?, 1)
    }
}

/// Returns the Message-ID of a letter.
fn message_id(number: u64) -> String {
    format!("{number}@delivered.example")
}

/// Returns a message to deliver, another one for each number.
pub fn letter(number: u64) -> String {
    format!(
        "From: Ana <ana@delivered.example>\nTo: bo@delivered.example\nSubject: letter {number}\n\
         Date: Wed, 05 Mar 2025 10:00:00 +0000\nMessage-ID: <{}>\n\nGood morning\n",
        message_id(number)
    )
}

/// Returns the difference of two series, round by round.
fn beyond(name: &str, whole: &Series, floor: &Series) -> Series {
    let difference = |(whole, floor): (&Sample, &Sample)| Sample {
        wall_seconds: (whole.wall_seconds - floor.wall_seconds).max(0.0),
        load_before: whole.load_before,
        ..Sample::default()
    };
    let samples = whole.samples.iter().zip(&floor.samples).map(difference).collect();
    Series { samples, note: "computed, round by round".to_owned(), ..Series::new(name, "") }
}

/// Returns the token in the last line of `pneu changes`.
fn token(said: &str) -> Result<String> {
    let rest = said.rsplit_once("\"token\":\"").map(|(_, rest)| rest);
    let token = rest.and_then(|rest| rest.split_once('"')).map(|(token, _)| token.to_owned());
    token.with_context(|| format!("there is no token in {said:?}"))
}

/// Makes sure that the first numbers that a command says are `count`: how many messages, and how many it
/// changed.
fn says(outcome: &Outcome, count: usize) -> Result<()> {
    let plain = outcome.said.replace(',', "");
    let numbers = plain.split(|letter: char| !letter.is_ascii_digit()).filter(|number| !number.is_empty());
    let first: Vec<&str> = numbers.take(2).collect();
    let is_right = !first.is_empty() && first.iter().all(|number| number.parse() == Ok(count));
    ensure!(is_right, "it says {:?}, expected {count}", outcome.said.trim());
    Ok(())
}

/// Makes sure that something was found.
fn has_lines(outcome: &Outcome) -> Result<()> {
    ensure!(outcome.sample.lines > 0, "nothing was found");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(said: &str) -> Outcome {
        Outcome { said: said.to_owned(), ..Outcome::default() }
    }

    #[test]
    fn an_action_must_change_all() {
        for right in ["1,000 messages: 1,000 files moved\n", "1000\n", "undone for 1000 of 1000 files\n"] {
            says(&said(right), 1000).unwrap();
        }
        for wrong in ["1,000 messages: 999 files moved\n", "undone for 999 of 1000 files", "", "no message"] {
            assert!(says(&said(wrong), 1000).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_in_the_last_line() {
        let lines = "{\"type\":\"change\"}\n{\"version\":1,\"type\":\"token\",\"token\":\"a-1\"}\n";
        assert_eq!(token(lines).unwrap(), "a-1");
        assert!(token("{\"type\":\"change\"}\n").is_err());
    }

    #[test]
    fn what_is_beyond_is_a_difference_of_each_round() {
        let series = |name, walls: &[f64]| Series {
            samples: walls.iter().map(|&wall_seconds| Sample { wall_seconds, ..Sample::default() }).collect(),
            ..Series::new(name, "")
        };
        let beyond = beyond("beyond", &series("a", &[5.0, 3.0, 1.0]), &series("b", &[1.0, 2.0, 1.5]));
        assert_eq!(
            beyond.samples.iter().map(|sample| sample.wall_seconds).collect::<Vec<_>>(),
            [4.0, 1.0, 0.0]
        );
    }
}
