//! One run: who is there, which tables are measured, what is written.
//!
//! Comes in: options. Goes out: results on disk, written anew after each piece. Must not know what tables measure.

use crate::options::Options;
use crate::peer::{Installed, Peer};
use crate::{peers, tables};
use anyhow::{Context, Result, bail};
use bench_own::Pneu;
use measure::{Report, machine, resume, say, starter};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// What a table needs to be measured, and where its series go.
pub(crate) struct Bench<'a> {
    pub(crate) options: &'a Options,
    pub(crate) report: Report,
    /// Programs by name, those that are there.
    found: Vec<(&'static str, Installed)>,
    /// The directory of this run, below all runs.
    name: String,
}

impl Bench<'_> {
    /// Returns a program, if it is there.
    pub(crate) fn installed(&self, peer: &Peer) -> Option<Installed> {
        let found = self.found.iter().find(|(name, _)| *name == peer.name);
        found.map(|(_, installed)| installed.clone())
    }

    /// Returns pneu for a Maildir, with its index beside it.
    pub(crate) fn pneu(&self, maildir: &Path) -> Pneu {
        Pneu::new(&self.options.program, maildir)
    }

    /// Returns how often each thing is measured.
    pub(crate) fn rounds(&self) -> usize {
        self.options.rounds()
    }

    /// Returns how often that is measured which takes long.
    pub(crate) fn slow_rounds(&self) -> usize {
        self.options.slow_rounds()
    }

    /// Writes what was measured so far, so that a long run that is ended loses only what it was at.
    pub(crate) fn save(&mut self) -> Result<()> {
        self.report.set_fact("load after", machine::load());
        self.report.write(&self.options.runs, &self.name).map(drop)
    }

    /// Returns where generated files are kept.
    pub(crate) fn corpora(&self) -> &Path {
        &self.options.corpora
    }
}

/// Measures the tables that the options ask for. One that fails does not keep others from being measured.
///
/// # Errors
/// If a table failed.
pub(crate) fn measure(options: &Options) -> Result<()> {
    starter::start_through_own_program()?;
    fs::create_dir_all(&options.corpora)
        .with_context(|| format!("cannot make {}", options.corpora.display()))?;
    let machine = options.machine.clone().unwrap_or_else(machine::name);
    let name = format!("{}-{machine}{}", machine::today()?, if options.quick { "-quick" } else { "" });
    let mut report = Report {
        title: "pneu beside others".to_owned(),
        facts: machine::facts(&options.corpora)?,
        tables: tables::all(options),
        ..Report::default()
    };
    if options.quick {
        report.set_fact("sizes", "--quick: small, and few rounds".to_owned());
    }
    let found = look_for_all(options, &mut report)?;
    if options.resume {
        resume::take(&mut report, &options.runs.join(&name))?;
    }
    let mut bench = Bench { options, report, found, name };
    let mut failed = Vec::new();
    for part in tables::parts(options) {
        say(&format!("== {part:?}"));
        let begin = Instant::now();
        if let Err(error) = tables::measure(part, &mut bench) {
            say(&format!("{part:?} failed: {error:#}"));
            failed.push(format!("{part:?}: {error:#}"));
            bench.report.set_fact("failed", failed.join("; "));
        }
        say(&format!("{part:?} took {:.0} s", begin.elapsed().as_secs_f64()));
        bench.save()?;
        say(&format!("written to {}", options.runs.join(&bench.name).display()));
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("; ")) }
}

/// Looks for all programs, and says of each in the report what was found.
fn look_for_all(options: &Options, report: &mut Report) -> Result<Vec<(&'static str, Installed)>> {
    report.set_fact("pneu", machine::output(&options.program.display().to_string(), &["--version"])?);
    let mut found = Vec::new();
    for peer in peers::ALL {
        match peer.find() {
            Ok(installed) => {
                report.set_fact(peer.name, installed.version.clone());
                found.push((peer.name, installed));
            }
            Err(error) => {
                say(&format!("{}: {error:#}", peer.name));
                report.set_fact(peer.name, format!("a dash in every row: {error:#}"));
            }
        }
    }
    Ok(found)
}
