//! Backups of Maildirs in which something is missing, elsewhere, or of another kind than before.

use crate::blobs::entry::EntryView;
use crate::blobs::writer::BlobWriter;
use crate::error::Result;
use crate::testing::fixture::Fixture;
use crate::testing::mailbox::message;
use crate::testing::memory::{MemoryRepository, id_of};
use crate::write::context::BackupContext;
use crate::write::pneu_files::PneuFiles;
use crate::write::seen::SeenFiles;
use crate::write::store_mail::store_mail;
use index::{Inventory, Root, UpdateOptions};
use restic::Id;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;
use work::Silent;

#[test]
fn files_renamed_or_removed_during_a_backup_are_found_or_reported() {
    let fixture = Fixture::new();
    fixture.index();
    let root = fixture.root();
    fs::rename(root.join("inbox/cur/0.x:2,S"), root.join("inbox/cur/0.x:2,T")).unwrap();
    fs::rename(root.join("lists/rust/new/7.x"), root.join("lists/rust/cur/7.x:2,S")).unwrap();
    fs::remove_file(root.join("inbox/cur/1.x:2,S")).unwrap();
    let (tree, _, work) = fixture.backup();
    let files = fixture.files(tree);
    assert!(files.contains(&"inbox/cur/0.x:2,T".to_owned()), "{files:?}");
    assert!(files.contains(&"lists/rust/cur/7.x:2,S".to_owned()), "{files:?}");
    assert_eq!(files.len(), 11);
    assert_eq!(
        work.problems,
        ["inbox/cur/1.x:2,S: it was removed during the backup and is not in the new snapshot"]
    );
    // A missing folder is reported, and the others are stored.
    fs::remove_dir_all(root.join("lists/rust/cur")).unwrap();
    let (tree, _, work) = fixture.backup();
    assert!(
        work.problems.contains(&"lists/rust/cur: it no longer exists; it was left out".to_owned()),
        "{work:?}"
    );
    assert!(fixture.files(tree).contains(&"inbox/cur/2.x:2,S".to_owned()));
}

#[test]
fn an_unreadable_directory_is_reported_and_others_are_stored() {
    let fixture = Fixture::new();
    fixture.index();
    let cur = fixture.root().join("inbox/cur");
    fs::rename(&cur, fixture.root().join("inbox/kept")).unwrap();
    // Root may read anything, so a file replaces the directory: that cannot be opened as a directory.
    fs::write(&cur, "").unwrap();
    let (tree, _, work) = fixture.backup();
    assert_eq!(work.problems, ["inbox/cur: it is no longer a directory; it was left out"]);
    assert_eq!(fixture.files(tree).iter().filter(|name| name.starts_with("lists/rust/cur")).count(), 3);
}

#[test]
fn a_root_may_be_inside_a_folder_of_another() {
    let mut fixture = Fixture::new();
    let path = fixture.put("inbox/cur/below", "cur", "30.x:2,S", message(30).as_bytes());
    let root = path.ancestors().nth(2).unwrap().to_owned();
    fixture.roots.push(Root { name: "below".into(), path: root });
    fixture.index();
    let (tree, _, work) = fixture.backup();
    assert_eq!(work.problems, Vec::<String>::new());
    let files = fixture.files(tree);
    for name in ["inbox/cur/below/cur/30.x:2,S", "inbox/cur/0.x:2,S"] {
        assert!(files.contains(&name.to_owned()), "{files:?}");
    }
    assert_eq!(fixture.backup().2.opened, 0);
}

