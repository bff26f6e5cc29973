//! restic reads what this crate writes, and this crate reads what restic writes.

use crate::support::{PASSWORD, back_up, describe, init, make_files, open};
use disk::RealDisk;
use restic::{
    BlobKind, Choice, Compression, Error, FileKind, Id, LocalStorage, LockKind, Overwrite, Repository,
    RestoreOptions, RestoreReport, SaveOptions, Sharing, Storage, Visitor, restore, snapshot, walk,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use testkit::{Restic, restic};
use work::Silent;

const TAKE_ALL: RestoreOptions<'static> =
    RestoreOptions { choose: &|_| Choice::Take, overwrite: Overwrite::Never };

/// A directory with a subdirectory `mail`, a storage called `repository`, and restic, if it is installed.
fn place() -> Option<(TempDir, Arc<dyn Storage>, Restic)> {
    let place = tempfile::tempdir().unwrap();
    let restic = restic(place.path(), "repository", PASSWORD)?;
    make_files(&place.path().join("mail"));
    let storage = LocalStorage::new(Arc::new(RealDisk), place.path().join("repository"));
    Some((place, Arc::new(storage), restic))
}

fn restore_all(repository: &Repository, tree: &Id, target: &Path) -> RestoreReport {
    restore(repository, tree, target, &TAKE_ALL, &Silent).unwrap()
}

/// Returns the tree of the only snapshot.
fn only_tree(repository: &Repository) -> Id {
    let listed = snapshot::list(repository.storage(), repository.key(), 2).unwrap();
    assert_eq!((listed.snapshots.len(), listed.unread.len()), (1, 0));
    listed.snapshots[0].1.tree
}

/// Reads every blob that a tree needs.
struct ReadAll<'a> {
    repository: &'a Repository,
}

impl Visitor for ReadAll<'_> {
    fn visit(&self, _: &restic::VisitedDirectory<'_>, node: &restic::tree::Node<'_>) -> restic::Result<()> {
        for id in node.content.as_deref().unwrap_or_default() {
            self.repository.load_blob(BlobKind::Data, id)?;
        }
        Ok(())
    }
}

fn read_all(repository: &Repository, tree: Id) {
    let problems = walk(repository, &[tree], Sharing::ByTree, &ReadAll { repository }, &Silent).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn restic_checks_and_restores_our_snapshots() {
    for compression in [Compression::Auto, Compression::Off, Compression::Max] {
        let Some((place, storage, restic)) = place() else { return };
        let repository = init(&storage);
        let options = SaveOptions { compression, pack_bytes_min: 1 << 20 };
        let (_, tree, statistics) = back_up(&repository, &place.path().join("mail"), options);
        assert!(statistics.pack_count > 3, "{statistics:?}");
        restic.succeed(&["check", "--read-data"]);
        restic.succeed(&["restore", "latest", "--target", "theirs"]);
        let before = describe(&place.path().join("mail"));
        assert_eq!(describe(&place.path().join("theirs")), before);
        let report = restore_all(&open(&storage), &tree, &place.path().join("ours"));
        assert_eq!(report.problems, []);
        assert_eq!(describe(&place.path().join("ours")), before);
        assert_eq!(report.file_count + report.directory_count, before.len() as u64);
        assert_eq!(storage.list(FileKind::Lock).unwrap(), []);
    }
}

#[test]
fn each_program_reuses_what_the_other_saved() {
    let Some((place, storage, restic)) = place() else { return };
    let repository = init(&storage);
    let mail = place.path().join("mail");
    back_up(&repository, &mail, SaveOptions::default());
    let packs = || storage.list(FileKind::Pack).unwrap().len();
    let before = packs();
    restic.succeed(&["backup", "--tag", "theirs", "mail"]);
    // Only the tree above `mail` is new: all other trees and the blobs of all files are byte for byte the
    // same.
    assert_eq!(packs(), before + 1);
    restic.succeed(&["init", "--repo", "second", "--repository-version", "2"]);
    let second: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(Arc::new(RealDisk), place.path().join("second")));
    let theirs = restic.clone().with("RESTIC_REPOSITORY", "second");
    theirs.succeed(&["backup", "mail"]);
    let repository = open(&second);
    let (_, _, statistics) = back_up(&repository, &mail, SaveOptions::default());
    assert_eq!((statistics.data_blob_count, statistics.tree_blob_count), (0, 0), "{statistics:?}");
    theirs.succeed(&["check", "--read-data"]);
}

