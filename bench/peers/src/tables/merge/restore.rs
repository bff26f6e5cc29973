//! Restores a whole mailbox with pneu and with restic, from the same repository.
//!
//! Input: the installed programs, sizes. Output: series. Does not know how either program works.

use super::backups::{self, KEPT, MAILBOX};
use super::names::{ours, theirs};
use super::pair::{Mailbox, Ours};
use crate::bench::Bench;
use crate::tables::left_out::leave_out;
use anyhow::{Result, ensure};
use measure::turns::{Cache, tell};
use measure::{Series, child, corpora, equal, named};
use std::fs;
use std::process::Command;

/// The restore of all messages.
pub(super) fn work(messages: u32) -> String {
    format!("restore of {}", backups::of(messages))
}

/// The series of copying the same files by two processes.
pub(super) fn copied(messages: u32) -> String {
    named("floor", &format!("cp -r of the folders of {}, two at a time", backups::of(messages)))
}

/// Copies the contents of one directory into another.
const COPY: &str = "mkdir \"$1\" && ls -A \"$0\" | xargs -P 2 -I{} cp -r \"$0/{}\" \"$1\"";

/// Measures restores. restic's repository is what both read, if there is one, with a cache each.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?.without_arrivals()?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    if bench.rounds() == 0 {
        return Ok(());
    }
    // So that both repositories have the present contents of the Maildir.
    repositories.backup(Cache::Warm)?;
    mailbox.warm()?;
    let maildir = mailbox.pneu.maildir();
    let restic = repositories.restic();
    let read = Ours {
        pneu: &mailbox.pneu,
        repository: restic.map_or(&*repositories.ours.repository, |restic| restic.repository()).to_owned(),
        cache: mailbox.directory.join("reading-cache"),
    };
    // Fills both caches. pneu has not read restic's repository yet; it uses a separate cache for it.
    child::measure(&mut read.command(&["ls", "latest"]))?;
    if let Some(Err(error)) = restic.map(|restic| child::measure(&mut restic.command(&["ls", "latest"]))) {
        repositories.fail(&error);
    }
    let restored = mailbox.directory.join("restored");
    corpora::clear(&restored)?;
    let work = work(messages);
    for round in 0..bench.slow_rounds() {
        // Nothing is removed before the end: ext4 does not give the inode of a removed file to a new one for
        // minutes, and looks at each of them for every file that is made. Behind a removed mailbox a restore
        // takes ten times as long. Files are emptied instead.
        let targets = ["ours", "theirs", "copied"].map(|name| restored.join(round.to_string()).join(name));
        fs::create_dir_all(restored.join(round.to_string()))?;
        let mut restore = read.command(&["restore", "--target"]);
        restore.arg(&targets[0]).arg(format!("latest:{}", maildir.display()));
        let mut add = |name: &str, command: &mut Command| -> Result<()> {
            // Flush pending writes, so that no program pays for those of another.
            rustix::fs::sync();
            let series = Series::of(name, child::measure(command)?);
            tell(&series);
            bench.report.add(series);
            Ok(())
        };
        add(&ours(&work), &mut restore)?;
        let their_command = repositories.restic().map(|restic| restic.restore(maildir, &targets[1]));
        if let Some(Err(error)) = their_command.map(|mut command| add(&theirs(&work), &mut command)) {
            repositories.fail(&error);
        }
        let mut copy = Command::new("sh");
        add(&copied(messages), copy.args(["-c", COPY]).arg(maildir).arg(&targets[2]))?;
        if let Some(failure) = repositories.failure() {
            leave_out(&mut bench.report, &theirs(&work), &failure);
        }
        let other = if repositories.restic().is_some() { &*targets[1] } else { maildir };
        let files = equal::compare(&targets[0], other)?;
        ensure!(files >= u64::from(messages), "{files} files were restored");
        corpora::empty(&restored.join(round.to_string()))?;
    }
    corpora::clear(&restored)
}
