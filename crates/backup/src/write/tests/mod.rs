//! Backups into a repository in memory: the contents of the tree, and the files opened for it.

use crate::blobs::entry::{Content, Entry, PIECE_BYTES_MIN};
use crate::blobs::writer::BlobWriter;
use crate::cache::Cache;
use crate::pieces::lists::PieceLists;
use crate::testing::memory::id_of;
use crate::write::pneu_files::PneuFiles;
use index::{Root, UpdateOptions};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::testing::fixture::Fixture;
use crate::testing::mailbox::message;
use work::Silent;

mod look_ahead;
mod missing;

const ALL: [&str; 12] = [
    "inbox/.mbsyncstate",
    "inbox/cur/0.x:2,S",
    "inbox/cur/1.x:2,S",
    "inbox/cur/2.x:2,S",
    "inbox/cur/3.x:2,S",
    "inbox/dovecot-uidlist",
    "lists/rust/cur/4.x:2,S",
    "lists/rust/cur/5.x:2,S",
    "lists/rust/cur/6.x:2,S",
    "lists/rust/maildirfolder",
    "lists/rust/new/7.x",
    "subscriptions",
];

#[test]
fn a_snapshot_has_the_maildirs_as_on_the_disk() {
    let fixture = Fixture::new();
    fixture.index();
    let (tree, counts, work) = fixture.backup();
    assert_eq!(fixture.files(tree), ALL);
    let listed = fixture.listed(tree);
    for (path, entry) in &listed {
        let metadata = fs::metadata(path).unwrap();
        assert_eq!(entry.stat.is_directory(), metadata.is_dir(), "{path}");
        assert_eq!(entry.stat.mode, metadata.mode(), "{path}");
        assert_eq!(
            (entry.stat.uid, entry.stat.gid, entry.stat.inode),
            (metadata.uid(), metadata.gid(), metadata.ino())
        );
        if metadata.is_file() {
            assert_eq!(fixture.content(entry), fs::read(path).unwrap(), "{path}");
            assert_eq!(entry.stat.size_bytes, metadata.len());
            assert_eq!(entry.stat.mtime_ns, metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec());
        }
    }
    let below = |name: &str| listed.contains_key(&fixture.root().join(name).display().to_string());
    assert!(below("inbox/tmp") && below("lists/rust/tmp") && below("inbox/new"));
    assert!(!below(".notmuch") && !below("inbox/dovecot.index.cache") && !below("inbox/tmp/9.half"));
    // An empty file has no content to save, but is opened.
    assert_eq!((work.opened, work.problems), (11, Vec::<String>::new()));
    assert_eq!((counts.files_new, counts.files_changed, counts.files_unchanged), (12, 0, 0));
    assert_eq!(counts.directories_unchanged + counts.directories_changed, 0);
}

#[test]
fn no_file_is_opened_if_nothing_changed() {
    let fixture = Fixture::new();
    fixture.index();
    let (tree, first, _) = fixture.backup();
    let (again, counts, work) = fixture.backup();
    assert_eq!((fixture.root_tree(again), work.opened), (fixture.root_tree(tree), 0));
    assert_eq!(counts.files_unchanged, 12);
    assert_eq!(counts.directories_unchanged + counts.directories_changed, first.directories_new);
    // Directories with subdirectories are written again, with the same content.
    let with_others = fixture.listed(tree).values().filter(|entry| entry.stat.is_directory()).count() + 1 - 6;
    assert_eq!(work.trees, with_others);
}

