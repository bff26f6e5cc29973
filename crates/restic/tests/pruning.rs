//! Prune keeps everything that snapshots use, in repositories of restic and of pneu, even if it is
//! interrupted.

use crate::support::{
    PASSWORD, back_up, describe, init, open, open_with, save_snapshot, shared_lock, surroundings,
};
use disk::{Disk, RealDisk};
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, CacheDirectory, Compression, Error, FileKind, FileName, Id, LocalStorage, LockKind, MaxUnused,
    Password, PruneOptions, PruneReport, ReadData, Repository, SaveOptions, Saver, Storage, check,
    plan_prune, prune,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation};
use testkit::{Random, SimDisk, restic};
use work::Silent;

/// Packs small enough for a test to fill many.
const SMALL: SaveOptions = SaveOptions { compression: Compression::Off, pack_bytes_min: 4096 };
const ALL: PruneOptions = PruneOptions { max_unused: MaxUnused::Bytes(0) };

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Random::new(seed).fill(&mut bytes);
    bytes
}

/// Saves a snapshot with one file for each number. Each file has some hundred bytes of its own.
pub(crate) fn save(repository: &Repository, numbers: impl IntoIterator<Item = u64>) -> Id {
    let lock = shared_lock(repository);
    let saver = Saver::new(repository, &lock, SMALL).unwrap();
    let mut writer = TreeWriter::new();
    for number in numbers {
        let content = bytes(number, 300 + usize::try_from(number % 500).unwrap());
        let id = saver.save_blob(BlobKind::Data, None, &content).unwrap().id;
        let mut node = Node::new(format!("{number:05}").into_bytes(), NodeKind::File);
        (node.size, node.content) = (content.len() as u64, Some(vec![id].into()));
        writer.append(&node).unwrap();
    }
    let tree = saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id;
    saver.finish().unwrap();
    save_snapshot(repository, tree)
}

fn forget(repository: &Repository, snapshot: Id) {
    repository.storage().remove(FileName { kind: FileKind::Snapshot, id: snapshot }).unwrap();
}

pub(crate) fn prune_all(repository: &Repository, options: &PruneOptions) -> restic::Result<PruneReport> {
    let lock = repository.lock(LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(()))?;
    let plan = plan_prune(repository, options, &Silent)?;
    let report = prune(&lock, &plan, &Silent)?;
    lock.release()?;
    Ok(report)
}

/// Reads every byte. Returns the faults, the hints and the number of unused blobs.
fn checked(repository: &Repository) -> (Vec<String>, Vec<String>, u64) {
    let report = check(repository, ReadData::All, &Silent).unwrap();
    let hints = report.hints.iter().map(ToString::to_string).collect();
    (report.faults.iter().map(ToString::to_string).collect(), hints, report.unused_blob_count)
}

pub(crate) fn is_tidy(repository: &Repository) {
    assert_eq!(checked(repository), (vec![], vec![], 0));
}

pub(crate) fn memory() -> (Arc<MemoryStorage>, Arc<dyn Storage>) {
    let memory = MemoryStorage::new();
    (Arc::clone(&memory), memory)
}

/// Returns a storage with copies of the same files.
fn copy(memory: &MemoryStorage) -> (Arc<MemoryStorage>, Arc<dyn Storage>) {
    let (other, storage) = self::memory();
    other.put(FileName::CONFIG, memory.read(FileName::CONFIG).unwrap());
    for kind in FileKind::MANY {
        for id in memory.ids(kind) {
            let name = FileName { kind, id };
            other.put(name, memory.read(name).unwrap());
        }
    }
    (other, storage)
}

#[test]
fn unused_blobs_are_removed_and_used_ones_stay() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let old = save(&repository, 0..100);
    let new = save(&repository, (0..100).filter(|number| number % 3 == 0).chain(100..150));
    forget(&repository, old);
    let before = memory.ids(FileKind::Pack).len();
    let report = prune_all(&open(&storage), &ALL).unwrap();
    assert!(report.removed_pack_count > 5 && report.failed.is_empty(), "{report:?}");
    assert!(memory.ids(FileKind::Pack).len() < before);
    let repository = open(&storage);
    is_tidy(&repository);
    assert_eq!(memory.ids(FileKind::Snapshot), [new]);
    // A second prune has nothing to do and writes nothing.
    memory.operations();
    let report = prune_all(&open(&storage), &ALL).unwrap();
    assert_eq!(
        (report.removed_pack_count, report.written_index_count, report.removed_index_count),
        (0, 0, 0)
    );
    let written: Vec<String> =
        memory.operations().into_iter().filter(|operation| operation.starts_with("write ")).collect();
    assert!(written.iter().all(|operation| operation.starts_with("write locks/")), "{written:?}");
}

