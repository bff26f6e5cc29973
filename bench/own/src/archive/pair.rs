//! One mailbox, backed up by pneu and by restic into a repository each.
//!
//! Comes in: how many messages. Goes out: the mailbox with its index, and repositories of both programs that are known to be equal. Must not
//! know what is measured with them.

use super::restic::{PASSWORD, Restic, Saved, saved};
use crate::child::{Sample, measure_said};
use crate::plan::say;
use crate::program::Pneu;
use crate::{Options, corpora};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::corpus::CorpusOptions;

/// A mailbox, its index, and repositories beside it.
pub(super) struct Mailbox {
    pub(super) pneu: Pneu,
    pub(super) directory: PathBuf,
}

impl Mailbox {
    /// Returns the mailbox with so many messages, made and indexed now if it is not there. Nobody else uses it.
    pub(super) fn kept(options: &Options, name: &str, messages: u32) -> Result<Mailbox> {
        let directory = options.corpora.join(format!("{name}-{messages}"));
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let mail = corpora::kept(&directory, "mail", &CorpusOptions::varied(messages, corpora::SEED))?;
        let pneu = Pneu::new(&options.program, &mail.canonicalize()?);
        let mailbox = Mailbox { pneu, directory };
        if !mailbox.pneu.data().exists() {
            run(&mut mailbox.pneu.index())?;
        }
        Ok(mailbox)
    }

    /// Returns the repositories named so, which may not be there yet.
    pub(super) fn repositories(&self, name: &str) -> Repositories<'_> {
        let directory = self.directory.join(name);
        let restic =
            |repository: &str, cache: &str| Restic::new(&directory.join(repository), &directory.join(cache));
        Repositories {
            ours: Ours {
                pneu: &self.pneu,
                repository: directory.join("ours"),
                cache: directory.join("ours-cache"),
            },
            theirs: restic("theirs", "theirs-cache"),
            judge: restic("ours", "judge-cache"),
            directory,
        }
    }

    /// Reads every message once, so that all are in the cache of the system.
    pub(super) fn warm(&self) -> Result<()> {
        for file in corpora::message_files(self.pneu.maildir())? {
            fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        }
        Ok(())
    }
}

/// pneu with one repository and a cache of its own.
pub(super) struct Ours<'a> {
    pub(super) pneu: &'a Pneu,
    pub(super) repository: PathBuf,
    pub(super) cache: PathBuf,
}

impl Ours<'_> {
    /// Returns `pneu archive` with `arguments`.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.pneu.command(&["archive"]);
        command.args(arguments);
        command.env("RESTIC_REPOSITORY", &self.repository).env("RESTIC_PASSWORD", PASSWORD);
        command.env("XDG_CACHE_HOME", &self.cache);
        command
    }
}

/// Reads what `pneu archive backup` printed: `snapshot 90fe74f7: 2068 files, 19.0 MiB; ..`.
fn our_saved(said: &str) -> Result<Saved> {
    let read = || {
        let (snapshot, rest) =
            said.lines().find_map(|line| line.strip_prefix("snapshot ")?.split_once(": "))?;
        let (files, _) = rest.split_once(" file")?;
        Some(Saved { snapshot: snapshot.to_owned(), file_count: files.parse().ok()? })
    };
    read().with_context(|| format!("pneu said nothing of what it saved: {said}"))
}

/// A repository of pneu and one of restic, for the same mailbox.
pub(super) struct Repositories<'a> {
    pub(super) ours: Ours<'a>,
    pub(super) theirs: Restic,
    /// restic, asked what is in the repository of pneu.
    judge: Restic,
    directory: PathBuf,
}

impl Repositories<'_> {
    /// Makes both, empty; what was there before is gone.
    pub(super) fn make(&self) -> Result<()> {
        self.remove()?;
        fs::create_dir_all(&self.directory)?;
        run(&mut self.ours.command(&["init"]))?;
        self.theirs.init_like(&self.ours.repository)
    }

    /// Makes both and backs up into them, if that is not done yet.
    pub(super) fn keep(&self) -> Result<()> {
        let is_made = self.directory.join("made");
        if is_made.exists() {
            return Ok(());
        }
        say("  making repositories");
        self.make()?;
        self.backup()?;
        Ok(fs::write(is_made, "")?)
    }

    /// Removes both.
    pub(super) fn remove(&self) -> Result<()> {
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory)
                .with_context(|| format!("cannot remove {}", self.directory.display()))?;
        }
        Ok(())
    }

    /// Backs the mailbox up by pneu, then by restic, and returns what each took.
    ///
    /// # Errors
    /// If what they stored is not equal, to the last bit of what they know of each file.
    pub(super) fn backup(&self) -> Result<(Sample, Sample)> {
        let mail = self.ours.pneu.maildir();
        rustix::fs::sync();
        let (ours, said) = measure_said(&mut self.ours.command(&["backup"]))?;
        let our_saved = our_saved(&said)?;
        rustix::fs::sync();
        let (theirs, said) = measure_said(&mut self.theirs.backup(mail))?;
        let their_saved = saved(&said)?;
        ensure!(
            our_saved.file_count == their_saved.file_count,
            "pneu saved {} files, restic {}",
            our_saved.file_count,
            their_saved.file_count
        );
        let (ours_tree, theirs_tree) =
            (self.judge.tree(&our_saved.snapshot, mail)?, self.theirs.tree(&their_saved.snapshot, mail)?);
        ensure!(!ours_tree.is_empty() && ours_tree == theirs_tree, "the snapshots are not equal");
        Ok((ours, theirs))
    }
}

/// Runs a command that has to succeed.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Removes a directory, if it is there.
pub(super) fn clear(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_backup_said_is_understood() {
        let said = "snapshot 90fe74f7: 2068 files, 19.0 MiB; 2068 new, 0 changed; 12.3 MiB added\n";
        assert_eq!(our_saved(said).unwrap(), Saved { snapshot: "90fe74f7".to_owned(), file_count: 2068 });
        assert!(our_saved("nothing\n").is_err());
    }
}
