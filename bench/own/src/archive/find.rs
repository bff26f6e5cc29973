//! One file name, looked for in 30 snapshots of a mailbox that changed between them.
//!
//! Comes in: options. Goes out: series. Must not know how either program does it.

use super::backups::{ours, theirs};
use super::pair::{Mailbox, run};
use super::restic::Restic;
use crate::Options;
use crate::child::measure_said;
use crate::corpora;
use crate::flags::{Arrivals, Flagged};
use crate::plan::say;
use crate::report::{Report, Series};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Snapshots.
const SNAPSHOT_COUNT: usize = 30;
/// One in so many files changes its flags between two snapshots.
const FLAG_SHARE: u32 = 250;
/// For so many messages one arrives between two snapshots.
const ARRIVAL_SHARE: u32 = 500;

/// The name of a file that is in all snapshots.
pub(super) const FIND: &str = "find one file name in 30 snapshots";

/// Measures both on the same repository, with a cache each.
pub(super) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, "find", options.find_messages)?;
    let repositories = mailbox.repositories("kept");
    make(options, &mailbox)?;
    let name = fs::read_to_string(mailbox.directory.join("made"))?;
    let ours_find = || repositories.ours.command(&["find", &name]);
    let restic = Restic::new(&repositories.ours.repository, repositories.theirs.cache());
    let is_there = repositories.ours.command(&["find", "--help"]).output()?.status.success();
    if !is_there {
        say("  this pneu has no archive find");
    }
    for round in 0..=options.rounds {
        // pneu says in one line in how many snapshots a file is, restic says it for each snapshot.
        let mut commands: Vec<(String, Command, CountSnapshots)> = Vec::new();
        if is_there {
            commands.push((ours(FIND), ours_find(), counted));
        }
        commands.push((theirs(FIND), restic.command(&["find", &name]), lines));
        for (series, mut command, count) in commands {
            let (sample, said) = measure_said(&mut command)?;
            let snapshots = count(&said, &name);
            ensure!(
                snapshots == SNAPSHOT_COUNT,
                "{command:?} found it in {snapshots} snapshots, expected {SNAPSHOT_COUNT}: {said}"
            );
            if round > 0 {
                let cpu = sample.user_seconds + sample.system_seconds;
                say(&format!("  {series}: {:.3} s, {cpu:.2} s of CPU", sample.wall_seconds));
                let mut series = Series::new(&series, "");
                series.samples.push(sample);
                report.add(series);
            }
        }
    }
    Ok(())
}

/// Says in how many snapshots a file was found.
type CountSnapshots = fn(said: &str, name: &str) -> usize;

/// Adds up the numbers of lines such as `2026-11-21..2026-11-22    30  2da41267:/mail/cur/1.tube:2,S`.
fn counted(said: &str, name: &str) -> usize {
    let numbers =
        said.lines().filter(|line| line.ends_with(name)).filter_map(|line| line.split_whitespace().nth(1));
    numbers.filter_map(|number| number.parse::<usize>().ok()).sum()
}

/// Counts the lines that name the file.
fn lines(said: &str, name: &str) -> usize {
    said.lines().filter(|line| line.ends_with(name)).count()
}

/// Makes the snapshots, if they are not there.
fn make(options: &Options, mailbox: &Mailbox) -> Result<()> {
    let is_made = mailbox.directory.join("made");
    if is_made.exists() {
        return Ok(());
    }
    say("  making snapshots");
    let repositories = mailbox.repositories("kept");
    repositories.make()?;
    let maildir = mailbox.pneu.maildir();
    Arrivals::take_away(maildir)?;
    let flag_count = usize::try_from(options.find_messages / FLAG_SHARE)?;
    let mut flagged = Flagged::choose(maildir, flag_count * SNAPSHOT_COUNT)?;
    let name = wanted(maildir, &flagged)?;
    for round in 0..SNAPSHOT_COUNT {
        if round > 0 {
            flagged.toggle_some(flag_count * round..flag_count * (round + 1))?;
            let arrivals = options.find_messages / ARRIVAL_SHARE;
            Arrivals::new(&mailbox.directory, arrivals, 10_000 + round as u64).deliver(maildir)?;
        }
        run(&mut repositories.ours.command(&["backup"]))?;
    }
    Ok(fs::write(is_made, name)?)
}

/// Chooses the name of a file that stays as it is.
fn wanted(maildir: &Path, flagged: &Flagged) -> Result<String> {
    let files = corpora::message_files(maildir)?;
    let stays = files.iter().skip(files.len() / 2).find(|file| !flagged.has(file));
    let name = stays.and_then(|file| file.file_name()?.to_str()).context("every file changes")?;
    // Neither program takes it for a pattern.
    ensure!(!name.contains(['*', '?', '[', '\\']), "{name} is a pattern");
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_counted_as_each_program_tells_them() {
        let ours = "2026-11-21..2026-11-22    28  2da41267:/mail/cur/1.tube:2,S\n\
                    2026-11-22..2026-11-22     2  90fe74f7:/mail/cur/1.tube:2,S\n\
                    2026-11-22..2026-11-22     7  90fe74f7:/mail/cur/1.tube:2,SX\n";
        assert_eq!(counted(ours, "1.tube:2,S"), 30);
        let theirs = "Found matching entries in snapshot 2da41267 from 2026-11-22 01:29:40\n/mail/cur/1.tube:2,S\n\n\
                      Found matching entries in snapshot 90fe74f7 from 2026-11-22 01:29:41\n/mail/cur/1.tube:2,S\n";
        assert_eq!(lines(theirs, "1.tube:2,S"), 2);
    }
}