#[test]
fn without_snapshots_nothing_stays() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let only = save(&repository, 0..20);
    forget(&repository, only);
    prune_all(&open(&storage), &PruneOptions::default()).unwrap();
    assert!(memory.ids(FileKind::Pack).is_empty() && memory.ids(FileKind::Index).is_empty());
    is_tidy(&open(&storage));
}

#[test]
fn waste_within_the_limit_stays_where_it_is() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let old = save(&repository, 0..200);
    save(&repository, (0..200).filter(|number| number % 50 != 0));
    forget(&repository, old);
    let data_packs =
        |memory: &MemoryStorage| memory.ids(FileKind::Pack).into_iter().collect::<BTreeSet<Id>>();
    let before = data_packs(&memory);
    let lock = || repository.lock(LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(())).unwrap();
    let unlimited = PruneOptions { max_unused: MaxUnused::Unlimited };
    let held = lock();
    let plan = plan_prune(&repository, &unlimited, &Silent).unwrap();
    assert_eq!(plan.figures.repacked_bytes, 0);
    assert!(plan.figures.left_bytes > 0 && plan.figures.unused_blob_count >= 4, "{:?}", plan.figures);
    drop(held);
    prune_all(&open(&storage), &unlimited).unwrap();
    // Only the pack of the forgotten tree was removed.
    assert_eq!(before.difference(&data_packs(&memory)).count(), 1);
    let (faults, _, unused) = checked(&open(&storage));
    assert_eq!((faults, unused), (vec![], 4));
}

#[test]
fn prune_keeps_one_copy_and_removes_unindexed_packs() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    save(&repository, 0..40);
    // Two simultaneous backups save the same content, each without knowing of the other. The second one's
    // files are added below.
    let (other_memory, other) = self::memory();
    for kind in [FileKind::Config, FileKind::Key] {
        let ids = if kind == FileKind::Config { vec![FileName::CONFIG.id] } else { memory.ids(kind) };
        for id in ids {
            let name = FileName { kind, id };
            other_memory.put(name, storage.read(name).unwrap());
        }
    }
    save(&open(&other), [7].into_iter().chain(20..60));
    for kind in [FileKind::Pack, FileKind::Index, FileKind::Snapshot] {
        for id in other_memory.ids(kind) {
            let name = FileName { kind, id };
            memory.put(name, other.read(name).unwrap());
        }
    }
    let orphan = Id::of(b"left by a crash");
    memory.put(FileName { kind: FileKind::Pack, id: orphan }, b"left by a crash".to_vec());
    let repository = open(&storage);
    let plan = plan_prune(&repository, &ALL, &Silent).unwrap();
    assert_eq!(
        (plan.figures.duplicate_count, plan.figures.unindexed_pack_count),
        (21, 1),
        "{:?}",
        plan.figures
    );
    prune_all(&open(&storage), &ALL).unwrap();
    let repository = open(&storage);
    is_tidy(&repository);
    let again = plan_prune(&repository, &ALL, &Silent).unwrap();
    assert_eq!((again.figures.duplicate_count, again.figures.unused_blob_count), (0, 0));
}