#[test]
fn flags_and_moves_open_no_file() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let root = fixture.root();
    fs::rename(root.join("inbox/cur/0.x:2,S"), root.join("inbox/cur/0.x:2,FRS")).unwrap();
    fs::rename(root.join("inbox/cur/1.x:2,S"), root.join("lists/rust/cur/1.x:2,S")).unwrap();
    fs::rename(root.join("lists/rust/new/7.x"), root.join("lists/rust/cur/7.x:2,")).unwrap();
    fixture.index();
    let (tree, counts, work) = fixture.backup();
    assert_eq!((work.opened, work.problems), (0, vec![]));
    assert_eq!((counts.files_new, counts.files_changed, counts.files_unchanged), (3, 0, 9));
    let files = fixture.files(tree);
    for name in ["inbox/cur/0.x:2,FRS", "lists/rust/cur/1.x:2,S", "lists/rust/cur/7.x:2,"] {
        assert!(files.contains(&name.to_owned()), "{files:?}");
        let entry = &fixture.listed(tree)[&root.join(name).display().to_string()];
        assert_eq!(fixture.content(entry), fs::read(root.join(name)).unwrap());
    }
    assert_eq!(files.len(), 12);
    assert_eq!(fixture.backup().2.opened, 0);
}

#[test]
fn new_and_rewritten_files_are_read_and_copies_are_not() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    fixture.put("inbox", "cur", "20.x:2,S", message(20).as_bytes());
    fixture.put("inbox", "cur", "21.x:2,S", message(2).as_bytes());
    fixture.put("inbox", "cur", "3.x:2,S", message(33).as_bytes());
    fs::write(fixture.root().join("inbox/dovecot-uidlist"), "3 V1 N6\n").unwrap();
    fixture.index();
    let (tree, counts, work) = fixture.backup();
    // The new file, the rewritten one, and the list. The copy is not read: the index knows it, and the
    // archive has it.
    assert_eq!((work.opened, work.problems), (3, vec![]));
    assert_eq!((counts.files_new, counts.files_changed), (2, 2));
    for (path, entry) in fixture.listed(tree) {
        if let Content::File(_) = entry.content {
            assert_eq!(fixture.content(&entry), fs::read(&path).unwrap(), "{path}");
        }
    }
}

#[test]
fn large_files_are_cut_and_known_by_their_pieces() {
    let fixture = Fixture::new();
    let large = message(50) + &"0123456789abcde\n".repeat(50_000);
    assert!(large.len() as u64 > PIECE_BYTES_MIN);
    let path = fixture.put("inbox", "cur", "50.x:2,S", large.as_bytes());
    fixture.index();
    let (tree, ..) = fixture.backup();
    let entry = fixture.listed(tree)[&path.display().to_string()].clone();
    assert_eq!(fixture.content(&entry), large.as_bytes());
    assert!(matches!(&entry.content, Content::File(pieces) if pieces.len() == 3));
    assert_eq!(fixture.backup().2.opened, 0);
    fs::rename(&path, path.with_file_name("50.x:2,FS")).unwrap();
    fixture.index();
    assert_eq!(fixture.backup().2.opened, 0);
    // One of its pieces is lost, so the file is read again.
    let Content::File(pieces) = &entry.content else { unreachable!() };
    fixture.repository.pieces.lock().unwrap().remove(&pieces[1]);
    assert_eq!(fixture.backup().2.opened, 1);
    assert_eq!(fixture.content(&entry), large.as_bytes());
}

#[test]
fn files_that_the_archive_lost_are_read_again() {
    let fixture = Fixture::new();
    fixture.index();
    let (tree, ..) = fixture.backup();
    fixture.repository.pieces.lock().unwrap().remove(&id_of(message(2).as_bytes()));
    let cur = fixture.listed(tree)[&fixture.root().join("lists/rust/cur").display().to_string()].clone();
    let Content::Directory(cur) = cur.content else { unreachable!() };
    fixture.repository.trees.lock().unwrap().remove(&cur);
    let (again, _, work) = fixture.backup();
    assert_eq!((fixture.root_tree(again), work.opened), (fixture.root_tree(tree), 1));
    assert!(fixture.repository.has_tree(&cur).unwrap());
    assert_eq!(fixture.files(tree), ALL);
}

