//! Messages with text: the first index, queries in new processes, changes by another program.
//!
//! Input: options. Output: series. Does not know how pneu does it.

use crate::{Options, Pneu};
use anyhow::{Context, Result};
use measure::changes::{Arrivals, Flagged};
use measure::walk::Look;
use measure::{Report, Series, Trial, bytes_below, child, say, strace, take_turns};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use testkit::corpus::{CorpusOptions, facts};

/// How many files change at a time.
const CHANGED: u32 = 1000;
/// How many files change in each of the commits that fill a journal.
const JOURNAL_STEP: usize = 100;
/// After how many such commits in a row the journal is almost full: each has a dead and a new row for every
/// file and every folder, and at 4,096 rows it is sealed. And after how many this gives up.
const JOURNAL_COMMITS: usize = 13;
const JOURNAL_COMMITS_MAX: usize = 40;
/// How much a megabyte is.
const MEGABYTE: f64 = 1e6;

/// Measures everything about messages with text.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let corpus = options.text_options();
    let maildir = options.text()?;
    Arrivals::take_away(&maildir)?;
    let pneu = &Pneu::new(&options.program, &maildir);
    report.series.extend(first_index(options, pneu)?);
    report.series.push(meanwhile(pneu)?);
    report.series.extend(nothing_changed(options.rounds, pneu, "text")?);
    report.series.extend(queries(options, pneu, &corpus, "text")?);
    report.series.extend(flag_changes(options, pneu)?);
    report.series.extend(arrivals(options, pneu)?);
    report.series.extend(journal(options, pneu)?);
    Ok(())
}

fn first_index(options: &Options, pneu: &Pneu) -> Result<Vec<Series>> {
    let series = Series::new("first index, text", "<= 60 s, <= 1 GiB");
    let trial = Trial::new(series, || {
        pneu.forget()?;
        Ok(pneu.index())
    });
    let mut series = take_turns(options.rounds, vec![trial])?;
    for series in &mut series {
        series.note = format!(
            "{} messages, {:.0} MB of files, {:.0} MB of index",
            options.text_messages,
            bytes_below(pneu.maildir())? as f64 / MEGABYTE,
            bytes_below(pneu.data())? as f64 / MEGABYTE
        );
    }
    Ok(series)
}

/// Counts all messages repeatedly while a first index runs.
fn meanwhile(pneu: &Pneu) -> Result<Series> {
    pneu.forget()?;
    let mut series = Series::new("a count while the first index runs", "searchable meanwhile");
    let begin = Instant::now();
    let mut index = pneu.index().stdout(Stdio::null()).spawn().context("cannot start the index")?;
    let (mut first_seen, mut seen) = (None, Vec::new());
    while index.try_wait()?.is_none() {
        // Until there is an index, counting is an error.
        let Ok(output) = pneu.command(&["count", "*"]).stderr(Stdio::null()).output() else { continue };
        let count: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0);
        if count == 0 {
            continue;
        }
        first_seen.get_or_insert_with(|| begin.elapsed().as_secs_f64());
        seen.push(count);
        series.samples.push(child::ask(&mut pneu.command(&["count", "*"]))?.sample);
    }
    seen.dedup();
    let counts: Vec<String> = seen.iter().take(6).map(u64::to_string).collect();
    series.note = match first_seen {
        Some(seconds) => format!("first answer after {seconds:.1} s; counts {} ...", counts.join(", ")),
        None => "no answer before the end".to_owned(),
    };
    say(&format!("  {}: {}", series.name, series.note));
    Ok(series)
}

/// Compares a pass that finds nothing to do with bare walks.
pub(crate) fn nothing_changed(rounds: usize, pneu: &Pneu, name: &str) -> Result<Vec<Series>> {
    let mut trials = Vec::new();
    for (threads, look) in [(1, Look::Names), (2, Look::Names), (1, Look::Stats), (2, Look::Stats)] {
        let calls = if look == Look::Stats { "getdents64 and statx" } else { "getdents64" };
        let series = Series::new(&format!("bare walk, {name}, {calls}, threads: {threads}"), "");
        trials.push(Trial::new(series, move || pneu.walk(threads, look)));
    }
    let walk = format!("bare walk, {name}, getdents64, threads: 2");
    let pass = Series::new(&format!("index, nothing changed, {name}"), "<= 1.3 x of the two-thread walk");
    trials.push(Trial::new(pass.against(&walk), || Ok(pneu.index())));
    take_turns(rounds, trials)
}

/// Runs queries for few and for many hits in new processes.
pub(crate) fn queries(
    options: &Options,
    pneu: &Pneu,
    corpus: &CorpusOptions,
    name: &str,
) -> Result<Vec<Series>> {
    let mut trials = Vec::new();
    for (fact, goal) in facts(corpus).iter().zip(["<= 15 ms", "<= 50 ms"]) {
        for (kind, arguments) in [
            ("plain", ["find", "--format", "plain"]),
            ("json", ["find", "--format", "json"]),
            ("paths", ["find", "--format", "paths"]),
        ] {
            let series = Series::new(&format!("find, {name}, {} hits, {kind}", fact.messages), goal);
            let query = fact.query.clone();
            let trial = Trial::new(series, move || {
                let mut command = pneu.command(&arguments);
                command.arg(&query);
                Ok(command)
            });
            trials.push(trial.printing(fact.messages.into()));
        }
        let series = Series::new(&format!("count, {name}, {} hits", fact.messages), goal);
        let query = fact.query.clone();
        trials.push(Trial::new(series, move || {
            let mut command = pneu.command(&["count"]);
            command.arg(&query);
            Ok(command)
        }));
    }
    for (what, goal, arguments) in OTHERS {
        let series = Series::new(&format!("{what}, {name}"), goal);
        trials.push(Trial::new(series, || Ok(pneu.command(arguments))));
    }
    take_turns(options.query_rounds, trials)
}

