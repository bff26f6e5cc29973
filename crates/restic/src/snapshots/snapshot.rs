//! Snapshots: which tree is the state of which paths, at what time, on which host, by which user.
//!
//! Reads, lists and writes the files of snapshots. Does not depend on how a snapshot is chosen or what its
//! tree holds.
//!
//! A snapshot is JSON (<https://restic.readthedocs.io/en/stable/100_references.html>, "Snapshots"), written
//! field by field in the order of restic's structure. Empty fields are left out, as in restic. Fields of
//! other programs are not kept.

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::encoding::json::JsonWriter;
use crate::encoding::json::parse::{RawId, json_fault, time};
use crate::encoding::time::Time;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::{self, Parts};
use crate::storage::Storage;
use crate::threads::on_all_threads;
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};

/// The state of something at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When the backup began, or what its user said.
    pub time: Time,
    /// The parent snapshot that it was compared with.
    pub parent: Option<Id>,
    /// The tree at the top.
    pub tree: Id,
    /// The absolute paths that were backed up, as the user gave them.
    pub paths: Vec<String>,
    /// The host; empty if unknown.
    pub hostname: String,
    /// The user; empty if unknown.
    pub username: String,
    /// The user's number; 0 is not written.
    pub uid: u32,
    /// The group's number; 0 is not written.
    pub gid: u32,
    /// Patterns of excluded files.
    pub excludes: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The snapshot that this one was first, before its tags or contents were changed.
    pub original: Option<Id>,
    /// The program that wrote it.
    pub program_version: String,
    /// Statistics of the backup.
    pub summary: Option<Summary>,
}

/// Statistics of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// When it began.
    #[serde(deserialize_with = "time")]
    pub backup_start: Time,
    /// When it ended.
    #[serde(deserialize_with = "time")]
    pub backup_end: Time,
    /// Files that the parent has not.
    pub files_new: u64,
    /// Files that are not as in the parent.
    pub files_changed: u64,
    /// Files that are as in the parent.
    pub files_unmodified: u64,
    /// Directories that the parent has not.
    pub dirs_new: u64,
    /// Directories that are not as in the parent.
    pub dirs_changed: u64,
    /// Directories that are as in the parent.
    pub dirs_unmodified: u64,
    /// Blobs of files that were not there yet.
    pub data_blobs: u64,
    /// Trees that were not there yet.
    pub tree_blobs: u64,
    /// Bytes of these blobs.
    pub data_added: u64,
    /// Bytes that they take in packs.
    pub data_added_packed: u64,
    /// Files in the snapshot.
    pub total_files_processed: u64,
    /// Their bytes.
    pub total_bytes_processed: u64,
}

/// All snapshots of a repository.
#[derive(Debug, Default)]
pub struct SnapshotList {
    /// Those that could be read, the oldest first; of the same time, by id.
    pub snapshots: Vec<(Id, Snapshot)>,
    /// The snapshots that could not be read, and why, by id. Code that deletes what no snapshot needs must
    /// stop if there are any.
    pub unread: Vec<(Id, Error)>,
}

impl SnapshotList {
    /// Returns the snapshots, the oldest first.
    ///
    /// # Errors
    /// Why the first of those in [`SnapshotList::unread`] could not be read.
    pub fn complete(self) -> Result<Vec<(Id, Snapshot)>> {
        match self.unread.into_iter().next() {
            Some((_, error)) => Err(error),
            None => Ok(self.snapshots),
        }
    }
}

