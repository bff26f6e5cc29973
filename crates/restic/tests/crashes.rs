//! No crash and no disk error leaves an incomplete snapshot.

use crate::support::{password, save_snapshot, shared_lock, surroundings};
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, Compression, Cost, Error, Id, LocalStorage, Repository, Result, SaveOptions, Saver, Sharing,
    Storage, Visitor, snapshot, walk,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};
use work::Silent;

/// Every resulting disk is opened, so passwords must cost nothing.
const FREE: Cost = Cost { n: 2, r: 1, p: 1 };
/// A few files fill a pack.
const TINY: SaveOptions = SaveOptions { compression: Compression::Auto, pack_bytes_min: 600 };

fn storage(disk: &SimDisk) -> Arc<dyn Storage> {
    Arc::new(LocalStorage::new(Arc::new(disk.clone()), PathBuf::from("/backup/repository")))
}

fn open(disk: &SimDisk) -> Result<Repository> {
    Repository::open(storage(disk), &password(), None, surroundings(1))
}

/// Saves ten files in two directories, which differ from round to round, and then a snapshot.
fn save(repository: &Repository, round: usize) -> Result<Id> {
    let lock = repository.lock(restic::LockKind::Shared, std::time::Duration::ZERO, &|_, _| Ok(()))?;
    let saver = Saver::new(repository, &lock, TINY)?;
    let mut top = TreeWriter::new();
    for directory in ["cur", "new"] {
        let mut writer = TreeWriter::new();
        for number in 0..5 {
            // Half of them are the same in all rounds.
            let text = format!("{directory} {number} {}", if number % 2 == 0 { 0 } else { round }).repeat(40);
            let saved = saver.save_file(&mut text.as_bytes())?;
            let name = format!("{number}");
            let content = Some(saved.content.into());
            let node = Node { content, ..Node::new(name.as_bytes(), NodeKind::File) };
            writer.append(&node).unwrap();
        }
        let tree = saver.save_blob(BlobKind::Tree, None, &writer.finish())?.id;
        let subtree = Some(tree);
        top.append(&Node { subtree, ..Node::new(directory.as_bytes(), NodeKind::Directory) }).unwrap();
    }
    let tree = saver.save_blob(BlobKind::Tree, None, &top.finish())?.id;
    saver.finish()?;
    let snapshot = restic::Snapshot { tree, ..restic::Snapshot::default() };
    repository.save_snapshot(&snapshot)
}

/// Reads every blob that the trees name.
struct ReadAll<'a>(&'a Repository);

impl Visitor for ReadAll<'_> {
    fn visit(&self, _: &restic::VisitedDirectory<'_>, node: &Node<'_>) -> Result<()> {
        for id in node.content.as_deref().unwrap_or_default() {
            self.0.load_blob(BlobKind::Data, id)?;
        }
        Ok(())
    }
}

/// Every acknowledged snapshot is there, and every snapshot that is there is complete.
fn check(disk: &SimDisk, acknowledged: &BTreeSet<Id>) {
    let repository = open(disk).unwrap();
    let listed = snapshot::list(repository.storage(), repository.key(), 1).unwrap();
    assert_eq!(listed.unread.len(), 0);
    let found: BTreeSet<Id> = listed.snapshots.iter().map(|(id, _)| *id).collect();
    assert!(acknowledged.is_subset(&found), "{acknowledged:?} in {found:?}");
    let trees: Vec<Id> = listed.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let problems = walk(&repository, &trees, Sharing::ByTree, &ReadAll(&repository), &Silent).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

/// A disk with a repository and one snapshot.
fn begun() -> (SimDisk, BTreeSet<Id>) {
    let disk = SimDisk::new(7);
    let repository = Repository::init(storage(&disk), &password(), FREE, None, surroundings(1)).unwrap();
    let first = save(&repository, 0).unwrap();
    (disk, BTreeSet::from([first]))
}

fn save_two(disk: &SimDisk, acknowledged: &Acknowledged<BTreeSet<Id>>) -> Result<()> {
    for round in 1..3 {
        let saved = save(&open(disk)?, round)?;
        acknowledged.record(|snapshots| snapshots.insert(saved));
    }
    Ok(())
}

#[test]
fn every_snapshot_is_whole_after_a_crash_at_any_operation() {
    let (disk, first) = begun();
    let runs = crash_at_every_operation(&disk, first, save_two, check);
    assert!(runs.operation_count > 100 && runs.checked_count > 200, "{runs:?}");
}

#[test]
fn every_snapshot_is_whole_after_any_refusal() {
    let (disk, first) = begun();
    let runs = fail_at_every_operation(&disk, first, save_two, check);
    assert!(runs.checked_count > 200, "{runs:?}");
}

#[test]
fn a_crash_during_init_leaves_a_whole_repository_or_none() {
    let init = |disk: &SimDisk| Repository::init(storage(disk), &password(), FREE, None, surroundings(1));
    let runs = crash_at_every_operation(
        &SimDisk::new(7),
        false,
        |disk, is_made| -> Result<()> {
            init(disk)?;
            is_made.record(|is_made| *is_made = true);
            Ok(())
        },
        move |disk, &is_made| match open(disk) {
            Ok(repository) => {
                let id = save(&repository, 0).unwrap();
                check(disk, &BTreeSet::from([id]));
            }
            Err(Error::NoRepository { .. }) => {
                assert!(!is_made);
                // Created again, or completed.
                init(disk).unwrap();
                assert!(open(disk).is_ok());
            }
            Err(error) => panic!("{error}"),
        },
    );
    assert!(runs.operation_count > 10 && runs.checked_count > 20, "{runs:?}");
}

#[test]
fn a_full_disk_is_reported_and_saved_data_stays() {
    let (disk, first) = begun();
    let repository = open(&disk).unwrap();
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, TINY).unwrap();
    disk.refuse_from(disk.operation_count(), testkit::sim_disk::Refusal::Full);
    let error = (0..100).find_map(|number| {
        saver.save_blob(BlobKind::Data, None, format!("text {number}").repeat(9).as_bytes()).err()
    });
    let error = error.unwrap().to_string();
    assert!(error.contains("/backup/repository/data/"), "{error}");
    disk.allow_all();
    assert!(matches!(saver.finish(), Err(Error::SavingEnded { .. })));
    drop(lock);
    check(&disk, &first);
    let tree = save(&repository, 5).unwrap();
    check(&disk, &first.into_iter().chain([tree]).collect());
    save_snapshot(&repository, Id([1; 32]));
    let listed = snapshot::list(repository.storage(), repository.key(), 1).unwrap();
    let trees: Vec<Id> = listed.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let problems = walk(&repository, &trees, Sharing::ByTree, &ReadAll(&repository), &Silent).unwrap();
    assert_eq!(problems.len(), 1, "the check above can fail");
}
