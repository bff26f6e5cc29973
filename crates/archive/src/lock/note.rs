//! What stands in a lock's file.
//!
//! Comes in: who is at work, or JSON. Goes out: the other one, and whether its writer is still there. Must not know where locks are kept.
//!
//! Beside restic's fields stands an object `pneu`, which restic passes over. It tells the process that wrote
//! the lock from every later one with its number:
//!
//! | field | |
//! |---|---|
//! | `place` | text: the run of the kernel and the namespaces that the process was in; only equality counts |
//! | `started` | number: when the process began, in a unit that is the same in all of that place |

use super::LockKind;
use crate::json::JsonWriter;
use crate::key_file::place;
use crate::surroundings::Surroundings;
use crate::time::Time;
use serde::Deserialize;

/// Who is at work, how and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// When it was written: each renewal is a new one.
    pub(super) time: Time,
    pub(super) kind: LockKind,
    pub(super) hostname: String,
    pub(super) username: String,
    pub(super) process: i64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Which of the processes that ever had the number; `None` in a lock of another program.
    pub(super) birth: Option<Birth>,
}

/// Where and when a process began. No two processes that have the same number share both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Birth {
    /// See [`Surroundings::place`].
    pub(super) place: String,
    /// See [`Surroundings::started`].
    pub(super) started: u64,
}

/// After so long without being renewed, a lock has no holder any more.
const STALE_NS: i64 = 30 * 60 * 1_000_000_000;

impl Note {
    /// Returns the note that is written now.
    pub(super) fn now(surroundings: &Surroundings, kind: LockKind) -> Note {
        Note {
            time: Time::from_ns((surroundings.clock_ns)(), 0),
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

    /// Says whether its writer has ended for sure: a pneu that ran on this machine since it was started last,
    /// beside the processes that we can see, none of which it is. Whatever leaves a doubt is a no.
    pub(super) fn is_certainly_gone(&self, surroundings: &Surroundings) -> bool {
        let (Some(birth), Some(here), Ok(process)) =
            (&self.birth, &surroundings.place, u32::try_from(self.process))
        else {
            return false;
        };
        // Copies of a running virtual machine share all but the name that they are given.
        if birth.place != *here || self.hostname != surroundings.hostname {
            return false;
        }
        !(surroundings.is_alive)(process)
            || (surroundings.started)(process).is_some_and(|started| started != birth.started)
    }

    /// Says whether its writer is gone: it was not renewed for long, or its process on this machine has ended.
    pub(super) fn is_stale(&self, surroundings: &Surroundings) -> bool {
        let age_ns = (surroundings.clock_ns)().saturating_sub(self.time.ns());
        let is_alive = |process: i64| u32::try_from(process).is_ok_and(surroundings.is_alive);
        age_ns > STALE_NS
            || (self.hostname == surroundings.hostname && !is_alive(self.process))
            || self.is_certainly_gone(surroundings)
    }

    /// Says how, by whom and since when, as the end of "the repository is locked".
    pub(super) fn describe(&self, surroundings: &Surroundings) -> String {
        let how = if self.kind == LockKind::Exclusive { "exclusively " } else { "" };
        let gone = if self.is_stale(surroundings) { ", and that one seems to be gone" } else { "" };
        format!("{how}by {}{gone}", self.writer())
    }

    /// Says who wrote it and when.
    pub(super) fn writer(&self) -> String {
        let plain = |text: &str| text.replace(char::is_control, "?");
        let (user, host, process, time) =
            (plain(&self.username), plain(&self.hostname), self.process, self.time);
        format!("{user} on {host}, process {process}, since {time}")
    }

    /// Reads a lock's JSON. An error says what is wrong, as the rest of a sentence.
    pub(super) fn from_json(json: &[u8]) -> Result<Note, String> {
        let raw: RawNote = serde_json::from_slice(json).map_err(|error| place(&error))?;
        Ok(Note {
            time: raw.time,
            kind: if raw.exclusive { LockKind::Exclusive } else { LockKind::Shared },
            hostname: raw.hostname,
            username: raw.username,
            process: raw.pid,
            uid: raw.uid,
            gid: raw.gid,
            // Another program may mean something else by the name.
            birth: serde_json::from_value(raw.pneu).ok(),
        })
    }

    /// Returns the note as restic writes it, with [`Birth`] behind it.
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

#[derive(Deserialize)]
struct RawNote {
    #[serde(deserialize_with = "crate::snapshot::time")]
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

    fn note() -> Note {
        Note::now(&surroundings(), LockKind::Exclusive)
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
        assert_eq!(Note::from_json(json.as_bytes()), Ok(note()));
        let others = Note { birth: None, ..note() };
        assert_eq!(Note::from_json(restic.as_bytes()).as_ref(), Ok(&others));
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
            assert_eq!(Note::from_json(json.as_bytes()).as_ref(), Ok(&others), "{odd}");
        }
        let bare = r#"{"time":"2026-11-21T10:02:00Z","exclusive":false,"hostname":"","username":"","pid":0}"#;
        let found = Note::from_json(bare.as_bytes()).unwrap();
        assert_eq!((found.kind, found.uid, found.gid), (LockKind::Shared, 0, 0));
        assert_eq!(String::from_utf8(found.to_json()).unwrap(), bare);
        for wrong in ["", "{}", r#"{"time":"never","exclusive":true}"#, r#"{"time":"2026-11-21T10:02:00Z"}"#]
        {
            assert!(Note::from_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_is_gone_is_stale() {
        let here = surroundings();
        let stale = |change: &dyn Fn(&mut Note)| {
            let mut note = Note { birth: None, ..note() };
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
        let gone = |change: &dyn Fn(&mut Note)| {
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
            let other = |note: &mut Note| {
                (note.process, note.birth, note.hostname) = (78, birth(place, 1), hostname.to_owned());
            };
            assert!(!gone(&other), "{place} {hostname}");
        }
        let old = Time::from_ns(CLOCK_NS - 90_000_000_000_000, 0);
        assert!(!gone(&|note| (note.process, note.birth, note.time) = (78, None, old)), "of another program");
        let unseen = Surroundings { started: |_| None, ..here.clone() };
        assert!(
            !Note { process: 77, ..note() }.is_certainly_gone(&unseen),
            "somebody is there, and who is unknown"
        );
        let nowhere = Surroundings { place: None, ..here.clone() };
        assert!(!Note { process: 78, ..note() }.is_certainly_gone(&nowhere));
        assert_eq!(
            (Note::now(&unseen, LockKind::Shared).birth, Note::now(&nowhere, LockKind::Shared).birth),
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
            "by a?[1mna? on tower, process 5, since 2026-11-21 11:02 +01:00, and that one seems to be gone"
        );
    }
}
