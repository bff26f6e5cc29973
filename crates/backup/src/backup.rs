//! One backup: what the index knows becomes a snapshot.
//!
//! In: an index, an open repository that is locked for it. Out: a snapshot, and what was left out. Nothing names a snapshot before all that
//! it names is durable: first blobs and what index files say of them, then the snapshot, and last what is to be known next time.

use crate::bring_back::QUERIES;
use crate::entry::Entry;
use crate::error::{Error, Problem, Result};
use crate::joined::{ReadingFrom, Writing};
use crate::known::{Known, Opened, discard, place};
use crate::learned::lists;
use crate::lost::{KEPT, Lost, keep};
use crate::messages::Source;
use crate::own::OwnFiles;
use crate::settled::settled;
use crate::store_mail::{Counts, StoredMail, store_mail};
use crate::vault::{Again, Vault, Walk};
use archive::{
    HeldLock, Id, Progress, Repository, SaveOptions, SaveStatistics, Saver, Snapshot, Surroundings, Time,
};
use index::{Environment, Inventory, Root};
use std::collections::BTreeMap;

/// Where a backup goes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// Its lock, held by whoever backs up.
    pub lock: &'a HeldLock,
}

/// What a backup is given besides mail.
#[derive(Clone, Debug)]
pub struct BackupOptions {
    /// Tags of the snapshot.
    pub tags: Vec<String>,
    /// The configuration file, to be stored beside the tags.
    pub configuration: Option<Vec<u8>>,
    /// How blobs are saved.
    pub save: SaveOptions,
    /// Who writes the snapshot: "pneu 0.1.0".
    pub program_version: String,
}

/// What a backup did.
#[derive(Clone, Debug)]
pub struct BackupReport {
    /// The snapshot.
    pub snapshot: Id,
    /// The one before it.
    pub parent: Option<Id>,
    /// How many files and directories there are.
    pub counts: Counts,
    /// How much was added to the repository.
    pub saved: SaveStatistics,
    /// What was left out, in order of paths: the backup is good for all else.
    pub problems: Vec<Problem>,
}

/// Backs up all mail that the index knows.
///
/// # Errors
/// [`Error::NoMail`]; what the index and the archive say; [`Error::Interrupted`]: then there is no new snapshot.
pub fn backup(
    environment: &Environment,
    target: &Target<'_>,
    options: &BackupOptions,
    progress: &dyn Progress,
) -> Result<BackupReport> {
    let repository = target.repository;
    let surroundings = repository.surroundings();
    let begun = now(environment);
    let inventory = Inventory::open(environment)?;
    let paths = paths(inventory.roots());
    // Snapshots come first: what they name is in the index of blobs by the time that they appear.
    let snapshots = snapshots(repository)?;
    let parent = parent(&snapshots, surroundings, &paths);
    let tables = place(&environment.data, &repository.id());
    let tree = parent.map(|(_, parent)| &parent.tree);
    let (known, unread) = match Known::open(&environment.disk, &tables) {
        Opened::Known(known) => (Some(*known), None),
        Opened::Unread(error) => (of_archive(repository, tree, &snapshots, progress)?, Some(error)),
        Opened::Useless => {
            // What cannot be used is in the way of what will be written.
            discard(environment.disk.as_ref(), &tables)?;
            (of_archive(repository, tree, &snapshots, progress)?, None)
        }
    };
    let mut files = vec![("tags".to_owned(), index::export_tags(environment)?.into_bytes())];
    files.extend(index::export_queries(environment)?.map(|bytes| (QUERIES.to_owned(), bytes)));
    files.extend(options.configuration.iter().map(|bytes| ("config.toml".to_owned(), bytes.clone())));
    let own =
        OwnFiles { files, now_ns: (environment.clock_ns)(), uid: surroundings.uid, gid: surroundings.gid };
    let writing = Writing::new(repository, Saver::new(repository, target.lock, options.save)?);
    let source = Source { depot: &writing, known: known.as_ref(), progress };
    let threads = repository.surroundings().thread_count;
    let stored = on_threads(threads, || store_mail(&source, &inventory, &own))?;
    let StoredMail { tree, changes, counts, mut problems } = stored;
    let saved = writing.into_saver().finish()?;
    let snapshot = Snapshot {
        parent: parent.map(|(id, _)| *id),
        summary: Some(summary(&counts, &saved, (begun, now(environment)))),
        ..snapshot(target, tree, paths, options)
    };
    let id = save(target, &snapshot)?;
    let what = match unread {
        // They may know more than this backup had to find out: they stay.
        Some(error) => Some(format!("what is known of earlier backups could not be read: {error}")),
        None => changes
            .commit(&environment.disk, &tables, &environment.holder, environment.seed)
            .map_err(|error| {
                format!(
                    "what is known for the next backup could not be written, which will take longer: {error}"
                )
            })
            .err(),
    };
    problems.extend(what.map(|what| Problem { path: tables, what }));
    Ok(BackupReport { snapshot: id, parent: snapshot.parent, counts, saved, problems })
}

