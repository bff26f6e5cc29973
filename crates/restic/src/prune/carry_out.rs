//! Carries out a plan: rewrites the used blobs of packs that are removed, writes index files, then removes
//! files.
//!
//! Input: a plan, and the exclusive lock. Output: what was removed.

use super::plan::{PackChoice, PrunePlan};
use crate::blob_index::{Entry, Mention, PackSummary, Survey};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::index_file::{BLOB_COUNT_FULL, IndexFileWriter};
use crate::lock::HeldLock;
use crate::repository::Repository;
use crate::repository::read::{Reading, Wanted};
use crate::save::{SaveOptions, Saver};
use crate::threads::on_all_threads;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// The result of a prune.
#[derive(Debug, Default)]
pub struct PruneReport {
    /// Packs that were removed.
    pub removed_pack_count: u64,
    /// Index files that were written.
    pub written_index_count: u64,
    /// Index files that were removed.
    pub removed_index_count: u64,
    /// Temporary files of killed writes that were removed.
    pub removed_unfinished_count: u64,
    /// Packs that could not be removed. Nothing names them any more, so the next prune removes them.
    pub failed: Vec<Error>,
}

/// All blobs and packs with their numbers.
struct All<'a> {
    survey: &'a Survey<'a>,
    packs: &'a [PackSummary],
}

/// Carries out a plan. The exclusive `lock` must have been held since before the plan was made.
///
/// # Errors
/// A blob that stays cannot be read, or a storage error. Nothing that snapshots need is lost; at worst
/// the repository holds more than before.
pub fn carry_out(lock: &HeldLock, plan: &PrunePlan, progress: &dyn Progress) -> Result<PruneReport> {
    let mut report = PruneReport::default();
    let PrunePlan { repository, choice, .. } = plan;
    lock.check()?;
    refuse_snapshots(repository, &plan.going)?;
    // No other process writes while the lock is held.
    report.removed_unfinished_count = repository.storage().remove_unfinished()?;
    if plan.is_empty() {
        return Ok(report);
    }
    let survey = repository.index()?.survey()?;
    let packs = survey.packs()?;
    let all = All { survey: &survey, packs: &packs };
    write_anew(plan, lock, &all, progress)?;
    let pack_id = |number: u32| packs.get(number as usize).map(|pack| pack.id);
    let mut going: HashSet<Id> = choice.remove.iter().copied().collect();
    going.extend(choice.repack.iter().chain(&choice.gone).filter_map(|&number| pack_id(number)));
    let is_going = |number: u32| pack_id(number).is_some_and(|id| going.contains(&id));
    let old_files = replace_index_files(repository, lock, &all, &is_going, &mut report)?;
    // From here on nothing is written, and no index that was read earlier is used. Index files are removed
    // before the packs that they name.
    repository.outdate();
    remove_all((repository, lock), (FileKind::Index, &old_files), &|removed| removed)?;
    report.removed_index_count = old_files.len() as u64;
    let mut going: Vec<Id> = going.into_iter().collect();
    going.sort_unstable();
    progress.expect(going.len() as u64, 0);
    let failed = Mutex::new(Vec::new());
    remove_all((repository, lock), (FileKind::Pack, &going), &|removed| {
        progress.add(1, 0);
        match removed {
            // The next prune removes what cannot be removed now.
            Err(error) if !matches!(error, Error::LockLost { .. } | Error::Interrupted) => {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                Ok(())
            }
            other => other,
        }
    })?;
    report.failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.failed.sort_by_cached_key(ToString::to_string);
    let unremoved = choice.gone.len() + report.failed.len();
    report.removed_pack_count = going.len().saturating_sub(unremoved) as u64;
    Ok(report)
}

/// Fails if a snapshot still exists that the plan left out.
fn refuse_snapshots(repository: &Repository, going: &[Id]) -> Result<()> {
    if going.is_empty() {
        return Ok(());
    }
    let there = repository.storage().list(FileKind::Snapshot)?;
    match there.iter().find(|(id, _)| going.contains(id)) {
        None => Ok(()),
        Some(&(id, _)) => {
            let file = FileName { kind: FileKind::Snapshot, id }.to_string();
            Err(Error::Unsupported {
                file,
                what: "it still exists, so what it needs cannot be removed".to_owned(),
            })
        }
    }
}

