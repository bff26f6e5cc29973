//! A home to attack: mail, an index of several commits, tags, saved queries, a repository with snapshots, and
//! the earlier contents of each file.
//!
//! Input: none. Output: the home, an intact copy of what is attacked, and earlier contents of its files. Does
//! not depend on what is done to it.

use crate::damage::harm::{CHEAP, copy};
use crate::support::{Home, Run, letter, run};
use disk::RealDisk;
use restic::testing::surroundings;
use restic::{LocalStorage, Password, key_file};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use testkit::corpus::{CorpusOptions, generate};

/// What the repository opens with.
const PASSWORD: &str = "pneumatic";
/// Where the program's data lies in a home.
pub(super) const DATA: &str = ".local/share/pneu";
/// Where the repository lies in a home.
pub(super) const REPOSITORY: &str = "repository";
/// What a cache of the repository would hide.
const CACHE: &str = ".cache";
/// A command that takes longer hangs.
const SECONDS_MAX: u32 = 120;
/// More than any command takes here.
const MEMORY_KB_MAX: u32 = 4_000_000;
/// So many words that they have a list of their own.
const WORD_COUNT: u32 = 17_000;

/// A home and what it is when nothing happened to it.
pub(super) struct Stage {
    home: Home,
    sound: tempfile::TempDir,
    earlier: BTreeMap<PathBuf, Vec<Vec<u8>>>,
}

impl Stage {
    /// Makes a home as a user would have it after some time.
    pub(super) fn new() -> Stage {
        let sound = tempfile::tempdir().unwrap();
        let mut stage = Stage { home: Home::indexed(), sound, earlier: BTreeMap::new() };
        stage.good(&["archive", "init"]);
        stage.open_fast();
        generate(
            &stage.home.mail().join("more"),
            &CorpusOptions { folders: 3, ..CorpusOptions::varied(40, 3) },
        )
        .unwrap();
        let many: Vec<String> = (0..WORD_COUNT).map(|number| format!("many{number}")).collect();
        stage.home.deliver("lists", "30:2,S", &letter("30", "Very many", &many.join(" ")));
        stage.good(&["index"]);
        stage.good(&["tag", "+early", "--", "hello"]);
        stage.good(&["query", "letters", "dispatch or hello"]);
        stage.good(&["archive", "backup"]);
        stage.remember();
        fs::remove_file(stage.home.mail().join("cur/2:2,")).unwrap();
        fs::rename(stage.home.mail().join("cur/1:2,S"), stage.home.mail().join("cur/1:2,FS")).unwrap();
        stage.home.deliver("", "31:2,", &letter("31", "Of late", "hello from the newest of all"));
        stage.good(&["index"]);
        stage.good(&["tag", "+later", "-early", "--", "tubes"]);
        stage.remember();
        stage.good(&["tag", "+later", "+last", "--", "hello"]);
        stage.good(&["query", "unseen", "flag:unread"]);
        stage.good(&["archive", "backup"]);
        for part in [DATA, REPOSITORY] {
            copy(&stage.home.path().join(part), &stage.sound.path().join(part));
        }
        stage
    }

    /// Delivers mail that no index knows yet, as another program does between two passes.
    pub(super) fn deliver_more(&self) {
        for day in 32..40 {
            let subject = format!("Not yet {day}");
            self.home.deliver(
                "more",
                &format!("{day}:2,"),
                &letter(&day.to_string(), &subject, "hello unseen"),
            );
        }
    }

    /// Gives the repository a key that is cheap to try, in the place of the one that takes half a second each
    /// time.
    fn open_fast(&self) {
        let root = self.home.path().join(REPOSITORY);
        let storage = LocalStorage::new(Arc::new(RealDisk), root.clone());
        let password = Password::new(PASSWORD.as_bytes().to_vec());
        let (dear, key) = key_file::unlock(&storage, &password).unwrap();
        key_file::add(&storage, &surroundings(), &key, (&password, CHEAP)).unwrap();
        fs::remove_file(root.join("keys").join(dear.to_string())).unwrap();
    }

    /// Keeps what all files are now, as earlier contents.
    fn remember(&mut self) {
        for part in [DATA, REPOSITORY] {
            for path in self.files(part) {
                let content = fs::read(self.home.path().join(&path)).unwrap();
                let contents = self.earlier.entry(path).or_default();
                if contents.last() != Some(&content) {
                    contents.push(content);
                }
            }
        }
    }

    /// Returns all files of a part of the home, sorted, named from the home on.
    pub(super) fn files(&self, part: &str) -> Vec<PathBuf> {
        let (mut found, mut directories) = (Vec::new(), vec![self.home.path().join(part)]);
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => directories.push(path),
                    false => found.push(path.strip_prefix(self.home.path()).unwrap().to_owned()),
                }
            }
        }
        found.sort();
        found
    }

    /// Returns what a file was before it became what it is.
    pub(super) fn earlier(&self, path: &Path) -> Vec<&[u8]> {
        let now = fs::read(self.home.path().join(path)).unwrap_or_default();
        let before = self.earlier.get(path).into_iter().flatten();
        before.map(Vec::as_slice).filter(|content| *content != now).collect()
    }

    /// Returns where a file of the home is.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.home.path().join(path)
    }

    /// Makes everything as it was before any attack.
    pub(super) fn restore(&self) {
        for part in [DATA, REPOSITORY, CACHE] {
            let place = self.home.path().join(part);
            if place.exists() {
                fs::remove_dir_all(&place).unwrap();
            }
            if part != CACHE {
                copy(&self.sound.path().join(part), &place);
            }
        }
    }

    /// Returns a command that runs the program here, with bounds of memory and time, after `before`: words of
    /// another program that runs it.
    pub(super) fn command(&self, before: &[&str], arguments: &[&str]) -> Command {
        let script = format!("ulimit -v {MEMORY_KB_MAX}; exec timeout -s KILL {SECONDS_MAX} \"$@\"");
        let own = self.home.command(arguments);
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args(before).arg(own.get_program()).args(own.get_args());
        command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.home.path()).env("PNEU_NO_WAITING", "1");
        command.env("RESTIC_REPOSITORY", self.path(REPOSITORY)).env("RESTIC_PASSWORD", PASSWORD);
        command
    }

    /// Runs the program.
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(&[], arguments))
    }

    fn good(&self, arguments: &[&str]) {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    }
}
