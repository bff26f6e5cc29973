//! A whole mailbox restored by pneu and by restic, from the same repository.
//!
//! Comes in: what is installed, sizes. Goes out: series. Must not know how either program does it.

use super::backups::{KEPT, MAILBOX};
use super::pair::{Mailbox, Ours};
use super::{ours, theirs};
use crate::bench::Bench;
use anyhow::{Result, ensure};
use measure::turns::{Cache, tell};
use measure::{Series, child, corpora, equal};
use std::fs;

/// The restore of all messages.
pub(super) const RESTORE: &str = "restore";

/// Measures restores. restic's repository is what both read, if there is one, with a cache each.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let messages = bench.options.sizes().backup_messages;
    let mailbox = Mailbox::kept(bench, MAILBOX, messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    if bench.rounds() == 0 {
        return Ok(());
    }
    // So that both have what is in the Maildir now, and their caches are filled.
    repositories.backup(Cache::Warm)?;
    mailbox.warm()?;
    let maildir = mailbox.pneu.maildir();
    let restic = repositories.theirs.as_ref();
    let read = Ours {
        pneu: &mailbox.pneu,
        repository: restic.map_or(&*repositories.ours.repository, |restic| restic.repository()).to_owned(),
        cache: mailbox.directory.join("reading-cache"),
    };
    let restored = mailbox.directory.join("restored");
    corpora::clear(&restored)?;
    for round in 0..bench.slow_rounds() {
        // Nothing is removed before the end: ext4 does not give the inode of a removed file to a new one for minutes, and looks at each of
        // them for every file that is made. Behind a removed mailbox a restore takes ten times as long.
        let targets = ["ours", "theirs"].map(|name| restored.join(round.to_string()).join(name));
        fs::create_dir_all(restored.join(round.to_string()))?;
        let mut restore = read.command(&["restore", "--target"]);
        restore.arg(&targets[0]).arg(format!("latest:{}", maildir.display()));
        let mut commands = vec![(ours(RESTORE), restore)];
        commands.extend(restic.map(|restic| (theirs(RESTORE), restic.restore(maildir, &targets[1]))));
        for (name, mut command) in commands {
            // Nobody pays for what another one wrote.
            rustix::fs::sync();
            let series = Series::of(&name, child::measure(&mut command)?);
            tell(&series);
            bench.report.add(series);
        }
        let other = if restic.is_some() { &*targets[1] } else { maildir };
        let files = equal::compare(&targets[0], other)?;
        ensure!(files >= u64::from(messages), "{files} files were restored");
    }
    corpora::clear(&restored)
}