#[test]
fn without_tables_the_trees_of_the_last_snapshot_are_known() {
    let fixture = Fixture::new();
    fixture.index();
    let (tree, ..) = fixture.backup();
    fs::remove_dir_all(fixture.place()).unwrap();
    assert!(Cache::open(&fixture.disk(), &fixture.place()).cache().is_none());
    let mut list: BTreeMap<Vec<u8>, Vec<Entry>> = BTreeMap::new();
    for (path, entry) in fixture.listed(tree) {
        let parent = Path::new(&path).parent().unwrap().as_os_str().as_bytes().to_vec();
        list.entry(parent).or_default().push(entry);
    }
    let list: Vec<(Vec<u8>, Vec<Entry>)> = list.into_iter().collect();
    let known = Cache::of_trees(&list, &PieceLists::default()).unwrap();
    let stored = fixture.store_mail(Some(&known));
    assert_eq!(
        (fixture.root_tree(stored.tree), fixture.repository.brought().0),
        (fixture.root_tree(tree), 0)
    );
    assert_eq!((stored.counts.files_unchanged, stored.counts.files_new), (12, 0));
    // Entries read from trees become rows.
    fixture.commit(stored.changes);
    let (again, counts, work) = fixture.backup();
    assert_eq!((fixture.root_tree(again), work.opened), (fixture.root_tree(tree), 0));
    assert_eq!(counts.files_unchanged, 12);
}

#[test]
fn rows_follow_added_and_removed_files() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let root = fixture.root();
    fs::remove_file(root.join("inbox/cur/0.x:2,S")).unwrap();
    fs::remove_dir_all(root.join("lists")).unwrap();
    fixture.put("other", "cur", "9.x:2,S", message(9).as_bytes());
    let accepting = UpdateOptions { loss: index::Loss::Accept, ..UpdateOptions::default() };
    index::update(&fixture.environment, &fixture.roots, &accepting, &Silent).unwrap();
    let (tree, _, work) = fixture.backup();
    assert_eq!(work.problems, Vec::<String>::new());
    let known = Cache::open(&fixture.disk(), &fixture.place()).cache().unwrap();
    let mut rows = Vec::new();
    let mut paths: Vec<Vec<u8>> = known.paths().map(<[u8]>::to_vec).collect();
    paths.sort();
    for path in paths {
        for file in known.directory(&path).unwrap().files {
            let path = [&*path, b"/", file.name].concat();
            rows.push(
                String::from_utf8(path)
                    .unwrap()
                    .strip_prefix(&format!("{}/", root.display()))
                    .unwrap()
                    .to_owned(),
            );
        }
    }
    rows.sort();
    assert_eq!(rows, fixture.files(tree));
    assert!(fixture.directory.path().exists());
}

#[test]
fn own_files_are_at_the_top_and_keep_their_times() {
    let mut fixture = Fixture::new();
    fixture.index();
    let files = |tags: &str| vec![("tags".to_owned(), tags.into()), ("config.toml".to_owned(), Vec::new())];
    fixture.pneu_files = PneuFiles { files: files("a"), now_ns: 5, uid: 1, gid: 2 };
    let (tree, ..) = fixture.backup();
    let entry = fixture.listed(tree)["/.pneu/tags"].clone();
    assert_eq!(
        (fixture.content(&entry), entry.stat.mode, entry.stat.mtime_ns),
        (b"a".to_vec(), 0o100_600, 5)
    );
    assert!(fixture.listed(tree).contains_key("/.pneu/config.toml"));
    fixture.pneu_files.now_ns = 6;
    let (again, ..) = fixture.backup();
    assert_eq!(fixture.listed(again)["/.pneu"], fixture.listed(tree)["/.pneu"]);
    fixture.pneu_files.files = files("b");
    let (tree, ..) = fixture.backup();
    let listed = fixture.listed(tree);
    assert_eq!(listed["/.pneu/tags"].stat.mtime_ns, 6);
    assert_eq!(listed["/.pneu/config.toml"].stat.mtime_ns, 5);
    assert_eq!(listed["/.pneu"].stat.mtime_ns, 6);
}