/// Removes files of one kind on all threads, as long as the lock is held. `tell` receives the result for each
/// file and returns the one that counts.
fn remove_all(
    (repository, lock): (&Repository, &HeldLock),
    (kind, ids): (FileKind, &[Id]),
    tell: &(dyn Fn(Result<()>) -> Result<()> + Sync),
) -> Result<()> {
    on_all_threads(repository.surroundings().context.threads.count(), ids, |_: &mut (), &id| {
        tell(repository.storage().remove_while(FileName { kind, id }, &|| lock.check()))
    })
}

/// Rewrites the blobs that stay of packs to be rewritten into new packs, with index files for them.
fn write_anew(plan: &PrunePlan, lock: &HeldLock, all: &All<'_>, progress: &dyn Progress) -> Result<()> {
    let PrunePlan { repository, choice, .. } = plan;
    if choice.repack.is_empty() {
        return Ok(());
    }
    progress.expect(choice.repack.len() as u64, plan.figures.repacked_bytes);
    let saver = Saver::new(repository, lock, SaveOptions::default())?;
    let expected = AtomicU64::new(0);
    let written = AtomicU64::new(0);
    on_all_threads(
        repository.surroundings().context.threads.count(),
        &choice.repack,
        |reading: &mut Reading, &pack| {
            progress.check()?;
            let wanted = kept_in(all, choice, pack)?;
            expected.fetch_add(wanted.len() as u64, Ordering::Relaxed);
            let mut byte_count = 0;
            repository.load_from_pack(reading, &wanted, &mut |place, content| {
                let (content, blob) = (content?, &wanted[place]);
                saver.save_again(blob.kind, blob.id, content)?;
                byte_count += u64::from(blob.location.length);
                written.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })?;
            progress.add(1, byte_count);
            Ok(())
        },
    )?;
    saver.finish()?;
    assert_eq!(
        expected.into_inner(),
        written.into_inner(),
        "every blob that stays was written before any goes"
    );
    Ok(())
}

/// Returns the blobs of a pack that stay, by offset.
fn kept_in(all: &All<'_>, choice: &PackChoice, pack: u32) -> Result<Vec<Wanted>> {
    let mut entries: Vec<Entry> = Vec::new();
    all.survey.pack_entries(pack, &mut entries)?;
    let pack = all.packs[pack as usize].id;
    let kept = entries.iter().filter(|entry| choice.keep.has(entry.number));
    Ok(kept
        .map(|Entry { blob, .. }| Wanted { kind: blob.kind, id: blob.id, location: blob.location(pack) })
        .collect())
}

/// Writes new index files for packs that stay but are named only by index files that also name packs to be
/// removed. Returns those old index files.
fn replace_index_files(
    repository: &Repository,
    lock: &HeldLock,
    all: &All<'_>,
    is_going: &dyn Fn(u32) -> bool,
    report: &mut PruneReport,
) -> Result<Vec<Id>> {
    let mentions = all.survey.mentions()?;
    let files = all.survey.files()?;
    let old: HashSet<u32> =
        mentions.iter().filter(|mention| is_going(mention.pack)).map(|mention| mention.file).collect();
    let is_old = |mention: &&Mention| old.contains(&mention.file);
    // Another index file still names these packs.
    let named: HashSet<u32> =
        mentions.iter().filter(|mention| !is_old(mention)).map(|mention| mention.pack).collect();
    let homeless = mentions.iter().filter(is_old).map(|mention| mention.pack);
    let mut homeless: Vec<u32> = homeless.filter(|pack| !is_going(*pack) && !named.contains(pack)).collect();
    homeless.sort_unstable();
    homeless.dedup();
    let mut writer = IndexFileWriter::default();
    let mut write = |writer: &mut IndexFileWriter| -> Result<()> {
        let json = std::mem::take(writer).finish();
        lock.save(repository.parts(), FileKind::Index, &json)?;
        report.written_index_count += 1;
        Ok(())
    };
    let mut entries: Vec<Entry> = Vec::new();
    for pack in homeless {
        entries.clear();
        all.survey.pack_entries(pack, &mut entries)?;
        let blobs: Vec<_> = entries.iter().map(|entry| entry.blob).collect();
        writer.add(&all.packs[pack as usize].id, &blobs);
        if writer.blob_count() >= BLOB_COUNT_FULL {
            write(&mut writer)?;
        }
    }
    if writer.blob_count() > 0 {
        write(&mut writer)?;
    }
    Ok(old.into_iter().filter_map(|file| files.get(file as usize).copied()).collect())
}
