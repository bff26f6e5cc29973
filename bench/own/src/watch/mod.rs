//! Following mail: how soon messages are found that arrive while `pneu index --watch` runs, and what that
//! takes; the memory of a watch over many folders; what it takes while nothing happens.
//!
//! Input: options. Output: series. Does not know how pneu notices changes.

mod arriving;
mod latency;
mod rows;

use crate::options::WatchSizes;
use crate::percentiles::percentiles;
use crate::running::Running;
use crate::used::{SETTLE, idle, since};
use crate::{Options, Pneu};
use anyhow::{Context, Result, anyhow, ensure};
use arriving::Arriving;
use latency::Latencies;
use measure::strace::{self, SYNCS};
use measure::{Report, Sample, Series, Trial, child, corpora, say, take_turns, turns, watch};
pub(crate) use rows::table;
use rows::{Names, QUERIES, SEGMENTS_MAX};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::corpus::{CorpusOptions, facts};

/// What a watch says as soon as all folders are watched.
const WATCHING: &str = "watching ";
/// Without a line for so long, the watch has lost what it did not add.
const PATIENCE: Duration = Duration::from_secs(30);
/// For how many seconds syncs are counted, at most.
const SYNC_SECONDS: u32 = 10;
/// How many messages each of many folders has.
const MESSAGES_OF_FOLDER: u32 = 2;
/// How many messages arrive in the INBOX beside many folders.
const ARRIVING_BESIDE: u32 = 100;

/// Measures everything.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let sizes = options.watched();
    let names = Names::new(sizes);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    report.add_all(follow(options, sizes, &names, seed)?);
    report.add_all(over_folders(options, sizes, &names, seed)?);
    Ok(())
}

/// Follows a Maildir in which messages arrive.
fn follow(options: &Options, sizes: WatchSizes, names: &Names, seed: u64) -> Result<Vec<Series>> {
    let corpus = CorpusOptions::small(sizes.messages, corpora::SEED);
    let kept = corpora::kept(&options.corpora, "small", &corpus)?;
    let (place, pneu) = indexed_copy(options, &kept)?;
    let mut series = queries(options, &pneu, &corpus, |query| names.before(query))?;
    let running = Running::start(watching(&pneu), WATCHING)?;
    series.push(idle(options, &running, &names.idle())?);
    let WatchSizes { seconds, rate, .. } = sizes;
    let followed = arrive(&pneu, &running, Arriving { seed, count: seconds * rate, rate })?;
    let segments = segments(&child::run(&mut pneu.command(&["info"]))?.said)?;
    let traced = Arriving { seed: seed + 1, count: seconds.min(SYNC_SECONDS) * rate, rate };
    let syncs = syncs(&pneu, &running, traced)?;
    series.extend(
        followed.series(names, &format!("{segments} text segments, of at most {SEGMENTS_MAX}; {syncs}"))?,
    );
    series.extend(queries(options, &pneu, &corpus, |query| names.after(query))?);
    thread::sleep(SETTLE);
    series.extend(queries(options, &pneu, &corpus, |query| names.settled(query))?);
    running.end()?;
    pneu.forget()?;
    child::measure(&mut pneu.index())?;
    series.extend(queries(options, &pneu, &corpus, |query| names.anew(query))?);
    corpora::clear(&place)?;
    Ok(series)
}