/// Other queries: name, time limit, arguments.
const OTHERS: &[(&str, &str, &[&str])] = &[
    ("find --threads, all", "<= 0.3 s", &["find", "--threads"]),
    ("find --threads, newest 50 threads", "<= 20 ms", &["find", "--threads", "--max", "50"]),
    ("find --include-related of a rare word", "", &["find", "--include-related", "quirlyphon"]),
    ("count, a regular expression on subjects", "<= 100 ms", &["count", "subject:/tub[eo]/"]),
    ("count, part of a word in subjects", "<= 100 ms", &["count", "subject:*ubi*"]),
    ("count, part of a word in bodies", "<= 100 ms", &["count", "body:*ngin*"]),
    ("count, a regular expression in bodies", "<= 100 ms", &["count", "body:/^tub[eo]/"]),
    ("count, language and priority", "<= 15 ms", &["count", "lang:de and prio:low"]),
    ("find --sort subject, all", "", &["find", "--sort", "subject", "--max", "50"]),
];

fn flag_changes(options: &Options, pneu: &Pneu) -> Result<Vec<Series>> {
    let mut flagged = Flagged::choose(pneu.maildir(), CHANGED as usize)?;
    let same = Series::new("index, nothing changed, beside the flags", "");
    let changed = Series::new("index, 1,000 flags changed", "<= 0.1 s beyond the walk").against(&same.name);
    let trials = vec![
        Trial::new(same, || Ok(pneu.index())),
        Trial::new(changed, || {
            flagged.toggle()?;
            Ok(pneu.index())
        }),
    ];
    let mut series = take_turns(options.rounds, trials)?;
    flagged.toggle()?;
    let opened = opened_messages(pneu)?;
    if let [same, changed] = &mut series[..] {
        let beyond = (changed.wall().0 - same.wall().0) * 1000.0;
        changed.note = format!("{beyond:.0} ms more than an unchanged pass; {opened}");
    }
    Ok(series)
}

/// Counts with strace which message files a pass opens.
fn opened_messages(pneu: &Pneu) -> Result<String> {
    let Some(calls) = strace::calls(&pneu.index(), &["open", "openat", "openat2"])? else {
        return Ok("strace is not there".to_owned());
    };
    // The host name of the generator is in the name of every message file.
    let messages = calls.iter().filter(|call| call.contains(".tube")).count();
    Ok(format!("strace: {messages} message files opened in {} calls of open", calls.len()))
}

fn arrivals(options: &Options, pneu: &Pneu) -> Result<Vec<Series>> {
    // The index remembers messages that are gone, so each run needs new ones.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() * 1000);
    let mut arrivals = Arrivals::new(&options.corpora, CHANGED, seed);
    let mut deliveries = 0_u64;
    let arrived = Series::new("index, 1,000 new messages", "<= 0.6 s");
    let gone = Series::new("index, 1,000 messages gone", "");
    let trials = vec![
        Trial::new(arrived, || {
            deliveries += 1;
            arrivals.deliver(pneu.maildir())?;
            Ok(pneu.index())
        }),
        Trial::new(gone, || {
            Arrivals::take_away(pneu.maildir())?;
            Ok(pneu.index())
        }),
    ];
    take_turns(options.rounds, trials)
}

/// Runs a query without hits, before and after small commits filled the journal.
fn journal(options: &Options, pneu: &Pneu) -> Result<Vec<Series>> {
    let ask = |name: &str| {
        Trial::new(Series::new(name, "<= 5 ms"), || {
            Ok(pneu.command(&["count", "msgid:nothing@nowhere.example"]))
        })
    };
    let mut series = take_turns(options.query_rounds, vec![ask("opening, as it is, text")])?;
    // A merge would seal the journal. A process that finds this lock taken leaves merging to its holder.
    let merge_lock = File::options().write(true).open(pneu.data().join("index/merge.lock"))?;
    rustix::fs::flock(&merge_lock, FlockOperation::LockExclusive)?;
    let mut flagged = Flagged::choose(pneu.maildir(), JOURNAL_STEP)?;
    let (mut commits, mut total, mut before) = (0, 0, 0);
    while commits < JOURNAL_COMMITS && total < JOURNAL_COMMITS_MAX {
        flagged.toggle()?;
        child::measure(&mut pneu.index())?;
        let now = journal_bytes(pneu)?;
        commits = if now > before { commits + 1 } else { 0 };
        (total, before) = (total + 1, now);
    }
    drop(merge_lock);
    series.extend(take_turns(options.query_rounds, vec![ask("opening, the journal full, text")])?);
    if let Some(full) = series.last_mut() {
        full.note = format!("journal of {} KiB with {commits} commits", before / 1024);
    }
    Ok(series)
}

/// Returns the length of the journals in the index.
fn journal_bytes(pneu: &Pneu) -> Result<u64> {
    let mut bytes = 0;
    let mut waiting = vec![pneu.data().to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                waiting.push(entry.path());
            } else if entry.file_name().to_string_lossy().contains("journal") {
                bytes += metadata.len();
            }
        }
    }
    Ok(bytes)
}