/// Reads all snapshots, on `thread_count` threads.
///
/// # Errors
/// Storage errors from listing them, or that it cannot be reached. What is wrong with one alone is in
/// [`SnapshotList::unread`].
pub fn list(storage: &dyn Storage, key: &Key, thread_count: usize) -> Result<SnapshotList> {
    let mut ids: Vec<Id> = storage.list(FileKind::Snapshot)?.into_iter().map(|(id, _)| id).collect();
    ids.sort_unstable();
    let listed = Mutex::new(SnapshotList::default());
    on_all_threads(thread_count, &ids, |_: &mut (), &id| {
        let result = load(storage, key, id);
        let mut listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(snapshot) => listed.snapshots.push((id, snapshot)),
            Err(error) if error.ends_work() => return Err(error),
            Err(error) => listed.unread.push((id, error)),
        }
        Ok(())
    })?;
    let mut listed = listed.into_inner().unwrap_or_else(PoisonError::into_inner);
    listed.snapshots.sort_unstable_by_key(|(id, snapshot)| (snapshot.time, *id));
    listed.unread.sort_unstable_by_key(|(id, _)| *id);
    Ok(listed)
}

/// Reads one snapshot.
///
/// # Errors
/// [`Error::Missing`], [`Error::Damage`], or a storage error.
pub fn load(storage: &dyn Storage, key: &Key, id: Id) -> Result<Snapshot> {
    let json = unpacked::load(storage, key, FileKind::Snapshot, id)?;
    Snapshot::from_json(&json).map_err(|what| Error::damage(FileName { kind: FileKind::Snapshot, id }, what))
}

/// Stores a snapshot and returns its id. Everything that it names must be stored already.
///
/// # Errors
/// Storage errors.
pub fn save(parts: &Parts, snapshot: &Snapshot) -> Result<Id> {
    unpacked::save(parts, FileKind::Snapshot, &snapshot.to_json())
}

impl Snapshot {
    /// Reads a snapshot's JSON. An error says what is wrong, as the rest of a sentence.
    ///
    /// # Errors
    /// If something is missing or invalid.
    pub fn from_json(json: &[u8]) -> std::result::Result<Snapshot, String> {
        let raw: RawSnapshot = serde_json::from_slice(json).map_err(|error| json_fault(&error))?;
        Ok(Snapshot {
            time: raw.time,
            parent: raw.parent.map(|id| id.0),
            tree: raw.tree.0,
            paths: raw.paths.unwrap_or_default(),
            hostname: raw.hostname.unwrap_or_default(),
            username: raw.username.unwrap_or_default(),
            uid: raw.uid.unwrap_or_default(),
            gid: raw.gid.unwrap_or_default(),
            excludes: raw.excludes.unwrap_or_default(),
            tags: raw.tags.unwrap_or_default(),
            original: raw.original.map(|id| id.0),
            program_version: raw.program_version.unwrap_or_default(),
            summary: raw.summary,
        })
    }

    /// Returns the snapshot as restic writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out);
        json.begin_object();
        json.field("time");
        json.time(&self.time);
        optional_id(&mut json, "parent", self.parent.as_ref());
        json.field("tree");
        json.id(&self.tree);
        json.field("paths");
        json.strings(&self.paths);
        optional_string(&mut json, "hostname", &self.hostname);
        optional_string(&mut json, "username", &self.username);
        for (name, number) in [("uid", self.uid), ("gid", self.gid)] {
            if number > 0 {
                json.field(name);
                json.number(u64::from(number));
            }
        }
        for (name, texts) in [("excludes", &self.excludes), ("tags", &self.tags)] {
            if !texts.is_empty() {
                json.field(name);
                json.strings(texts);
            }
        }
        optional_id(&mut json, "original", self.original.as_ref());
        optional_string(&mut json, "program_version", &self.program_version);
        if let Some(summary) = &self.summary {
            json.field("summary");
            summary.write(&mut json);
        }
        json.end_object();
        out
    }
}

impl Summary {
    fn write(&self, json: &mut JsonWriter<'_>) {
        json.begin_object();
        json.field("backup_start");
        json.time(&self.backup_start);
        json.field("backup_end");
        json.time(&self.backup_end);
        for (name, number) in [
            ("files_new", self.files_new),
            ("files_changed", self.files_changed),
            ("files_unmodified", self.files_unmodified),
            ("dirs_new", self.dirs_new),
            ("dirs_changed", self.dirs_changed),
            ("dirs_unmodified", self.dirs_unmodified),
            ("data_blobs", self.data_blobs),
            ("tree_blobs", self.tree_blobs),
            ("data_added", self.data_added),
            ("data_added_packed", self.data_added_packed),
            ("total_files_processed", self.total_files_processed),
            ("total_bytes_processed", self.total_bytes_processed),
        ] {
            json.field(name);
            json.number(number);
        }
        json.end_object();
    }
}

