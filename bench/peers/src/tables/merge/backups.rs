//! Backups of one mailbox by pneu and restic: the first one, one without changes, one after new messages, and
//! one after changes of flags.
//!
//! Input: the installed programs, sizes. Output: series. Does not know how either program works.

use super::names::{ours, theirs};
use super::pair::{Mailbox, Repositories};
use crate::bench::Bench;
use crate::options::counted;
use crate::tables::left_out::leave_out;
use anyhow::Result;
use measure::changes::{Arrivals, Flagged};
use measure::turns::{Cache, tell};
use measure::walk::Look;
use measure::{Report, Series, child, cold};
use std::fs;

/// One message arrives before a backup for this many existing ones.
const ARRIVAL_SHARE: u32 = 200;
/// One in this many files changes its flags before a backup.
const FLAG_SHARE: u32 = 40;

/// The name of the mailbox for backups.
pub(super) const MAILBOX: &str = "backup";
/// The name of the repositories that are kept.
pub(super) const KEPT: &str = "kept";

/// The first backup of an indexed mailbox, into a new repository each time.
pub(super) fn first_work(messages: u32) -> String {
    format!("first backup of {}", of(messages))
}

/// The least work of a first backup.
pub(super) fn read_work(messages: u32) -> String {
    format!("read every message, {}", first_work(messages))
}

/// A backup when nothing changed.
pub(super) fn unchanged_work(messages: u32) -> String {
    format!("backup of {}, nothing changed", of(messages))
}

/// The same with nothing in the page cache.
pub(super) fn unchanged_cold_work(messages: u32) -> String {
    format!("{}, cold", unchanged_work(messages))
}

/// A backup after one in 200 messages arrived.
pub(super) fn arrived_work(messages: u32) -> String {
    format!("backup of {} plus 1 new message for each 200", of(messages))
}

/// A backup after one in 40 files was renamed.
pub(super) fn flagged_work(messages: u32) -> String {
    format!("backup of {} after 1 in 40 changed its flags", of(messages))
}

/// The least work of every backup.
pub(super) fn walk_work(messages: u32) -> String {
    format!("walk with statx on two threads, backup of {}", of(messages))
}

/// The same with nothing in the page cache.
pub(super) fn walk_cold_work(messages: u32) -> String {
    format!("{}, cold", walk_work(messages))
}

/// Returns the number of messages as text.
pub(super) fn of(messages: u32) -> String {
    format!("{} messages", counted(messages.into()))
}

/// Measures first backups.
pub(super) fn first(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?.without_arrivals()?;
    let repositories = mailbox.repositories("first");
    let rounds = bench.rounds();
    if rounds > 0 {
        mailbox.warm()?;
    }
    for _ in 0..rounds {
        repositories.make()?;
        add(&mut bench.report, &first_work(messages), &repositories, Cache::Warm)?;
        let read = child::measure(&mut mailbox.pneu.walk(2, Look::Contents)?)?;
        bench.report.add(Series::of(&read_work(messages), read));
    }
    repositories.remove()
}

/// Measures backups with nothing changed, and a bare walk.
pub(super) fn unchanged(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?.without_arrivals()?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let rounds = bench.rounds();
    if rounds == 0 {
        return Ok(());
    }
    // Backs up what an earlier piece left, and warms the caches.
    repositories.backup(Cache::Warm)?;
    for _ in 0..rounds {
        add(&mut bench.report, &unchanged_work(messages), &repositories, Cache::Warm)?;
        let walk = child::measure(&mut mailbox.pneu.walk(2, Look::Stats)?)?;
        bench.report.add(Series::of(&walk_work(messages), walk));
    }
    if cold::is_possible() {
        for _ in 0..rounds {
            add(&mut bench.report, &unchanged_cold_work(messages), &repositories, Cache::Cold)?;
            rustix::fs::sync();
            Cache::Cold.prepare()?;
            let walk = child::measure(&mut mailbox.pneu.walk(2, Look::Stats)?)?;
            bench.report.add(Series::of(&walk_cold_work(messages), walk));
        }
    }
    Ok(())
}

/// Measures backups after new messages, which differ each time.
pub(super) fn arrived(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?.without_arrivals()?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let (maildir, count) = (mailbox.pneu.maildir(), messages / ARRIVAL_SHARE);
    // Messages of an earlier run are still in the repositories, although they were removed. So no seed is
    // used twice.
    let counter = mailbox.directory.join("arrived");
    let next = fs::read_to_string(&counter).ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_u64);
    for (round, seed) in (0..=bench.rounds()).zip(next..) {
        fs::write(&counter, (seed + 1).to_string())?;
        Arrivals::new(&mailbox.directory, count, seed).deliver(maildir)?;
        add_after_first(round, &mut bench.report, &arrived_work(messages), &repositories)?;
    }
    Arrivals::take_away(maildir)
}

/// Measures backups after the flags of the same files were changed back and forth.
pub(super) fn flagged(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?.without_arrivals()?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    let count = usize::try_from(messages / FLAG_SHARE)?;
    let mut files = Flagged::choose(mailbox.pneu.maildir(), count)?;
    for round in 0..=bench.rounds() {
        files.toggle()?;
        add_after_first(round, &mut bench.report, &flagged_work(messages), &repositories)?;
    }
    Ok(())
}

/// Backs up with both programs, and adds the results, except for the first round, which only warms the
/// caches.
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
    if let Some(failure) = repositories.failure() {
        leave_out(report, &theirs(work), &failure);
    }
    Ok(())
}
