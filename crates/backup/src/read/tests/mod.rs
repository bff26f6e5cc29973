//! Reading a repository in memory: messages by their SHA-256, mailboxes as of a date, deleted messages, and
//! messages that would be lost.

use crate::blobs::entry::{Content, Entry, Stat};
use crate::blobs::writer::BlobWriter;
use crate::cache::Cache;
use crate::lost::find::{Trees, find_lost};
use crate::lost::keep::write_tree;
use crate::pieces::lists::PieceLists;
use crate::read::lookup::PieceLookup;
use crate::read::messages::ArchivedMessages;
use crate::read::messages::IfUnreadable;
use crate::read::moment::moment;
use crate::testing::fixture::Fixture;
use crate::testing::mailbox::{found, message};
use crate::testing::memory::id_of;
use crate::undelete::candidates::{SearchedSnapshot, SnapshotFile, best_files};
use crate::undelete::put_back::{Back, TargetFolders, put_back};
use index::{Archive, Environment, Mailbox, ReadableArchive, Scope, UpdateOptions};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Silent;

mod lookup;

fn large() -> String {
    message(50) + &"0123456789abcde\n".repeat(50_000)
}

/// A backup that includes a large message. Then messages 0 and 1 and the large one are deleted.
fn filled() -> (Fixture, restic::Id) {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "50.x:2,RS", large().as_bytes());
    fixture.index();
    let (tree, ..) = fixture.backup();
    for name in ["0.x:2,S", "1.x:2,S", "50.x:2,RS"] {
        fs::remove_file(fixture.root().join("inbox/cur").join(name)).unwrap();
    }
    fixture.index();
    (fixture, tree)
}

/// Returns the place of each message in one snapshot.
fn places(fixture: &Fixture, tree: restic::Id, wanted: &[[u8; 32]]) -> HashMap<[u8; 32], SnapshotFile> {
    let root = fixture.root().to_owned();
    let source = SearchedSnapshot { tree, roots: vec![(root.as_os_str().as_bytes().to_vec(), root)] };
    let wanted: HashSet<[u8; 32]> = wanted.iter().copied().collect();
    best_files(&fixture.repository, &lookup(Some(known(fixture))), &[source], &wanted, &Silent).unwrap()
}

/// Puts a message back like a newly started program, and returns its file.
fn back(fixture: &Fixture, kept: &SnapshotFile, folder: &Path) -> Back {
    put_back(&fixture.repository, kept, folder, &mut TargetFolders::default()).unwrap()
}

fn path_of(back: Back) -> PathBuf {
    match back {
        Back::Put(undeleted) => undeleted.path,
        Back::Present(path) => panic!("{} was there", path.display()),
    }
}

/// A look-up with these tables and an archive without lists.
fn lookup<'a>(tables: Option<Arc<Cache>>) -> PieceLookup<'a> {
    PieceLookup::new(tables, Box::new(|| Ok(PieceLists::default())))
}

fn known(fixture: &Fixture) -> Arc<Cache> {
    Cache::open(&fixture.disk(), &fixture.place()).cache().unwrap()
}

#[test]
fn deleted_mail_is_found_and_read_from_the_archive() {
    let (fixture, tree) = filled();
    let known = known(&fixture);
    let held = ArchivedMessages::new(
        Box::new(&fixture.repository),
        (lookup(Some(self::known(&fixture))), IfUnreadable::Absent),
        vec![tree],
        &Silent,
    );
    let mailbox = Mailbox::open(&fixture.environment).unwrap();
    assert_eq!(found(&mailbox, "words").len(), 6);
    let mailbox = mailbox.with_scope(Scope::WithAbsent(&held)).unwrap();
    assert_eq!(found(&mailbox, "words").len(), 9);
    assert_eq!(found(&mailbox, "subject:s50"), ["s50"]);
    for content in [message(1), large()] {
        let bytes = held.message(&id_of(content.as_bytes()).0).unwrap();
        assert_eq!(bytes.as_deref(), Some(content.as_bytes()));
    }
    assert_eq!(held.message(&[7; 32]).unwrap(), None);
    // An entry that is neither a file nor a directory is skipped.
    let link = Entry { name: b"link".to_vec(), stat: Stat::default(), content: Content::Other };
    let other = fixture.repository.save_tree(&[link.view()]).unwrap();
    let with_link = ArchivedMessages::new(
        Box::new(&fixture.repository),
        (lookup(None), IfUnreadable::Absent),
        vec![other, tree],
        &Silent,
    );
    let mut count = 0;
    with_link
        .each_key(&mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 9);
    // Without tables, a cut message cannot be found by its name. A message that lost a piece is not held.
    let blind = ArchivedMessages::new(
        Box::new(&fixture.repository),
        (lookup(None), IfUnreadable::Absent),
        vec![tree],
        &Silent,
    );
    let ids = [id_of(message(1).as_bytes()).0, id_of(large().as_bytes()).0];
    assert_eq!(
        (held.holds(&ids).unwrap(), blind.holds(&ids).unwrap()),
        (vec![true, true], vec![true, false])
    );
    let pieces = known.pieces(ids[1], large().len() as u64).unwrap().unwrap();
    fixture.repository.pieces.lock().unwrap().remove(&pieces[2]);
    assert_eq!(held.holds(&ids).unwrap(), [true, false]);
}

