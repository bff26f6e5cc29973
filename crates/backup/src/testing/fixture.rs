//! A mailbox with its index, a repository in memory, and the tables of its backups.

use crate::blobs::entry::{Content, Entry};
use crate::cache::{Cache, CacheUpdate};
use crate::testing::mailbox::{TestMailbox, message};
use crate::testing::memory::MemoryRepository;
use crate::write::context::BackupContext;
use crate::write::pneu_files::PneuFiles;
use crate::write::seen::SeenFiles;
use crate::write::store_mail::{Counts, StoredMail, store_mail};
use disk::Disk;
use index::Inventory;
use restic::Id;
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Silent;

/// A mailbox with its index, a repository, and the tables between them.
pub(crate) struct Fixture {
    pub(crate) mailbox: TestMailbox,
    pub(crate) repository: MemoryRepository,
    pub(crate) pneu_files: PneuFiles,
}

impl Deref for Fixture {
    type Target = TestMailbox;

    fn deref(&self) -> &TestMailbox {
        &self.mailbox
    }
}

impl DerefMut for Fixture {
    fn deref_mut(&mut self) -> &mut TestMailbox {
        &mut self.mailbox
    }
}

/// The work of a backup: how many files were opened, and how many trees were written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) opened: usize,
    pub(crate) trees: usize,
    pub(crate) problems: Vec<String>,
}

impl Fixture {
    /// Makes two folders of four messages each, with other files of mail programs.
    pub(crate) fn new() -> Fixture {
        let fixture = Fixture {
            mailbox: TestMailbox::new(),
            repository: MemoryRepository::default(),
            pneu_files: PneuFiles::default(),
        };
        for number in 0..8 {
            let place = if number == 7 { "new" } else { "cur" };
            let flags = if number == 7 { "" } else { ":2,S" };
            let folder = if number < 4 { "inbox" } else { "lists/rust" };
            fixture.put(folder, place, &format!("{number}.x{flags}"), message(number).as_bytes());
        }
        for (name, content) in [
            ("inbox/dovecot-uidlist", "3 V1 N5\n"),
            ("inbox/dovecot.index.cache", "made again"),
            ("inbox/.mbsyncstate", "state"),
            ("inbox/dovecot-uidlist.lock", ""),
            ("inbox/tmp/9.half", "not whole"),
            ("lists/rust/maildirfolder", ""),
            ("subscriptions", "inbox\n"),
        ] {
            fs::write(fixture.root().join(name), content).unwrap();
        }
        fs::create_dir(fixture.root().join(".notmuch")).unwrap();
        fs::write(fixture.root().join(".notmuch/large"), "x").unwrap();
        fixture
    }

    pub(crate) fn place(&self) -> PathBuf {
        crate::cache::cache_directory(&self.environment.data, &Id([3; 32]))
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        self.environment.disk.clone()
    }

    /// Stores the current contents of the index.
    pub(crate) fn store_mail(&self, cache: Option<&Cache>) -> StoredMail {
        self.store_seen(cache, &SeenFiles::default())
    }

    /// Stores the current contents of the index after a look at files.
    pub(crate) fn store_seen(&self, cache: Option<&Cache>, seen: &SeenFiles) -> StoredMail {
        let inventory = Inventory::open(&self.environment).unwrap();
        let context = BackupContext { writer: &self.repository, cache, seen, progress: &Silent };
        store_mail(&context, &inventory, &self.pneu_files).unwrap()
    }

    /// Backs up the current contents of the index, and updates the cache.
    pub(crate) fn backup(&self) -> (Id, Counts, Work) {
        let known = Cache::open(&self.disk(), &self.place()).cache();
        let StoredMail { tree, changes, counts, problems } = self.store_mail(known.as_deref());
        self.commit(changes);
        let (opened, trees) = self.repository.brought();
        let shown = |path: &Path| path.strip_prefix(self.root()).unwrap_or(path).display().to_string();
        let problems =
            problems.iter().map(|problem| format!("{}: {}", shown(&problem.path), problem.what)).collect();
        (tree, counts, Work { opened, trees, problems })
    }

    pub(crate) fn commit(&self, changes: CacheUpdate) {
        changes.commit(&self.disk(), &self.place(), "a test", 9).unwrap();
    }

    /// Returns all directories and files below a tree by path, as a snapshot has them.
    pub(crate) fn listed(&self, tree: Id) -> BTreeMap<String, Entry> {
        let mut found = BTreeMap::new();
        self.list(tree, "", &mut found);
        found
    }

    fn list(&self, tree: Id, path: &str, found: &mut BTreeMap<String, Entry>) {
        let entries = self.repository.trees.lock().unwrap()[&tree].clone();
        for entry in entries {
            let path = format!("{path}/{}", String::from_utf8_lossy(&entry.name));
            if let Content::Directory(tree) = entry.content {
                self.list(tree, &path, found);
            }
            found.insert(path, entry);
        }
    }

    /// Returns the tree of the root. The directories above it differ between machines.
    pub(crate) fn root_tree(&self, tree: Id) -> Id {
        match self.listed(tree)[&self.root().display().to_string()].content {
            Content::Directory(tree) => tree,
            _ => panic!("the root is a directory"),
        }
    }

    /// Returns the paths of files below the root in a tree.
    pub(crate) fn files(&self, tree: Id) -> Vec<String> {
        let root = format!("{}/", self.root().display());
        let is_file = |entry: &Entry| matches!(entry.content, Content::File(_));
        let listed = self.listed(tree).into_iter().filter(|(_, entry)| is_file(entry));
        listed.map(|(path, _)| path.strip_prefix(&root).unwrap().to_owned()).collect()
    }

    pub(crate) fn content(&self, entry: &Entry) -> Vec<u8> {
        let Content::File(pieces) = &entry.content else { panic!("{entry:?} is no file") };
        let kept = self.repository.pieces.lock().unwrap();
        pieces.iter().flat_map(|piece| kept[piece].clone()).collect()
    }
}