/// Measures the memory of a watch over many folders.
fn over_folders(options: &Options, sizes: WatchSizes, names: &Names, seed: u64) -> Result<Vec<Series>> {
    let messages = u32::try_from(sizes.folders).context("too many folders")? * MESSAGES_OF_FOLDER;
    let corpus = CorpusOptions { folders: sizes.folders, ..CorpusOptions::small(messages, corpora::SEED) };
    let kept = corpora::kept(&options.corpora, &format!("folders-{}", sizes.folders), &corpus)?;
    let (place, pneu) = indexed_copy(options, &kept)?;
    let running = Running::start(watching(&pneu), WATCHING)?;
    let followed = arrive(&pneu, &running, Arriving { seed, count: ARRIVING_BESIDE, rate: ARRIVING_BESIDE })?;
    ensure!(followed.missing == 0, "of {ARRIVING_BESIDE} messages, {} were not added", followed.missing);
    let peak = watch::peak_bytes(running.process()).unwrap_or(0);
    let limited = running.said.iter().filter(|line| line.contains("cannot be watched"));
    let mut notes = vec![format!("{:.0} MB at most with mapped files", peak as f64 / 1e6)];
    notes.extend(limited.cloned());
    let sample = Sample { peak_bytes: followed.memory_bytes, ..followed.used };
    let memory = Series { note: notes.join("; "), ..Series::of(&names.memory(), sample) };
    turns::tell(&memory);
    let series = vec![memory, idle(options, &running, &names.idle_over_folders())?];
    running.end()?;
    corpora::clear(&place)?;
    Ok(series)
}

/// Makes a copy of links of kept mail, and indexes it. Returns the directory to clear.
fn indexed_copy(options: &Options, kept: &Path) -> Result<(PathBuf, Pneu)> {
    let place = options.corpora.join("own-watch");
    corpora::clear(&place)?;
    corpora::link_all(kept, &place.join("mail"))?;
    let pneu = Pneu::new(&options.program, &place.join("mail"));
    child::measure(&mut pneu.index())?;
    Ok((place, pneu))
}

fn watching(pneu: &Pneu) -> std::process::Command {
    let mut command = pneu.command(&["index", "--watch", "--maildir"]);
    command.arg(pneu.maildir());
    command
}

fn queries(
    options: &Options,
    pneu: &Pneu,
    corpus: &CorpusOptions,
    name: impl Fn(&str) -> String,
) -> Result<Vec<Series>> {
    let known = facts(corpus);
    let trials = QUERIES.iter().filter_map(|&(query, fact)| {
        let series = Series::new(&name(query), "");
        let Some(fact) = fact else {
            let newest = ["find", "--sort", "date", "--max", "50"];
            return Some(Trial::new(series, move || Ok(pneu.command(&newest))).printing(50));
        };
        let (text, hits) = known.get(fact).map(|fact| (fact.query.clone(), fact.messages))?;
        let trial = Trial::new(series, move || Ok(pneu.command(&["find", "--format", "paths", &text])));
        Some(trial.printing(hits.into()))
    });
    take_turns(options.query_rounds, trials.collect())
}

/// What happened while messages arrived.
struct Followed {
    /// How long each message took, from the shortest time.
    seconds: Vec<f64>,
    /// How many messages were never added.
    missing: usize,
    /// What the watch used.
    used: Sample,
    /// The most memory that belonged to no file.
    memory_bytes: u64,
}

/// Lets messages arrive, and listens to the watch until it has added all of them.
fn arrive(pneu: &Pneu, running: &Running, arriving: Arriving) -> Result<Followed> {
    let process = running.process();
    let (begin, before) = (Instant::now(), watch::so_far(process)?);
    let mut latencies = Latencies::default();
    let (mut memory_bytes, mut checked) = (0, 0);
    let count = arriving.count as usize;
    let arrived = thread::scope(|scope| {
        let delivering = scope.spawn(|| arriving.deliver(pneu.maildir()));
        while latencies.added() < count {
            let Some((line, when)) = running.line(PATIENCE)? else { break };
            let added = latencies.take(&line, when).min(count);
            memory_bytes = memory_bytes.max(watch::anonymous_bytes(process).unwrap_or(0));
            if added >= checked + arriving.rate as usize {
                is_found(pneu, &arriving, added - 1)?;
                checked = added;
            }
        }
        delivering.join().map_err(|_| anyhow!("delivering panicked"))?
    })?;
    let used = since(watch::so_far(process)?, before, begin.elapsed());
    let (seconds, missing) = latencies.seconds(&arrived);
    Ok(Followed { seconds, missing, used: Sample { peak_bytes: memory_bytes, ..used }, memory_bytes })
}

