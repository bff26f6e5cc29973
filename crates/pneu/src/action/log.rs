//! The log of actions: what each is about to do, is doing, and did. `undo` reads it, and so does whoever
//! comes after a crash.
//!
//! Input: steps from place to place. Output: one file for each action in `user/actions`, or for each part of
//! an import, replaced as a whole before the first step and after the last (docs/FORMAT.md, "Mail: the log of
//! actions"). Does not touch mail.

use crate::error::{Error, Result};
use disk::{Lock, Wait};
use index::Environment;
use printable::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Progress;

/// The directory below that of the user's data.
const DIRECTORY: &str = "actions";
/// The lock of whoever acts.
const LOCK: &str = "lock";
/// The ending of an action's file.
const ENDING: &str = ".json";
/// The lock of whoever imports.
const IMPORT_LOCK: &str = "import.lock";
/// How many digits the number in a file's name has.
const DIGIT_COUNT: usize = 12;
/// The version of the format that is written. Version 1 had no imports, version 2 no messages that only leave
/// a folder. Both are read as well.
const VERSION: u32 = 3;
/// The oldest version that is read.
const OLDEST_VERSION: u32 = 1;
/// How long it takes until the lock is tried again, and how often that is before the observer is told of it.
const PAUSE: Duration = Duration::from_millis(5);
const TRIES: u32 = 50;
/// How many actions are kept.
const KEPT_COUNT: usize = 200;

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Files get other flags.
    Flag,
    /// Files go into another folder.
    Move,
    /// Files come into another folder and stay where they are.
    Copy,
    /// Files go into the trash.
    Delete,
    /// Directories of folders get other names.
    Rename,
    /// Files are removed. Of a step, both places are the same.
    Remove,
    /// Files with messages of other programs get their names. Their old places are in `tmp`.
    Import,
    /// Files are removed whose messages stay in other folders. The new place of a step is that of the file
    /// that stays, and has the same bytes.
    Unfile,
}

impl Kind {
    /// Returns the word for what was done to its [`things`](Kind::things).
    pub fn done(self) -> &'static str {
        match self {
            Kind::Flag => "changed",
            Kind::Move => "moved",
            Kind::Copy => "copied",
            Kind::Delete => "moved to the trash",
            Kind::Rename => "renamed",
            Kind::Remove => "removed for good",
            Kind::Import => "imported",
            Kind::Unfile => "removed from a folder",
        }
    }

    /// Returns what it is done to: one of them, and several.
    pub fn things(self) -> (&'static str, &'static str) {
        match self {
            Kind::Rename => ("directory", "directories"),
            Kind::Import => ("message", "messages"),
            _ => ("file", "files"),
        }
    }
}

/// How far an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Nobody knows which steps are done.
    Begun,
    /// Each step says whether it is done.
    Done,
    /// It is being undone: nobody knows which steps are undone. As long as a part of an import is, so is all
    /// of the import.
    Undoing,
    /// It is undone, as far as that was possible.
    Undone,
}

/// One file that goes from one place to another, or one directory. Of a directory neither size nor time
/// counts, and both are 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// Where it was.
    pub from: Place,
    /// Where it went.
    pub to: Place,
    /// The inode that it had.
    pub inode: u64,
    /// The inode that it has at the new place: another one for a copy, and on another file system.
    pub new_inode: Option<u64>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The SHA-256 of an imported message in hexadecimal digits: nothing else has its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether it is at the new place.
    pub is_done: bool,
    /// Why the last undo left the file alone. While it goes on: that the file was not found when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// A part of an import. All of them are one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImportPart {
    /// The number of the first part.
    pub first: u64,
    /// What the user named.
    pub sources: Vec<Place>,
    /// The folder that the user named.
    pub folder: String,
    /// Tags that messages got which did not have them. A part without steps has these alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<AddedTags>,
}

/// Tags, and the messages that got them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AddedTags {
    /// The tags.
    pub tags: BTreeSet<String>,
    /// The SHA-256 of each message in hexadecimal digits.
    pub contents: Vec<String>,
}

/// A path. In JSON it is a text, or, if it is none, hexadecimal digits after a byte that no path has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(pub PathBuf);

/// An action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The version of the format.
    pub version: u32,
    /// Its number; a later action has a higher one.
    pub number: u64,
    /// When it began, in seconds since 1970.
    pub time: i64,
    /// What it does.
    pub kind: Kind,
    /// How far it is.
    pub state: State,
    /// Its steps in order.
    pub steps: Vec<Step>,
    /// Which part of an import it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportPart>,
}

