//! A `restic` repository as a [`BlobWriter`] and as a [`BlobReader`].
//!
//! The only file that knows how entries are written as nodes of trees.

use crate::blobs::entry::{Content, ContentView, Entry, EntryView, Stat};
use crate::blobs::reader::BlobReader;
use crate::blobs::unindexed::{UnindexedBlobs, unindexed_blobs};
use crate::blobs::writer::BlobWriter;
use crate::error::Result;
use disk::Source;
use restic::tree::{Node, NodeKind, OwnerNames, TreeReader, TreeWriter, go_mode, rights};
use restic::{BlobKind, Id, Reading, Repository, Saver, Time};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Most bytes that are read of `/etc/passwd` and of `/etc/group`.
const NAMES_BYTES_MAX: usize = 64 << 20;

/// A repository that is written to.
pub(crate) struct RepositoryWriter<'a> {
    repository: &'a Repository,
    saver: Saver<'a>,
    users: OwnerNames,
    groups: OwnerNames,
    /// Buffers for trees, to be reused: allocating a large one costs more than filling it.
    trees: Mutex<Vec<Vec<u8>>>,
}

impl<'a> RepositoryWriter<'a> {
    /// Wraps a saver. The caller takes it back with [`into_saver`](RepositoryWriter::into_saver) and finishes
    /// it.
    pub(crate) fn new(repository: &'a Repository, saver: Saver<'a>) -> RepositoryWriter<'a> {
        // Names help when a snapshot is restored on another machine. Without them it is restored by numbers.
        let names = |path: &str| {
            let text = disk::read_small(Path::new(path), NAMES_BYTES_MAX, Source::File).unwrap_or_default();
            OwnerNames::of_text(&String::from_utf8_lossy(&text))
        };
        let (users, groups) = (names("/etc/passwd"), names("/etc/group"));
        RepositoryWriter { repository, saver, users, groups, trees: Mutex::default() }
    }

    /// Returns the saver, to be finished.
    pub(crate) fn into_saver(self) -> Saver<'a> {
        self.saver
    }
}

/// Returns a node of a tree, with the names of its owner and its group.
fn node<'e>(entry: &EntryView<'e>, user: &'e str, group: &'e str) -> Node<'e> {
    let stat = entry.stat;
    let kind = match entry.content {
        ContentView::File(_) => NodeKind::File,
        ContentView::Directory(_) => NodeKind::Directory,
        ContentView::Other => NodeKind::Irregular,
    };
    let mut node = Node::new(Cow::Borrowed(entry.name), kind);
    node.mode = go_mode(stat.mode);
    node.modified = Time::from_ns(stat.mtime_ns, 0);
    node.accessed = node.modified;
    node.changed = Time::from_ns(stat.ctime_ns, 0);
    (node.uid, node.gid) = (stat.uid, stat.gid);
    (node.user, node.group) = (Cow::Borrowed(user), Cow::Borrowed(group));
    (node.inode, node.device_id) = (stat.inode, stat.device);
    match entry.content {
        ContentView::File(pieces) => {
            (node.size, node.links) = (stat.size_bytes, stat.link_count);
            node.content = Some(Cow::Borrowed(pieces));
        }
        ContentView::Directory(tree) => node.subtree = Some(tree),
        ContentView::Other => {}
    }
    node
}

impl BlobWriter for RepositoryWriter<'_> {
    fn has_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        has_data(self.repository, ids)
    }

    fn has_tree(&self, id: &Id) -> Result<bool> {
        Ok(self.repository.index()?.has(BlobKind::Tree, id)?)
    }

    fn save_piece(&self, id: Id, content: &[u8]) -> Result<()> {
        self.saver.save_blob(BlobKind::Data, Some(id), content)?;
        Ok(())
    }

    fn save_stream(&self, content: &mut dyn Read) -> Result<Vec<Id>> {
        Ok(self.saver.save_file(content)?.content)
    }

    fn save_tree(&self, entries: &[EntryView<'_>]) -> Result<Id> {
        let lock = || self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = TreeWriter::into(lock().pop().unwrap_or_default());
        // Most files of a directory have the same owner.
        for of_one in entries.chunk_by(|a, b| (a.stat.uid, a.stat.gid) == (b.stat.uid, b.stat.gid)) {
            let Some(first) = of_one.first() else { continue };
            let (user, group) = (self.users.name(first.stat.uid), self.groups.name(first.stat.gid));
            for entry in of_one {
                writer.append(&node(entry, &user, &group)).expect("entries come sorted by name, each once");
            }
        }
        let tree = writer.finish();
        let saved = self.saver.save_blob(BlobKind::Tree, None, &tree);
        lock().push(tree);
        Ok(saved?.id)
    }
}

/// A repository that is read.
pub(crate) struct RepositoryReader<'a> {
    repository: &'a Repository,
    buffers: Mutex<Vec<Reading>>,
}

impl<'a> RepositoryReader<'a> {
    /// Wraps a repository.
    pub(crate) fn new(repository: &'a Repository) -> RepositoryReader<'a> {
        RepositoryReader { repository, buffers: Mutex::default() }
    }

    fn load<T>(&self, kind: BlobKind, id: &Id, take: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let lock = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffers = lock().pop().unwrap_or_default();
        let taken = self.repository.load_blob_with(&mut buffers, kind, id).map_err(Into::into).and_then(take);
        lock().push(buffers);
        taken
    }
}

impl BlobReader for RepositoryReader<'_> {
    fn tree(&self, id: &Id) -> Result<Vec<Entry>> {
        self.load(BlobKind::Tree, id, |bytes| {
            let nodes = TreeReader::new(bytes);
            nodes.map(|node| node.map(entry).map_err(|fault| fault.of_tree(id).into())).collect()
        })
    }

    fn piece(&self, id: &Id) -> Result<Vec<u8>> {
        self.load(BlobKind::Data, id, |bytes| Ok(bytes.to_vec()))
    }

    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        has_data(self.repository, ids)
    }

    fn unindexed_blobs(&self, progress: &dyn Progress) -> Result<UnindexedBlobs> {
        unindexed_blobs(self.repository, progress)
    }
}

fn has_data(repository: &Repository, ids: &[Id]) -> Result<Vec<bool>> {
    let mut has = Vec::with_capacity(ids.len());
    repository.index()?.has_batch(BlobKind::Data, ids, &mut has)?;
    Ok(has)
}

fn entry(node: Node<'_>) -> Entry {
    let (kind, content) = match (node.kind, node.content, node.subtree) {
        (NodeKind::File, Some(pieces), _) => (0o100_000, Content::File(pieces.into_owned())),
        (NodeKind::Directory, _, Some(tree)) => (0o040_000, Content::Directory(tree)),
        _ => (0, Content::Other),
    };
    let stat = Stat {
        mode: kind | rights(node.mode),
        uid: node.uid,
        gid: node.gid,
        device: node.device_id,
        inode: node.inode,
        link_count: node.links,
        size_bytes: node.size,
        mtime_ns: node.modified.ns(),
        ctime_ns: node.changed.ns(),
    };
    Entry { name: node.name.into_owned(), stat, content }
}
