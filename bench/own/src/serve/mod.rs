//! Serving mail: how soon `pneu serve` answers requests of JMAP, tells of changes, and what it takes.
//!
//! Input: options. Output: series. Does not know how pneu answers.

mod client;
mod rows;

use crate::actions::Chosen;
use crate::percentiles::percentiles;
use crate::running::Running;
use crate::used::{idle, since};
use crate::{Options, Pneu};
use anyhow::{Context, Result, anyhow, ensure};
use client::{Events, Jmap, Served};
use measure::{Report, Sample, Series, child, corpora, say, turns, watch};
pub(crate) use rows::table;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use testkit::corpus::{CorpusOptions, facts};

/// The beginning of the line that the server prints once it listens: its address.
const SCHEME: &str = "http://";
/// Messages of a page.
const PAGE: u32 = 50;
/// How many messages get flags, if there are as many.
const FLAGGED: usize = 1000;
/// Clients that ask at the same time, and how often each asks in a second.
const CLIENTS: u32 = 8;
const ASKED: u32 = 25;
/// For how long they ask at most.
const BUSY: Duration = Duration::from_secs(20);
/// What a change causes is over after this time.
const CALM: Duration = Duration::from_millis(500);

/// Measures everything, for each size.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    for messages in options.action_sizes() {
        say(&format!("= {messages} messages"));
        let corpus = CorpusOptions::small(messages, corpora::SEED);
        let kept = corpora::kept(&options.corpora, "small", &corpus)?;
        let place = options.corpora.join("own-serve");
        corpora::clear(&place)?;
        corpora::link_all(&kept, &place.join("mail"))?;
        let pneu = Pneu::new(&options.program, &place.join("mail"));
        child::measure(&mut pneu.index())?;
        let (running, served) = start(&pneu)?;
        let serving = Serving { messages, rounds: options.query_rounds, pneu: &pneu, served };
        let mut series = serving.questions(&corpus)?;
        series.push(serving.changes(options.rounds)?);
        series.push(serving.events(options.rounds)?);
        series.push(serving.beside_a_first_index(options, &kept, &place)?);
        series.push(serving.memory(&running));
        report.add_all(series);
        report.add(idle(options, &running, &rows::series(messages, rows::IDLE))?);
        running.end()?;
        corpora::clear(&place)?;
    }
    Ok(())
}

/// Starts the server, and waits until it answers.
fn start(pneu: &Pneu) -> Result<(Running, Served)> {
    let token = child::run(&mut pneu.command(&["serve", "--print-token"]))?.said.trim().to_owned();
    let running = Running::start(pneu.command(&["serve", "--port", "0"]), SCHEME)?;
    let line = running.said.iter().find_map(|line| line.strip_prefix(SCHEME));
    let address = line.context("the server prints its address")?.trim_end_matches('/').parse()?;
    Ok((running, Served { address, token }))
}

/// A server of one Maildir.
struct Serving<'a> {
    messages: u32,
    rounds: usize,
    pneu: &'a Pneu,
    served: Served,
}

