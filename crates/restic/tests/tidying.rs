//! Repositories that need a prune: many small packs, trees of an older version, packs that index files list
//! incompletely. And which packs a partial check reads.

use crate::pruning::{is_tidy, memory, prune_all, save};
use crate::support::{PASSWORD, init, make_files, open};
use disk::RealDisk;
use restic::index_file::{IndexFileWriter, scan};
use restic::{
    BlobKind, FileKind, FileName, LocalStorage, LockKind, MaxUnused, PruneOptions, ReadData, Storage, check,
    plan_prune, plan_prune_without, prune, unpacked,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use testkit::restic;
use work::Silent;

const UNLIMITED: PruneOptions = PruneOptions { max_unused: MaxUnused::Unlimited };

/// Returns how many packs a prune would repack.
fn to_repack(storage: &Arc<dyn Storage>, options: &PruneOptions) -> u64 {
    plan_prune(&open(storage), options, &Silent).unwrap().figures.repacked_pack_count
}

#[test]
fn many_small_packs_become_few_and_few_are_left_alone() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    for number in 0..9 {
        save(&repository, [number]);
    }
    assert_eq!((memory.ids(FileKind::Pack).len(), to_repack(&storage, &PruneOptions::default())), (18, 0));
    save(&repository, [9]);
    assert_eq!((to_repack(&storage, &PruneOptions::default()), to_repack(&storage, &UNLIMITED)), (20, 0));
    prune_all(&open(&storage), &PruneOptions::default()).unwrap();
    assert_eq!(memory.ids(FileKind::Pack).len(), 2);
    is_tidy(&open(&storage));
    assert_eq!(to_repack(&storage, &PruneOptions::default()), 0);
}

#[test]
fn an_incompletely_indexed_pack_is_reported_and_stops_a_prune() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    save(&repository, 0..40);
    let id = memory.ids(FileKind::Index)[0];
    let name = FileName { kind: FileKind::Index, id };
    let json = unpacked::load(&*storage, repository.key(), FileKind::Index, id).unwrap();
    let mut halves = [IndexFileWriter::default(), IndexFileWriter::default()];
    let mut split_count = 0;
    scan(name, &json, |pack, blobs| {
        let (first, second) = blobs.split_at(blobs.len() / 2);
        split_count += u32::from(!first.is_empty());
        for (half, blobs) in halves.iter_mut().zip([first, second]) {
            if !blobs.is_empty() {
                half.add(pack, blobs);
            }
        }
        Ok(())
    })
    .unwrap();
    assert!(split_count > 1);
    memory.take(name);
    for half in halves {
        unpacked::save(repository.parts(), FileKind::Index, &half.finish()).unwrap();
    }
    let refused = plan_prune(&open(&storage), &UNLIMITED, &Silent).unwrap_err().to_string();
    assert!(refused.ends_with(" is damaged: no index file has all of its blobs"), "{refused}");
    let report = check(&open(&storage), ReadData::All, &Silent).unwrap();
    let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), split_count as usize, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.ends_with("no index file has all of its blobs")), "{faults:?}");
}

#[test]
fn partial_checks_read_other_packs_each_time() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    for number in 0..10 {
        save(&repository, [number]);
    }
    let mut read = BTreeSet::new();
    for (percent, count) in [(0.1, 1), (5.0, 1), (5.1, 2), (50.0, 10), (99.0, 20), (100.0, 20)] {
        let repository = open(&storage);
        memory.operations();
        let report = check(&repository, ReadData::Percent(percent), &Silent).unwrap();
        assert_eq!((report.read_pack_count, report.faults.len()), (count, 0), "{percent}");
        // Reads of trees have a range, reads of whole packs have none.
        let is_whole = |line: &String| line.starts_with("read data/") && !line.contains('+');
        let packs: BTreeSet<String> = memory.operations().into_iter().filter(is_whole).collect();
        assert_eq!(packs.len() as u64, count, "{percent}");
        if count == 1 {
            read.extend(packs);
        }
    }
    assert_eq!(read.len(), 2, "the same one twice: {read:?}");
    // Reading all packs finds the one damaged pack.
    let id = memory.ids(FileKind::Pack)[3];
    let name = FileName { kind: FileKind::Pack, id };
    let mut bytes = storage.read(name).unwrap();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    memory.put(name, bytes);
    let report = check(&open(&storage), ReadData::Percent(100.0), &Silent).unwrap();
    assert_eq!(report.faults.len(), 1);
    assert_eq!(check(&open(&storage), ReadData::Nothing, &Silent).unwrap().faults.len(), 0);
}

#[test]
fn trees_of_version_1_are_compressed_after_an_upgrade() {
    let place = tempfile::tempdir().unwrap();
    let Some(restic) = restic(place.path(), "repository", PASSWORD) else { return };
    make_files(&place.path().join("mail"));
    restic.succeed(&["init", "--repository-version", "1"]);
    restic.succeed(&["backup", "mail"]);
    let storage: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(Arc::new(RealDisk), place.path().join("repository")));
    assert_eq!(to_repack(&storage, &PruneOptions::default()), 0);
    restic.succeed(&["migrate", "upgrade_repo_v2"]);
    assert!(to_repack(&storage, &PruneOptions::default()) > 0);
    prune_all(&open(&storage), &PruneOptions::default()).unwrap();
    let repository = open(&storage);
    let (mut tree_count, mut plain_count) = (0, 0);
    repository
        .index()
        .unwrap()
        .survey()
        .unwrap()
        .for_each(|entry| match entry.blob {
            blob if blob.kind == BlobKind::Tree && blob.uncompressed_length > 0 => tree_count += 1,
            blob => plain_count += u32::from(blob.kind == BlobKind::Tree),
        })
        .unwrap();
    assert!(tree_count > 3 && plain_count == 0, "{tree_count} {plain_count}");
    assert_eq!(to_repack(&storage, &PruneOptions::default()), 0);
    restic.succeed(&["check", "--read-data"]);
}

#[test]
fn a_plan_without_a_snapshot_runs_only_after_its_removal() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let (gone, kept) = (save(&repository, 0..30), save(&repository, 20..60));
    let lock = repository.lock(LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(())).unwrap();
    let all = PruneOptions { max_unused: MaxUnused::Bytes(0) };
    let packs = || storage.list(FileKind::Pack).unwrap().len();
    let before = packs();
    let plan = plan_prune_without(&repository, &all, &[gone], &Silent).unwrap();
    let refused = prune(&lock, &plan, &Silent).unwrap_err().to_string();
    assert!(refused.contains("it still exists") && packs() == before, "{refused}");
    storage.remove(FileName { kind: FileKind::Snapshot, id: gone }).unwrap();
    // A new plan finds the same.
    let again = plan_prune(&repository, &all, &Silent).unwrap();
    assert_eq!(plan.figures, again.figures);
    assert!(prune(&lock, &plan, &Silent).unwrap().removed_pack_count > 0);
    drop(lock);
    assert_eq!(storage.list(FileKind::Snapshot).unwrap().first().map(|(id, _)| *id), Some(kept));
    let checked = check(&open(&storage), ReadData::All, &Silent).unwrap();
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
}
