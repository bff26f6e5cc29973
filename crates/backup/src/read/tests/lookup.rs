//! Finding cut and compressed messages with the repository alone.

use crate::blobs::entry::{Content, Entry, Stat};
use crate::blobs::writer::BlobWriter;
use crate::cache::{Cache, Opened};
use crate::pieces::list::PieceList;
use crate::pieces::lists::read_lists;
use crate::read::lookup::PieceLookup;
use crate::read::messages::{ArchivedMessages, IfUnreadable, UnindexedMessages};
use crate::testing::fixture::Fixture;
use crate::testing::mailbox::message;
use crate::testing::memory::{MemoryRepository, id_of};
use crate::testing::snapshots;
use index::Archive;
use restic::{Id, Snapshot};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use work::Silent;

fn large() -> String {
    message(50) + &"0123456789abcde\n".repeat(50_000)
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn snapshot(host: &str, seconds: i64, tree: Id, tags: &[&str]) -> Snapshot {
    Snapshot { tree, ..snapshots::snapshot(host, seconds, &["/a"], tags) }
}

/// The look-up of another machine, which has the archive and no tables.
fn elsewhere(writer: &MemoryRepository, tree: Id) -> PieceLookup<'_> {
    PieceLookup::new(None, Box::new(move || read_lists(writer, &[snapshot("a", 1, tree, &[])])))
}

#[test]
fn cut_and_compressed_messages_are_found_by_the_archive_alone() {
    let fixture = Fixture::new();
    let compressed_large = large().replace("words 50", "words 51");
    fixture.put("inbox", "cur", "50.x:2,", large().as_bytes());
    fixture.put("inbox", "cur", "80.x:2,Z", &packed(message(80).as_bytes()));
    fixture.put("lists", "cur", "51.x:2,Z", &packed(compressed_large.as_bytes()));
    // It was delivered twice.
    fixture.put("lists", "cur", "52.x:2,Z", &packed(compressed_large.as_bytes()));
    fixture.index();
    let (tree, ..) = fixture.backup();
    let messages = [large(), message(80), compressed_large];
    let ids: Vec<[u8; 32]> = messages.iter().map(|message| id_of(message.as_bytes()).0).collect();
    let held = |tree| {
        ArchivedMessages::new(
            Box::new(&fixture.repository),
            (elsewhere(&fixture.repository, tree), IfUnreadable::Absent),
            vec![tree],
            &Silent,
        )
    };
    assert_eq!(held(tree).holds(&[&ids[..], &[[7; 32]]].concat()).unwrap(), [true, true, true, false]);
    for (message, id) in messages.iter().zip(&ids) {
        assert_eq!(held(tree).message(id).unwrap().as_deref(), Some(message.as_bytes()));
    }
    let lookup = elsewhere(&fixture.repository, tree);
    for (path, entry) in fixture.listed(tree) {
        let Content::File(pieces) = &entry.content else { continue };
        let number = ["50.x", "80.x", "51.x"].iter().position(|name| path.contains(name));
        if let Some(number) = number {
            assert_eq!(lookup.message_of(pieces).unwrap(), Some(ids[number]), "{path}");
        } else if path.ends_with("0.x:2,S") {
            assert_eq!(lookup.message_of(pieces).unwrap(), Some(id_of(message(0).as_bytes()).0));
        }
    }
    // Later snapshots list these messages as long as the repository has them, even if their files are gone.
    for name in ["inbox/cur/50.x:2,", "inbox/cur/80.x:2,Z"] {
        fs::remove_file(fixture.root().join(name)).unwrap();
    }
    fixture.index();
    let (later, ..) = fixture.backup();
    assert_eq!(held(later).holds(&ids).unwrap(), [true, true, true]);
    fixture.repository.pieces.lock().unwrap().remove(&id_of(&packed(message(80).as_bytes())));
    let (last, ..) = fixture.backup();
    assert_eq!(read_lists(&fixture.repository, &[snapshot("a", 1, last, &[])]).unwrap().list.0.len(), 2);
}

