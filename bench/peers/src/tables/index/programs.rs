//! The programs that index mail, behind one interface.
//!
//! Input: a task. Output: commands, or `None` if a program cannot do the task. Does not know what is
//! measured.

use crate::peers::mairix::Mairix;
use crate::peers::mu::Mu;
use crate::peers::notmuch::Notmuch;
use anyhow::{Result, bail};
use bench_own::Pneu;
use measure::{bytes_below, corpora};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::corpus::{COMMON_PHRASE, RARE_WORD};

/// The mode of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Reads all names in all directories, as far as the program does so by default. Removes absent files.
    Full,
    /// Also reads size and times of every file.
    Thorough,
    /// Trusts directories whose times have not changed.
    Lazy,
    /// Like full, but keeps absent files.
    Kept,
    /// Like full, with the old cleanup.
    Legacy,
    /// Like lazy, but keeps absent files.
    LazyKept,
    /// Like lazy, with the old cleanup.
    LazyLegacy,
}

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// All files.
    All,
    /// A word that few messages have.
    Few,
    /// A phrase that many have.
    Many,
}

/// A program with one Maildir and its own index.
pub(super) trait Indexer {
    /// The heading of its column.
    fn name(&self) -> &'static str;
    /// Removes the index, and prepares the program for a first index.
    fn forget(&self) -> Result<()>;
    /// The command that updates the index.
    fn index(&self, mode: Mode) -> Option<Command>;
    /// The command that prints the path of each file found, one on each line.
    fn paths(&self, question: Question) -> Command;
    /// The directory of the index.
    fn home(&self) -> &Path;

    /// The bytes of the index.
    fn size(&self) -> Result<u64> {
        bytes_below(self.home())
    }
}

impl Indexer for Pneu {
    fn name(&self) -> &'static str {
        "pneu"
    }

    fn forget(&self) -> Result<()> {
        Pneu::forget(self)
    }

    fn index(&self, mode: Mode) -> Option<Command> {
        Some(self.index_with(match mode {
            Mode::Full => &[],
            Mode::Thorough => &["--thorough"],
            Mode::Lazy => &["--lazy"],
            Mode::Kept => &["--no-cleanup"],
            Mode::Legacy => &["--legacy-cleanup"],
            Mode::LazyKept => &["--lazy", "--no-cleanup"],
            Mode::LazyLegacy => &["--lazy", "--legacy-cleanup"],
        }))
    }

    fn paths(&self, question: Question) -> Command {
        let find = ["find", "--format", "paths", "--files"];
        match question {
            Question::All => self.command(&find),
            Question::Few => self.command(&[&find[..], &[RARE_WORD]].concat()),
            Question::Many => self.command(&[&find[..], &[&phrase()]].concat()),
        }
    }

    fn home(&self) -> &Path {
        self.data()
    }
}

/// mu for one Maildir.
pub(super) struct MuIndexer {
    pub(super) mu: Mu,
    pub(super) maildir: PathBuf,
}

impl Indexer for MuIndexer {
    fn name(&self) -> &'static str {
        "mu"
    }

    fn forget(&self) -> Result<()> {
        corpora::clear(self.home())?;
        match self.mu.init(&self.maildir).status()? {
            status if status.success() => Ok(()),
            status => bail!("mu init failed: {status}"),
        }
    }

    fn index(&self, mode: Mode) -> Option<Command> {
        match mode {
            Mode::Full => Some(self.mu.index(&[])),
            // mu reads each file's times in every mode except the lazy one.
            Mode::Thorough => None,
            Mode::Lazy => Some(self.mu.index(&["--lazy-check"])),
            Mode::Kept => Some(self.mu.index(&["--nocleanup"])),
            Mode::Legacy => self.mu.index_with_legacy_cleanup(&[]),
            Mode::LazyKept => Some(self.mu.index(&["--lazy-check", "--nocleanup"])),
            Mode::LazyLegacy => self.mu.index_with_legacy_cleanup(&["--lazy-check"]),
        }
    }

    fn paths(&self, question: Question) -> Command {
        match question {
            Question::All => self.mu.paths(""),
            Question::Few => self.mu.paths(RARE_WORD),
            Question::Many => self.mu.paths(&phrase()),
        }
    }

    fn home(&self) -> &Path {
        self.mu.home()
    }
}

/// notmuch for one Maildir. It compares the times of directories unless told otherwise, and always cleans up.
pub(super) struct NotmuchIndexer {
    pub(super) notmuch: Notmuch,
    pub(super) maildir: PathBuf,
}

impl Indexer for NotmuchIndexer {
    fn name(&self) -> &'static str {
        "notmuch"
    }

    fn forget(&self) -> Result<()> {
        corpora::clear(self.home())?;
        self.notmuch.init(&self.maildir)
    }

    fn index(&self, mode: Mode) -> Option<Command> {
        match mode {
            Mode::Full => Some(self.notmuch.new_mail(&["--full-scan"])),
            Mode::Lazy => Some(self.notmuch.new_mail(&[])),
            Mode::Thorough | Mode::Kept | Mode::Legacy | Mode::LazyKept | Mode::LazyLegacy => None,
        }
    }

    fn paths(&self, question: Question) -> Command {
        match question {
            Question::All => self.notmuch.paths("*"),
            Question::Few => self.notmuch.paths(RARE_WORD),
            Question::Many => self.notmuch.paths(&phrase()),
        }
    }

    fn home(&self) -> &Path {
        self.notmuch.home()
    }
}

/// mairix for one Maildir. It has no phrases, so the query has all words of the phrase.
pub(super) struct MairixIndexer {
    pub(super) mairix: Mairix,
    pub(super) maildir: PathBuf,
}

impl Indexer for MairixIndexer {
    fn name(&self) -> &'static str {
        "mairix"
    }

    fn forget(&self) -> Result<()> {
        corpora::clear(self.home())?;
        self.mairix.init(&self.maildir)
    }

    fn index(&self, mode: Mode) -> Option<Command> {
        match mode {
            Mode::Full => Some(self.mairix.index(&["-F", "-p"])),
            Mode::Thorough => Some(self.mairix.index(&["-p"])),
            Mode::Kept => Some(self.mairix.index(&["-F"])),
            Mode::Lazy | Mode::Legacy | Mode::LazyKept | Mode::LazyLegacy => None,
        }
    }

    fn paths(&self, question: Question) -> Command {
        match question {
            Question::All => self.mairix.paths(&["z:0-1000000000"]),
            Question::Few => self.mairix.paths(&[RARE_WORD]),
            Question::Many => {
                let words: Vec<String> = COMMON_PHRASE.split(' ').map(|word| format!("b:{word}")).collect();
                self.mairix.paths(&words.iter().map(String::as_str).collect::<Vec<_>>())
            }
        }
    }

    fn home(&self) -> &Path {
        self.mairix.home()
    }
}

fn phrase() -> String {
    format!("\"{COMMON_PHRASE}\"")
}
