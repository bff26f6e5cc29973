//! What the measurement of every table needs: options, the installed programs, and the report.
//!
//! Does not know what tables measure.

use crate::options::Options;
use crate::peer::{Installed, Peer};
use crate::tables::index::real::RealMail;
use anyhow::Result;
use bench_own::Pneu;
use measure::{Report, machine};
use std::path::Path;

/// What the measurement of a table needs, and the report for its series.
pub(crate) struct Bench<'a> {
    pub(crate) options: &'a Options,
    pub(crate) report: Report,
    /// The installed programs by name.
    pub(crate) found: Vec<(&'static str, Installed)>,
    /// The mail that the user named, until it is measured.
    pub(crate) mail: Option<RealMail>,
    /// The directory of this run, below all runs.
    pub(crate) name: String,
}

impl Bench<'_> {
    /// Returns a program, if it is installed.
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

    /// Returns how often slow work is measured.
    pub(crate) fn slow_rounds(&self) -> usize {
        self.options.slow_rounds()
    }

    /// Writes the results so far. If a long run is interrupted, only the current measurement is lost.
    pub(crate) fn save(&mut self) -> Result<()> {
        self.report.set_fact("load after", machine::load());
        self.report.write(&self.options.runs, &self.name).map(drop)
    }

    /// Returns where generated files are kept.
    pub(crate) fn corpora(&self) -> &Path {
        &self.options.corpora
    }
}