/// What every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The name of an action's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// Its number.
    pub number: u64,
    /// The number of the action of which it is a part: its own, but of the second part of an import on.
    pub first: u64,
}

impl Name {
    pub(super) fn of(entry: &Entry) -> Name {
        let first = entry.import.as_ref().map_or(entry.number, |part| part.first);
        Name { number: entry.number, first }
    }

    fn parse(name: &OsString) -> Option<Name> {
        let digits = name.to_str()?.strip_suffix(ENDING)?;
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.len() == DIGIT_COUNT);
        let (own, first) = digits.split_once('-').unwrap_or((digits, digits));
        Some(Name { number: number(own)?, first: number(first)? })
    }

    fn text(self) -> String {
        let Name { number, first } = self;
        match number == first {
            true => format!("{number:0DIGIT_COUNT$}{ENDING}"),
            false => format!("{number:0DIGIT_COUNT$}-{first:0DIGIT_COUNT$}{ENDING}"),
        }
    }
}

/// The log, held by one process at a time.
pub(super) struct Log<'a> {
    environment: &'a Environment,
    directory: PathBuf,
    _lock: Lock,
}

/// Takes the lock of imports. Two of them would both find a message missing, and store it twice.
///
/// # Errors
/// Another import holds it; it cannot be made.
pub(crate) fn lock_imports(environment: &Environment) -> Result<Lock> {
    let directory = environment.user_directory().join(DIRECTORY);
    let disk = environment.disk.as_ref();
    disk.create_directory(&directory).map_err(index_error)?;
    disk.lock(&directory.join(IMPORT_LOCK), &environment.holder, Wait::Refuse).map_err(index_error)
}

impl<'a> Log<'a> {
    /// Takes the log, and waits until whoever has it is done, unless `progress` stops that or gives up. It
    /// hears of a wait that is not short.
    ///
    /// # Errors
    /// The directory cannot be created or locked; [`Error::Cancelled`].
    pub(super) fn take(environment: &'a Environment, progress: &dyn Progress) -> Result<Log<'a>> {
        let directory = environment.user_directory().join(DIRECTORY);
        let disk = environment.disk.as_ref();
        disk.create_directory(&directory).map_err(index_error)?;
        let path = directory.join(LOCK);
        let mut count = 0;
        let lock = loop {
            match disk.lock(&path, &environment.holder, Wait::Refuse) {
                Err(disk::Error::Locked { holder, .. }) => {
                    if count == TRIES {
                        progress.waiting(&holder);
                    }
                    if progress.is_cancelled() || (count > TRIES && progress.gives_up()) {
                        return Err(Error::Cancelled);
                    }
                    count += 1;
                    std::thread::sleep(PAUSE);
                }
                taken => break taken.map_err(index_error)?,
            }
        };
        Ok(Log { environment, directory, _lock: lock })
    }

    /// Returns the names of all actions and parts of them, the newest first.
    pub(super) fn names(&self) -> Result<Vec<Name>> {
        let names = self.environment.disk.list(&self.directory).map_err(index_error)?;
        let mut names: Vec<Name> = names.iter().filter_map(Name::parse).collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names)
    }

    /// Reads an action.
    ///
    /// # Errors
    /// It is damaged, or of a newer version.
    pub(super) fn read(&self, name: Name) -> Result<Entry> {
        let path = self.directory.join(name.text());
        let bytes = self.environment.disk.read(&path).map_err(index_error)?;
        let damaged = |what: String| Error::ActionLog { path: path.clone(), what };
        // Before all else: what else a newer version has may not be known.
        let Versioned { version } =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if version > VERSION {
            return Err(Error::NewerActionLog { path, version, newest: VERSION });
        }
        if version < OLDEST_VERSION {
            return Err(damaged(format!("there is no version {version}")));
        }
        let entry: Entry = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if Name::of(&entry) != name {
            return Err(damaged("it is another action than its name says".to_owned()));
        }
        Ok(Entry { version: VERSION, ..entry })
    }

