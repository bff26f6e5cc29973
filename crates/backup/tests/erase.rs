//! Messages that are erased from a repository: from all snapshots, and from the packs, as restic sees it.

use crate::support::{Fixture, PASSWORD, init, large, lock, message, open, snapshots};
use backup::{Erased, MessageArchive};
use disk::RealDisk;
use index::{Archive, TagChange};
use restic::snapshot::Summary;
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, HeldLock, Id, LocalStorage, LockKind, ReadData, Repository, SaveOptions, Saver, Snapshot,
    Storage,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use testkit::SimDisk;
use work::Silent;

fn exclusive(repository: &Repository) -> restic::Result<HeldLock> {
    repository.lock(LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(()))
}

fn erase(
    fixture: &Fixture,
    storage: &Arc<dyn Storage>,
    messages: &BTreeSet<[u8; 32]>,
) -> backup::Result<Erased> {
    let repository = open(Arc::clone(storage))?;
    let lock = exclusive(&repository)?;
    let archive = MessageArchive { environment: &fixture.environment, repository: &repository };
    archive.erase(&lock, messages, &Silent)
}

fn id(text: &str) -> [u8; 32] {
    Id::of(text.as_bytes()).0
}

/// The same as the large message of the fixture, except for one line in the middle.
fn similar() -> String {
    let text = large();
    let (first, second) = text.split_at(text.len() / 2);
    format!("{first}other\n{second}")
}

/// Returns whether the archive holds messages, as a sweep asks.
fn holds(fixture: &Fixture, storage: &Arc<dyn Storage>, messages: &[[u8; 32]]) -> Vec<bool> {
    let repository = open(Arc::clone(storage)).unwrap();
    let archive = MessageArchive { environment: &fixture.environment, repository: &repository };
    archive.messages_strict(&Silent).holds(messages).unwrap()
}

/// Returns how many files all snapshots have, and what a check of all data finds.
fn checked(storage: &Arc<dyn Storage>) -> (usize, Vec<String>) {
    let repository = open(Arc::clone(storage)).unwrap();
    let report = restic::check(&repository, ReadData::All, &Silent).unwrap();
    let faults = report.faults.iter().map(ToString::to_string).collect();
    (report.snapshot_count.try_into().unwrap(), faults)
}

/// Makes three backups, of ever fewer messages. One message is like the large one, one is compressed, and two
/// have a tag. Returns the length of the compressed file.
fn back_up_three_times(fixture: &Fixture, repository: &Repository) -> u64 {
    fixture.put("inbox", "cur", "51.x:2,S", similar().as_bytes());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(message(8).as_bytes()).unwrap();
    let compressed = fixture.put("lists", "cur", "8.x:2,S", &packed.finish().unwrap());
    let mailbox = fixture.index();
    let change = TagChange { add: ["secret".to_owned()].into(), ..TagChange::default() };
    let tagged = mailbox.evaluate(&crate::support::query("subject:s1 or subject:s2")).unwrap();
    index::change_tags(&fixture.environment, &mailbox, &tagged, &change).unwrap();
    fixture.backup(repository).unwrap();
    // The second snapshot has one of the messages no more.
    fs::remove_file(fixture.root().join("inbox/cur/1.x:2,S")).unwrap();
    fixture.backup(repository).unwrap();
    fs::remove_file(fixture.root().join("inbox/new/50.x")).unwrap();
    fs::remove_file(fixture.root().join("inbox/cur/51.x:2,S")).unwrap();
    let packed_bytes = fs::metadata(&compressed).unwrap().len();
    fs::remove_file(compressed).unwrap();
    fixture.backup(repository).unwrap();
    packed_bytes
}

