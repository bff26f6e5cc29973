//! Header cache: opens a large folder, and stores header records, with pneu, neomutt, mutt, Dovecot and
//! embedded databases.
//!
//! Input: the installed programs, sizes. Output: series, and tables of them.
//!
//! The folder is the INBOX of its own Maildir without duplicate messages, so that all programs show the same
//! number of lines. It is only read.

mod caches;
mod folder;
mod names;
mod record_stores;
mod rows;

use crate::bench::Bench;
use crate::options::Sizes;
use crate::peers::dovecot::{Dovecot, Fetch, exists};
use crate::peers::neomutt::{Neomutt, Verify};
use crate::peers::terminal::opened;
use crate::peers::{dovecot, mutt, neomutt};
use anyhow::{Result, ensure};
use bench_own::Pneu;
use caches::CODECS;
use folder::{folder, label};
use measure::{
    Outcome, Series, Trial, bytes_below, cold, corpora, named, take_turns, take_turns_at_once, walk,
};
use names::{INIT, RELOAD};
use rows::NEWEST;
use rows::Start;
pub(crate) use rows::{PROGRAMS, tables};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many messages the end of a list has.
const NEWEST_COUNT: u64 = 50;

/// How pneu lists everything.
const LIST: [&str; 3] = ["find", "--sort", "date"];

/// Measures everything.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let sizes = bench.options.sizes();
    let maildir = corpora::kept(bench.corpora(), "open", &folder(&sizes))?;
    let place = bench.corpora().join("peers-headers");
    corpora::clear(&place)?;
    let opened = open_all(bench, &sizes, &maildir, &place);
    let kept = opened.and_then(|()| record_stores::measure(bench, &sizes, &maildir, &place));
    corpora::clear(&place)?;
    kept
}

fn open_all(bench: &mut Bench<'_>, sizes: &Sizes, maildir: &Path, place: &Path) -> Result<()> {
    corpora::warm(maildir)?;
    let readers = Readers {
        pneus: CODECS.map(|codec| {
            Pneu::at(&codec.program(&bench.options.program), maildir, &place.join(codec.option))
        }),
        neomutt: bench.installed(&neomutt::PEER).map(|found| Neomutt::new(&found)).transpose()?,
        mutt: bench.installed(&mutt::PEER),
        dovecot: bench
            .installed(&dovecot::PEER)
            .map(|found| Dovecot::new(&found, maildir, &place.join("dovecot")))
            .transpose()?,
        label: label(sizes),
        count: sizes.folder_messages.into(),
        maildir: maildir.to_owned(),
        place: place.to_owned(),
    };
    let mut series = readers.measure(bench.slow_rounds())?;
    series.extend(caches::best(&series, &readers.label));
    bench.report.add_all(series);
    bench.save()
}

/// Programs that open the folder.
struct Readers {
    /// With each of [`CODECS`].
    pneus: [Pneu; CODECS.len()],
    neomutt: Option<Neomutt>,
    mutt: Option<crate::peer::Installed>,
    dovecot: Option<Dovecot>,
    label: String,
    count: u64,
    maildir: PathBuf,
    place: PathBuf,
}

impl Readers {
    fn measure(&self, rounds: usize) -> Result<Vec<Series>> {
        let mut trials = self.codec_trials();
        trials.extend(self.pneu_trials(Start::Warm));
        trials.extend(self.neomutt_trials());
        trials.extend(self.mutt_trials());
        trials.extend(self.dovecot_trials());
        trials.push(self.walk(Start::Warm, rows::WALK, walk::Look::Names));
        trials.push(self.walk(Start::Warm, rows::READ, walk::Look::Contents));
        trials.push(self.nothing(Start::Warm));
        // The folder was read just now, and each program makes its cache before it uses it.
        let mut series = take_turns_at_once(rounds, trials)?;
        if cold::is_possible() {
            let mut trials = self.pneu_trials(Start::Cold);
            trials.extend(self.others_cold(&series));
            trials.push(self.walk(Start::Cold, rows::WALK, walk::Look::Names));
            trials.push(self.nothing(Start::Cold));
            series.extend(take_turns(rounds, trials)?);
        }
        Ok(series)
    }

