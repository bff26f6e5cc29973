//! Data that was damaged during the transfer is read again. Data that is sound in the storage is never
//! reported as damaged.

use crate::pruning::{prune_all, save};
use crate::support::{init, open};
use restic::testing::MemoryStorage;
use restic::{
    BlobKind, FileKind, FileName, Id, LockKind, MaxUnused, Overwrite, PruneOptions, ReadData, Repository,
    RestoreOptions, Storage, WhichLocks, check, list, restore, snapshot, statistics, unlock,
};
use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use work::Silent;

/// Damages the first `times` results of each read.
fn spoil(memory: &MemoryStorage, times: u32) {
    let mut counts: HashMap<String, u32> = HashMap::new();
    memory.spoil(move |operation, bytes| {
        let count = counts.entry(operation.to_owned()).or_default();
        *count += 1;
        let middle = bytes.len() / 2;
        if *count <= times
            && let Some(byte) = bytes.get_mut(middle)
        {
            *byte ^= 16;
        }
    });
}

/// Runs every operation that reads a repository, and returns the problems that it reports.
fn read_all(repository: &Repository, tree: &Id) -> Vec<String> {
    let checked = check(repository, ReadData::All, &Silent).unwrap();
    let mut wrong: Vec<String> = checked.faults.iter().map(ToString::to_string).collect();
    let parts = repository.parts();
    let listed = snapshot::list(&*parts.storage, &parts.key, 2).unwrap();
    wrong.extend(listed.unread.iter().map(|(_, error)| error.to_string()));
    let sums = statistics(repository, &Silent).unwrap();
    wrong.extend(sums.problems.iter().map(ToString::to_string));
    let problems = list(repository, tree, &mut |_, _| Ok(restic::Next::Enter)).unwrap();
    wrong.extend(problems.iter().map(|problem| problem.error.to_string()));
    let target = tempfile::tempdir().unwrap();
    let options = RestoreOptions { choose: &|_| restic::Choice::Take, overwrite: Overwrite::Always };
    let restored = restore(repository, tree, target.path(), &options, &Silent).unwrap();
    wrong.extend(restored.problems.into_iter().map(|problem| problem.what));
    assert!(!wrong.is_empty() || fs::read_dir(target.path()).unwrap().count() == 40);
    wrong
}

/// A repository with one forgotten snapshot and one that is kept. Returns the tree of the second.
fn repository() -> (Arc<MemoryStorage>, Id) {
    let memory = MemoryStorage::new();
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let repository = init(&storage);
    let gone = save(&repository, 30..50);
    let id = save(&repository, 0..40);
    storage.remove(FileName { kind: FileKind::Snapshot, id: gone }).unwrap();
    let tree = snapshot::load(&*storage, repository.key(), id).unwrap().tree;
    (memory, tree)
}

#[test]
fn a_bit_that_flips_during_a_transfer_has_no_effect() {
    let (memory, tree) = repository();
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    spoil(&memory, 2);
    // Opening reads keys and config. The calls below read index files and everything else.
    let repository = open(&storage);
    assert_eq!(Id::of(&repository.load_blob(BlobKind::Tree, &tree).unwrap()), tree);
    assert_eq!(read_all(&repository, &tree), [""; 0]);
    spoil(&memory, 2);
    let other = repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(())).unwrap();
    let second = repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(())).unwrap();
    assert_eq!(unlock(repository.parts(), WhichLocks::Stale).unwrap(), 0, "who lives is read, too");
    drop((other, second));
    let report = prune_all(&repository, &PruneOptions { max_unused: MaxUnused::Bytes(0) }).unwrap();
    assert!(report.removed_pack_count > 0 && report.failed.is_empty());
    let repository = open(&storage);
    assert_eq!(read_all(&repository, &tree), [""; 0]);
}

#[test]
fn damage_in_every_read_is_reported_and_nothing_is_removed() {
    let (memory, tree) = repository();
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let repository = open(&storage);
    assert_eq!(read_all(&repository, &tree), [""; 0]);
    let before = memory.ids(FileKind::Pack);
    let location = {
        let mut copies = Vec::new();
        repository.index().unwrap().find(BlobKind::Tree, &tree, &mut copies).unwrap();
        copies[0]
    };
    let read = format!(
        "read {} {}+{}",
        FileName { kind: FileKind::Pack, id: location.pack },
        location.offset,
        location.length
    );
    memory.spoil(move |operation, bytes| {
        if operation == read {
            bytes[20] ^= 1;
        }
    });
    let refused = prune_all(&repository, &PruneOptions { max_unused: MaxUnused::Bytes(0) }).unwrap_err();
    assert!(refused.to_string().starts_with("nothing was removed"), "{refused}");
    assert_eq!(memory.ids(FileKind::Pack), before);
}

#[test]
fn a_snapshot_that_a_list_lacks_once_keeps_what_it_needs() {
    let (memory, tree) = repository();
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let repository = open(&storage);
    let name = FileName { kind: FileKind::Snapshot, id: memory.ids(FileKind::Snapshot)[0] };
    let bytes = storage.read(name).unwrap();
    let (place, mut list_count) = (Arc::clone(&memory), 0);
    memory.refuse(move |operation| {
        if operation == "list snapshots" {
            list_count += 1;
            match list_count {
                1 => place.take(name),
                _ => place.put(name, bytes.clone()),
            }
        }
        false
    });
    prune_all(&repository, &PruneOptions { max_unused: MaxUnused::Bytes(0) }).unwrap();
    assert_eq!(read_all(&open(&storage), &tree), [""; 0]);
}
