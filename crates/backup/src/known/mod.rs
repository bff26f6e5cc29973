//! What is known of files since the last backup: their stat and their content, so that an unchanged file is not opened.
//!
//! In: the tables of a repository, or the trees of a snapshot. Out: the rows of a directory, a row that may be the same file under
//! another name, the pieces of a content. All of it can be made again from the archive: what cannot be read counts as unknown.

mod change;
mod list;
mod tables;

pub(crate) use change::{Changes, Difference, discard};

use crate::compare::Row;
use crate::entry::{Content, Entry, PIECE_BYTES_MIN, Stat};
use crate::error::{Error, Result};
use crate::learned::Lists;
use archive::Id;
use disk::Disk;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::{Part, RowId, Rows, Snapshot, Table, Value};
use tables::{chunks, compressed, directories, nodes};

/// What is known of a directory.
#[derive(Clone, Default)]
pub(crate) struct KnownDirectory<'a> {
    /// Its number in the tables; none if it has no rows there.
    pub number: Option<u32>,
    /// Its tree in the last snapshot.
    pub tree: Option<Id>,
    /// Its files in the order of their names.
    pub files: Vec<KnownFile<'a>>,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownNode {
    /// Its name.
    pub name: Vec<u8>,
    /// Its stat, and its content.
    pub row: Row,
    /// Its type and permissions.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// What is known of a file, where it lies in the tables.
#[derive(Clone, Copy)]
pub(crate) struct KnownFile<'a> {
    /// Its name.
    pub name: &'a [u8],
    part: &'a Part,
    row: u32,
}

/// What came of opening the tables of a repository.
pub(crate) enum Opened {
    /// They can be used.
    Known(Box<Known>),
    /// There are none, or they are damaged, or of another version: new ones may take their place.
    Useless,
    /// The disk does not let them be read now: nothing is wrong with them as far as anybody knows.
    Unread(disk::Error),
}

impl Opened {
    /// Returns the tables that can be used.
    pub(crate) fn known(self) -> Option<Known> {
        match self {
            Opened::Known(known) => Some(*known),
            Opened::Useless | Opened::Unread(_) => None,
        }
    }
}

/// What is known.
pub(crate) struct Known {
    /// The newest commit of the tables; none if there are none.
    snapshot: Option<Snapshot>,
    directories: HashMap<Vec<u8>, (u32, Id)>,
    nodes: Table,
    chunks: Table,
    compressed: Table,
    by_file: OnceLock<HashMap<u64, RowId>>,
    by_pieces: OnceLock<HashMap<Vec<Id>, [u8; 32]>>,
    by_content: OnceLock<HashMap<[u8; 32], [u8; 32]>>,
}

impl Known {
    /// Opens the tables of a repository.
    pub(crate) fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Opened {
        let opened = Snapshot::open(disk, directory).map_err(Error::from).and_then(Known::of);
        match opened {
            Ok(known) => Opened::Known(Box::new(known)),
            Err(Error::Store(store::Error::Io(error))) if !error.is_not_found() && !error.is_too_short() => {
                Opened::Unread(error)
            }
            Err(_) => Opened::Useless,
        }
    }

    fn of(snapshot: Snapshot) -> Result<Known> {
        tables::check(&snapshot)?;
        let mut directories = HashMap::new();
        for part in snapshot.table(directories::TABLE)?.parts() {
            for row in live(part) {
                let path = part.bytes(directories::PATH, row)?.to_vec();
                let number = part.u32_at(directories::NUMBER, row)?;
                directories.insert(path, (number, Id(part.id_at(directories::TREE, row)?)));
            }
        }
        let (nodes, chunks) = (snapshot.table(nodes::TABLE)?, snapshot.table(chunks::TABLE)?);
        let compressed = snapshot.table(compressed::TABLE)?;
        Ok(Known {
            snapshot: Some(snapshot),
            directories,
            nodes,
            chunks,
            compressed,
            by_file: OnceLock::new(),
            by_pieces: OnceLock::new(),
            by_content: OnceLock::new(),
        })
    }

