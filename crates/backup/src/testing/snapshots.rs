//! Snapshots of other machines and other times.

use restic::{Id, Snapshot, Time};

/// Returns a snapshot of an empty tree.
pub(crate) fn snapshot(host: &str, seconds: i64, paths: &[&str], tags: &[&str]) -> Snapshot {
    Snapshot {
        time: Time::from_ns(seconds * 1_000_000_000, 0),
        parent: None,
        tree: Id([0; 32]),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        hostname: host.to_owned(),
        username: String::new(),
        uid: 0,
        gid: 0,
        excludes: Vec::new(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        original: None,
        program_version: String::new(),
        summary: None,
    }
}
