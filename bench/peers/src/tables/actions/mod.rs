//! Acting on mail: pneu, mu and notmuch tag, flag and deliver messages, and list people.
//!
//! Input: the installed programs, sizes. Output: series, and a table of them.
//!
//! Actions rename files, so each program has its own copy of the mailbox. All take turns.

mod actors;
mod rows;

use crate::bench::Bench;
use crate::peers::{mu, notmuch};
use actors::{Actor, INBOX, MuActor, NotmuchActor, Task, folder_of, in_folder, inbox, passed, without_flags};
use anyhow::{Context, Result, ensure};
use bench_own::{Chosen, letter, seconds};
use measure::{Series, Trial, child, corpora, named, take_turns};
use rows::{ALL, Work};
pub(crate) use rows::{COLUMNS, table};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::corpus::CorpusOptions;

/// How many messages are tagged, and how many get another flag, if there are as many.
const TAGGED: usize = 10_000;
const FLAGGED: usize = 1000;
/// How much of a name is typed.
const TYPED: usize = 3;

/// Measures everything.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().action_messages;
    let corpus = CorpusOptions::small(messages, corpora::SEED);
    let kept = corpora::kept(bench.corpora(), "small", &corpus)?;
    let place = bench.corpora().join("peers-actions");
    corpora::clear(&place)?;
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    // notmuch takes relative paths from the home directory.
    let place = place.canonicalize()?;
    let actors = actors(bench, &kept, &place)?;
    let task = task(&kept, actors.first().context("pneu is a program")?.as_ref(), &place)?;
    let numbers = Cell::new(0);
    let mut trials = vec![Trial::new(Series::new(&rows::floor(messages), ""), || Ok(Command::new("true")))];
    for work in ALL {
        for actor in &actors {
            if actor.command(work, &task)?.is_some() {
                trials.push(trial(actor.as_ref(), (work, messages), &task, &numbers));
            }
        }
    }
    let series = take_turns(bench.rounds(), trials)?;
    bench.report.add_all(series);
    bench.save()?;
    corpora::clear(&place)
}

/// Returns the installed programs, each with a copy of the mail and an index of it; pneu is the first.
fn actors(bench: &Bench<'_>, kept: &Path, place: &Path) -> Result<Vec<Box<dyn Actor>>> {
    let maildir = |name: &str| place.join(name).join("mail");
    let mut all: Vec<Box<dyn Actor>> = vec![Box::new(bench.pneu(&maildir("pneu")))];
    if let Some(found) = bench.installed(&mu::PEER) {
        let mu = mu::Mu::new(&found, &place.join("mu/home"));
        all.push(Box::new(MuActor { mu, maildir: maildir("mu"), list: place.join("mu/list") }));
    }
    if let Some(found) = bench.installed(&notmuch::PEER) {
        let notmuch = notmuch::Notmuch::new(&found, &place.join("notmuch/home"));
        all.push(Box::new(NotmuchActor { notmuch, maildir: maildir("notmuch") }));
    }
    for actor in &all {
        corpora::link_all(kept, actor.maildir())?;
        for mut command in actor.first()? {
            child::measure(&mut command)?;
        }
    }
    Ok(all)
}

/// Chooses what to act on.
fn task(kept: &Path, pneu: &dyn Actor, place: &Path) -> Result<Task> {
    let inbox_chosen = Chosen::of_inbox(kept, FLAGGED)?;
    let mut later: Vec<PathBuf> = inbox(kept)?;
    later.retain(|file| seconds(file).is_ok_and(|seconds| seconds > inbox_chosen.last_seconds));
    later.sort();
    let one = later.first().context("the INBOX has more messages than get flags")?;
    let folders = corpora::messages(kept)?.into_iter().filter_map(|file| folder_of(kept, &file));
    let folder = folders.filter(|folder| folder != INBOX).min().context("there is a second folder")?;
    let mut task = Task {
        all: Chosen::of_all(kept, TAGGED)?,
        inbox: inbox_chosen,
        one: (message_id(one)?, without_flags(one)),
        folder,
        typed: String::new(),
        letter: place.join("letter"),
    };
    let people = pneu.command(Work::People, &task)?.context("pneu lists people")?;
    let said = child::run(&mut { people })?.said;
    task.typed = said.chars().take(TYPED).collect();
    ensure!(!task.typed.trim().is_empty(), "nobody wrote these messages");
    Ok(task)
}

/// Returns the Message-ID of a generated message.
fn message_id(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let id = text.lines().find_map(|line| line.strip_prefix("Message-ID: <")?.strip_suffix('>'));
    Ok(id.with_context(|| format!("{} has no Message-ID", file.display()))?.to_owned())
}

/// Returns the trial of a program: pneu may not fail, others may.
fn trial<'a>(
    actor: &'a dyn Actor,
    (work, messages): (Work, u32),
    task: &'a Task,
    numbers: &'a Cell<u64>,
) -> Trial<'a> {
    let series = Series::new(&named(actor.name(), &work.name(messages)), "");
    let trial = Trial::new(series, move || {
        // Each delivery needs another message.
        numbers.set(numbers.get() + 1);
        fs::write(&task.letter, letter(numbers.get()))?;
        actor.command(work, task)?.context("it could do this before")
    });
    let trial = trial.checked(move |outcome| {
        let flagged = |count| {
            let there = passed(actor.maildir())?;
            ensure!(there == count, "{there} files have the flag, expected {count}");
            Ok(())
        };
        match work {
            Work::Tag => tagged(actor, task.all.count),
            Work::Untag => tagged(actor, 0),
            Work::Flag => flagged(task.inbox.count),
            Work::FlagOne => flagged(1),
            Work::Unflag | Work::UnflagOne => flagged(0),
            Work::MoveOne => is_in(actor.maildir(), &task.folder, &task.one.1),
            Work::MoveBack => is_in(actor.maildir(), INBOX, &task.one.1),
            Work::Deliver => Ok(()),
            Work::People | Work::Complete => {
                ensure!(outcome.sample.lines > 0, "nobody was found");
                Ok(())
            }
        }
    });
    if actor.name() == COLUMNS[0] { trial } else { trial.of_a_peer() }
}

/// Makes sure that a file, named without its flags, is in a folder.
fn is_in(maildir: &Path, folder: &str, name: &str) -> Result<()> {
    let is_there = in_folder(maildir, folder)?.iter().any(|file| without_flags(file) == name);
    ensure!(is_there, "{name} is not in {folder}");
    Ok(())
}

/// Makes sure that this many files have the tag.
fn tagged(actor: &dyn Actor, count: usize) -> Result<()> {
    let mut command = actor.tagged().context("it has tags")?;
    let lines = child::ask(&mut command)?.sample.lines;
    ensure!(lines == count as u64, "{lines} files have the tag, expected {count}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_is_read() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("1.a");
        fs::write(&file, "From: a\nMessage-ID: <1.2@x.example>\n\nMessage-ID: <other>\n").unwrap();
        assert_eq!(message_id(&file).unwrap(), "1.2@x.example");
        fs::write(&file, "From: a\n\n").unwrap();
        assert!(message_id(&file).is_err());
    }
}