/// Checks that the three snapshots state as many files and bytes less as were erased.
fn expect_smaller_summaries(before: &[Snapshot], after: &[Snapshot], packed_bytes: u64) {
    let less = |number: usize| {
        let [was, is] = [before, after].map(|list| list[number].summary.unwrap());
        let bytes = was.total_bytes_processed - is.total_bytes_processed;
        (was.total_files_processed - is.total_files_processed, bytes)
    };
    let bytes = |of: &[u64]| (of.len() as u64, of.iter().sum());
    let two = [large().len() as u64, packed_bytes];
    assert_eq!(less(0), bytes(&[two[0], two[1], message(1).len() as u64]));
    assert_eq!((less(1), less(2)), (bytes(&two), (0, 0)));
}

#[test]
fn an_erased_message_is_in_no_snapshot_and_no_pack_and_all_else_stays() {
    let fixture = Fixture::new();
    let storage: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(Arc::new(RealDisk), fixture.directory.path().join("repository")));
    let repository = init(Arc::clone(&storage)).unwrap();
    let packed_bytes = back_up_three_times(&fixture, &repository);
    let before = snapshots(&repository);
    let pieces_before = pieces(&repository);
    let wanted: BTreeSet<[u8; 32]> =
        [id(&message(1)), id(&large()), id(&message(8)), id("never seen")].into();
    let planned = MessageArchive { environment: &fixture.environment, repository: &repository }
        .plan_erasing(&wanted, &Silent)
        .unwrap();
    assert_eq!((planned.messages.len(), planned.file_count), (3, 3));
    assert!(planned.pruned.is_none());
    assert_eq!(snapshots(&repository), before, "a plan changes nothing");
    let erased = erase(&fixture, &storage, &wanted).unwrap();
    assert_eq!((&erased.messages, erased.file_count), (&planned.messages, planned.file_count));
    assert_eq!((erased.snapshots.len(), erased.snapshot_count), (3, 3), "the third has a tag of it");
    assert!(erased.pruned.unwrap().removed_pack_count > 0);
    let repository = open(Arc::clone(&storage)).unwrap();
    let after = snapshots(&repository);
    for (old, new) in before.iter().zip(&after) {
        assert_ne!(old.tree, new.tree);
        assert!(new.original.is_some());
        let (was, is) = (old.summary.unwrap(), new.summary.unwrap());
        let summary = Summary {
            total_files_processed: is.total_files_processed,
            total_bytes_processed: is.total_bytes_processed,
            ..was
        };
        let (tree, original) = (new.tree, new.original);
        let same = Snapshot { tree, original, summary: Some(summary), ..old.clone() };
        assert_eq!(&same, new, "time, host, tags and paths stay");
    }
    expect_smaller_summaries(&before, &after, packed_bytes);
    let all = [id(&message(1)), id(&large()), id(&similar()), id(&message(2))];
    assert_eq!(holds(&fixture, &storage, &all), [false, false, true, true]);
    let blobs = pieces(&repository);
    assert!(
        !blobs.contains(&Id::of(message(1).as_bytes())) && blobs.contains(&Id::of(message(2).as_bytes()))
    );
    // Pieces that only the erased one had are gone. Those of the similar one are all there, as it is read.
    assert!(blobs.len() < pieces_before.len() - 1);
    let archive = MessageArchive { environment: &fixture.environment, repository: &repository };
    assert_eq!(
        archive.messages(&after, &Silent).message(&id(&similar())).unwrap().as_deref(),
        Some(similar().as_bytes())
    );
    assert_eq!(checked(&storage), (3, vec![]));
    assert!(erase(&fixture, &storage, &wanted).unwrap().snapshots.is_empty());
    fixture.backup(&repository).unwrap();
    let Some(restic) = testkit::restic(fixture.directory.path(), "repository", PASSWORD) else { return };
    restic.succeed(&["check", "--read-data"]);
    let listed = |snapshot: &str| String::from_utf8(restic.succeed(&["ls", snapshot])).unwrap();
    let ids: Vec<String> =
        repository.snapshots().unwrap().snapshots.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids.len(), 4);
    for snapshot in &ids {
        let files = listed(snapshot);
        assert!(!["/1.x", "/50.x", "/8.x"].iter().any(|name| files.contains(name)), "{files}");
        assert!(files.contains("/2.x:2,S"), "{files}");
        let tags = restic.succeed(&["dump", snapshot, "/.pneu/tags"]);
        let tags = String::from_utf8(tags).unwrap();
        // The last backup knows the tag from the index of this machine.
        let has_tag = tags.contains(&Id::of(message(1).as_bytes()).to_string());
        assert_eq!(has_tag, snapshot == &ids[3], "{tags}");
        assert!(tags.contains(&Id::of(message(2).as_bytes()).to_string()), "{tags}");
    }
    assert!(listed(&ids[1]).contains("/51.x:2,S"));
}