#[test]
fn tags_beside_restored_mail_are_imported_once() {
    let fixture = Fixture::new();
    fixture.index();
    let beside = fixture.directory.path().join(".pneu");
    fs::create_dir(&beside).unwrap();
    let text = format!("pneu-tags 1\n{}\tm1@example.org\twork\n", id_of(message(1).as_bytes()));
    fs::write(beside.join("tags"), &text).unwrap();
    let taken = crate::import_restored_tags(&fixture.environment, &fixture.roots).unwrap();
    let import = index::TagImport { contents: 1, changed: 1, left_out: 0 };
    assert_eq!(taken, [(beside.join("tags"), import)]);
    assert_eq!(index::export_tags(&fixture.environment).unwrap(), text);
    assert_eq!(crate::import_restored_tags(&fixture.environment, &fixture.roots).unwrap(), []);
}

#[test]
fn tags_found_beside_mail_are_those_of_messages_that_lie_there() {
    let mut fixture = Fixture::new();
    // Another root, with one message of its own and one that both roots have.
    let other = fixture.directory.path().join("other/Mail");
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(other.join(place)).unwrap();
    }
    fs::write(other.join("cur/1.y:2,S"), message(1)).unwrap();
    fs::write(other.join("cur/50.y:2,S"), message(50)).unwrap();
    fixture.roots.push(Root { name: "other".into(), path: other.clone() });
    fixture.index();
    fs::create_dir(other.join(".pneu")).unwrap();
    let line = |content: &str, id: &str, tag: &str| format!("{}\t{id}\t{tag}\n", id_of(content.as_bytes()));
    let text = [
        "pneu-tags 1\n",
        // This message is there, but its line has the Message-ID of a message in another root.
        &line(&message(50), "m2@example.org", "there"),
        &line(&message(1), "m1@example.org", "both"),
        // The first is only in the other root. The others exist nowhere; their Message-IDs are those of
        // messages in the other root and in this one.
        &line(&message(3), "m3@example.org", "elsewhere"),
        &line("nowhere", "m4@example.org", "by-id"),
        &line("nowhere here", "m50@example.org", "by-id"),
    ];
    fs::write(other.join(".pneu/tags"), text.concat()).unwrap();
    let taken = crate::import_restored_tags(&fixture.environment, &fixture.roots).unwrap();
    let import = index::TagImport { contents: 2, changed: 2, left_out: 3 };
    assert_eq!(taken, [(other.join(".pneu/tags"), import)]);
    let mut lines =
        [line(&message(50), "m50@example.org", "there"), line(&message(1), "m1@example.org", "both")];
    lines.sort();
    let expected = format!("pneu-tags 1\n{}", lines.concat());
    assert_eq!(index::export_tags(&fixture.environment).unwrap(), expected);
}

#[test]
fn unusable_tables_are_created_again() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    for name in fs::read_dir(fixture.place()).unwrap() {
        let path = name.unwrap().path();
        let length = fs::metadata(&path).unwrap().len();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    }
    assert!(Cache::open(&fixture.disk(), &fixture.place()).cache().is_none());
    crate::cache::discard(&*fixture.disk(), &fixture.place()).unwrap();
    let (tree, _, work) = fixture.backup();
    // The index knows all messages and the repository has them, so only other files are opened.
    assert_eq!((work.opened, fixture.files(tree).len()), (3, 12));
    assert_eq!(fixture.backup().2.opened, 0);
}

#[test]
fn the_first_of_two_simultaneous_backups_is_known() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let stored = ["a", "b"].map(|folder| {
        fixture.put(folder, "cur", "9.x:2,", message(9).as_bytes());
        fixture.index();
        fixture.store_mail(Cache::open(&fixture.disk(), &fixture.place()).cache().as_deref())
    });
    stored.into_iter().for_each(|stored| fixture.commit(stored.changes));
    let known = Cache::open(&fixture.disk(), &fixture.place()).cache().unwrap();
    let is_known = |folder: &str| {
        let path = fixture.root().join(folder).join("cur");
        known.directory(path.as_os_str().as_bytes()).unwrap().number.is_some()
    };
    assert_eq!((is_known("a"), is_known("b")), (true, false));
    assert_eq!(fixture.backup().2.problems, Vec::<String>::new());
    assert_eq!(fixture.backup().2.opened, 0);
}