fn optional_id(json: &mut JsonWriter<'_>, name: &str, id: Option<&Id>) {
    if let Some(id) = id {
        json.field(name);
        json.id(id);
    }
}

fn optional_string(json: &mut JsonWriter<'_>, name: &str, text: &str) {
    if !text.is_empty() {
        json.field(name);
        json.string(text.as_bytes());
    }
}

/// Optional fields may also be `null`: Go reads it like a missing field, and writes it for lists that were
/// never set.
#[derive(Deserialize)]
struct RawSnapshot {
    #[serde(deserialize_with = "time")]
    time: Time,
    parent: Option<RawId>,
    tree: RawId,
    paths: Option<Vec<String>>,
    hostname: Option<String>,
    username: Option<String>,
    uid: Option<u32>,
    gid: Option<u32>,
    excludes: Option<Vec<String>>,
    tags: Option<Vec<String>>,
    original: Option<RawId>,
    program_version: Option<String>,
    summary: Option<Summary>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MemoryStorage, parts};

    fn full() -> Snapshot {
        Snapshot {
            time: Time::new(1_795_255_320, 5_000_000, 3600),
            parent: Some(Id([1; 32])),
            tree: Id([2; 32]),
            paths: vec!["/home/ana/Mail".to_owned(), "/a<b".to_owned()],
            hostname: "tower".to_owned(),
            username: "ana".to_owned(),
            uid: 1000,
            gid: 100,
            excludes: vec!["*.tmp".to_owned()],
            tags: vec!["x".to_owned(), "y".to_owned()],
            original: Some(Id([3; 32])),
            program_version: "pneu 0.1.0".to_owned(),
            summary: Some(Summary {
                backup_start: Time::new(1_795_255_320, 0, 0),
                backup_end: Time::new(1_795_255_321, 0, 0),
                files_new: 1,
                files_changed: 2,
                files_unmodified: 3,
                dirs_new: 4,
                dirs_changed: 5,
                dirs_unmodified: 6,
                data_blobs: 7,
                tree_blobs: 8,
                data_added: 9,
                data_added_packed: 10,
                total_files_processed: 11,
                total_bytes_processed: u64::MAX,
            }),
        }
    }

    #[test]
    fn all_fields_in_the_order_of_restic() {
        let ids = [1_u8, 2, 3].map(|number| format!("{number:02x}").repeat(32));
        let wanted = format!(
            concat!(
                r#"{{"time":"2026-11-21T11:02:00.005+01:00","parent":"{}","tree":"{}","paths":["/home/ana/Mail","/a\u003cb"],"#,
                r#""hostname":"tower","username":"ana","uid":1000,"gid":100,"excludes":["*.tmp"],"tags":["x","y"],"#,
                r#""original":"{}","program_version":"pneu 0.1.0","summary":{{"backup_start":"2026-11-21T10:02:00Z","#,
                r#""backup_end":"2026-11-21T10:02:01Z","files_new":1,"files_changed":2,"files_unmodified":3,"dirs_new":4,"#,
                r#""dirs_changed":5,"dirs_unmodified":6,"data_blobs":7,"tree_blobs":8,"data_added":9,"data_added_packed":10,"#,
                r#""total_files_processed":11,"total_bytes_processed":18446744073709551615}}}}"#
            ),
            ids[0], ids[1], ids[2]
        );
        assert_eq!(String::from_utf8(full().to_json()).unwrap(), wanted);
        assert_eq!(Snapshot::from_json(wanted.as_bytes()), Ok(full()));
    }

    #[test]
    fn what_is_empty_is_left_out_or_may_be_null() {
        let tree = "02".repeat(32);
        let bare = Snapshot { tree: Id([2; 32]), ..Snapshot::default() };
        let json = format!(r#"{{"time":"1970-01-01T00:00:00Z","tree":"{tree}","paths":[]}}"#);
        assert_eq!(String::from_utf8(bare.to_json()).unwrap(), json);
        let nulls = format!(
            r#"{{"later":{{"a":[1]}},"time":"1970-01-01T00:00:00Z","parent":null,"tree":"{tree}","paths":null,"hostname":null,"username":null,
                "uid":null,"gid":null,"excludes":null,"tags":null,"original":null,"program_version":null,"summary":null}}"#
        );
        let short = format!(r#"{{"time":"1970-01-01T00:00:00Z","tree":"{tree}"}}"#);
        for json in [json, nulls, short] {
            assert_eq!(Snapshot::from_json(json.as_bytes()), Ok(bare.clone()), "{json}");
        }
    }

    #[test]
    fn damage_says_where_and_nothing_of_what() {
        let wrong = |from: &str, to: &str| {
            let json = String::from_utf8(full().to_json()).unwrap();
            assert!(json.contains(from));
            Snapshot::from_json(json.replace(from, to).as_bytes()).unwrap_err()
        };
        assert_eq!(
            wrong(r#""tree":"0202"#, r#""tree":"0g02"#),
            "its content has an unexpected value at line 1, column 189"
        );
        assert_eq!(wrong("11:02", "25:02"), "its content has an unexpected value at line 1, column 39");
        assert_eq!(
            wrong(r#""tree""#, r#""leaf""#).split(" at").next(),
            Some("its content has an unexpected value")
        );
        assert_eq!(
            wrong(r#"["x""#, r#"[["x""#).split(" at").next(),
            Some("its content has an unexpected value")
        );
        assert_eq!(Snapshot::from_json(b"no").unwrap_err(), "its content is not JSON at line 1, column 2");
        let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
        assert!(Snapshot::from_json(deep.as_bytes()).is_err());
    }

    #[test]
    fn all_are_listed_by_time_and_each_that_cannot_be_read_with_its_reason() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let mut saved: Vec<(Id, Snapshot)> = [5, 3, 9, 3]
            .map(|seconds| Snapshot { time: Time::new(seconds, 0, 0), uid: 7, ..full() })
            .into_iter()
            .map(|snapshot| (save(&parts, &snapshot).unwrap(), snapshot))
            .collect();
        let broken = unpacked::save(&parts, FileKind::Snapshot, b"{}").unwrap();
        let other = Id::of(b"elsewhere");
        storage.put(FileName { kind: FileKind::Snapshot, id: other }, b"nothing".to_vec());
        saved.sort_by_key(|(id, snapshot)| (snapshot.time, *id));
        for thread_count in [0, 1, 2, 100] {
            let listed = list(&*storage, &parts.key, thread_count).unwrap();
            assert_eq!(listed.snapshots, saved);
            let mut unread: Vec<(Id, String)> =
                listed.unread.iter().map(|(id, error)| (*id, error.to_string())).collect();
            let wanted = [
                (broken, "its content has an unexpected value at line 1, column 2"),
                (other, "its content does not match its name"),
            ];
            let mut wanted = wanted.map(|(id, what)| {
                (id, Error::damage(FileName { kind: FileKind::Snapshot, id }, what).to_string())
            });
            wanted.sort();
            assert!(unread.is_sorted());
            unread.sort();
            assert_eq!(unread, wanted);
        }
        storage.refuse(|operation| operation == "list snapshots");
        assert!(list(&*storage, &parts.key, 2).is_err());
        storage.refuse(|operation| operation.starts_with("read"));
        let unreachable = list(&*storage, &parts.key, 2).unwrap_err();
        assert!(matches!(unreachable, Error::Storage { .. }), "it is no fault of the snapshots");
    }
}