/// Saves a snapshot whose top has a directory `.pneu`, and one deeper, each with files of these texts.
fn save_files(storage: &Arc<dyn Storage>, files: &[(&'static str, String)]) -> Snapshot {
    let repository = open(Arc::clone(storage)).unwrap();
    let held = lock(&repository).unwrap();
    let saver = Saver::new(&repository, &held, SaveOptions::default()).unwrap();
    let tree_of = |nodes: &[Node<'_>]| {
        let mut writer = TreeWriter::new();
        nodes.iter().for_each(|node| writer.append(node).unwrap());
        saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id
    };
    let directory = |name: &'static str, tree| Node {
        subtree: Some(tree),
        ..Node::new(name.as_bytes(), NodeKind::Directory)
    };
    let nodes: Vec<Node<'_>> = files
        .iter()
        .map(|(name, text)| {
            let pieces = saver.save_file(&mut text.as_bytes()).unwrap().content;
            let size = text.len() as u64;
            Node { content: Some(pieces.into()), size, ..Node::new(name.as_bytes(), NodeKind::File) }
        })
        .collect();
    let own = tree_of(&nodes);
    let deep = tree_of(&[directory(".pneu", own)]);
    let tree = tree_of(&[directory(".pneu", own), directory("home", deep)]);
    saver.finish().unwrap();
    let snapshot = Snapshot { tree, paths: vec!["/home".into()], ..Snapshot::default() };
    repository.save_snapshot_under(&held, &snapshot).unwrap();
    snapshot
}

/// Returns the text of a file in the only snapshot.
fn text_at(storage: &Arc<dyn Storage>, path: &str) -> String {
    let repository = open(Arc::clone(storage)).unwrap();
    let tree = snapshots(&repository)[0].tree;
    let node = restic::node_at(&repository, &tree, path.as_bytes()).unwrap().unwrap();
    let pieces = node.content.unwrap();
    let bytes: Vec<u8> =
        pieces.iter().flat_map(|id| repository.load_blob(BlobKind::Data, id).unwrap()).collect();
    assert_eq!(bytes.len() as u64, node.size);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn only_what_pneu_wrote_at_the_top_loses_lines() {
    let fixture = Fixture::new();
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    init(Arc::clone(&storage)).unwrap();
    let line = format!("{}\tm1\tsecret\n", Id(id(&message(1))));
    let (tags, pieces) = (format!("pneu-tags 1\n{line}"), format!("pneu-pieces 1\n{line}"));
    // Of another program, by chance with the same name.
    let other = format!("my pieces\n{line}");
    save_files(&storage, &[("other", tags.clone()), ("pieces", pieces.clone()), ("tags", tags.clone())]);
    let wanted: BTreeSet<[u8; 32]> = [id(&message(1))].into();
    erase(&fixture, &storage, &wanted).unwrap();
    assert_eq!(text_at(&storage, "/.pneu/tags"), "pneu-tags 1\n");
    assert_eq!(text_at(&storage, "/.pneu/pieces"), "pneu-pieces 1\n");
    for (path, text) in [
        ("/.pneu/other", &tags),
        ("/home/.pneu/other", &tags),
        ("/home/.pneu/pieces", &pieces),
        ("/home/.pneu/tags", &tags),
    ] {
        assert_eq!(&text_at(&storage, path), text, "{path}");
    }
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    init(Arc::clone(&storage)).unwrap();
    let saved = save_files(&storage, &[("pieces", other)]);
    assert!(erase(&fixture, &storage, &wanted).unwrap().snapshots.is_empty());
    assert_eq!(snapshots(&open(storage).unwrap()), [saved]);
}

/// Returns the pieces that the repository names.
fn pieces(repository: &Repository) -> BTreeSet<Id> {
    let mut found = BTreeSet::new();
    let index = repository.reread();
    let each = |entry: &restic::Entry| {
        if entry.blob.kind == BlobKind::Data {
            found.insert(entry.blob.id);
        }
    };
    let mut each = each;
    index.index().unwrap().survey().unwrap().for_each(|entry| each(&entry)).unwrap();
    found
}

#[test]
fn an_erasure_that_fails_anywhere_leaves_whole_snapshots_and_the_next_one_does_the_rest() {
    for failing in 0usize.. {
        let fixture = Fixture::new();
        let memory = MemoryStorage::new();
        let storage: Arc<dyn Storage> = memory.clone();
        let repository = init(Arc::clone(&storage)).unwrap();
        fixture.backup(&repository).unwrap();
        fs::remove_file(fixture.root().join("inbox/cur/2.x:2,S")).unwrap();
        fixture.backup(&open(Arc::clone(&storage)).unwrap()).unwrap();
        let wanted: BTreeSet<[u8; 32]> = [id(&message(1)), id(&large())].into();
        let mut left = failing;
        memory.refuse(move |operation| {
            // A lock that stays would only keep the next one from beginning.
            let is_lock = operation.contains("lock");
            let is_change = !is_lock && (operation.starts_with("write") || operation.starts_with("remove"));
            let is_now = is_change && left == 0;
            left = left.saturating_sub(usize::from(is_change));
            is_now
        });
        let result = erase(&fixture, &storage, &wanted);
        memory.refuse_nothing();
        let (count, faults) = checked(&storage);
        assert_eq!(faults, [""; 0], "operation {failing}");
        assert!((2..=4).contains(&count), "operation {failing}: {count} snapshots");
        let again = erase(&fixture, &storage, &wanted).unwrap();
        assert_eq!(checked(&storage), (2, vec![]), "operation {failing}: {result:?}");
        assert_eq!(holds(&fixture, &storage, &[id(&message(1)), id(&large())]), [false, false]);
        assert_eq!(holds(&fixture, &storage, &[id(&message(0)), id(&message(2))]), [true, true]);
        if result.is_ok_and(|erased| erased.pruned.is_some_and(|pruned| pruned.failed.is_empty()))
            && failing > 12
        {
            assert!(again.snapshots.is_empty());
            return;
        }
    }
}

#[test]
fn a_crash_anywhere_in_an_erasure_leaves_whole_snapshots() {
    let fixture = Fixture::new();
    let disk = SimDisk::new(1);
    let on = |disk: &SimDisk| -> Arc<dyn Storage> {
        Arc::new(LocalStorage::new(Arc::new(disk.clone()), "/repository".into()))
    };
    fixture.backup(&init(on(&disk)).unwrap()).unwrap();
    let wanted: BTreeSet<[u8; 32]> = [id(&message(1)), id(&large())].into();
    let uninterrupted = disk.fork();
    erase(&fixture, &on(&uninterrupted), &wanted).unwrap();
    for number in 0..uninterrupted.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_done = erase(&fixture, &on(&crashed), &wanted).is_ok();
        for image in crashed.images() {
            let (count, faults) = checked(&on(&image.disk));
            assert_eq!(faults, [""; 0], "crash at {number}, {}", image.description);
            assert!((1..=2).contains(&count) && (count == 1 || !is_done), "crash at {number}: {count}");
        }
    }
}