#[test]
fn a_folder_may_lack_a_directory_and_a_root_may_not() {
    let fixture = Fixture::new();
    fs::remove_dir(fixture.root().join("inbox/new")).unwrap();
    fs::remove_dir_all(fixture.root().join("lists/rust/tmp")).unwrap();
    fixture.index();
    let (tree, _, work) = fixture.backup();
    assert_eq!((work.problems, fixture.files(tree).len()), (Vec::<String>::new(), 12));
    fs::rename(fixture.root(), fixture.root().with_file_name("unmounted")).unwrap();
    let refused = || {
        let inventory = Inventory::open(&fixture.environment).unwrap();
        let context = BackupContext {
            writer: &fixture.repository,
            cache: None,
            seen: &SeenFiles::default(),
            progress: &Silent,
        };
        store_mail(&context, &inventory, &PneuFiles::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused().contains("is a disk not mounted?"), "{}", refused());
    // The mount point of a disk exists without the disk.
    fs::create_dir(fixture.root()).unwrap();
    assert!(refused().contains("is a disk not mounted?"), "{}", refused());
}

#[test]
fn a_root_named_with_dots_is_stored_where_it_is() {
    let mut fixture = Fixture::new();
    let root = fixture.root().to_owned();
    // `..` after the link does not lead to the link's own directory.
    let below = root.join("inbox/cur");
    std::os::unix::fs::symlink(&below, root.parent().unwrap().join("link")).unwrap();
    fixture.roots[0].path = root.parent().unwrap().join("link/../..");
    fixture.index();
    let (tree, _, work) = fixture.backup();
    assert_eq!(work.problems, Vec::<String>::new());
    let path = format!("{}/inbox/cur/0.x:2,S", fs::canonicalize(&root).unwrap().display());
    assert!(fixture.listed(tree).contains_key(&path), "{path}");
    assert_eq!(crate::resolved_roots(&fixture.roots)[0].path, fs::canonicalize(&root).unwrap());
    fs::remove_file(root.parent().unwrap().join("link")).unwrap();
    let inventory = Inventory::open(&fixture.environment).unwrap();
    let context = BackupContext {
        writer: &fixture.repository,
        cache: None,
        seen: &SeenFiles::default(),
        progress: &Silent,
    };
    let refused = store_mail(&context, &inventory, &PneuFiles::default()).err().unwrap();
    assert!(refused.to_string().contains("link/../.. does not exist"), "{refused}");
}

#[test]
fn a_folder_that_the_index_skips_is_stored_unchanged() {
    let fixture = Fixture::new();
    fixture.index();
    let root = fixture.root();
    fs::write(root.join("inbox/.noupdate"), "").unwrap();
    fixture.put("inbox", "new", "20.x", message(20).as_bytes());
    fixture.put("inbox", "cur", ".hidden", message(21).as_bytes());
    fixture.put("inbox/below", "cur", "22.x:2,", message(22).as_bytes());
    fs::remove_file(root.join("inbox/cur/1.x:2,S")).unwrap();
    fs::rename(root.join("inbox/cur/2.x:2,S"), root.join("inbox/cur/2.x:2,ST")).unwrap();
    fixture.index();
    let (tree, _, work) = fixture.backup();
    assert_eq!(work.problems, Vec::<String>::new(), "what is gone there is not expected");
    let mut files = fixture.files(tree);
    files.retain(|name| name.starts_with("inbox/") && name.contains(".x"));
    assert_eq!(
        files,
        [
            "inbox/below/cur/22.x:2,",
            "inbox/cur/0.x:2,S",
            "inbox/cur/2.x:2,ST",
            "inbox/cur/3.x:2,S",
            "inbox/new/20.x"
        ]
    );
    let (again, _, work) = fixture.backup();
    assert_eq!((fixture.root_tree(again), work.opened), (fixture.root_tree(tree), 0));
    // A missing directory does not mean that the user removed it: it may be on a disk that is not mounted.
    fs::remove_dir_all(root.join("inbox/cur")).unwrap();
    let problems = fixture.backup().2.problems;
    assert_eq!(problems, ["inbox/cur: it no longer exists; it was left out"]);
}

#[test]
fn folders_excluded_from_backups_are_known() {
    let fixture = Fixture::new();
    fixture.put("old/2019", "new", "30.x", message(30).as_bytes());
    fixture.put("lists/empty", "cur", "31.x:2,", message(31).as_bytes());
    fs::remove_file(fixture.root().join("lists/empty/cur/31.x:2,")).unwrap();
    for folder in ["old", "lists"] {
        fs::write(fixture.root().join(folder).join(".noindex"), "").unwrap();
    }
    let summary =
        index::update(&fixture.environment, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    let mut excluded = crate::noindex_directories(&fixture.roots);
    excluded.sort();
    assert_eq!(excluded, ["lists", "old"].map(|folder| fixture.root().join(folder)));
    assert_eq!(summary.excluded, excluded);
    let left_out = crate::excluded_folders(&excluded);
    assert_eq!(left_out, ["lists/rust", "old/2019"].map(|folder| fixture.root().join(folder)));
}

/// A repository that renames a file as soon as its content is looked up: after the files were checked, before
/// they are read.
struct Renaming<'a> {
    writer: &'a MemoryRepository,
    content: Id,
    rename: Mutex<Option<(PathBuf, PathBuf)>>,
}

impl BlobWriter for Renaming<'_> {
    fn has_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        if ids.contains(&self.content)
            && let Some((from, to)) = self.rename.lock().unwrap().take()
        {
            fs::rename(from, to).unwrap();
        }
        self.writer.has_pieces(ids)
    }

    fn has_tree(&self, id: &Id) -> Result<bool> {
        self.writer.has_tree(id)
    }

    fn save_piece(&self, id: Id, content: &[u8]) -> Result<()> {
        self.writer.save_piece(id, content)
    }

    fn save_stream(&self, content: &mut dyn Read) -> Result<Vec<Id>> {
        self.writer.save_stream(content)
    }

    fn save_tree(&self, entries: &[EntryView<'_>]) -> Result<Id> {
        self.writer.save_tree(entries)
    }
}

#[test]
fn a_file_renamed_before_its_read_is_stored_under_its_new_name() {
    for (number, from, to) in
        [(0, "inbox/cur/0.x:2,S", "inbox/cur/0.x:2,RS"), (7, "lists/rust/new/7.x", "lists/rust/cur/7.x:2,S")]
    {
        let fixture = Fixture::new();
        fixture.index();
        let rename = Mutex::new(Some((fixture.root().join(from), fixture.root().join(to))));
        let content = id_of(message(number).as_bytes());
        let writer = Renaming { writer: &fixture.repository, content, rename };
        let inventory = Inventory::open(&fixture.environment).unwrap();
        let context =
            BackupContext { writer: &writer, cache: None, seen: &SeenFiles::default(), progress: &Silent };
        let stored = store_mail(&context, &inventory, &PneuFiles::default()).unwrap();
        assert!(stored.problems.is_empty(), "{from}: {:?}", stored.problems);
        assert!(writer.rename.lock().unwrap().is_none(), "{from} was renamed");
        let files = fixture.files(stored.tree);
        assert_eq!(
            (files.contains(&to.to_owned()), files.contains(&from.to_owned())),
            (true, false),
            "{from}"
        );
        assert_eq!(files.len(), 12, "{from}: {files:?}");
    }
}