#[test]
fn a_rebuilt_index_includes_deleted_mail_from_the_archive() {
    let (fixture, tree) = filled();
    fs::remove_dir_all(fixture.environment.index_directory()).unwrap();
    // With the tables and without.
    for (known, seed) in [(Some(known(&fixture)), 8), (None, 9)] {
        let environment = Environment { seed, ..fixture.environment.clone() };
        let held = ArchivedMessages::new(
            Box::new(&fixture.repository),
            (lookup(known), IfUnreadable::Absent),
            vec![tree],
            &Silent,
        );
        let options = UpdateOptions::default();
        let (_, adopted) =
            index::rebuild_with(&environment, &fixture.roots, &held, &options, &Silent).unwrap();
        assert_eq!((adopted.messages, adopted.damaged), (3, 0));
        let mailbox = Mailbox::open(&fixture.environment).unwrap();
        let mailbox = mailbox.with_scope(Scope::WithAbsent(&held)).unwrap();
        assert_eq!(found(&mailbox, "subject:s0 or subject:s1"), ["s0", "s1"]);
    }
}

#[test]
fn a_mailbox_is_searched_as_a_snapshot_has_it() {
    let (fixture, tree) = filled();
    let root = fixture.root();
    fs::rename(root.join("inbox/cur/2.x:2,S"), root.join("lists/rust/cur/2.x:2,FS")).unwrap();
    fs::write(root.join("inbox/dovecot-keywords"), "0 late\n").unwrap();
    fixture.put("inbox", "cur", "60.x:2,", message(60).as_bytes());
    fixture.index();
    let (later, ..) = fixture.backup();
    let at = |tree, known: &PieceLookup<'_>| {
        let moment = moment(&fixture.repository, known, &tree, &fixture.roots, &Silent).unwrap();
        let (mailbox, unknown) = Mailbox::open(&fixture.environment).unwrap().at(&moment).unwrap();
        assert_eq!(unknown, index::Unknown::default());
        mailbox
    };
    for known in [Some(known(&fixture)), None].map(lookup) {
        let then = at(tree, &known);
        assert_eq!(found(&then, "maildir:/inbox"), ["s0", "s1", "s2", "s3", "s50"]);
        assert_eq!(found(&then, "flag:replied"), ["s50"]);
        assert!(found(&then, "flag:flagged or subject:s60").is_empty());
        assert_eq!(found(&then, "maildir:/lists/rust").len(), 4);
        let now = at(later, &known);
        assert_eq!(found(&now, "maildir:/inbox"), ["s3", "s60"]);
        assert_eq!(found(&now, "flag:flagged"), ["s2"]);
    }
}