#[test]
fn nothing_is_removed_if_anything_is_missing_or_damaged() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let old = save(&repository, 0..60);
    let kept = save(&repository, 30..90);
    forget(&repository, old);
    let snapshot = FileName { kind: FileKind::Snapshot, id: kept };
    let names = |kind| memory.ids(kind).into_iter().map(|id| FileName { kind, id }).collect::<Vec<_>>();
    let all: Vec<FileName> =
        names(FileKind::Pack).into_iter().chain(names(FileKind::Index)).chain([snapshot]).collect();
    let mut refused = 0;
    for name in all {
        let whole = storage.read(name).unwrap();
        for damage in ["gone", "cut"] {
            match damage {
                "gone" => storage.remove(name).unwrap(),
                _ => memory.put(name, whole[..whole.len() / 2].to_vec()),
            }
            memory.operations();
            let repository = open(&storage);
            let planned = plan_prune(&repository, &ALL, &Silent);
            let is_needed = name.kind != FileKind::Snapshot || damage == "cut";
            match planned {
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().len() > 20, "{error}");
                }
                // A pack may be missing if none of its blobs is used, and a missing snapshot counts as
                // forgotten.
                Ok(_) => assert!(name.kind == FileKind::Pack || !is_needed, "{name} {damage}"),
            }
            assert!(memory.operations().iter().all(|operation| !operation.starts_with("remove")));
            memory.put(name, whole.clone());
        }
    }
    assert!(refused > 10, "{refused}");
    prune_all(&open(&storage), &ALL).unwrap();
    is_tidy(&open(&storage));
}

#[test]
fn an_unreadable_blob_stops_a_prune_before_it_removes_anything() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let old = save(&repository, 0..60);
    save(&repository, (0..60).filter(|number| number % 2 == 0));
    forget(&repository, old);
    let mut refused = 0;
    for id in memory.ids(FileKind::Pack) {
        let (memory, storage) = copy(&memory);
        let name = FileName { kind: FileKind::Pack, id };
        let mut damaged = storage.read(name).unwrap();
        // The packs keep their length, so that only reading them shows the damage.
        for byte in damaged.iter_mut().step_by(50) {
            *byte ^= 1;
        }
        memory.put(name, damaged);
        memory.operations();
        if prune_all(&open(&storage), &ALL).is_ok() {
            assert!(!memory.ids(FileKind::Pack).contains(&id), "nothing in it is used");
            continue;
        }
        refused += 1;
        let removed: Vec<String> = memory
            .operations()
            .into_iter()
            .filter(|operation| operation.starts_with("remove") && !operation.starts_with("remove locks/"))
            .collect();
        assert_eq!(removed, [""; 0]);
    }
    assert!(refused > 3, "{refused}");
    prune_all(&open(&storage), &ALL).unwrap();
    is_tidy(&open(&storage));
}

#[test]
fn failed_removals_are_reported_and_repeated_by_the_next_prune() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let old = save(&repository, 0..60);
    save(&repository, 40..80);
    forget(&repository, old);
    memory.refuse(|operation| operation.starts_with("remove data/"));
    let report = prune_all(&open(&storage), &ALL).unwrap();
    assert!(report.removed_pack_count == 0 && report.failed.len() > 3, "{report:?}");
    memory.refuse(|_| false);
    let (faults, hints, _) = checked(&open(&storage));
    assert!(faults.is_empty() && hints[0].contains("in no index file"), "{faults:?} {hints:?}");
    prune_all(&open(&storage), &ALL).unwrap();
    is_tidy(&open(&storage));
}

#[test]
fn prune_refuses_while_another_program_holds_a_lock() {
    let (_, storage) = memory();
    let repository = init(&storage);
    save(&repository, 0..20);
    let _held = shared_lock(&repository);
    assert!(matches!(prune_all(&open(&storage), &ALL), Err(Error::Locked { .. })));
}