impl Serving<'_> {
    fn series(&self, work: &str, seconds: &[f64], note: &str) -> Series {
        let sample = |&wall_seconds: &f64| Sample { wall_seconds, ..Sample::default() };
        let samples = seconds.iter().map(sample).collect();
        let note = note.to_owned();
        let series = Series { samples, note, ..Series::new(&rows::series(self.messages, work), "") };
        turns::tell(&series);
        series
    }

    /// Asks what a page asks, in turns.
    fn questions(&self, corpus: &CorpusOptions) -> Result<Vec<Series>> {
        let known = facts(corpus);
        let rare = known.first().context("the mail has known words")?;
        let none = Value::Null;
        let asked = [
            (rows::NEWEST, client::page(&none, 0, PAGE), PAGE),
            (rows::PAGE, client::page(&none, self.messages / 2, PAGE), PAGE),
            (rows::WORD, client::hits(&rare.query, PAGE), rare.messages),
        ];
        let mut jmap = Jmap::connect(&self.served);
        let mut times = vec![Vec::new(); asked.len()];
        // The first round is not counted: it is that of a server which was never asked.
        for round in 0..=self.rounds {
            for ((_, calls, count), times) in asked.iter().zip(&mut times) {
                let (answers, seconds) = jmap.ask(calls)?;
                let list = answers.get(1).and_then(|get| get["list"].as_array()).map_or(0, Vec::len);
                ensure!(list as u64 == u64::from(*count), "{list} emails came, expected {count}: {calls}");
                times.extend((round > 0).then_some(seconds));
            }
        }
        Ok(asked.iter().zip(&times).map(|((work, ..), times)| self.series(work, times, "")).collect())
    }

    /// Asks what changed after another process has changed flags.
    fn changes(&self, rounds: usize) -> Result<Series> {
        let chosen = Chosen::of_inbox(self.pneu.maildir(), FLAGGED)?;
        let mut jmap = Jmap::connect(&self.served);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let (answers, _) = jmap.ask(&client::state())?;
            let before = answers[0]["state"].as_str().context("there is a state")?.to_owned();
            child::run(&mut self.pneu.command(&["flag", "+P", "--", &chosen.query]))?;
            let (answers, seconds) = jmap.ask(&client::changes(&before))?;
            let updated = answers[0]["updated"].as_array().map_or(0, Vec::len);
            ensure!(updated == chosen.count, "{updated} emails were updated, expected {}", chosen.count);
            times.push(seconds);
            child::run(&mut self.pneu.command(&["undo"]))?;
        }
        Ok(self.series(rows::CHANGES, &times, &format!("{} messages", chosen.count)))
    }

    /// Renames a file, and waits for the event.
    fn events(&self, rounds: usize) -> Result<Series> {
        // What the last changes caused is told by now.
        thread::sleep(CALM);
        let mut events = Events::listen(&self.served)?;
        let mut file = first_file(self.pneu.maildir())?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let next = with_other_flag(&file);
            let begin = Instant::now();
            fs::rename(&file, &next).with_context(|| format!("cannot rename {}", file.display()))?;
            times.push(events.wait()?.duration_since(begin).as_secs_f64());
            file = next;
            thread::sleep(CALM);
        }
        Ok(self.series(rows::EVENT, &times, ""))
    }

    /// Lets many clients ask while another process indexes a copy of the mail.
    fn beside_a_first_index(&self, options: &Options, kept: &Path, place: &Path) -> Result<Series> {
        let other = Pneu::at(&options.program, kept, &place.join("other.data"));
        let mut index = other.index().stdin(Stdio::null()).spawn().context("cannot start the index")?;
        let is_over = AtomicBool::new(false);
        let begin = Instant::now();
        let mut times = thread::scope(|scope| {
            let ask = || self.ask_in_step(&is_over);
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
            let ended = loop {
                match index.try_wait() {
                    Ok(None) if begin.elapsed() < BUSY => thread::sleep(Duration::from_millis(10)),
                    other => break other,
                }
            };
            is_over.store(true, Ordering::Relaxed);
            ended?;
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.join().map_err(|_| anyhow!("a client panicked"))??);
            }
            Ok::<_, anyhow::Error>(all)
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        // It may go on for long.
        index.kill().ok();
        index.wait()?;
        times.sort_by(f64::total_cmp);
        let late = times.get(times.len() * 99 / 100).copied().unwrap_or_default();
        let rate = times.len() as f64 / seconds;
        let note = format!("{rate:.0} requests a second, of 99 in 100 at most {:.1} ms", late * 1e3);
        Ok(self.series(rows::BUSY, &percentiles(&times), &note))
    }

    /// Asks in even steps until it is over. Returns the seconds of each request.
    fn ask_in_step(&self, is_over: &AtomicBool) -> Result<Vec<f64>> {
        let mut jmap = Jmap::connect(&self.served);
        let calls = client::page(&Value::Null, 0, PAGE);
        let (begin, mut times) = (Instant::now(), Vec::new());
        for step in 0.. {
            let due = Duration::from_secs(1) * step / ASKED;
            thread::sleep(due.saturating_sub(begin.elapsed()));
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            times.push(jmap.ask(&calls)?.1);
        }
        Ok(times)
    }

    /// Reads the memory of the server.
    fn memory(&self, running: &Running) -> Series {
        let process = running.process();
        let peak = watch::peak_bytes(process).unwrap_or(0);
        let used = since(Sample::default(), Sample::default(), Duration::ZERO);
        let sample = Sample { peak_bytes: watch::anonymous_bytes(process).unwrap_or(0), ..used };
        let note = format!("{:.0} MB at most with mapped files", peak as f64 / 1e6);
        let series = Series::of(&rows::series(self.messages, rows::MEMORY), sample);
        let series = Series { note, ..series };
        turns::tell(&series);
        series
    }
}

/// Returns a file of the root's `cur`.
fn first_file(maildir: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(maildir.join("cur"))?;
    let mut paths = files.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.to_string_lossy().contains(":2,"));
    paths.into_iter().min().context("the INBOX has files with flags")
}

/// Returns the name that a file gets when it is passed on, or loses that flag.
fn with_other_flag(file: &Path) -> PathBuf {
    let text = file.to_string_lossy();
    let (start, flags) = text.rsplit_once(":2,").unwrap_or((&text, ""));
    let mut flags: Vec<char> = flags.chars().collect();
    match flags.iter().position(|flag| *flag == 'P') {
        Some(place) => drop(flags.remove(place)),
        None => flags.push('P'),
    }
    flags.sort_unstable();
    PathBuf::from(format!("{start}:2,{}", flags.into_iter().collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_comes_and_goes() {
        let renamed = |name: &str| with_other_flag(Path::new(name)).display().to_string();
        assert_eq!(renamed("/m/cur/1.a:2,"), "/m/cur/1.a:2,P");
        assert_eq!(renamed("/m/cur/1.a:2,FS"), "/m/cur/1.a:2,FPS");
        assert_eq!(renamed("/m/cur/1.a:2,FPS"), "/m/cur/1.a:2,FS");
    }
}