#[test]
fn deleted_mail_comes_back_into_its_folder() {
    let (fixture, tree) = filled();
    let ids = [message(0), message(1), large()].map(|content| id_of(content.as_bytes()).0);
    let places = places(&fixture, tree, &ids);
    assert_eq!(places.len(), 3);
    // Another message now has the name, and the folder is removed for a moment.
    fs::remove_dir_all(fixture.root().join("inbox")).unwrap();
    fixture.put("inbox", "cur", "0.x:2,S", message(70).as_bytes());
    for content in [message(0), message(1), large()] {
        let kept = &places[&id_of(content.as_bytes()).0];
        let folder = kept.here.as_ref().unwrap();
        let path = path_of(back(&fixture, kept, folder));
        assert_eq!(fs::read(&path).unwrap(), content.as_bytes());
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!(metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(), kept.stat.mtime_ns);
        assert_eq!(metadata.mode() & 0o7777, kept.stat.mode & 0o666);
    }
    let mut names: Vec<_> = fs::read_dir(fixture.root().join("inbox/cur"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["0.x.1:2,S", "0.x:2,S", "1.x:2,S", "50.x:2,RS"]);
    assert_eq!(fs::read(fixture.root().join("inbox/cur/0.x:2,S")).unwrap(), message(70).as_bytes());
    assert_eq!(fs::read_dir(fixture.root().join("inbox/tmp")).unwrap().count(), 0);
    fixture.index();
    let mailbox = Mailbox::open(&fixture.environment).unwrap();
    assert_eq!(found(&mailbox, "subject:s0 or subject:s1 or flag:replied"), ["s0", "s1", "s50"]);
    // Into another folder, on request.
    let elsewhere = fixture.root().join("back");
    let kept = &places[&id_of(message(1).as_bytes()).0];
    assert_eq!(path_of(back(&fixture, kept, &elsewhere)), elsewhere.join("cur/1.x:2,S"));
    for directory in ["back", "back/cur", "back/new", "back/tmp"] {
        let mode = fs::metadata(fixture.root().join(directory)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700, "{directory}");
    }
}

#[test]
fn an_existing_message_is_not_put_back_twice() {
    let (fixture, tree) = filled();
    let id = id_of(message(0).as_bytes()).0;
    let kept = &places(&fixture, tree, &[id])[&id];
    let folder = fixture.root().join("hidden");
    let first = path_of(back(&fixture, kept, &folder));
    assert_eq!(back(&fixture, kept, &folder), Back::Present(first.clone()));
    // The file now has other flags and is in the other directory.
    let moved = folder.join("new/0.x");
    fs::rename(&first, &moved).unwrap();
    assert_eq!(back(&fixture, kept, &folder), Back::Present(moved.clone()));
    // Another message has the name: the file gets a new name beside it, and only once.
    fs::write(&moved, message(70)).unwrap();
    let second = path_of(back(&fixture, kept, &folder));
    assert_eq!(second, folder.join("cur/0.x.1:2,S"));
    assert_eq!(back(&fixture, kept, &folder), Back::Present(second));
    // Also within one run.
    let mut folders = TargetFolders::default();
    let folder = fixture.root().join("other");
    let both = [0, 1].map(|_| put_back(&fixture.repository, kept, &folder, &mut folders).unwrap());
    assert!(matches!(&both, [Back::Put(put), Back::Present(there)] if put.path == *there), "{both:?}");
}

#[test]
fn a_message_put_back_has_no_deletion_flag_and_no_server_number() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "90.x,S=4,U=17:2,FSTa", message(90).as_bytes());
    fixture.index();
    let (tree, ..) = fixture.backup();
    let id = id_of(message(90).as_bytes()).0;
    let kept = &places(&fixture, tree, &[id])[&id];
    let folder = fixture.root().join("back");
    assert_eq!(path_of(back(&fixture, kept, &folder)), folder.join("cur/90.x,S=4:2,FSa"));
}

