//! One mailbox, backed up by pneu and by restic, each into its own repository.
//!
//! Input: the number of messages. Output: the mailbox with its index, and repositories of both programs that
//! are verified to be equal. Does not know what is measured with them.

use crate::bench::Bench;
use crate::peer::said;
use crate::peers::restic::{self, Restic, Saved, saved};
use anyhow::{Context, Result, ensure};
use bench_own::Pneu;
use bench_own::archive::PASSWORD;
use measure::changes::Arrivals;
use measure::turns::Cache;
use measure::{Outcome, Sample, bytes_below, child, corpora, say};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use testkit::corpus::CorpusOptions;

/// A mailbox, its index, and repositories beside it.
pub(super) struct Mailbox {
    pub(super) pneu: Pneu,
    pub(super) directory: PathBuf,
    restic: Option<crate::peer::Installed>,
}

impl Mailbox {
    /// Returns the mailbox with this many messages. Makes and indexes it if needed. Nothing else uses it.
    pub(super) fn kept(bench: &Bench<'_>, name: &str, messages: u32) -> Result<Mailbox> {
        let directory = bench.corpora().join(format!("{name}-{messages}"));
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let mail = corpora::kept(&directory, "mail", &CorpusOptions::varied(messages, corpora::SEED))?
            .canonicalize()?;
        let mailbox = Mailbox { pneu: bench.pneu(&mail), directory, restic: bench.installed(&restic::PEER) };
        if !mailbox.pneu.data().exists() {
            said(&mut mailbox.pneu.index())?;
        }
        Ok(mailbox)
    }

    /// Returns the repositories named so, which may not be there yet.
    pub(super) fn repositories(&self, name: &str) -> Repositories<'_> {
        let directory = self.directory.join(name);
        let restic = |repository: &str, cache: &str| {
            let installed = self.restic.as_ref()?;
            Some(Restic::new(installed, &directory.join(repository), &directory.join(cache)))
        };
        Repositories {
            ours: Ours {
                pneu: &self.pneu,
                repository: directory.join("ours"),
                cache: directory.join("ours-cache"),
            },
            theirs: restic("theirs", "theirs-cache"),
            judge: restic("ours", "judge-cache"),
            directory,
            failure: RefCell::new(None),
        }
    }

    /// Removes messages that an earlier run left in the Maildir.
    pub(super) fn without_arrivals(self) -> Result<Mailbox> {
        Arrivals::take_away(self.pneu.maildir())?;
        Ok(self)
    }

    /// Reads every message once, so that all are in the cache of the system.
    pub(super) fn warm(&self) -> Result<()> {
        corpora::warm(self.pneu.maildir())
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
    /// restic with its own repository; `None` if there is no restic.
    theirs: Option<Restic>,
    /// restic on the repository of pneu.
    judge: Option<Restic>,
    directory: PathBuf,
    /// Why restic is not run any more.
    failure: RefCell<Option<String>>,
}

