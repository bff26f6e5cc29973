//! A whole mailbox restored by pneu and by restic, from the same repository.
//!
//! Comes in: options. Goes out: series. Must not know how either program does it.

use super::backups::{KEPT, MAILBOX, ours, theirs};
use super::equal;
use super::pair::{Mailbox, Ours, clear};
use crate::Options;
use crate::child;
use crate::plan::say;
use crate::report::{Report, Series};
use anyhow::{Result, ensure};

/// The restore of all messages.
pub(super) const RESTORE: &str = "restore";

/// Measures restores. restic's repository is what both read, with a cache each.
pub(super) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mailbox = Mailbox::kept(options, MAILBOX, options.text_messages)?;
    let repositories = mailbox.repositories(KEPT);
    repositories.keep()?;
    if options.rounds == 0 {
        return Ok(());
    }
    // So that both have what is in the Maildir now, and their caches are filled.
    repositories.backup()?;
    mailbox.warm()?;
    let maildir = mailbox.pneu.maildir();
    let theirs_of_ours = Ours {
        pneu: &mailbox.pneu,
        repository: repositories.theirs.repository().to_owned(),
        cache: mailbox.directory.join("reading-cache"),
    };
    let targets = ["ours", "theirs"].map(|name| mailbox.directory.join("restored").join(name));
    for _ in 0..options.rounds {
        clear(&mailbox.directory.join("restored"))?;
        std::fs::create_dir_all(mailbox.directory.join("restored"))?;
        let mut restore = theirs_of_ours.command(&["restore", "--target"]);
        restore.arg(&targets[0]).arg(format!("latest:{}", maildir.display()));
        let commands =
            [(ours(RESTORE), restore), (theirs(RESTORE), repositories.theirs.restore(maildir, &targets[1]))];
        for (name, mut command) in commands {
            // Nobody pays for what another one wrote.
            rustix::fs::sync();
            let sample = child::measure(&mut command)?;
            let cpu = sample.user_seconds + sample.system_seconds;
            say(&format!("  {name}: {:.2} s, {cpu:.2} s of CPU", sample.wall_seconds));
            let mut series = Series::new(&name, "");
            series.samples.push(sample);
            report.add(series);
        }
        let files = equal::compare(&targets[0], &targets[1])?;
        ensure!(files >= u64::from(options.text_messages), "{files} files were restored");
    }
    clear(&mailbox.directory.join("restored"))
}
