//! Measures how a host follows an index that another host writes: from a commit to the first answer.
//! The answer uses folders, flags, copies, threads and tags.
//!
//! Run it with `cargo run --release -p pneu --example follow -- MESSAGES [ROUNDS]`. It makes a Maildir and an
//! index in a temporary directory and removes both at the end.
//!
//! Each round changes the flags of 1,000 messages, adds 100 messages and tags one. Three readers look on. One
//! looks after each commit and after each merge, and once more when nothing is new: that is what the answer
//! alone takes. The second looks once a round, when changes and merges are both done. The third opens the
//! index anew.

use pneu::{Cancel, Host, Order, Progress, Root, Settings, Stage, TagChange, ThreadOrder, UpdateOptions};
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use testkit::corpus::{CorpusOptions, generate};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FLAGGED_COUNT: usize = 1_000;
const ADDED_COUNT: usize = 100;

/// What one kind of look took in each round.
#[derive(Default)]
struct Times(Mutex<Vec<Duration>>);

impl Times {
    fn add(&self, time: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(time);
    }

    fn print(&self, what: &str) -> io::Result<()> {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.sort_unstable();
        let Some((first, last)) = times.first().zip(times.last()) else { return Ok(()) };
        let median = times[times.len() / 2];
        writeln!(io::stdout(), "{what:<42} median {median:>9.2?}, {first:.2?} to {last:.2?}")
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let message_count: u32 = arguments.next().map_or(Ok(20_000), |count| count.parse())?;
    let round_count: usize = arguments.next().map_or(Ok(20), |count| count.parse())?;
    let directory = tempfile::tempdir()?;
    let mail = directory.path().join("mail");
    generate(&mail, &CorpusOptions::varied(message_count, 1))?;
    let roots = [Root { name: "mail".to_owned(), path: mail.clone() }];
    let settings = Settings::new(directory.path().join("data"));
    let [writer, close, late] = [(); 3].map(|()| Host::new(settings.clone()));
    let started = Instant::now();
    writer.update(&roots, &UpdateOptions::default(), &pneu::Silent)?;
    writeln!(io::stdout(), "{message_count} messages, indexed in {:.1?}", started.elapsed())?;
    [&writer, &close, &late].into_iter().try_for_each(answer)?;
    writeln!(io::stdout(), "memory of three hosts: {} MiB", resident_mib())?;

    let mut files = files(&mail)?;
    let [opened, flags, merges, tags, again, rounds] = [(); 6].map(|()| Times::default());
    for round in 0..round_count {
        change_flags(&mut files, round)?;
        put(&mail, round)?;
        let after_commit = LookAtCommits { host: &close, times: &flags };
        writer.update(&roots, &UpdateOptions::default(), &after_commit)?;
        merges.add(look(&close)?);
        let tag = TagChange { add: [format!("round{round}")].into(), ..TagChange::default() };
        let view = writer.view()?;
        writer.tag(&view.query(&format!("msgid:{round}-1@example.org"))?, &tag)?;
        tags.add(look(&close)?);
        again.add(look(&close)?);
        rounds.add(look(&late)?);
        let started = Instant::now();
        answer(&Host::new(settings.clone()))?;
        opened.add(started.elapsed());
        assert_eq!(count(&close)?, count(&writer)?);
    }
    flags.print("after a commit (1,000 flags, 100 messages)")?;
    merges.print("after the merges of a pass")?;
    tags.print("after a tag")?;
    again.print("again, when nothing is new")?;
    rounds.print("after all of a round at once")?;
    opened.print("opened anew")?;
    writeln!(io::stdout(), "memory of three hosts: {} MiB", resident_mib())?;
    Ok(())
}

/// Lets a reader look as soon as a pass has committed, before its merges begin.
struct LookAtCommits<'a> {
    host: &'a Host,
    times: &'a Times,
}

impl Progress for LookAtCommits<'_> {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Merge {
            // A look that fails adds no time, and the next one fails, too.
            if let Ok(time) = look(self.host) {
                self.times.add(time);
            }
        }
    }
}

/// Returns how long it takes to take over the newest commit and to give an answer.
fn look(host: &Host) -> Result<Duration> {
    let started = Instant::now();
    host.refresh()?;
    answer(host)?;
    Ok(started.elapsed())
}

/// Answers with folders, flags, copies, tags and threads.
fn answer(host: &Host) -> Result<()> {
    let view = host.view()?.with_cancel(Cancel::new());
    let query = view.query("not maildir:/nowhere flag:unread not tag:absurd")?;
    let hits = view.find(&query, &Order { limit: Some(20), ..Order::default() })?;
    assert_eq!(view.lines(&hits.list)?.len(), hits.list.len());
    let found = view.matching(&view.query("tag:round1 or msgid:1-1@example.org")?)?;
    view.threads(&found, &ThreadOrder { limit: Some(20), ..ThreadOrder::default() })?;
    Ok(())
}

fn count(host: &Host) -> Result<u64> {
    let view = host.view()?;
    Ok(view.count(&view.query("flag:unread")?)?)
}

/// Returns all files of a Maildir with its folders.
fn files(mail: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut directories = vec![mail.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let is_directory = entry.file_type()?.is_dir();
            if is_directory {
                directories.push(entry.path());
            } else if entry.path().parent().is_some_and(|parent| parent.ends_with("cur")) {
                found.push(entry.path());
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Marks messages from all over the Maildir as seen, or as not seen.
fn change_flags(files: &mut [PathBuf], round: usize) -> Result<()> {
    let step = (files.len() / FLAGGED_COUNT).max(1);
    for file in files.iter_mut().skip(round % step).step_by(step).take(FLAGGED_COUNT) {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some((unique, flags)) = name.split_once(":2,") else { continue };
        let flags = if flags.contains('S') { flags.replace('S', "") } else { format!("{flags}S") };
        let renamed = file.with_file_name(format!("{unique}:2,{flags}"));
        fs::rename(&*file, &renamed)?;
        *file = renamed;
    }
    Ok(())
}

/// Delivers new messages.
fn put(mail: &Path, round: usize) -> Result<()> {
    for number in 0..ADDED_COUNT {
        let text = format!(
            "From: Ana <ana@example.org>\nTo: bo@example.org\nSubject: news {round} {number}\nMessage-ID: \
             <{round}-{number}@example.org>\nIn-Reply-To: <{round}-{}@example.org>\nDate: Tue, 4 Mar 2025 \
             10:00:{:02} +0000\n\nsome words of round {round}\n",
            number / 2,
            number % 60
        );
        fs::write(mail.join("cur").join(format!("{round}-{number}.example:2,")), text)?;
    }
    Ok(())
}

/// Returns the memory of this process, files that are mapped not counted.
fn resident_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}
