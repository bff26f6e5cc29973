//! The programs that act on mail, behind one interface.
//!
//! Input: a task. Output: commands, or `None` if a program cannot do the task. Does not know what is
//! measured.

use super::rows::{COLUMNS, Work};
use crate::peers::mu::Mu;
use crate::peers::notmuch::Notmuch;
use anyhow::{Context, Result};
use bench_own::{Chosen, Pneu, seconds};
use measure::{child, corpora};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tag that is added and removed.
pub(super) const TAG: &str = "bench";

/// The root's folder.
pub(super) const INBOX: &str = "/";

/// What to act on. Each program has a Maildir of its own with the same files.
pub(super) struct Task {
    /// What is tagged.
    pub(super) all: Chosen,
    /// What gets another flag, in the INBOX.
    pub(super) inbox: Chosen,
    /// The Message-ID of the message that gets another flag alone, and the name of its file without flags.
    pub(super) one: (String, String),
    /// The folder to which that message is moved from the INBOX.
    pub(super) folder: String,
    /// The beginning of a name.
    pub(super) typed: String,
    /// The file of the message that is delivered.
    pub(super) letter: PathBuf,
}

/// A program with one Maildir and its own index.
pub(super) trait Actor {
    /// The heading of its column.
    fn name(&self) -> &'static str;
    /// Its Maildir.
    fn maildir(&self) -> &Path;
    /// The commands that make the first index.
    fn first(&self) -> Result<Vec<Command>>;
    /// The command that does some work. It may prepare a list of files for it.
    fn command(&self, work: Work, task: &Task) -> Result<Option<Command>>;
    /// The command that prints the path of each file of the messages with the tag.
    fn tagged(&self) -> Option<Command>;
}

impl Actor for Pneu {
    fn name(&self) -> &'static str {
        COLUMNS[0]
    }

    fn maildir(&self) -> &Path {
        Pneu::maildir(self)
    }

    fn first(&self) -> Result<Vec<Command>> {
        Ok(vec![self.index()])
    }

    fn command(&self, work: Work, task: &Task) -> Result<Option<Command>> {
        let one = format!("msgid:{}", task.one.0);
        let change = |command: &str, change: &str, query: &str| self.command(&[command, change, "--", query]);
        Ok(Some(match work {
            Work::Tag => change("tag", &format!("+{TAG}"), &task.all.query),
            Work::Untag => change("tag", &format!("-{TAG}"), &task.all.query),
            Work::Flag => change("flag", "+P", &task.inbox.query),
            Work::Unflag => change("flag", "-P", &task.inbox.query),
            Work::FlagOne => change("flag", "+P", &one),
            Work::UnflagOne => change("flag", "-P", &one),
            Work::MoveOne => self.command(&["move", &one, &task.folder]),
            Work::MoveBack => self.command(&["move", &one, INBOX]),
            Work::Deliver => child::fed(&self.command(&["deliver", "/"]), &task.letter),
            Work::People => self.command(&["contacts"]),
            Work::Complete => self.command(&["contacts", &task.typed]),
        }))
    }

    fn tagged(&self) -> Option<Command> {
        Some(self.command(&["--quiet", "find", "--format", "paths", "--files", &format!("tag:{TAG}")]))
    }
}

/// notmuch for one Maildir. Its tag `passed` is the flag P of the files.
pub(super) struct NotmuchActor {
    pub(super) notmuch: Notmuch,
    pub(super) maildir: PathBuf,
}

impl Actor for NotmuchActor {
    fn name(&self) -> &'static str {
        "notmuch"
    }

    fn maildir(&self) -> &Path {
        &self.maildir
    }

    fn first(&self) -> Result<Vec<Command>> {
        self.notmuch.init(&self.maildir)?;
        Ok(vec![self.notmuch.new_mail(&[])])
    }

    fn command(&self, work: Work, task: &Task) -> Result<Option<Command>> {
        let all = format!("date:@0..@{}", task.all.last_seconds);
        let inbox = format!("folder:\"\" and date:@0..@{}", task.inbox.last_seconds);
        let one = format!("id:{}", task.one.0);
        Ok(Some(match work {
            Work::MoveOne | Work::MoveBack => return Ok(None),
            Work::Tag => self.notmuch.tag(&format!("+{TAG}"), &all),
            Work::Untag => self.notmuch.tag(&format!("-{TAG}"), &all),
            Work::Flag => self.notmuch.tag("+passed", &inbox),
            Work::Unflag => self.notmuch.tag("-passed", &inbox),
            Work::FlagOne => self.notmuch.tag("+passed", &one),
            Work::UnflagOne => self.notmuch.tag("-passed", &one),
            Work::Deliver => child::fed(&self.notmuch.insert(), &task.letter),
            Work::People => self.notmuch.people(),
            Work::Complete => self.notmuch.senders(&format!("from:{}*", task.typed)),
        }))
    }

    fn tagged(&self) -> Option<Command> {
        Some(self.notmuch.paths(&format!("tag:{TAG}")))
    }
}

/// mu for one Maildir. It changes the flags of one file in a call.
pub(super) struct MuActor {
    pub(super) mu: Mu,
    pub(super) maildir: PathBuf,
    /// The file for the list of files that get another flag.
    pub(super) list: PathBuf,
}

