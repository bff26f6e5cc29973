//! The content of a lock file.
//!
//! Reads and writes it, and tells whether the process that wrote it still runs.
//!
//! Besides restic's fields there is an object `pneu`, which restic ignores. It tells the process that wrote
//! the lock from every later process with the same number:
//!
//! | field | |
//! |---|---|
//! | `place` | text: the run of the kernel and the namespaces that the process was in; only equality counts |
//! | `started` | number: when the process began, in a unit that is the same in all of that place |

use crate::encoding::id::Id;
use crate::encoding::json::JsonWriter;
use crate::encoding::json::parse::json_fault;
use crate::encoding::time::Time;
use crate::error::Error;
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::{self, Parts};
use crate::surroundings::Surroundings;
use serde::Deserialize;

/// What a lock allows other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Others may work at the same time; nothing is deleted.
    Shared,
    /// No other process may work.
    Exclusive,
}

/// The content of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LockFile {
    /// When it was written. Each renewal writes a new file.
    pub(super) time: Time,
    pub(super) kind: LockKind,
    pub(super) hostname: String,
    pub(super) username: String,
    pub(super) process: i64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Tells the process from all others that ever had its number; `None` in a lock of another program.
    pub(super) birth: Option<Birth>,
}

/// Where and when a process started. No two processes with the same number share both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Birth {
    /// See [`Surroundings::place`].
    pub(super) place: String,
    /// See [`Surroundings::started`].
    pub(super) started: u64,
}

/// A lock that was not renewed for this long is stale.
const STALE_NS: i64 = 30 * 60 * 1_000_000_000;

impl LockFile {
    /// Returns the content of a lock that this process writes now.
    pub(super) fn now(surroundings: &Surroundings, kind: LockKind) -> LockFile {
        LockFile {
            time: Time::from_ns(surroundings.context.now_ns(), 0),
            kind,
            hostname: surroundings.hostname.clone(),
            username: surroundings.username.clone(),
            process: i64::from(surroundings.process),
            uid: surroundings.uid,
            gid: surroundings.gid,
            birth: surroundings
                .place
                .clone()
                .zip((surroundings.started)(surroundings.process))
                .map(Birth::from),
        }
    }

    /// Returns whether its writer has certainly ended: a pneu that ran in the current run of this machine,
    /// among the processes that we can see, and is none of them. In case of doubt, returns false.
    pub(super) fn is_certainly_gone(&self, surroundings: &Surroundings) -> bool {
        let (Some(birth), Some(here), Ok(process)) =
            (&self.birth, &surroundings.place, u32::try_from(self.process))
        else {
            return false;
        };
        // Copies of a running virtual machine share everything except the hostname.
        if birth.place != *here || self.hostname != surroundings.hostname {
            return false;
        }
        !(surroundings.is_alive)(process)
            || (surroundings.started)(process).is_some_and(|started| started != birth.started)
    }

    /// Returns whether the lock is stale: it was not renewed for long, or its process on this machine has
    /// ended.
    pub(super) fn is_stale(&self, surroundings: &Surroundings) -> bool {
        let age_ns = surroundings.context.now_ns().saturating_sub(self.time.ns());
        let is_alive = |process: i64| u32::try_from(process).is_ok_and(surroundings.is_alive);
        age_ns > STALE_NS
            || (self.hostname == surroundings.hostname && !is_alive(self.process))
            || self.is_certainly_gone(surroundings)
    }

    /// Describes how, by which process and since when, as the end of "the repository is locked".
    pub(super) fn describe(&self, surroundings: &Surroundings) -> String {
        let how = if self.kind == LockKind::Exclusive { "exclusively " } else { "" };
        let gone = if self.is_stale(surroundings) { ", and that process seems to be gone" } else { "" };
        format!("{how}by {}{gone}", self.writer())
    }

    /// Describes which process wrote it, and when.
    pub(super) fn writer(&self) -> String {
        let plain = |text: &str| text.replace(char::is_control, "?");
        let (user, host, process, time) =
            (plain(&self.username), plain(&self.hostname), self.process, self.time);
        format!("{user} on {host}, process {process}, since {time}")
    }