#[test]
fn data_that_restic_wrote_can_be_read() {
    for (version, compression) in [("2", "auto"), ("2", "off"), ("2", "max"), ("1", "auto")] {
        let Some((place, storage, restic)) = place() else { return };
        restic.succeed(&["init", "--repository-version", version]);
        restic.succeed(&["backup", "--compression", compression, "mail"]);
        let repository = open(&storage);
        let top = only_tree(&repository);
        read_all(&repository, top);
        let report = restore_all(&repository, &top, &place.path().join("ours"));
        assert_eq!(report.problems, []);
        restic.succeed(&["restore", "latest", "--target", "theirs"]);
        let theirs = describe(&place.path().join("theirs"));
        assert_eq!(describe(&place.path().join("ours")), theirs, "version {version}, {compression}");
        assert!(theirs.len() > 300);
    }
}

#[test]
fn saving_to_version_1_works_as_in_restic() {
    let Some((place, storage, restic)) = place() else { return };
    restic.succeed(&["init", "--repository-version", "1"]);
    let mail = place.path().join("mail");
    let (_, tree, statistics) = back_up(&open(&storage), &mail, SaveOptions::default());
    assert!(statistics.packed_bytes > statistics.plain_bytes, "nothing is compressed: {statistics:?}");
    restic.succeed(&["check", "--read-data"]);
    restic.succeed(&["restore", "latest", "--target", "theirs"]);
    assert_eq!(describe(&place.path().join("theirs")), describe(&mail));
    read_all(&open(&storage), tree);
}

#[test]
fn restic_reads_and_removes_our_locks() {
    let Some((_place, storage, restic)) = place() else { return };
    let repository = init(&storage);
    let lock = repository.lock(LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(())).unwrap();
    let names: Vec<String> =
        storage.list(FileKind::Lock).unwrap().into_iter().map(|(id, _)| id.to_string()).collect();
    let listed = String::from_utf8(restic.succeed(&["list", "locks", "--no-lock"])).unwrap();
    assert_eq!(listed.lines().collect::<Vec<_>>(), names);
    let shown = String::from_utf8(restic.succeed(&["cat", "lock", &names[0], "--no-lock"])).unwrap();
    assert!(shown.contains("\"tower\"") && shown.contains("\"exclusive\": true"), "{shown}");
    let refused = restic.run(&["backup", "mail"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("locked exclusively"), "{refused:?}");
    restic.succeed(&["unlock", "--remove-all"]);
    assert_eq!(storage.list(FileKind::Lock).unwrap(), []);
    drop(lock);
    restic.succeed(&["backup", "mail"]);
}

#[test]
fn a_wrong_password_and_a_missing_repository_are_different_errors() {
    let Some((place, storage, restic)) = place() else { return };
    restic.succeed(&["init"]);
    let open = |storage: &Arc<dyn Storage>, password: &str| {
        let password = restic::Password::new(password.as_bytes().to_vec());
        Repository::open(Arc::clone(storage), &password, None, crate::support::surroundings(1))
    };
    assert!(open(&storage, PASSWORD).is_ok());
    assert!(matches!(open(&storage, "other"), Err(Error::WrongPassword { .. })));
    let nowhere: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(Arc::new(RealDisk), place.path().join("nowhere")));
    assert!(matches!(open(&nowhere, PASSWORD), Err(Error::NoRepository { .. })));
}