/// Makes sure that a message is found which the watch says it has added.
fn is_found(pneu: &Pneu, arriving: &Arriving, number: usize) -> Result<()> {
    let said = child::ask(&mut pneu.command(&["count", &arriving.query(number)]))?.said;
    ensure!(said.trim() == "1", "the watch says that it added message {number}, and it is not found");
    Ok(())
}

impl Followed {
    fn series(&self, names: &Names, note: &str) -> Result<Vec<Series>> {
        let of = |seconds: &[f64]| -> Vec<Sample> {
            let sample = |&wall_seconds| Sample { wall_seconds, ..Sample::default() };
            seconds.iter().map(sample).collect()
        };
        let count = self.seconds.len();
        let longest = *self.seconds.last().context("the watch added no message")?;
        let late = self.seconds.get(count * 99 / 100).copied().unwrap_or(longest);
        let lost =
            if self.missing == 0 { String::new() } else { format!("; {} were NEVER ADDED", self.missing) };
        let latency = Series {
            samples: of(&percentiles(&self.seconds)),
            note: format!("{count} messages, of 99 in 100 at most {:.1} ms{lost}", late * 1e3),
            ..Series::new(&names.latency(), "")
        };
        let longest = Series { samples: of(&[longest]), ..Series::new(&names.longest(), "") };
        let cpu = self.used.user_seconds + self.used.system_seconds;
        let kilobytes = self.used.outputs as f64 * 512.0 / 1e3;
        let each = |value: f64| value / count as f64;
        let following = Series {
            note: format!(
                "{:.2} ms of CPU and {:.1} kB written for each message; {note}",
                each(cpu * 1e3),
                each(kilobytes)
            ),
            ..Series::of(&names.following(), self.used)
        };
        let all = vec![latency, longest, following];
        all.iter().for_each(turns::tell);
        Ok(all)
    }
}

/// Counts the syncs of a watch while messages arrive, as text. Its times do not count.
fn syncs(pneu: &Pneu, running: &Running, arriving: Arriving) -> Result<String> {
    let Some(traced) = strace::attach(running.process(), &SYNCS)? else {
        return Ok("strace is not there to count syncs".to_owned());
    };
    let followed = arrive(pneu, running, arriving)?;
    let calls = traced.end()?.len();
    let count = followed.seconds.len().max(1);
    say(&format!("  {calls} syncs for {count} messages"));
    Ok(format!("{:.2} syncs for each of {count} further messages", calls as f64 / count as f64))
}

/// Returns the number of text segments in what `pneu info` says.
fn segments(said: &str) -> Result<u64> {
    let count = said.lines().find_map(|line| line.strip_prefix("text segments"));
    let count = count.and_then(|count| count.trim().replace(',', "").parse().ok());
    count.with_context(|| format!("there is no number of text segments in {said:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_segments_are_counted_by_pneu() {
        assert_eq!(segments("segments         7\ntext segments    1,012\nindex size  3\n").unwrap(), 1012);
        assert!(segments("segments         7\n").is_err());
    }

    #[test]
    fn the_median_and_the_longest_time_are_kept_and_losses_are_said() {
        let names = Names::new(WatchSizes { messages: 9, seconds: 1, rate: 5, folders: 3 });
        let used = Sample { user_seconds: 0.010, outputs: 10, ..Sample::default() };
        let seconds = vec![0.01, 0.02, 0.03, 0.04, 0.5];
        let series = Followed { seconds, missing: 2, used, memory_bytes: 0 }
            .series(&names, "3 text segments")
            .unwrap();
        assert_eq!(series[0].wall(), (0.03, 0.01, 0.5));
        assert!(series[0].note.ends_with("2 were NEVER ADDED"), "{}", series[0].note);
        assert_eq!(series[1].wall().0, 0.5);
        let note = "2.00 ms of CPU and 1.0 kB written for each message; 3 text segments";
        assert_eq!(series[2].note, note);
        let none = Followed { seconds: Vec::new(), missing: 7, used, memory_bytes: 0 };
        assert!(none.series(&names, "").is_err());
    }
}