    /// Reads a lock's JSON. An error says what is wrong, as the rest of a sentence.
    pub(super) fn from_json(json: &[u8]) -> Result<LockFile, String> {
        let raw: RawLockFile = serde_json::from_slice(json).map_err(|error| json_fault(&error))?;
        Ok(LockFile {
            time: raw.time,
            kind: if raw.exclusive { LockKind::Exclusive } else { LockKind::Shared },
            hostname: raw.hostname,
            username: raw.username,
            process: raw.pid,
            uid: raw.uid,
            gid: raw.gid,
            // Another program may use the name `pneu` for something else.
            birth: serde_json::from_value(raw.pneu).ok(),
        })
    }

    /// Returns the JSON as restic writes it, with [`Birth`] at its end.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out);
        json.begin_object();
        json.field("time");
        json.time(&self.time);
        json.field("exclusive");
        json.boolean(self.kind == LockKind::Exclusive);
        json.field("hostname");
        json.string(self.hostname.as_bytes());
        json.field("username");
        json.string(self.username.as_bytes());
        json.field("pid");
        json.signed(self.process);
        for (name, number) in [("uid", self.uid), ("gid", self.gid)] {
            if number > 0 {
                json.field(name);
                json.number(u64::from(number));
            }
        }
        if let Some(Birth { place, started }) = &self.birth {
            json.field("pneu");
            json.begin_object();
            json.field("place");
            json.string(place.as_bytes());
            json.field("started");
            json.number(*started);
            json.end_object();
        }
        json.end_object();
        out
    }
}

/// Reads a lock.
pub(super) fn load(parts: &Parts, id: Id) -> crate::error::Result<LockFile> {
    let json = unpacked::load(&*parts.storage, &parts.key, FileKind::Lock, id)?;
    LockFile::from_json(&json).map_err(|what| Error::damage(FileName { kind: FileKind::Lock, id }, what))
}

#[derive(Deserialize)]
struct RawLockFile {
    #[serde(deserialize_with = "crate::encoding::json::parse::time")]
    time: Time,
    exclusive: bool,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    pid: i64,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
    #[serde(default)]
    pneu: serde_json::Value,
}

impl From<(String, u64)> for Birth {
    fn from((place, started): (String, u64)) -> Birth {
        Birth { place, started }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CLOCK_NS, LIVING_PROCESS, surroundings};

    fn note() -> LockFile {
        LockFile::now(&surroundings(), LockKind::Exclusive)
    }