impl MuActor {
    /// Returns a command that calls mu for each of these files, one after the other.
    fn each(&self, change: &str, files: &[PathBuf]) -> Result<Option<Command>> {
        let Some(command) = self.mu.flag(change) else { return Ok(None) };
        let lines: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
        fs::write(&self.list, lines).with_context(|| format!("cannot write {}", self.list.display()))?;
        let mut shell = Command::new("sh");
        shell.args(["-c", "while read -r file; do \"$@\" \"$file\" </dev/null || exit; done", "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        Ok(Some(child::fed(&shell, &self.list)))
    }
}

impl Actor for MuActor {
    fn name(&self) -> &'static str {
        "mu"
    }

    fn maildir(&self) -> &Path {
        &self.maildir
    }

    fn first(&self) -> Result<Vec<Command>> {
        Ok(vec![self.mu.init(&self.maildir), self.mu.index(&[])])
    }

    fn command(&self, work: Work, task: &Task) -> Result<Option<Command>> {
        let of_inbox = || oldest(&self.maildir, task.inbox.last_seconds);
        let one = |folder: &str| -> Result<Vec<PathBuf>> {
            let files = in_folder(&self.maildir, folder)?.into_iter();
            Ok(files.filter(|file| without_flags(file) == task.one.1).collect())
        };
        match work {
            Work::Tag | Work::Untag | Work::Deliver => Ok(None),
            // A message in `new` has the flag N, and no other.
            Work::Flag => self.each("+P-N", &of_inbox()?),
            Work::Unflag => self.each("-P", &of_inbox()?),
            Work::FlagOne => self.each("+P-N", &one(INBOX)?),
            Work::UnflagOne => self.each("-P", &one(INBOX)?),
            Work::MoveOne => Ok(one(INBOX)?.first().and_then(|file| self.mu.move_to(file, &task.folder))),
            // Before the first move, it is still in the INBOX.
            Work::MoveBack => {
                let there = [one(&task.folder)?, one(INBOX)?].concat();
                Ok(there.first().and_then(|file| self.mu.move_to(file, INBOX)))
            }
            Work::People => Ok(Some(self.mu.people(""))),
            Work::Complete => Ok(Some(self.mu.people(&task.typed))),
        }
    }

    fn tagged(&self) -> Option<Command> {
        None
    }
}

/// Returns the files of the root's folder.
pub(super) fn inbox(maildir: &Path) -> Result<Vec<PathBuf>> {
    in_folder(maildir, INBOX)
}

/// Returns the files of a folder.
pub(super) fn in_folder(maildir: &Path, folder: &str) -> Result<Vec<PathBuf>> {
    let folder = maildir.join(folder.trim_start_matches('/'));
    let folder = [folder.join("cur"), folder.join("new")];
    let mut files = corpora::messages(maildir)?;
    files.retain(|file| folder.iter().any(|own| file.parent() == Some(own)));
    Ok(files)
}

/// Returns the folder of a file.
pub(super) fn folder_of(maildir: &Path, file: &Path) -> Option<String> {
    let folder = file.parent()?.parent()?.strip_prefix(maildir).ok()?;
    Some(format!("/{}", folder.display()))
}

/// Returns the files of the root's folder up to a date.
fn oldest(maildir: &Path, last_seconds: u64) -> Result<Vec<PathBuf>> {
    let mut oldest = Vec::new();
    for file in inbox(maildir)? {
        if seconds(&file)? <= last_seconds {
            oldest.push(file);
        }
    }
    Ok(oldest)
}

/// Returns a file's name without its flags.
pub(super) fn without_flags(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split(":2,").next().unwrap_or_default().to_owned()
}

/// Returns how many files of the root's folder have the flag P.
pub(super) fn passed(maildir: &Path) -> Result<usize> {
    let has_flag = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.split_once(":2,").is_some_and(|(_, flags)| flags.contains('P'))
    };
    Ok(inbox(maildir)?.iter().filter(|file| has_flag(file)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Installed;

    #[test]
    fn flags_are_counted_in_the_inbox_and_names_lose_them() {
        let place = tempfile::tempdir().unwrap();
        for file in ["cur/10.MP1.a:2,PS", "cur/20.MP2.a:2,S", "new/30.MP3.a", "b/cur/5.MP4.a:2,P"] {
            let path = place.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(passed(place.path()).unwrap(), 1);
        assert_eq!(in_folder(place.path(), "/b").unwrap(), [place.path().join("b/cur/5.MP4.a:2,P")]);
        assert_eq!(folder_of(place.path(), &place.path().join("b/cur/5.MP4.a:2,P")).unwrap(), "/b");
        assert_eq!(folder_of(place.path(), &place.path().join("new/30.MP3.a")).unwrap(), INBOX);
        assert_eq!(oldest(place.path(), 20).unwrap().len(), 2);
        assert_eq!(without_flags(Path::new("a/cur/10.x:2,PS")), "10.x");
        assert_eq!(without_flags(Path::new("a/new/10.x")), "10.x");
    }

    #[test]
    fn mu_is_called_once_for_each_file() {
        let place = tempfile::tempdir().unwrap();
        let installed = Installed { program: PathBuf::from("echo"), version: "version 1.14.2".to_owned() };
        let mu = Mu::new(&installed, Path::new("/home"));
        let list = place.path().join("list");
        let actor = MuActor { mu, maildir: place.path().to_owned(), list };
        let files = ["one file", "two"].map(PathBuf::from);
        let said = child::run(&mut actor.each("+P", &files).unwrap().unwrap()).unwrap().said;
        let call = "move --muhome=/home --flags=+P";
        assert_eq!(said, format!("{call} one file\n{call} two\n"));
    }
}