#[test]
fn messages_only_in_removed_snapshots_are_lost_and_can_be_kept() {
    let (fixture, first) = filled();
    fs::remove_file(fixture.root().join("inbox/cur/2.x:2,S")).unwrap();
    let (second, ..) = fixture.backup();
    fs::remove_file(fixture.root().join("inbox/cur/3.x:2,S")).unwrap();
    fixture.put("lists/rust", "cur", "1.back:2,", message(1).as_bytes());
    fixture.index();
    let known = lookup(Some(known(&fixture)));
    let blind = lookup(None);
    let mailbox = Mailbox::open(&fixture.environment).unwrap();
    let is_present = |ids: &[[u8; 32]]| Ok(mailbox.has_files(ids)?);
    let all: Vec<restic::Id> = fixture.repository.trees.lock().unwrap().keys().copied().collect();
    let find = |known: &PieceLookup<'_>,
                going: &[restic::Id],
                staying: &[restic::Id],
                all: Option<&[restic::Id]>| {
        let trees = Trees { going, staying, all };
        let report = find_lost((&fixture.repository, known), &trees, &is_present, &Silent).unwrap();
        assert_eq!(report.problems, []);
        report.messages
    };
    let names = |known: &PieceLookup<'_>,
                 going: &[restic::Id],
                 staying: &[restic::Id],
                 all: Option<&[restic::Id]>| {
        let list = find(known, going, staying, all);
        list.iter().map(|lost| String::from_utf8_lossy(&lost.entry.name).into_owned()).collect::<Vec<_>>()
    };
    // Message 3 is in both snapshots, and 1 is on the disk again. A cut message that the tables do not know
    // is identified by its content.
    for known in [&known, &blind] {
        assert_eq!(names(known, &[first], &[second], None), ["0.x:2,S", "2.x:2,S", "50.x:2,RS"]);
        assert_eq!(names(known, &[first, second], &[], None), ["0.x:2,S", "2.x:2,S", "3.x:2,S", "50.x:2,RS"]);
        assert_eq!(names(known, &[second], &[first], None), [""; 0]);
        // The trees are already unreferenced, but not pruned yet.
        assert_eq!(names(known, &[], &[second], Some(&all)), ["0.x:2,S", "2.x:2,S", "50.x:2,RS"]);
        assert_eq!(names(known, &[], &[first], Some(&all)), [""; 0]);
    }
    // Messages kept in a snapshot of their own are not lost, neither when that is the only snapshot, nor when
    // it is removed and they are kept again.
    let mut list = find(&known, &[first, second], &[], None);
    assert_eq!(list[3].sha256, Some(id_of(large().as_bytes()).0));
    // Another content under the same name.
    let mut twin = list[0].clone();
    twin.entry.content = Content::File(vec![id_of(message(4).as_bytes())]);
    twin.sha256 = Some(id_of(message(4).as_bytes()).0);
    list.insert(1, twin);
    let mut tree = write_tree(&fixture.repository, &list, (1, 2, 3)).unwrap();
    for _ in 0..2 {
        assert_eq!(names(&known, &[first, second], &[tree], None), [""; 0]);
        let mut listed = fixture.listed(tree);
        assert!(listed.remove("/.pneu/pieces").is_some(), "the cut message is known by it alone");
        let files = listed.iter().filter(|(_, entry)| matches!(entry.content, Content::File(_)));
        let kept = format!("/pneu-deleted{}/inbox/cur/", fixture.root().display());
        let files: Vec<&str> = files.map(|(path, _)| path.strip_prefix(&kept).unwrap()).collect();
        assert_eq!(files, ["0.x.1:2,S", "0.x:2,S", "2.x:2,S", "3.x:2,S", "50.x:2,RS"]);
        assert!(listed.iter().any(|(path, _)| path.ends_with("/inbox/tmp")), "a Maildir");
        let trees = Trees { going: &[tree], staying: &[], all: None };
        let again =
            find_lost((&fixture.repository, &known), &trees, &|ids| Ok(vec![false; ids.len()]), &Silent);
        tree = write_tree(&fixture.repository, &again.unwrap().messages, (1, 2, 4)).unwrap();
    }
    // They return to their folders.
    let id = id_of(message(0).as_bytes()).0;
    assert_eq!(places(&fixture, tree, &[id])[&id].here, Some(fixture.root().join("inbox")));
}

#[test]
fn damaged_trees_are_reported_and_missing_messages_do_not_count_as_lost() {
    let (fixture, first) = filled();
    let known = lookup(Some(known(&fixture)));
    let nothing = |ids: &[[u8; 32]]| Ok(vec![false; ids.len()]);
    let all: Vec<restic::Id> = fixture.repository.trees.lock().unwrap().keys().copied().collect();
    let find =
        |trees: &Trees<'_>| find_lost((&fixture.repository, &known), trees, &nothing, &Silent).unwrap();
    let count = |trees: &Trees<'_>| find(trees).messages.len();
    let (going, forgotten) = (
        Trees { going: &[first], staying: &[], all: None },
        Trees { going: &[], staying: &[], all: Some(&all) },
    );
    assert_eq!((count(&going), count(&forgotten)), (9, 9));
    fixture.repository.pieces.lock().unwrap().remove(&id_of(message(1).as_bytes()));
    assert_eq!((count(&going), count(&forgotten)), (8, 8));
    let listed = fixture.listed(first);
    let (_, inbox) = listed.iter().find(|(path, _)| path.ends_with("/inbox/cur")).unwrap();
    let Content::Directory(inbox) = inbox.content else { panic!("{inbox:?}") };
    fixture.repository.trees.lock().unwrap().remove(&inbox);
    let report = find(&going);
    assert_eq!((report.messages.len(), report.problems.len()), (4, 1), "{report:?}");
    assert!(report.problems[0].path.ends_with("inbox/cur"), "{report:?}");
    // Parts of forgotten snapshots may be gone without being damage.
    let report = find(&forgotten);
    assert_eq!((report.messages.len(), report.problems.len()), (4, 0), "{report:?}");
}