    #[test]
    fn there_and_back_as_restic_writes_it() {
        let restic = [
            r#"{"time":"2026-11-21T10:02:00Z","exclusive":true,"hostname":"tower","username":"ana","#,
            r#""pid":12,"uid":1000,"gid":100}"#,
        ]
        .concat();
        let own = r#","pneu":{"place":"run 1","started":1200}}"#;
        let json = restic.replace('}', own);
        assert_eq!(String::from_utf8(note().to_json()).unwrap(), json);
        assert_eq!(LockFile::from_json(json.as_bytes()), Ok(note()));
        let others = LockFile { birth: None, ..note() };
        assert_eq!(LockFile::from_json(restic.as_bytes()).as_ref(), Ok(&others));
        assert_eq!(String::from_utf8(others.to_json()).unwrap(), restic);
        for odd in [
            "5",
            "null",
            "[]",
            r#"{"place":5,"started":1}"#,
            r#"{"place":"run 1"}"#,
            r#"{"place":"a","started":-1}"#,
        ] {
            let json = restic.replace('}', &format!(",\"pneu\":{odd}}}"));
            assert_eq!(LockFile::from_json(json.as_bytes()).as_ref(), Ok(&others), "{odd}");
        }
        let bare = r#"{"time":"2026-11-21T10:02:00Z","exclusive":false,"hostname":"","username":"","pid":0}"#;
        let found = LockFile::from_json(bare.as_bytes()).unwrap();
        assert_eq!((found.kind, found.uid, found.gid), (LockKind::Shared, 0, 0));
        assert_eq!(String::from_utf8(found.to_json()).unwrap(), bare);
        for wrong in ["", "{}", r#"{"time":"never","exclusive":true}"#, r#"{"time":"2026-11-21T10:02:00Z"}"#]
        {
            assert!(LockFile::from_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_is_gone_is_stale() {
        let here = surroundings();
        let stale = |change: &dyn Fn(&mut LockFile)| {
            let mut note = LockFile { birth: None, ..note() };
            change(&mut note);
            note.is_stale(&here)
        };
        let at = |seconds: i64| Time::from_ns(CLOCK_NS - seconds * 1_000_000_000, 3600);
        assert!(!stale(&|_| ()));
        assert!(!stale(&|note| note.process = i64::from(LIVING_PROCESS)));
        for process in [78, 0, -1, i64::MAX] {
            assert!(stale(&|note| note.process = process), "{process}");
            assert!(!stale(&|note| (note.process, note.hostname) = (process, "laptop".to_owned())));
        }
        assert!(!stale(&|note| note.time = at(1800)));
        assert!(stale(&|note| note.time = at(1801)));
        assert!(!stale(&|note| note.time = at(-100_000)), "a clock ahead");
        assert!(stale(&|note| (note.time, note.hostname) = (at(1801), "laptop".to_owned())));
    }

    #[test]
    fn only_a_process_of_this_run_that_is_not_there_any_more_is_certainly_gone() {
        let here = surroundings();
        let gone = |change: &dyn Fn(&mut LockFile)| {
            let mut note = note();
            change(&mut note);
            note.is_certainly_gone(&here)
        };
        let birth = |place: &str, started| Some(Birth { place: place.to_owned(), started });
        assert!(!gone(&|_| ()));
        assert!(!gone(&|note| (note.process, note.birth) = (77, birth("run 1", 7700))));
        assert!(gone(&|note| note.process = 78), "no such process");
        assert!(gone(&|note| note.birth = birth("run 1", 1199)), "another one has its number, and be it we");
        assert!(gone(&|note| (note.process, note.birth) = (77, birth("run 1", 1))));
        for process in [0, -1, i64::MAX] {
            assert_eq!(gone(&|note| note.process = process), process == 0, "{process}");
        }
        for (place, hostname) in [("run 2", "tower"), ("run 1", "laptop"), ("", "tower")] {
            let other = |note: &mut LockFile| {
                (note.process, note.birth, note.hostname) = (78, birth(place, 1), hostname.to_owned());
            };
            assert!(!gone(&other), "{place} {hostname}");
        }
        let old = Time::from_ns(CLOCK_NS - 90_000_000_000_000, 0);
        assert!(!gone(&|note| (note.process, note.birth, note.time) = (78, None, old)), "of another program");
        let unseen = Surroundings { started: |_| None, ..here.clone() };
        assert!(
            !LockFile { process: 77, ..note() }.is_certainly_gone(&unseen),
            "somebody is there, and who is unknown"
        );
        let nowhere = Surroundings { place: None, ..here.clone() };
        assert!(!LockFile { process: 78, ..note() }.is_certainly_gone(&nowhere));
        assert_eq!(
            (LockFile::now(&unseen, LockKind::Shared).birth, LockFile::now(&nowhere, LockKind::Shared).birth),
            (None, None)
        );
    }

    #[test]
    fn says_who_how_and_since_when() {
        let here = surroundings();
        let mut note = note();
        assert_eq!(
            note.describe(&here),
            "exclusively by ana on tower, process 12, since 2026-11-21 10:02 UTC"
        );
        (note.kind, note.process) = (LockKind::Shared, 5);
        note.username = "a\x1b[1mna\n".to_owned();
        note.time = Time::from_ns(CLOCK_NS, 3600);
        assert_eq!(
            note.describe(&here),
            "by a?[1mna? on tower, process 5, since 2026-11-21 11:02 +01:00, \
             and that process seems to be gone"
        );
    }
}
