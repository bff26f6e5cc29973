//! One backup: all mail that the index knows becomes a snapshot.
//!
//! Input: an index, and a repository that the caller has locked. Output: a snapshot, and what was left out.
//! Blobs and index files are written first, then the snapshot that names them, and last the cache for the
//! next backup.

use crate::blobs::entry::Entry;
use crate::blobs::reader::BlobReader;
use crate::blobs::repository::{RepositoryReader, RepositoryWriter};
use crate::blobs::walk::{Revisit, Walk};
use crate::cache::{Cache, CacheUpdate, Opened, cache_directory, discard};
use crate::error::{Error, Problem, Result};
use crate::names::{CONFIGURATION, FOLDERS, QUERIES, TAGS};
use crate::pieces::lists::read_lists;
use crate::remedy::Remedy;
use crate::roots::resolved_roots;
use crate::write::context::BackupContext;
use crate::write::look_ahead::LookAhead;
use crate::write::pneu_files::PneuFiles;
use crate::write::snapshot::{BackupOptions, Target, save, snapshot};
use crate::write::store_mail::{Counts, StoredMail, store_mail};
use index::{Environment, Inventory, Root};
use restic::{Id, Repository, SaveStatistics, Saver, Snapshot, Surroundings, Time};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use work::{Progress, on_threads};

/// The result of a backup.
#[derive(Clone, Debug)]
pub struct BackupReport {
    /// The snapshot.
    pub snapshot: Id,
    /// Its parent.
    pub parent: Option<Id>,
    /// How many files and directories there are.
    pub counts: Counts,
    /// How much was added to the repository.
    pub saved: SaveStatistics,
    /// Files that were left out, sorted by path, then what could not be read of the repository. Everything
    /// else is in the snapshot.
    pub problems: Vec<Problem>,
}

/// Backs up all mail that the index knows. Looks at every file, and reads those that changed since the last
/// backup.
///
/// # Errors
/// [`Error::NoMail`], [`Error::NoRoot`]; the index or the repository reports a failure;
/// [`Error::Interrupted`]. No snapshot is written then.
pub fn backup(
    environment: &Environment,
    target: &Target<'_>,
    options: &BackupOptions,
    progress: &dyn Progress,
) -> Result<BackupReport> {
    backup_after(environment, (target, None), options, progress)
}

