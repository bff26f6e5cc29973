//! The target of a backup, and the snapshot of its tree.

use crate::error::Result;
use restic::{HeldLock, Id, Repository, SaveOptions, Snapshot, Time};

/// The target of a backup.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// Its lock, which the caller holds.
    pub lock: &'a HeldLock,
}

/// Options of a backup.
#[derive(Clone, Debug)]
pub struct BackupOptions {
    /// Tags of the snapshot.
    pub tags: Vec<String>,
    /// The configuration file, to be stored in the snapshot.
    pub configuration: Option<Vec<u8>>,
    /// How blobs are saved.
    pub save: SaveOptions,
    /// The program's name and version: "pneu 0.1.0".
    pub program_version: String,
}

/// Saves a snapshot under the lock that the caller holds.
pub(crate) fn save(target: &Target<'_>, snapshot: &Snapshot) -> Result<Id> {
    Ok(target.repository.save_snapshot_under(target.lock, snapshot)?)
}

/// Returns a snapshot of this host, user and time, without a parent.
pub(crate) fn snapshot(
    target: &Target<'_>,
    tree: Id,
    paths: Vec<String>,
    options: &BackupOptions,
) -> Snapshot {
    let surroundings = target.repository.surroundings();
    Snapshot {
        time: Time::from_ns(surroundings.context.now_ns(), 0),
        parent: None,
        tree,
        paths,
        hostname: surroundings.hostname.clone(),
        username: surroundings.username.clone(),
        uid: surroundings.uid,
        gid: surroundings.gid,
        excludes: Vec::new(),
        tags: options.tags.clone(),
        original: None,
        program_version: options.program_version.clone(),
        summary: None,
    }
}