    /// Knows what a snapshot says: its directories by path, each with its files. Of a file that the archive cut, the message is
    /// known if a list of pieces names it; else it counts as unknown.
    pub(crate) fn of_trees(list: &[(Vec<u8>, Vec<Entry>)], lists: &Lists) -> Result<Known> {
        let [_, nodes, ..] = tables::schemas().map(Arc::new);
        let mut rows = Rows::new(&nodes);
        let [chunks, compressed] = list::rows(lists)?;
        let mut by_path = HashMap::new();
        for (number, (path, entries)) in (0u32..).zip(list) {
            by_path.insert(path.clone(), (number, Id::default()));
            for entry in entries {
                let content = match &entry.content {
                    Content::File(pieces) if entry.stat.size_bytes < PIECE_BYTES_MIN && pieces.len() == 1 => {
                        pieces[0].0
                    }
                    Content::File(pieces) if pieces.is_empty() => tables::EMPTY,
                    Content::File(pieces) => match lists.message_of(pieces) {
                        Some(message) => message,
                        None => continue,
                    },
                    _ => continue,
                };
                tables::push_node(&mut rows, number, &KnownNode::new(&entry.name, &entry.stat, content))?;
            }
        }
        Ok(Known {
            snapshot: None,
            directories: by_path,
            nodes: Table::in_memory(rows),
            chunks: Table::in_memory(chunks),
            compressed: Table::in_memory(compressed),
            by_file: OnceLock::new(),
            by_pieces: OnceLock::new(),
            by_content: OnceLock::new(),
        })
    }

    /// Returns the files of a directory in the order of their names.
    fn files(&self, path: &[u8]) -> Result<Vec<KnownFile<'_>>> {
        let Some((number, _)) = self.directories.get(path) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        let mut source_count = 0;
        for part in self.nodes.parts() {
            let before = files.len();
            for row in part.primary_range(&[Value::U32(*number)])? {
                files.push(KnownFile { name: part.bytes(nodes::NAME, row)?, part, row });
            }
            source_count += usize::from(files.len() > before);
        }
        // Each part gives its rows in order.
        if source_count > 1 {
            files.sort_unstable_by_key(|file| file.name);
        }
        Ok(files)
    }

    /// Returns what is known of a directory.
    pub(crate) fn directory(&self, path: &[u8]) -> Result<KnownDirectory<'_>> {
        let Some((number, tree)) = self.directories.get(path) else { return Ok(KnownDirectory::default()) };
        let is_stored = self.snapshot.is_some();
        let (number, tree) = (is_stored.then_some(*number), is_stored.then_some(*tree));
        Ok(KnownDirectory { number, tree, files: self.files(path)? })
    }

    /// Returns the row of a file with this unique part and this inode, whatever its name and its directory.
    pub(crate) fn same_file(&self, unique: &[u8], inode: u64) -> Result<Option<Row>> {
        let index = match self.by_file.get() {
            Some(index) => index,
            None => {
                let made = self.index_by_file()?;
                self.by_file.get_or_init(|| made)
            }
        };
        let Some(id) = index.get(&file_hash(unique, inode)) else { return Ok(None) };
        let part = self.nodes.part(*id);
        let found = row(part, id.row)?;
        let name = part.bytes(nodes::NAME, id.row)?;
        let is_it = mail::parse_name(name).unique == unique && found.inode == inode;
        Ok(is_it.then_some(found))
    }

    /// Returns the pieces of a content, if they are known.
    pub(crate) fn pieces(&self, content: [u8; 32], size_bytes: u64) -> Result<Option<Vec<Id>>> {
        if size_bytes == 0 {
            return Ok(Some(Vec::new()));
        }
        if size_bytes < PIECE_BYTES_MIN {
            return Ok(Some(vec![Id(content)]));
        }
        let Some(id) = self.chunks.get(store::PRIMARY, &[Value::Id(&content)])? else { return Ok(None) };
        Ok(Some(ids(self.chunks.part(id).bytes(chunks::PIECES, id.row)?)))
    }

    /// Returns the content that was cut into these pieces, if that is known.
    fn whole_of(&self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        let index = match self.by_pieces.get() {
            Some(index) => index,
            None => {
                let made = self.index_by_pieces()?;
                self.by_pieces.get_or_init(|| made)
            }
        };
        Ok(index.get(pieces).copied())
    }

    fn index_by_pieces(&self) -> Result<HashMap<Vec<Id>, [u8; 32]>> {
        let mut index = HashMap::new();
        for part in self.chunks.parts() {
            for row in live(part) {
                index.insert(ids(part.bytes(chunks::PIECES, row)?), part.id_at(chunks::CONTENT, row)?);
            }
        }
        Ok(index)
    }

    /// Returns the content of the compressed file that holds a message, if it is known.
    pub(crate) fn compressed_content(&self, message: &[u8; 32]) -> Result<Option<[u8; 32]>> {
        let row = self.compressed.get(store::PRIMARY, &[Value::Id(message)])?;
        Ok(row.map(|row| self.compressed.part(row).id_at(compressed::CONTENT, row.row)).transpose()?)
    }

    /// Returns the message in a file's content: of one that is not compressed the content itself.
    pub(crate) fn message_in(&self, content: [u8; 32]) -> Result<[u8; 32]> {
        let index = match self.by_content.get() {
            Some(index) => index,
            None => {
                let mut made = HashMap::new();
                for part in self.compressed.parts() {
                    for row in live(part) {
                        let message = part.id_at(compressed::MESSAGE, row)?;
                        made.insert(part.id_at(compressed::CONTENT, row)?, message);
                    }
                }
                self.by_content.get_or_init(|| made)
            }
        };
        Ok(index.get(&content).copied().unwrap_or(content))
    }

    /// Returns the message in a file of these pieces, if that is known.
    pub(crate) fn message_of(&self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        let content = match pieces {
            [piece] => Some(piece.0),
            many => self.whole_of(many)?,
        };
        content.map(|content| self.message_in(content)).transpose()
    }

    /// Says whether the pieces of a content are known.
    pub(crate) fn knows_pieces(&self, content: [u8; 32]) -> Result<bool> {
        Ok(self.snapshot.is_some() && self.chunks.get(store::PRIMARY, &[Value::Id(&content)])?.is_some())
    }

    /// Returns the directories that have rows.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.directories.keys().filter(|_| self.snapshot.is_some()).map(Vec::as_slice)
    }

    fn index_by_file(&self) -> Result<HashMap<u64, RowId>> {
        let mut index = HashMap::new();
        for (number, part) in (0u32..).zip(self.nodes.parts()) {
            for row in live(part) {
                let unique = mail::parse_name(part.bytes(nodes::NAME, row)?).unique;
                index.insert(file_hash(unique, part.u64_at(nodes::INODE, row)?), RowId { part: number, row });
            }
        }
        Ok(index)
    }
}