    fn series(&self, who: &str, work: &str) -> Series {
        Series::new(&named(who, &names::work(&self.label, work)), "")
    }

    fn walk(&self, start: Start, work: &str, look: walk::Look) -> Trial<'_> {
        let series = self.series("floor", &start.work(work));
        start.of(Trial::new(series, move || walk::command(&self.maildir, 2, look)))
    }

    fn nothing(&self, start: Start) -> Trial<'_> {
        let series = self.series("floor", &start.work(rows::NOTHING));
        start.of(Trial::new(series, || Ok(Command::new("true"))))
    }

    /// Returns pneu with its default codec.
    fn pneu(&self) -> &Pneu {
        let [.., usual] = &self.pneus;
        usual
    }

    /// Returns a trial of another program, which may fail.
    fn peer<'a>(&self, who: &str, work: &str, prepare: impl FnMut() -> Result<Command> + 'a) -> Trial<'a> {
        Trial::new(self.series(who, work), prepare).of_a_peer()
    }

    /// Returns trials of pneu with each codec that was built: its first index, and a list of all.
    fn codec_trials(&self) -> Vec<Trial<'_>> {
        let built = CODECS.iter().zip(&self.pneus).filter(|(_, pneu)| pneu.is_built());
        let trials = built.flat_map(|(codec, pneu)| {
            let init = Trial::new(self.series(codec.who, INIT), || {
                pneu.forget()?;
                let option = ["--header-codec", codec.option];
                Ok(if codec.is_usual() { pneu.index() } else { pneu.index_with(&option) })
            });
            let all = Trial::new(self.series(codec.who, RELOAD), || Ok(pneu.command(&LIST)));
            let all = all.printing(self.count).sized(|| size_of_rows(pneu));
            [init.sized(|| bytes_below(pneu.data())), all]
        });
        trials.collect()
    }

    /// Returns trials of pneu with its default codec and its index.
    fn pneu_trials(&self, start: Start) -> Vec<Trial<'_>> {
        let series = |work: &str| self.series("pneu", &start.work(work));
        let newest = NEWEST_COUNT.to_string();
        let mut trials = Vec::new();
        if start == Start::Cold {
            let all = Trial::new(series(RELOAD), || Ok(self.pneu().command(&LIST)));
            trials.push(all.printing(self.count));
        }
        let after_pass = Trial::new(series(rows::AFTER_PASS), || Ok(self.pass_and_list()));
        trials.push(after_pass.printing(self.count));
        let end = Trial::new(series(NEWEST), move || {
            Ok(self.pneu().command(&[&LIST[..], &["--max", &newest]].concat()))
        });
        trials.push(end.printing(NEWEST_COUNT.min(self.count)));
        trials.into_iter().map(|trial| start.of(trial)).collect()
    }

    /// Updates the index and lists the folder, as the others do when they open a folder.
    fn pass_and_list(&self) -> Command {
        let line = "\"$0\" --quiet --data \"$1\" index --maildir \"$2\" && exec \"$0\" --data \"$1\" find \
            --sort date";
        let data = self.pneu().data();
        let mut command = Command::new("sh");
        command.args(["-c", line]).arg(self.pneu().index().get_program()).arg(data).arg(&self.maildir);
        command.env("XDG_CONFIG_HOME", data.join("config"));
        command
    }

    fn neomutt_trials(&self) -> Vec<Trial<'_>> {
        let mut trials = Vec::new();
        let Some(neomutt) = &self.neomutt else { return trials };
        for cache in neomutt.caches() {
            let who = caches::who(cache);
            let place = self.place.join(format!("neomutt-{}-{}", cache.0, cache.1));
            for work in [INIT, RELOAD, names::UNVERIFIED] {
                let (home, size) = (place.clone(), place.clone());
                let verify = if work == names::UNVERIFIED { Verify::Nothing } else { Verify::Times };
                let trial = self.peer(&who, work, move || {
                    if work == INIT {
                        corpora::clear(&home)?;
                    }
                    neomutt.open(&self.maildir, &home, cache, verify)
                });
                trials
                    .push(trial.sized(move || bytes_below(&size)).checked(|outcome| self.shows_all(outcome)));
            }
        }
        trials
    }

    fn mutt_trials(&self) -> Vec<Trial<'_>> {
        let Some(installed) = &self.mutt else { return Vec::new() };
        let place = self.place.join("mutt");
        let trial = |work: &'static str| {
            let (home, size) = (place.clone(), place.clone());
            let trial = self.peer(mutt::PEER.name, work, move || {
                if work == INIT {
                    corpora::clear(&home)?;
                }
                mutt::open(installed, &self.maildir, &home)
            });
            trial.sized(move || bytes_below(&size)).checked(|outcome| self.shows_all(outcome))
        };
        vec![trial(INIT), trial(RELOAD)]
    }

    fn shows_all(&self, outcome: &Outcome) -> Result<()> {
        let shown = opened(&outcome.said);
        ensure!(shown == Some(self.count), "{shown:?} messages are shown, not {}", self.count);
        Ok(())
    }

    fn dovecot_trials(&self) -> Vec<Trial<'_>> {
        let Some(dovecot) = &self.dovecot else { return Vec::new() };
        let place = self.place.join("dovecot");
        let trial = |work: &'static str, fetch| {
            let (home, size) = (place.clone(), place.clone());
            let trial = self.peer(dovecot::PEER.name, work, move || {
                if work == INIT {
                    corpora::clear(&home)?;
                }
                dovecot.examine(fetch)
            });
            trial.sized(move || bytes_below(&size)).checked(move |outcome| self.fetched(outcome, fetch))
        };
        vec![
            trial(INIT, Fetch::All),
            trial(RELOAD, Fetch::All),
            trial(rows::EXAMINE, Fetch::Nothing),
            trial(NEWEST, self.end()),
        ]
    }

    /// The newest messages.
    fn end(&self) -> Fetch {
        Fetch::From((self.count + 1).saturating_sub(NEWEST_COUNT).max(1))
    }

    /// Whether the server has all messages, and answered for each that was asked for.
    fn fetched(&self, outcome: &Outcome, fetch: Fetch) -> Result<()> {
        let count = exists(&outcome.said);
        ensure!(count == Some(self.count), "{count:?} messages exist, not {}", self.count);
        let wanted = match fetch {
            Fetch::Nothing => 0,
            Fetch::All => self.count,
            Fetch::From(number) => self.count + 1 - number,
        };
        // Besides the requested answers there are a few more lines, and names can be literals on lines of
        // their own.
        ensure!(outcome.sample.lines >= wanted, "{} lines for {wanted} messages", outcome.sample.lines);
        Ok(())
    }

    /// The same with an empty page cache: neomutt with its best cache only.
    fn others_cold<'a>(&'a self, warm: &[Series]) -> Vec<Trial<'a>> {
        let work = Start::Cold.work(RELOAD);
        let mut trials = Vec::new();
        if let (Some(neomutt), Some(cache)) = (&self.neomutt, caches::best_cache(warm, &self.label)) {
            let place = self.place.join(format!("neomutt-{}-{}", cache.0, cache.1));
            let trial = self.peer(neomutt::PEER.name, &work, move || {
                neomutt.open(&self.maildir, &place, cache, Verify::Times)
            });
            trials.push(trial.checked(|outcome| self.shows_all(outcome)));
        }
        if let Some(installed) = &self.mutt {
            let place = self.place.join("mutt");
            let trial =
                self.peer(mutt::PEER.name, &work, move || mutt::open(installed, &self.maildir, &place));
            trials.push(trial.checked(|outcome| self.shows_all(outcome)));
        }
        if let Some(dovecot) = &self.dovecot {
            for (what, fetch) in [(RELOAD, Fetch::All), (NEWEST, self.end())] {
                let trial =
                    self.peer(dovecot::PEER.name, &Start::Cold.work(what), move || dovecot.examine(fetch));
                trials.push(trial.checked(move |outcome| self.fetched(outcome, fetch)));
            }
        }
        trials.into_iter().map(Trial::cold).collect()
    }
}

/// Returns the size of the index that lists need: everything except the text.
fn size_of_rows(pneu: &Pneu) -> Result<u64> {
    let store = pneu.data().join("index");
    let text = store.join("text");
    let text = if text.is_dir() { bytes_below(&text)? } else { 0 };
    Ok(bytes_below(&store)? - text)
}