#[test]
fn a_compressed_message_is_known_by_its_own_id() {
    use std::io::Write;
    let fixture = Fixture::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(message(80).as_bytes()).unwrap();
    let path = fixture.put("inbox", "cur", "80.x:2,SZ", &packed.finish().unwrap());
    fixture.index();
    let (tree, ..) = fixture.backup();
    assert_eq!(fixture.backup().2.opened, 0);
    let stored = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fixture.index();
    let held = ArchivedMessages::new(
        Box::new(&fixture.repository),
        (lookup(Some(known(&fixture))), IfUnreadable::Absent),
        vec![tree],
        &Silent,
    );
    let mailbox = Mailbox::open(&fixture.environment).unwrap();
    let mailbox = mailbox.with_scope(Scope::WithAbsent(&held)).unwrap();
    assert_eq!(found(&mailbox, "subject:s80"), ["s80"]);
    let sha256 = id_of(message(80).as_bytes()).0;
    assert_eq!(held.message(&sha256).unwrap().as_deref(), Some(message(80).as_bytes()));
    let moment =
        moment(&fixture.repository, &lookup(Some(known(&fixture))), &tree, &fixture.roots, &Silent).unwrap();
    let (then, unknown) = Mailbox::open(&fixture.environment).unwrap().at(&moment).unwrap();
    assert_eq!((found(&then, "subject:s80"), unknown), (vec!["s80".to_owned()], index::Unknown::default()));
    let places = places(&fixture, tree, &[sha256]);
    let back = path_of(back(&fixture, &places[&sha256], &fixture.root().join("inbox")));
    assert_eq!(fs::read(back).unwrap(), stored);
}

/// A user who interrupts the work.
struct Stop;

impl work::Progress for Stop {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupted_call_returns_that_error() {
    let (fixture, tree) = filled();
    let source = SearchedSnapshot { tree, roots: Vec::new() };
    let stopped = best_files(&fixture.repository, &lookup(None), &[source], &[[7; 32]].into(), &Stop);
    assert!(matches!(stopped, Err(crate::Error::Interrupted)), "{stopped:?}");
}

#[test]
fn a_file_of_endlessly_repeated_pieces_is_refused() {
    let (fixture, _) = filled();
    let piece = id_of(message(2).as_bytes());
    let read = |count: usize, bytes_max: u64| {
        let pieces = vec![piece; count];
        crate::blobs::reader::content(&fixture.repository, &pieces, bytes_max).map(|bytes| bytes.len() as u64)
    };
    let one = message(2).len() as u64;
    assert_eq!((read(0, 0).unwrap(), read(1, one).unwrap(), read(3, 3 * one).unwrap()), (0, one, 3 * one));
    for refused in [read(1, one - 1), read(3, 3 * one - 1), read(1_000_000, 5 * one)] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("its pieces have more than"), "{refused}");
    }
}

#[test]
fn unindexed_messages_to_be_removed_are_a_problem_unless_a_maildir_has_them() {
    let (fixture, tree) = filled();
    let ids = [0, 1].map(|number| id_of(message(number).as_bytes()));
    {
        let mut pieces = fixture.repository.pieces.lock().unwrap();
        ids.iter().for_each(|id| drop(pieces.remove(id).unwrap()));
    }
    let trees = Trees { going: &[tree], staying: &[], all: None };
    let asked = |present: Option<restic::Id>| {
        let is_present =
            move |ids: &[[u8; 32]]| Ok(ids.iter().map(|id| present.map(|one| one.0) == Some(*id)).collect());
        let report = find_lost((&fixture.repository, &lookup(None)), &trees, &is_present, &Silent).unwrap();
        report.problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>()
    };
    assert_eq!(asked(None), ["no index file names all of it, nor of 1 others; they are in no Maildir"]);
    assert_eq!(asked(Some(ids[0])), ["no index file names all of it, and it is in no Maildir"]);
    // Parts of snapshots forgotten earlier may be gone without being damage.
    let trees = Trees { going: &[], staying: &[], all: Some(&[tree]) };
    let report =
        find_lost((&fixture.repository, &lookup(None)), &trees, &|ids| Ok(vec![false; ids.len()]), &Silent);
    assert_eq!(report.unwrap().problems, []);
}