#[test]
fn a_crash_at_any_operation_loses_nothing() {
    let simulated = SimDisk::new(9);
    let on = move |disk: &SimDisk| -> Arc<dyn Storage> {
        Arc::new(LocalStorage::new(Arc::new(disk.clone()), "/repository".into()))
    };
    let storage = on(&simulated);
    let repository = init(&storage);
    let old = save(&repository, 0..40);
    save(&repository, (0..40).filter(|number| number % 4 == 0).chain(40..45));
    forget(&repository, old);
    drop(repository);
    let one_thread = move |storage: &Arc<dyn Storage>| {
        let password = Password::new(PASSWORD.as_bytes().to_vec());
        Repository::open(Arc::clone(storage), &password, None, surroundings(1))
    };
    let act = move |disk: &SimDisk, _: &Acknowledged<()>| -> restic::Result<()> {
        let repository = one_thread(&on(disk))?;
        prune_all(&repository, &ALL).map(|_| ())
    };
    let verify = move |disk: &SimDisk, (): &()| {
        let storage = on(disk);
        let repository = one_thread(&storage).unwrap();
        restic::unlock(repository.parts(), restic::WhichLocks::All).unwrap();
        let report = check(&repository, ReadData::All, &Silent).unwrap();
        assert_eq!(report.faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
        // A forgotten snapshot may come back until a file that it needs is removed.
        assert!(matches!(report.snapshot_count, 1 | 2));
    };
    let runs = crash_at_every_operation(&simulated, (), act, verify);
    assert!(runs.operation_count > 20 && runs.checked_count > 40, "{runs:?}");
}

#[test]
fn restic_finds_no_error_and_nothing_to_prune() {
    let place = tempfile::tempdir().unwrap();
    let Some(restic) = restic(place.path(), "repository", PASSWORD) else { return };
    restic.succeed(&["init"]);
    let mail = place.path().join("mail");
    fs::create_dir(&mail).unwrap();
    let write = |number: u64, seed: u64| {
        fs::write(
            mail.join(format!("{number}")),
            bytes(seed, 20_000 + usize::try_from(number).unwrap() * 1000),
        )
        .unwrap();
    };
    (0..60).for_each(|number| write(number, number));
    restic.succeed(&["backup", "--pack-size", "4", "mail"]);
    (0..60).filter(|number| number % 2 == 0).for_each(|number| write(number, 1000 + number));
    restic.succeed(&["backup", "--pack-size", "4", "mail"]);
    restic.succeed(&["forget", "--keep-last", "1"]);
    let before = describe(&mail);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(disk, place.path().join("repository")));
    let report = prune_all(&open(&storage), &ALL).unwrap();
    assert!(report.removed_pack_count > 0, "{report:?}");
    restic.succeed(&["check", "--read-data"]);
    let said = String::from_utf8(restic.succeed(&["prune", "--max-unused", "0", "--dry-run"])).unwrap();
    assert!(said.contains("total prune:           0 blobs"), "{said}");
    restic.succeed(&["restore", "latest", "--target", "theirs"]);
    assert_eq!(describe(&place.path().join("theirs/mail")), before);
    is_tidy(&open(&storage));
    // And a prune by restic after one by pneu, of what pneu saved.
    let ours = open(&storage);
    back_up(&ours, Path::new(&mail), SaveOptions::default());
    restic.succeed(&["forget", "--keep-last", "1", "--group-by", "", "--prune", "--max-unused", "0"]);
    is_tidy(&open(&storage));
}

#[test]
fn a_repository_that_saved_prunes_by_the_current_index() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    // Enough for small packs to be repacked, including those that this repository object just saved.
    let old = save(&repository, 0..60);
    save(&repository, (0..60).filter(|number| number % 2 == 0).chain(60..90));
    forget(&repository, old);
    let report = prune_all(&repository, &ALL).unwrap();
    assert!(report.removed_pack_count > 3 && report.removed_index_count > 0, "{report:?}");
    is_tidy(&open(&storage));
    // Its index still names removed blobs, so it refuses to save more.
    let lock = shared_lock(&repository);
    let refused = Saver::new(&repository, &lock, SMALL).map(|_| ()).unwrap_err();
    assert!(matches!(refused, Error::Outdated { .. }), "{refused}");
    drop(lock);
    let again = repository.reread();
    save(&again, 0..60);
    is_tidy(&open(&storage));
    assert_eq!(memory.ids(FileKind::Snapshot).len(), 2);
}

#[test]
fn an_unreachable_storage_is_not_damage() {
    let (memory, storage) = memory();
    save(&init(&storage), 0..60);
    for unreachable in ["read data/", "read snapshots/"] {
        let repository = open(&storage);
        memory.refuse(move |operation| operation.starts_with(unreachable));
        memory.operations();
        let ended = check(&repository, ReadData::All, &Silent).unwrap_err();
        assert!(matches!(ended, Error::Storage { .. }), "{ended}");
        let tries = memory.operations().iter().filter(|operation| operation.starts_with(unreachable)).count();
        assert!(tries <= 2, "each thread asks once: {tries}");
        memory.refuse_nothing();
    }
    let repository = open(&storage);
    let snapshot = memory.ids(FileKind::Snapshot)[0];
    let tree = restic::snapshot::load(&*storage, repository.key(), snapshot).unwrap().tree;
    memory.refuse(|operation| operation.starts_with("read data/"));
    let ended = restic::list(&repository, &tree, &mut |_, _| Ok(restic::Next::Enter)).unwrap_err();
    assert!(matches!(ended, Error::Storage { .. }), "{ended}");
}