#[test]
fn new_tables_are_filled_from_the_archive() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "50.x:2,", large().as_bytes());
    let gone = fixture.put("inbox", "cur", "80.x:2,Z", &packed(message(80).as_bytes()));
    fixture.index();
    let (tree, ..) = fixture.backup();
    fs::remove_file(gone).unwrap();
    fixture.index();
    fs::remove_dir_all(fixture.place()).unwrap();
    let found = read_lists(&fixture.repository, &[snapshot("a", 1, tree, &[])]).unwrap();
    let cur = fixture.root().join("inbox/cur").as_os_str().as_bytes().to_vec();
    let files = fixture.listed(tree).into_iter().filter(|(path, _)| path.contains("/inbox/cur/"));
    let files: Vec<Entry> = files.map(|(_, entry)| entry).collect();
    let known = Cache::of_trees(&[(cur, files)], &found).unwrap();
    fixture.repository.brought();
    let stored = fixture.store_mail(Some(&known));
    let read = fixture.repository.brought().0;
    fixture.commit(stored.changes);
    // The index knows the small messages and the list the large one, so only other files are read.
    assert_eq!((read, stored.problems), (3, vec![]));
    assert_eq!(
        stored.counts.files_unchanged, 5,
        "all that is left in the one directory of which trees were read"
    );
    let held = ArchivedMessages::new(
        Box::new(&fixture.repository),
        (
            PieceLookup::new(
                Cache::open(&fixture.disk(), &fixture.place()).cache(),
                Box::new(|| panic!("not asked")),
            ),
            IfUnreadable::Absent,
        ),
        vec![],
        &Silent,
    );
    let ids = [large(), message(80)].map(|message| id_of(message.as_bytes()).0);
    assert_eq!(held.holds(&ids).unwrap(), [true, true]);
}

#[test]
fn the_newest_readable_list_of_each_machine_and_all_kept_lists_count() {
    let writer = MemoryRepository::default();
    let tree = |text: &str| {
        let file = |name: &str, content| Entry { name: name.into(), stat: Stat::default(), content };
        let piece = id_of(text.as_bytes());
        writer.save_piece(piece, text.as_bytes()).unwrap();
        let directory = writer.save_tree(&[file("pieces", Content::File(vec![piece])).view()]).unwrap();
        writer.save_tree(&[file(".pneu", Content::Directory(directory)).view()]).unwrap()
    };
    let list = |number: u8| tree(&PieceList([([number; 32], vec![Id([9; 32])])].into()).text().unwrap());
    let found = |snapshots: &[Snapshot]| {
        let lists = read_lists(&writer, snapshots).unwrap();
        (lists.list.0.keys().map(|message| message[0]).collect::<Vec<_>>(), lists.problems)
    };
    let none = writer.save_tree(&[]).unwrap();
    let (old, new) = (snapshot("a", 1, list(1), &[]), snapshot("a", 2, list(2), &[]));
    assert_eq!(found(&[new.clone(), old.clone()]), (vec![2], vec![]));
    let other = snapshot("b", 1, list(3), &[]);
    let kept = [4, 5].map(|number| snapshot("a", 3, list(number), &["pneu-deleted"]));
    assert_eq!(found(&[&[old.clone(), other], &kept[..]].concat()), (vec![1, 3, 4, 5], vec![]));
    assert_eq!(found(&[old.clone(), snapshot("a", 2, none, &[])]), (vec![], vec![]));
    // If the newest list is damaged, the next older one is used.
    let (missing, damaged) = (snapshot("a", 3, Id([8; 32]), &[]), snapshot("a", 4, tree("x"), &[]));
    assert_eq!(found(&[missing.clone(), new, damaged.clone(), old]), (vec![2], vec![]));
    let (_, problems) = found(&[missing, damaged]);
    assert_eq!(problems, ["a list of pieces in a snapshot is damaged: line 1 is not \"pneu-pieces 1\""]);
}