impl KnownFile<'_> {
    /// Returns its size in bytes.
    pub(crate) fn size_bytes(&self) -> Result<u64> {
        Ok(self.part.u64_at(nodes::SIZE, self.row)?)
    }

    /// Returns the SHA-256 of its content.
    pub(crate) fn content(&self) -> Result<[u8; 32]> {
        Ok(self.part.id_at(nodes::CONTENT, self.row)?)
    }

    /// Says whether a file that says this of itself is the same, and as it was.
    pub(crate) fn is_as(&self, stat: &Stat) -> Result<bool> {
        let (part, row) = (self.part, self.row);
        Ok(part.u64_at(nodes::INODE, row)? == stat.inode
            && part.u64_at(nodes::SIZE, row)? == stat.size_bytes
            && part.i64_at(nodes::MTIME, row)? == stat.mtime_ns
            && part.i64_at(nodes::CTIME, row)? == stat.ctime_ns
            && part.u32_at(nodes::MODE, row)? == stat.mode
            && part.u32_at(nodes::UID, row)? == stat.uid
            && part.u32_at(nodes::GID, row)? == stat.gid)
    }

    /// Says whether a file that says this of itself and has this content is the same, and as it was.
    pub(crate) fn holds(&self, stat: &Stat, content: [u8; 32]) -> Result<bool> {
        Ok(self.is_as(stat)? && self.content()? == content)
    }

    /// Returns what is compared with a file that may be another one.
    pub(crate) fn row(&self) -> Result<Row> {
        row(self.part, self.row)
    }
}

impl<'a> KnownDirectory<'a> {
    /// Returns what is known of each file of `names`, which come in order.
    pub(crate) fn join<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Vec<Option<KnownFile<'a>>> {
        let mut files = self.files.iter().peekable();
        let of_name = |name: &[u8]| {
            while files.next_if(|file| file.name < name).is_some() {}
            files.next_if(|file| file.name == name).copied()
        };
        names.map(of_name).collect()
    }
}

impl KnownNode {
    /// Takes note of a file.
    pub(crate) fn new(name: &[u8], stat: &Stat, content: [u8; 32]) -> KnownNode {
        let row = Row {
            inode: stat.inode,
            size_bytes: stat.size_bytes,
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            content,
        };
        KnownNode { name: name.to_vec(), row, mode: stat.mode, uid: stat.uid, gid: stat.gid }
    }
}

/// Returns where the tables of a repository lie below the data directory.
pub(crate) fn place(data: &Path, repository: &Id) -> PathBuf {
    data.join("archive").join(repository.to_string())
}

fn row(part: &Part, row: u32) -> Result<Row> {
    Ok(Row {
        inode: part.u64_at(nodes::INODE, row)?,
        size_bytes: part.u64_at(nodes::SIZE, row)?,
        mtime_ns: part.i64_at(nodes::MTIME, row)?,
        ctime_ns: part.i64_at(nodes::CTIME, row)?,
        content: part.id_at(nodes::CONTENT, row)?,
    })
}

/// Takes names that stand one behind the other.
fn ids(bytes: &[u8]) -> Vec<Id> {
    bytes.as_chunks::<32>().0.iter().map(|id| Id(*id)).collect()
}

fn live(part: &Part) -> impl Iterator<Item = u32> + '_ {
    (0..part.row_count()).filter(|row| !part.is_dead(*row))
}

fn file_hash(unique: &[u8], inode: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (unique, inode).hash(&mut hasher);
    hasher.finish()
}
