//! Backups of one mailbox by pneu and restic: the first, with nothing changed, after new messages, after changes of flags.
//!
//! Comes in: what is installed, sizes. Goes out: series. Must not know how either program does it.

use super::pair::{Mailbox, Repositories};
use super::{ours, theirs};
use crate::bench::Bench;
use anyhow::Result;
use measure::changes::{Arrivals, Flagged};
use measure::turns::{Cache, tell};
use measure::walk::Look;
use measure::{Report, Series, child, cold};
use std::fs;

/// Messages that arrive before a backup: one for so many.
const ARRIVAL_SHARE: u32 = 200;
/// Files that change their flags before a backup: one of so many.
const FLAG_SHARE: u32 = 40;

/// What the mailbox of backups is called.
pub(super) const MAILBOX: &str = "backup";
/// What its repositories are called that are kept.
pub(super) const KEPT: &str = "kept";

/// The first backup of a mailbox that is indexed already, into a new repository each time.
pub(super) const FIRST: &str = "first backup";
/// What a first backup has to do at least.
pub(super) const READ: &str = "read every message, first backup";
/// A backup when nothing changed.
pub(super) const UNCHANGED: &str = "backup, nothing changed";
/// The same with nothing in the page cache.
pub(super) const UNCHANGED_COLD: &str = "backup, nothing changed, cold";
/// A backup after one in 200 messages arrived.
pub(super) const ARRIVED: &str = "backup after new messages, one for 200";
/// A backup after one in 40 files was renamed.
pub(super) const FLAGGED: &str = "backup after changes of flags, one in 40";
/// What every backup has to do at least.
pub(super) const WALK: &str = "walk with statx on two threads, backup";

/// Measures first backups.
pub(super) fn first(bench: &mut Bench<'_>) -> Result<()> {
    let mailbox = Mailbox::kept(bench, MAILBOX, bench.options.sizes().backup_messages)?;
    let repositories = mailbox.repositories("first");
    let rounds = bench.rounds();
    if rounds > 0 {
        mailbox.warm()?;
    }
    for _ in 0..rounds {
        repositories.make()?;
        add(&mut bench.report, FIRST, &repositories, Cache::Warm)?;
        let read = child::measure(&mut mailbox.pneu.walk(2, Look::Contents)?)?;
        bench.report.add(Series::of(READ, read));
    }
    repositories.remove()
}

/// Measures backups with nothing changed, and a bare walk.
pub(super) fn unchanged(bench: &mut Bench<'_>) -> Result<()> {
    let mailbox = Mailbox::kept(bench, MAILBOX, bench.options.sizes().backup_messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let rounds = bench.rounds();
    if rounds == 0 {
        return Ok(());
    }
    // Takes in what another piece left behind, and warms.
    repositories.backup(Cache::Warm)?;
    for _ in 0..rounds {
        add(&mut bench.report, UNCHANGED, &repositories, Cache::Warm)?;
        let walk = child::measure(&mut mailbox.pneu.walk(2, Look::Stats)?)?;
        bench.report.add(Series::of(WALK, walk));
    }
    if cold::is_possible() {
        for _ in 0..rounds {
            add(&mut bench.report, UNCHANGED_COLD, &repositories, Cache::Cold)?;
        }
    }
    Ok(())
}

/// Measures backups after other new messages each time.
pub(super) fn arrived(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let (maildir, count) = (mailbox.pneu.maildir(), messages / ARRIVAL_SHARE);
    // Messages of an earlier run are in the repositories already, though they are taken away: no seed comes twice.
    let counter = mailbox.directory.join("arrived");
    let next = fs::read_to_string(&counter).ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_u64);
    for (round, seed) in (0..=bench.rounds()).zip(next..) {
        fs::write(&counter, (seed + 1).to_string())?;
        Arrivals::new(&mailbox.directory, count, seed).deliver(maildir)?;
        add_after_first(round, &mut bench.report, ARRIVED, &repositories)?;
    }
    Arrivals::take_away(maildir)
}

/// Measures backups after the flags of the same files changed to and fro.
pub(super) fn flagged(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let count = usize::try_from(messages / FLAG_SHARE)?;
    let mut files = Flagged::choose(mailbox.pneu.maildir(), count)?;
    for round in 0..=bench.rounds() {
        files.toggle()?;
        add_after_first(round, &mut bench.report, FLAGGED, &repositories)?;
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
    if round > 0 {
        add(report, work, repositories, Cache::Warm)
    } else {
        repositories.backup(Cache::Warm).map(drop)
    }
}

fn add(report: &mut Report, work: &str, repositories: &Repositories<'_>, cache: Cache) -> Result<()> {
    let (our_sample, their_sample) = repositories.backup(cache)?;
    for (name, sample) in [(ours(work), Some(our_sample)), (theirs(work), their_sample)] {
        if let Some(sample) = sample {
            let series = Series::of(&name, sample);
            tell(&series);
            report.add(series);
        }
    }
    Ok(())
}