#[test]
fn unreadable_lists_stop_a_caller_that_deletes() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let held = |if_unreadable| {
        ArchivedMessages::new(
            Box::new(&fixture.repository),
            (elsewhere(&fixture.repository, Id([8; 32])), if_unreadable),
            vec![],
            &Silent,
        )
    };
    let ids = [id_of(message(1).as_bytes()).0, [7; 32]];
    let lenient = held(IfUnreadable::Absent);
    assert_eq!((lenient.holds(&ids).unwrap(), lenient.problems().len()), (vec![true, false], 1));
    let strict = held(IfUnreadable::Fail);
    assert_eq!(strict.holds(&ids[..1]).unwrap(), [true]);
    let error = strict.holds(&ids).unwrap_err().to_string();
    assert!(error.contains("cannot tell which messages the archive holds"), "{error}");
}

#[test]
fn tables_that_cannot_be_read_are_kept() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    assert!(matches!(Cache::open(&fixture.disk(), &fixture.place()), Opened::Usable(_)));
    // A directory cannot be read as a file, even by root.
    let manifest = fixture.place().join("manifest");
    let kept = manifest.with_extension("kept");
    fs::rename(&manifest, &kept).unwrap();
    assert!(matches!(Cache::open(&fixture.disk(), &fixture.place()), Opened::Unusable));
    fs::create_dir(&manifest).unwrap();
    assert!(matches!(Cache::open(&fixture.disk(), &fixture.place()), Opened::Unreadable(_)));
}

#[test]
fn unindexed_messages_are_counted_in_searches_and_kept_by_sweeps() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "50.x:2,", large().as_bytes());
    fixture.index();
    let (tree, ..) = fixture.backup();
    let writer = &fixture.repository;
    let ids = [id_of(large().as_bytes()).0, id_of(message(1).as_bytes()).0, [7; 32]];
    let held = |if_unreadable| {
        ArchivedMessages::new(Box::new(writer), (elsewhere(writer, tree), if_unreadable), Vec::new(), &Silent)
    };
    assert_eq!(held(IfUnreadable::Absent).holds(&ids).unwrap(), [true, true, false]);
    assert_eq!(held(IfUnreadable::Absent).unindexed().unwrap(), UnindexedMessages::default());
    // The large message is lost if one of its pieces is missing.
    let lists = read_lists(writer, &[snapshot("a", 1, tree, &[])]).unwrap();
    let lost = [Id(ids[1]), lists.list.0[&ids[0]][1]];
    {
        let (mut pieces, mut unindexed) = (writer.pieces.lock().unwrap(), writer.unindexed.lock().unwrap());
        lost.iter().for_each(|id| drop(pieces.remove(id).unwrap()));
        (unindexed.pieces, unindexed.pack_count) = (lost.into_iter().collect(), 3);
    }
    let looking = held(IfUnreadable::Absent);
    assert_eq!(looking.holds(&ids).unwrap(), [false; 3]);
    assert_eq!(ids.map(|id| looking.is_unindexed(&id).unwrap()), [true, true, false]);
    let expected = UnindexedMessages { message_count: 2, pack_count: 3, problems: Vec::new() };
    assert_eq!(looking.unindexed().unwrap(), expected);
    assert_eq!(held(IfUnreadable::Fail).holds(&ids).unwrap(), [true, true, false]);
    writer.unindexed.lock().unwrap().problems.push("data/07 is damaged".to_owned());
    let refused = held(IfUnreadable::Fail).holds(&ids[2..]).unwrap_err().to_string();
    assert!(refused.contains("a pack is in no index file, and data/07 is damaged"), "{refused}");
    let looking = held(IfUnreadable::Absent);
    assert_eq!(looking.holds(&ids[2..]).unwrap(), [false]);
    assert_eq!(looking.unindexed().unwrap().problems, ["data/07 is damaged"]);
}
