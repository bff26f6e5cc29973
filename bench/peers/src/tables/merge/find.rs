//! Finds one file name in 30 snapshots of a mailbox that changed between them.
//!
//! Input: the installed programs, sizes. Output: series. Does not know how either program works.

use super::backups;
use super::names::{ours, theirs};
use super::pair::Mailbox;
use crate::bench::Bench;
use crate::peer::said;
use crate::peers::restic::{self, Restic};
use crate::tables::left_out::leave_out;
use anyhow::{Context, Result, ensure};
use measure::changes::{Arrivals, Flagged};
use measure::turns::tell;
use measure::{Series, child, corpora, say};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Snapshots.
const SNAPSHOT_COUNT: usize = 30;
/// One in this many files changes its flags between two snapshots.
const FLAG_SHARE: u32 = 250;
/// One message arrives between two snapshots for this many existing ones.
const ARRIVAL_SHARE: u32 = 500;

/// The name of a file that is in all snapshots.
pub(super) fn work(messages: u32) -> String {
    format!("find one file name in 30 snapshots of {}", backups::of(messages))
}

/// Measures both on the same repository, with a cache each.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().find_messages;
    let mailbox = Mailbox::kept(bench, "find", messages)?;
    let repositories = mailbox.repositories("kept");
    make(&mailbox, messages)?;
    let name = fs::read_to_string(mailbox.directory.join("made"))?;
    let cache = mailbox.directory.join("kept/theirs-cache");
    let installed = bench.installed(&restic::PEER);
    let mut restic =
        installed.map(|installed| Restic::new(&installed, &repositories.ours.repository, &cache));
    let work = work(messages);
    for round in 0..=bench.rounds() {
        // pneu prints one line with the number of snapshots; restic prints a line for each snapshot.
        let mut commands: Vec<(String, Command, CountSnapshots)> =
            vec![(ours(&work), repositories.ours.command(&["find", &name]), counted)];
        commands.extend(
            restic
                .as_ref()
                .map(|restic| (theirs(&work), restic.command(&["find", &name]), lines as CountSnapshots)),
        );
        for (series, mut command, count) in commands {
            let outcome = match child::run(&mut command) {
                Err(error) if series == theirs(&work) => {
                    leave_out(&mut bench.report, &series, &error);
                    restic = None;
                    continue;
                }
                outcome => outcome?,
            };
            let snapshots = count(&outcome.said, &name);
            ensure!(
                snapshots == SNAPSHOT_COUNT,
                "{command:?} found it in {snapshots} snapshots, expected {SNAPSHOT_COUNT}: {}",
                outcome.said
            );
            if round > 0 {
                let series = Series::of(&series, outcome.sample);
                tell(&series);
                bench.report.add(series);
            }
        }
    }
    Ok(())
}

/// Returns in how many snapshots a file was found.
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
fn make(mailbox: &Mailbox, messages: u32) -> Result<()> {
    let is_made = mailbox.directory.join("made");
    if is_made.exists() {
        return Ok(());
    }
    say("  making snapshots");
    let repositories = mailbox.repositories("kept");
    repositories.make()?;
    let maildir = mailbox.pneu.maildir();
    Arrivals::take_away(maildir)?;
    let flag_count = usize::try_from(messages / FLAG_SHARE)?;
    let mut flagged = Flagged::choose(maildir, flag_count * SNAPSHOT_COUNT)?;
    let name = wanted(maildir, &flagged)?;
    for round in 0..SNAPSHOT_COUNT {
        if round > 0 {
            flagged.toggle_some(flag_count * round..flag_count * (round + 1))?;
            let arrivals = messages / ARRIVAL_SHARE;
            Arrivals::new(&mailbox.directory, arrivals, 10_000 + round as u64).deliver(maildir)?;
        }
        said(&mut repositories.ours.command(&["backup"]))?;
    }
    Ok(fs::write(is_made, name)?)
}

/// Chooses the name of a file that does not change.
fn wanted(maildir: &Path, flagged: &Flagged) -> Result<String> {
    let files = corpora::message_files(maildir)?;
    let stays = files.iter().skip(files.len() / 2).find(|file| !flagged.has(file));
    let name = stays.and_then(|file| file.file_name()?.to_str()).context("every file changes")?;
    // The name must not be a pattern for either program.
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
        let theirs = "Found matching entries in snapshot 2da41267 from 2026-11-22 \
            01:29:40\n/mail/cur/1.tube:2,S\n\n\
            Found matching entries in snapshot 90fe74f7 from 2026-11-22 01:29:41\n/mail/cur/1.tube:2,S\n";
        assert_eq!(lines(theirs, "1.tube:2,S"), 2);
    }
}
