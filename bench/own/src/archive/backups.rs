//! Backups of one mailbox by pneu and restic: the first, with nothing changed, after new messages, after changes of flags.
//!
//! Comes in: options. Goes out: series. Must not know how either program does it.

use super::pair::{Mailbox, Repositories};
use crate::Options;
use crate::child;
use crate::flags::{Arrivals, Flagged};
use crate::plan::say;
use crate::report::{Report, Series};
use anyhow::Result;
use std::fs;

/// Messages that arrive before a backup, of 200,000.
const ARRIVAL_SHARE: u32 = 200;
/// Files that change their flags before a backup, of 200,000.
const FLAG_SHARE: u32 = 40;

/// What the mailbox of backups is called.
pub(super) const MAILBOX: &str = "backup";
/// What its repositories are called that are kept.
pub(super) const KEPT: &str = "kept";

/// Returns the name of pneu's series.
pub(super) fn ours(work: &str) -> String {
    format!("pneu: {work}")
}

/// Returns the name of restic's series.
pub(super) fn theirs(work: &str) -> String {
    format!("restic: {work}")
}

/// The first backup of a mailbox that is indexed already, into a new repository each time.
pub(super) const FIRST: &str = "first backup";
/// A backup when nothing changed.
pub(super) const UNCHANGED: &str = "backup, nothing changed";
/// A backup after one in 200 messages arrived.
pub(super) const ARRIVED: &str = "backup after new messages";
/// A backup after one in 40 files was renamed.
pub(super) const FLAGGED: &str = "backup after changes of flags";
/// What every backup has to do at least.
pub(super) const WALK: &str = "walk with statx on two threads, backup";

/// Measures first backups.
pub(super) fn first(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, MAILBOX, options.text_messages)?;
    let repositories = mailbox.repositories("first");
    if options.rounds > 0 {
        mailbox.warm()?;
    }
    for _ in 0..options.rounds {
        repositories.make()?;
        add(report, FIRST, &repositories)?;
    }
    repositories.remove()
}

/// Measures backups with nothing changed, and a bare walk.
pub(super) fn unchanged(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, MAILBOX, options.text_messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    if options.rounds > 0 {
        // Takes in what another piece left behind, and warms.
        repositories.backup()?;
    }
    for _ in 0..options.rounds {
        add(report, UNCHANGED, &repositories)?;
        let mut walk = Series::new(WALK, "");
        walk.samples.push(child::measure(&mut mailbox.pneu.walk(2, true)?)?);
        report.add(walk);
    }
    Ok(())
}

/// Measures backups after other new messages each time.
pub(super) fn arrived(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, MAILBOX, options.text_messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let (maildir, count) = (mailbox.pneu.maildir(), options.text_messages / ARRIVAL_SHARE);
    // Messages of an earlier run are in the repositories already, though they are taken away: no seed comes twice.
    let counter = mailbox.directory.join("arrived");
    let next = fs::read_to_string(&counter).ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_u64);
    for (round, seed) in (0..=options.rounds).zip(next..) {
        fs::write(&counter, (seed + 1).to_string())?;
        Arrivals::new(&mailbox.directory, count, seed).deliver(maildir)?;
        add_after_first(round, report, ARRIVED, &repositories)?;
    }
    Arrivals::take_away(maildir)
}

/// Measures backups after the flags of the same files changed to and fro.
pub(super) fn flagged(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, MAILBOX, options.text_messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let count = usize::try_from(options.text_messages / FLAG_SHARE)?;
    let mut files = Flagged::choose(mailbox.pneu.maildir(), count)?;
    for round in 0..=options.rounds {
        files.toggle()?;
        add_after_first(round, report, FLAGGED, &repositories)?;
    }
    Ok(())
}

/// Backs up by both and adds what it took, but for the first round, which warms.
fn add_after_first(
    round: usize,
    report: &mut Report,
    work: &str,
    repositories: &Repositories<'_>,
) -> Result<()> {
    if round > 0 { add(report, work, repositories) } else { repositories.backup().map(drop) }
}

fn add(report: &mut Report, work: &str, repositories: &Repositories<'_>) -> Result<()> {
    let (our_sample, their_sample) = repositories.backup()?;
    for (name, sample) in [(ours(work), our_sample), (theirs(work), their_sample)] {
        say(&format!(
            "  {name}: {:.3} s, {:.2} s of CPU, {} MB",
            sample.wall_seconds,
            sample.user_seconds + sample.system_seconds,
            sample.peak_bytes / 1_000_000
        ));
        let mut series = Series::new(&name, "");
        series.samples.push(sample);
        report.add(series);
    }
    Ok(())
}