/// Backs up as [`backup`] does, after a look at the files that began before the repository was open. If that
/// was some time ago, as after a long wait for the lock, it does not count.
///
/// # Errors
/// As [`backup`].
pub fn backup_after(
    environment: &Environment,
    (target, ahead): (&Target<'_>, Option<LookAhead>),
    options: &BackupOptions,
    progress: &dyn Progress,
) -> Result<BackupReport> {
    let repository = target.repository;
    let surroundings = repository.surroundings();
    let begun = now(environment);
    let ahead = ahead.and_then(|ahead| ahead.recent(environment));
    let inventory = match &ahead {
        Some(ahead) => ahead.inventory(),
        None => Arc::new(Inventory::open(environment)?),
    };
    let paths = paths(inventory.roots());
    // Snapshots are listed before the blob index is read, so that all blobs that they name are in it.
    let listed = repository.snapshots()?;
    let snapshots = listed.snapshots;
    let parent = parent(&snapshots, surroundings, &paths);
    let tables = cache_directory(&environment.data, &repository.id());
    let tree = parent.map(|(_, parent)| &parent.tree);
    let known = ahead.as_ref().and_then(|ahead| ahead.cache_in(&tables));
    let ahead = ahead.filter(|_| known.is_some());
    let (cache, unread) = match known.map_or_else(|| Cache::open(&environment.disk, &tables), Opened::Usable)
    {
        Opened::Usable(cache) => (Some(cache), None),
        Opened::Unreadable(error) => (of_archive(repository, tree, &snapshots, progress)?, Some(error)),
        Opened::Unusable => {
            // New tables are written in their place.
            discard(environment.disk.as_ref(), &tables)?;
            (of_archive(repository, tree, &snapshots, progress)?, None)
        }
    };
    let pneu_files = pneu_files(environment, options, surroundings)?;
    let writing = RepositoryWriter::new(repository, Saver::new(repository, target.lock, options.save)?);
    let threads = repository.surroundings().context.threads.count();
    let seen = ahead.map(|ahead| ahead.finish(progress)).transpose()?.unwrap_or_default();
    let context = BackupContext { writer: &writing, cache: cache.as_deref(), seen: &seen, progress };
    // The thread that fills a pack also stores it, so that there is one request per thread.
    let stored = on_threads(threads, || store_mail(&context, &inventory, &pneu_files))?;
    let StoredMail { tree, changes, counts, mut problems } = stored;
    let saved = writing.into_saver().finish()?;
    let snapshot = Snapshot {
        parent: parent.map(|(id, _)| *id),
        summary: Some(summary(&counts, &saved, (begun, now(environment)))),
        ..snapshot(target, tree, paths, options)
    };
    let id = save(target, &snapshot)?;
    let what = match unread {
        // They may be good, and more complete than this backup's update, so they stay.
        Some(error) => Some(format!("the cache of earlier backups could not be read: {error}")),
        None => update_cache(environment, &tables, changes),
    };
    problems.extend(what.map(|what| Problem::new(tables, what)));
    problems.extend(unread_snapshots(listed.unread));
    Ok(BackupReport { snapshot: id, parent: parent.map(|(id, _)| *id), counts, saved, problems })
}

/// Updates the cache after a backup that has a snapshot: the next one tells what is new since then. Returns
/// what there is to say of it.
fn update_cache(environment: &Environment, tables: &Path, changes: CacheUpdate) -> Option<String> {
    let committed = on_threads(environment.context.threads, || {
        changes.commit(&environment.disk, tables, &environment.holder, environment.seed)
    });
    let error = committed.err()?;
    Some(format!(
        "the cache of earlier backups could not be written, so the next backup takes longer: {error}"
    ))
}

/// Returns what only this program knows.
fn pneu_files(
    environment: &Environment,
    options: &BackupOptions,
    surroundings: &Surroundings,
) -> Result<PneuFiles> {
    let mut files = vec![(TAGS.to_owned(), index::export_tags(environment)?.into_bytes())];
    files.extend(index::export_queries(environment)?.map(|bytes| (QUERIES.to_owned(), bytes)));
    files.extend(index::export_folders(environment)?.map(|text| (FOLDERS.to_owned(), text.into_bytes())));
    files.extend(options.configuration.iter().map(|bytes| (CONFIGURATION.to_owned(), bytes.clone())));
    let now_ns = environment.context.now_ns();
    Ok(PneuFiles { files, now_ns, uid: surroundings.uid, gid: surroundings.gid })
}

/// Returns the paths of all roots, in order.
fn paths(roots: &[Root]) -> Vec<String> {
    let mut paths: Vec<String> =
        resolved_roots(roots).iter().map(|root| root.path.to_string_lossy().into_owned()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns a problem for each snapshot that cannot be read: it may be the parent.
fn unread_snapshots(unread: Vec<(Id, restic::Error)>) -> impl Iterator<Item = Problem> {
    unread.into_iter().map(|(id, error)| {
        let file = restic::FileName { kind: restic::FileKind::Snapshot, id };
        Problem {
            remedy: error.remedy().map(Remedy::Repository),
            ..Problem::new(file.path(), error.to_string())
        }
    })
}

/// Returns the newest snapshot of the same machine and paths.
fn parent<'a>(
    snapshots: &'a [(Id, Snapshot)],
    surroundings: &Surroundings,
    paths: &[String],
) -> Option<&'a (Id, Snapshot)> {
    let now = surroundings.context.now_ns();
    let is_ours = |snapshot: &Snapshot| {
        snapshot.hostname == surroundings.hostname && snapshot.paths == paths && snapshot.time.ns() <= now
    };
    let ours = snapshots.iter().filter(|(_, snapshot)| is_ours(snapshot));
    ours.max_by_key(|(id, snapshot)| (snapshot.time.ns(), *id))
}

/// Reads what is known from the repository alone: from a snapshot's trees, and from the lists of pieces.
/// Damage does not prevent the backup; the damaged parts count as unknown.
fn of_archive(
    repository: &Repository,
    tree: Option<&Id>,
    snapshots: &[(Id, Snapshot)],
    progress: &dyn Progress,
) -> Result<Option<Arc<Cache>>> {
    let reading = RepositoryReader::new(repository);
    let reader: &dyn BlobReader = &reading;
    let all: Vec<Snapshot> = snapshots.iter().map(|(_, snapshot)| snapshot.clone()).collect();
    let lists = read_lists(reader, &all)?;
    if tree.is_none() && lists.list.0.is_empty() {
        return Ok(None);
    }
    let mut directories: BTreeMap<Vec<u8>, Vec<Entry>> = BTreeMap::new();
    let mut walk = Walk::new(reader, progress, Revisit::Enter);
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
    Ok(Some(Arc::new(Cache::of_trees(&list, &lists)?)))
}

fn now(environment: &Environment) -> Time {
    Time::from_ns(environment.context.now_ns(), 0)
}

fn summary(
    counts: &Counts,
    saved: &SaveStatistics,
    (begun, ended): (Time, Time),
) -> restic::snapshot::Summary {
    restic::snapshot::Summary {
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