#[test]
fn a_lost_lock_removes_the_new_snapshot() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let tree = {
        let id = save(&repository, 0..3);
        restic::snapshot::load(&*storage, repository.key(), id).unwrap().tree
    };
    let snapshot = restic::Snapshot { tree, ..restic::Snapshot::default() };
    let lock = shared_lock(&repository);
    let saved = repository.save_snapshot_under(&lock, &snapshot).unwrap();
    assert!(memory.ids(FileKind::Snapshot).contains(&saved));
    let before = memory.ids(FileKind::Snapshot);
    // Time passes during the write, and another process removes the lock as stale.
    let other = Arc::clone(&memory);
    memory.refuse(move |operation| {
        if operation.starts_with("write snapshots/") {
            restic::testing::advance(Duration::from_secs(31 * 60));
            for id in other.ids(FileKind::Lock) {
                other.take(FileName { kind: FileKind::Lock, id });
            }
        }
        false
    });
    let refused = repository.save_snapshot_under(&lock, &snapshot).unwrap_err();
    assert!(matches!(refused, Error::LockLost { .. }), "{refused}");
    assert_eq!(memory.ids(FileKind::Snapshot), before);
    // After that, nothing more is written.
    memory.refuse_nothing();
    memory.operations();
    repository.save_snapshot_under(&lock, &snapshot).unwrap_err();
    assert!(!memory.operations().iter().any(|operation| operation.starts_with("write ")));
}

#[test]
fn leftovers_of_killed_writes_are_reported_and_removed() {
    let place = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(Arc::new(RealDisk), place.path().join("repository")));
    save(&init(&storage), 0..10);
    let digits = Id([0xab; Id::BYTES]).to_string();
    let [left, index, key, others] = [
        format!("data/ab/{digits}.new"),
        format!("index/{digits}.new"),
        // Keys are written without a lock, and files with other names belong to other programs.
        format!("keys/{digits}.new"),
        format!("data/ab/{digits}-tmp-1"),
    ]
    .map(|name| place.path().join("repository").join(name));
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    for path in [&left, &index, &key, &others] {
        fs::write(path, "half of it").unwrap();
    }
    let (faults, hints, _) = checked(&open(&storage));
    assert!(
        faults.is_empty() && hints[0].starts_with("2 temporary files are left of writes"),
        "{faults:?} {hints:?}"
    );
    // Prune has nothing else to do.
    let report = prune_all(&open(&storage), &PruneOptions::default()).unwrap();
    assert_eq!((report.removed_unfinished_count, report.removed_pack_count), (2, 0));
    assert!(!left.exists() && !index.exists() && key.exists() && others.exists());
    is_tidy(&open(&storage));
}

#[test]
fn a_file_that_check_could_not_read_does_not_count_as_absent() {
    let (memory, storage) = memory();
    save(&init(&storage), 0..10);
    let index = FileName { kind: FileKind::Index, id: memory.ids(FileKind::Index)[0] };
    memory.put(index, b"rot".to_vec());
    let repository = open(&storage);
    assert!(!checked(&repository).0.is_empty());
    let refused = repository.index().map(|_| ()).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{index} is damaged")), "{refused}");
}

#[test]
fn check_reads_index_files_that_the_cache_has() {
    let place = tempfile::tempdir().unwrap();
    let cache = || CacheDirectory { disk: Arc::new(RealDisk), path: place.path().to_owned() };
    let (memory, storage) = memory();
    save(&init(&storage), 0..10);
    let cached = || open_with(&storage, Some(cache()));
    cached().index().unwrap();
    is_tidy(&cached());
    let index = FileName { kind: FileKind::Index, id: memory.ids(FileKind::Index)[0] };
    let mut rotten = storage.read(index).unwrap();
    rotten[40] ^= 1;
    memory.put(index, rotten);
    let (faults, _, _) = checked(&cached());
    assert!(faults.iter().any(|fault| fault.starts_with(&format!("{index} is damaged"))), "{faults:?}");
}