    /// Returns the newest action, or part of one, that is not undone.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub(super) fn newest(&self) -> Result<Option<Entry>> {
        for name in self.names()? {
            let entry = self.read(name)?;
            if entry.state != State::Undone {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Begins an action: gives it a number and makes its steps durable. Removes the oldest ones.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(super) fn begin(&self, kind: Kind, steps: Vec<Step>) -> Result<Entry> {
        self.add(|number| self.entry(number, (kind, State::Begun), steps))
    }

    /// Begins a part of an import as [`Log::begin`] does: the first one if its number is 0. One that has only
    /// tags is done.
    ///
    /// # Errors
    /// As [`Log::begin`].
    pub(super) fn begin_part(&self, kind: Kind, part: ImportPart, steps: Vec<Step>) -> Result<Entry> {
        let state = if steps.is_empty() { State::Done } else { State::Begun };
        self.add(|number| {
            let first = if part.first == 0 { number } else { part.first };
            let entry = self.entry(number, (kind, state), steps);
            Entry { import: Some(ImportPart { first, ..part }), ..entry }
        })
    }

    fn entry(&self, number: u64, (kind, state): (Kind, State), steps: Vec<Step>) -> Entry {
        let time = self.environment.now_seconds();
        Entry { version: VERSION, number, time, kind, state, steps, import: None }
    }

    fn add(&self, make: impl FnOnce(u64) -> Entry) -> Result<Entry> {
        let names = self.names()?;
        let entry = make(names.first().map_or(1, |last| last.number + 1));
        let mut actions: BTreeSet<u64> = names.iter().map(|name| name.first).collect();
        actions.insert(Name::of(&entry).first);
        let oldest = actions.iter().rev().nth(KEPT_COUNT - 1).copied().unwrap_or_default();
        for old in names.iter().filter(|name| name.first < oldest) {
            self.environment.disk.remove(&self.directory.join(old.text())).map_err(index_error)?;
        }
        self.write(&entry)?;
        Ok(entry)
    }

    /// Forgets an action.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub(super) fn forget(&self, entry: &Entry) -> Result<()> {
        self.environment.disk.remove(&self.path(entry)).map_err(index_error)
    }

    /// Replaces an action's file, durably.
    ///
    /// # Errors
    /// The directory cannot be written. The old file is then still there.
    pub(super) fn write(&self, entry: &Entry) -> Result<()> {
        let bytes = serde_json::to_vec(entry)
            .map_err(|error| Error::ActionLog { path: self.path(entry), what: error.to_string() })?;
        let name = Name::of(entry).text();
        disk::publish(self.environment.disk.as_ref(), &self.directory, &name, &bytes).map_err(index_error)
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        self.directory.join(Name::of(entry).text())
    }
}

fn index_error(error: disk::Error) -> Error {
    Error::Index(index::Error::Disk(error))
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&format!("\0{}", hex(self.0.as_os_str().as_bytes()))),
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Place, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(digits) = text.strip_prefix('\0') else { return Ok(Place(PathBuf::from(text))) };
        let byte = |place: usize| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        let bytes = bytes.ok_or_else(|| de::Error::custom("a path is not hexadecimal"))?;
        Ok(Place(PathBuf::from(OsString::from_vec(bytes))))
    }
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn entries_of_version_1_are_read_and_newer_ones_are_named_as_such() {
        let place = tempfile::tempdir().unwrap();
        let environment = Settings::new(place.path().to_owned()).environment;
        let log = Log::take(&environment, &work::Silent).unwrap();
        let path = log.directory.join("000000000001.json");
        let rest = r#""number":1,"time":7,"kind":"move","state":"undone","steps":[]}"#;
        std::fs::write(&path, format!(r#"{{"version":1,{rest}"#)).unwrap();
        let name = Name { number: 1, first: 1 };
        assert_eq!(log.read(name).unwrap(), log.entry(1, (Kind::Move, State::Undone), vec![]).at(7));
        log.write(&log.read(name).unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!(r#"{{"version":3,{rest}"#));
        // Nobody knows what else a newer one has.
        std::fs::write(&path, r#"{"version":4,"kind":"fold"}"#).unwrap();
        let newer = log.read(name).unwrap_err();
        assert!(matches!(newer, Error::NewerActionLog { version: 4, newest: 3, .. }), "{newer:?}");
        assert!(newer.to_string().contains("000000000001.json was written by a newer pneu"), "{newer}");
        for damaged in ["{", r#"{"version":0}"#, r#"{"version":3,"kind":"fold"}"#, r#"{"kind":"move"}"#] {
            std::fs::write(&path, damaged).unwrap();
            assert!(matches!(log.read(name), Err(Error::ActionLog { .. })), "{damaged}");
        }
    }

    impl Entry {
        fn at(self, time: i64) -> Entry {
            Entry { time, ..self }
        }
    }
}