/// Writes one snapshot, with the tag [`KEPT`], that keeps messages which nothing else would have.
///
/// # Errors
/// What the archive says.
pub fn keep_messages(
    environment: &Environment,
    target: &Target<'_>,
    lost: &[Lost],
    options: &BackupOptions,
) -> Result<Id> {
    let writing = Writing::new(target.repository, Saver::new(target.repository, target.lock, options.save)?);
    let surroundings = target.repository.surroundings();
    let tree = keep(&writing, lost, (surroundings.uid, surroundings.gid, (environment.clock_ns)()))?;
    writing.into_saver().finish()?;
    let mut snapshot = snapshot(target, tree, vec![format!("/{KEPT}")], options);
    snapshot.tags.push(KEPT.to_owned());
    save(target, &snapshot)
}

/// Works on so many threads: who fills a pack stores it, so that as many requests are under way as there are threads. Where no more can be had,
/// the caller's will do.
fn on_threads<T: Send>(count: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(count).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn save(target: &Target<'_>, snapshot: &Snapshot) -> Result<Id> {
    Ok(target.repository.save_snapshot_under(target.lock, snapshot)?)
}

fn snapshot(target: &Target<'_>, tree: Id, paths: Vec<String>, options: &BackupOptions) -> Snapshot {
    let surroundings = target.repository.surroundings();
    Snapshot {
        time: Time::from_ns((surroundings.clock_ns)(), 0),
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

/// Returns the paths of all roots, in order.
fn paths(roots: &[Root]) -> Vec<String> {
    let mut paths: Vec<String> =
        settled(roots).iter().map(|root| root.path.to_string_lossy().into_owned()).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn snapshots(repository: &Repository) -> Result<Vec<(Id, Snapshot)>> {
    let threads = repository.surroundings().thread_count;
    Ok(archive::snapshot::list(repository.storage(), repository.key(), threads)?.snapshots)
}

/// Returns the newest snapshot of the same machine and paths.
fn parent<'a>(
    snapshots: &'a [(Id, Snapshot)],
    surroundings: &Surroundings,
    paths: &[String],
) -> Option<&'a (Id, Snapshot)> {
    let now = (surroundings.clock_ns)();
    let is_ours = |snapshot: &Snapshot| {
        snapshot.hostname == surroundings.hostname && snapshot.paths == paths && snapshot.time.ns() <= now
    };
    let ours = snapshots.iter().filter(|(_, snapshot)| is_ours(snapshot));
    ours.max_by_key(|(id, snapshot)| (snapshot.time.ns(), *id))
}

/// Reads what is known from the archive alone: from a snapshot's trees, and from the lists of pieces. What is damaged is no reason to
/// have no backup: what it says is unknown.
fn of_archive(
    repository: &Repository,
    tree: Option<&Id>,
    snapshots: &[(Id, Snapshot)],
    progress: &dyn Progress,
) -> Result<Option<Known>> {
    let reading = ReadingFrom::new(repository);
    let vault: &dyn Vault = &reading;
    let all: Vec<Snapshot> = snapshots.iter().map(|(_, snapshot)| snapshot.clone()).collect();
    let lists = lists(vault, &all)?;
    if tree.is_none() && lists.list.0.is_empty() {
        return Ok(None);
    }
    let mut directories: BTreeMap<Vec<u8>, Vec<Entry>> = BTreeMap::new();
    let mut walk = Walk::new(vault, progress, Again::Enter);
    let walked = tree.map_or(Ok(()), |tree| {
        walk.run(tree, &mut |path, entry| {
            directories.entry(path.to_vec()).or_default().push(entry.clone());
            Ok(())
        })
    });
    if let Err(Error::Interrupted) = walked {
        return Err(Error::Interrupted);
    }
    let list: Vec<(Vec<u8>, Vec<Entry>)> = directories.into_iter().collect();
    Known::of_trees(&list, &lists).map(Some)
}

fn now(environment: &Environment) -> Time {
    Time::from_ns((environment.clock_ns)(), 0)
}

fn summary(
    counts: &Counts,
    saved: &SaveStatistics,
    (begun, ended): (Time, Time),
) -> archive::snapshot::Summary {
    archive::snapshot::Summary {
        backup_start: begun,
        backup_end: ended,
        files_new: counts.files_new,
        files_changed: counts.files_changed,
        files_unmodified: counts.files_unchanged,
        dirs_new: counts.directories_new,
        dirs_changed: counts.directories_changed,
        dirs_unmodified: counts.directories_unchanged,
        data_blobs: saved.data_blob_count,
        tree_blobs: saved.tree_blob_count,
        data_added: saved.plain_bytes,
        data_added_packed: saved.packed_bytes,
        total_files_processed: counts.files_new + counts.files_changed + counts.files_unchanged,
        total_bytes_processed: counts.bytes,
    }
}
