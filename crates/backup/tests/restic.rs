//! Backups that restic reads, and a new machine after its restore.

use crate::support::{Fixture, PASSWORD, found, init, large, message, open, query, snapshots};
use backup::{MessageArchive, Unreferenced};
use disk::RealDisk;
use index::{Environment, Mailbox, Order, Root, Scope, TagChange, UpdateOptions};
use restic::{LocalStorage, Storage};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Silent;

fn storage(fixture: &Fixture) -> Arc<dyn Storage> {
    Arc::new(LocalStorage::new(Arc::new(RealDisk), fixture.directory.path().join("repository")))
}

/// Returns every file and directory below `root` with content, mode and time, without what backups leave out.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            left.extend(entries.filter(|entry| entry.parent().is_none_or(|parent| !parent.ends_with("tmp"))));
        }
        let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let time = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
        found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), time, content));
    }
    found
}

#[test]
fn restic_restores_our_backups_and_a_new_machine_has_everything_back() {
    let fixture = Fixture::new();
    let repository = init(storage(&fixture)).unwrap();
    let mailbox = fixture.index();
    let change = TagChange { add: ["work".to_owned()].into(), ..TagChange::default() };
    let tagged = mailbox.evaluate(&query("subject:s1")).unwrap();
    index::change_tags(&fixture.environment, &mailbox, &tagged, &change).unwrap();
    let report = fixture.backup(&repository).unwrap();
    assert_eq!(report.problems, []);
    let again = fixture.backup(&repository).unwrap();
    assert_eq!((again.saved.data_blob_count, again.parent), (0, Some(report.snapshot)));
    assert_eq!(again.counts.files_unchanged, 10);
    let Some(restic) = testkit::restic(fixture.directory.path(), "repository", PASSWORD) else { return };
    restic.succeed(&["check", "--read-data"]);
    restic.succeed(&["restore", "latest", "--target", "restored"]);
    let restored = fixture.directory.path().join("restored");
    let mail = restored.join(fixture.root().strip_prefix("/").unwrap());
    assert_eq!(tree(&mail), tree(fixture.root()));
    // A new machine: it has the restored mail and nothing else.
    let environment =
        Environment { data: fixture.directory.path().join("bare"), ..fixture.environment.clone() };
    let roots = [Root { name: "mail".into(), path: mail }];
    index::update(&environment, &roots, &UpdateOptions::default(), &Silent).unwrap();
    let taken = backup::import_restored_tags(&environment, &roots).unwrap();
    assert_eq!(taken.len(), 1);
    let mailbox = Mailbox::open(&environment).unwrap();
    assert_eq!(found(&mailbox, "tag:work"), ["s1"]);
    assert_eq!(found(&mailbox, ""), found(&Mailbox::open(&fixture.environment).unwrap(), ""));
}

#[test]
fn deleted_mail_is_found_shown_and_put_back_from_a_repository() {
    let fixture = Fixture::new();
    let repository = init(storage(&fixture)).unwrap();
    fixture.backup(&repository).unwrap();
    for name in ["inbox/cur/1.x:2,S", "inbox/new/50.x"] {
        fs::remove_file(fixture.root().join(name)).unwrap();
    }
    fixture.backup(&repository).unwrap();
    let repository = open(storage(&fixture)).unwrap();
    let list = snapshots(&repository);
    let archive = MessageArchive { environment: &fixture.environment, repository: &repository };
    let held = archive.messages(&list, &Silent);
    let mailbox = Mailbox::open(&fixture.environment).unwrap().with_scope(Scope::WithAbsent(&held)).unwrap();
    assert_eq!(found(&mailbox, "subject:s1 or subject:s50"), ["s1", "s50"]);
    let hits =
        mailbox.find(&query("subject:s1 or subject:s50 or subject:s2"), &Order::default()).unwrap().list;
    let mut reader = index::RecordReader::new();
    for hit in &hits {
        let message = mailbox.message(hit, &mut reader).unwrap();
        assert!(held.message(&message.sha256).unwrap().is_some(), "{}", message.line.subject);
    }
    // As of the first snapshot.
    let chosen = backup::choose_snapshots(&list[..1], &fixture.roots, "", i64::MAX);
    assert_eq!((chosen.snapshots[0].roots.clone(), chosen.missing), (fixture.roots.clone(), vec![]));
    let moment = archive.moment(&list, &chosen.snapshots, &Silent).unwrap();
    let (then, unknown) = Mailbox::open(&fixture.environment).unwrap().at(&moment).unwrap();
    assert_eq!((found(&then, "flag:new"), unknown), (vec!["s50".to_owned()], index::Unknown::default()));
    // The messages that would be lost, and the snapshot that keeps them.
    let lost = |staying: &[restic::Snapshot]| {
        let report = archive
            .lost_messages(Some(&mailbox), (&list[..1], staying), Unreferenced::Keep, &Silent)
            .unwrap();
        assert_eq!(report.problems, []);
        report.messages
    };
    let none_stay = lost(&[]);
    let lost_now = lost(&list[1..]);
    let mut sizes: Vec<u64> = lost_now.iter().map(|lost| lost.size_bytes).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [message(1).len() as u64, large().len() as u64]);
    let lock = crate::support::lock(&repository).unwrap();
    let target = backup::Target { repository: &repository, lock: &lock };
    backup::keep_messages(&fixture.environment, &target, &lost_now, &crate::support::options()).unwrap();
    drop(lock);
    let kept = snapshots(&repository);
    let kept: Vec<_> = kept.into_iter().filter(|one| one.tags.contains(&"pneu-deleted".to_owned())).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!((none_stay.len(), lost(&kept).len()), (2, 0), "all but those on the disk");
    // Back in their folders.
    let report = archive.undelete((&mailbox, &hits), &list, None, &Silent).unwrap();
    assert_eq!((report.done.len(), report.present_count, report.problems), (2, 1, vec![]));
    assert_eq!(fs::read(fixture.root().join("inbox/cur/1.x:2,S")).unwrap(), message(1).as_bytes());
    let mailbox = fixture.index();
    assert_eq!(found(&mailbox, "subject:s1 or subject:s50"), ["s1", "s50"]);
    if let Some(restic) = testkit::restic(fixture.directory.path(), "repository", PASSWORD) {
        restic.succeed(&["check", "--read-data"]);
    }
}