impl Repositories<'_> {
    /// Makes both repositories, empty. Removes earlier ones.
    pub(super) fn make(&self) -> Result<()> {
        self.remove()?;
        fs::create_dir_all(&self.directory)?;
        said(&mut self.ours.command(&["init"]))?;
        if let Some(Err(error)) = self.restic().map(|restic| restic.init_like(&self.ours.repository)) {
            self.fail(&error);
        }
        Ok(())
    }

    /// Returns restic, if it is there and has not failed.
    pub(super) fn restic(&self) -> Option<&Restic> {
        self.theirs.as_ref().filter(|_| self.failure.borrow().is_none())
    }

    /// Goes on without restic.
    pub(super) fn fail(&self, error: &anyhow::Error) {
        *self.failure.borrow_mut() = Some(format!("{error:#}"));
    }

    /// Returns why restic is not run any more.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Makes both repositories and backs up into them, unless that was done. Makes them again if there was no
    /// restic at that time.
    pub(super) fn keep(&self) -> Result<()> {
        let is_made = self.directory.join("made");
        if is_made.exists() && self.restic().is_none_or(|restic| restic.repository().exists()) {
            return Ok(());
        }
        say("  making repositories");
        self.make()?;
        self.backup(Cache::Warm)?;
        Ok(fs::write(is_made, "")?)
    }

    /// Removes both.
    pub(super) fn remove(&self) -> Result<()> {
        corpora::clear(&self.directory)
    }

    /// Backs up the mailbox with pneu, then with restic if available. Returns the cost of each and the size
    /// of its repository. If restic fails, it is not run again.
    ///
    /// # Errors
    /// If the stored data differ in anything known about any file.
    pub(super) fn backup(&self, cache: Cache) -> Result<(Sample, Option<Sample>)> {
        let run = |command: &mut Command| -> Result<Outcome> {
            rustix::fs::sync();
            cache.prepare()?;
            child::run(command)
        };
        let mail = self.ours.pneu.maildir();
        let ours = run(&mut self.ours.command(&["backup"]))?;
        let our_saved = our_saved(&ours.said)?;
        let our_sample = Sample { size_bytes: bytes_below(&self.ours.repository)?, ..ours.sample };
        let (Some(restic), Some(judge)) = (self.restic(), &self.judge) else {
            return Ok((our_sample, None));
        };
        let theirs = run(&mut restic.backup(mail)).and_then(|outcome| Ok((saved(&outcome.said)?, outcome)));
        let (their_saved, theirs) = match theirs {
            Ok(theirs) => theirs,
            Err(error) => {
                self.fail(&error);
                return Ok((our_sample, None));
            }
        };
        ensure!(
            our_saved.file_count == their_saved.file_count,
            "pneu saved {} files, restic {}",
            our_saved.file_count,
            their_saved.file_count
        );
        let (ours_tree, theirs_tree) =
            (judge.tree(&our_saved.snapshot, mail)?, restic.tree(&their_saved.snapshot, mail)?);
        ensure!(!ours_tree.is_empty() && ours_tree == theirs_tree, "the snapshots are not equal");
        let size_bytes = bytes_below(restic.repository())?;
        Ok((our_sample, Some(Sample { size_bytes, ..theirs.sample })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn restic_is_not_asked_any_more_when_it_has_failed() {
        let place = tempfile::tempdir().unwrap();
        let program = PathBuf::from("/does/not/exist/restic");
        let restic = crate::peer::Installed { program, version: "restic 0".to_owned() };
        let pneu = Pneu::new(Path::new("pneu"), place.path());
        let mailbox = Mailbox { pneu, directory: place.path().to_owned(), restic: Some(restic) };
        let repositories = mailbox.repositories("kept");
        let error = repositories.restic().unwrap().init_like(place.path()).unwrap_err();
        assert_eq!(repositories.failure(), None);
        repositories.fail(&error);
        assert!(repositories.restic().is_none());
        assert!(repositories.failure().unwrap().contains("cannot start"), "{:?}", repositories.failure());
    }

    #[test]
    fn arrivals_of_an_earlier_run_are_taken_away() {
        let place = tempfile::tempdir().unwrap();
        for directory in ["cur", "new", "tmp"] {
            fs::create_dir(place.path().join(directory)).unwrap();
        }
        fs::write(place.path().join("cur/n1.tube:2,"), "new").unwrap();
        fs::write(place.path().join("cur/1.tube:2,"), "old").unwrap();
        let pneu = Pneu::new(Path::new("pneu"), place.path());
        let mailbox = Mailbox { pneu, directory: place.path().to_owned(), restic: None };
        mailbox.without_arrivals().unwrap();
        let left: Vec<_> = fs::read_dir(place.path().join("cur")).unwrap().collect();
        assert!(matches!(&left[..], [Ok(entry)] if entry.file_name() == "1.tube:2,"), "{left:?}");
    }

    #[test]
    fn what_our_backup_said_is_understood() {
        let said = "snapshot 90fe74f7: 2068 files, 19.0 MiB; 2068 new, 0 changed; 12.3 MiB added\n";
        assert_eq!(our_saved(said).unwrap(), Saved { snapshot: "90fe74f7".to_owned(), file_count: 2068 });
        assert!(our_saved("nothing\n").is_err());
    }
}
