//! Reads the cache: the files of a directory, a file under another name, the pieces of a content.
//!
//! Input: the tables of a repository, or the trees of its last snapshot if there are none.

use crate::blobs::entry::{Content, Entry, PIECE_BYTES_MIN, look};
use crate::cache::columns::{chunks, compressed, directories, nodes};
use crate::cache::file::{CachedDirectory, CachedFile, FileRow, FileState, row};
use crate::cache::tables::{self, ids};
use crate::error::{CacheError, Error, Result};
use crate::pieces::lists::PieceLists;
use disk::Disk;
use restic::Id;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::{RowId, Rows, Snapshot, Table, Value};

/// The directory of all tables, below the data directory.
const CACHES: &str = "archive";

/// The result of opening the tables of a repository.
pub(crate) enum Opened {
    /// They can be used.
    Usable(Arc<Cache>),
    /// There are none, or they are damaged, or of another version: new ones may take their place.
    Unusable,
    /// The disk reported an error. The tables may be good.
    Unreadable(disk::Error),
}

impl Opened {
    /// Returns the tables that can be used.
    pub(crate) fn cache(self) -> Option<Arc<Cache>> {
        match self {
            Opened::Usable(cache) => Some(cache),
            Opened::Unusable | Opened::Unreadable(_) => None,
        }
    }
}

/// The cache of a repository.
pub(crate) struct Cache {
    /// The newest commit of the tables; none if there are none.
    pub(super) snapshot: Option<Snapshot>,
    directories: HashMap<Vec<u8>, (u32, Id)>,
    nodes: Table,
    pub(super) chunks: Table,
    pub(super) compressed: Table,
    by_file: OnceLock<HashMap<u64, RowId>>,
    by_pieces: OnceLock<HashMap<Vec<Id>, [u8; 32]>>,
    by_content: OnceLock<HashMap<[u8; 32], [u8; 32]>>,
}

impl Cache {
    /// Opens the tables of a repository.
    pub(crate) fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Opened {
        let opened = Snapshot::open(disk, directory).map_err(Error::from).and_then(Cache::of);
        match opened {
            Ok(cache) => Opened::Usable(Arc::new(cache)),
            Err(Error::Store(CacheError(store::Error::Io(error))))
                if !error.is_not_found() && !error.is_too_short() =>
            {
                Opened::Unreadable(error)
            }
            Err(_) => Opened::Unusable,
        }
    }

    fn of(snapshot: Snapshot) -> Result<Cache> {
        tables::check(&snapshot)?;
        let mut directories = HashMap::new();
        for part in snapshot.table(directories::TABLE)?.parts() {
            for row in part.live_rows() {
                let path = part.bytes(directories::PNEU_DIRECTORY, row)?.to_vec();
                let number = part.u32_at(directories::NUMBER, row)?;
                directories.insert(path, (number, Id(part.id_at(directories::TREE, row)?)));
            }
        }
        let (nodes, chunks) = (snapshot.table(nodes::TABLE)?, snapshot.table(chunks::TABLE)?);
        let compressed = snapshot.table(compressed::TABLE)?;
        Ok(Cache {
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

    /// Builds a cache in memory from a snapshot: its directories by path, each with its files. A file that is
    /// cut is in it only if a list of pieces names its message.
    pub(crate) fn of_trees(list: &[(Vec<u8>, Vec<Entry>)], lists: &PieceLists) -> Result<Cache> {
        let [_, nodes, ..] = tables::schemas().map(Arc::new);
        let mut rows = Rows::new(&nodes);
        let [chunks, compressed] = tables::piece_rows(&lists.list)?;
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
                tables::push_node(&mut rows, number, &FileRow::new(&entry.name, &entry.stat, content))?;
            }
        }
        Ok(Cache {
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

    /// Returns the files of a directory sorted by name.
    fn files(&self, path: &[u8]) -> Result<Vec<CachedFile<'_>>> {
        let Some((number, _)) = self.directories.get(path) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        let mut source_count = 0;
        for part in self.nodes.parts() {
            let before = files.len();
            for row in part.primary_range(&[Value::U32(*number)])? {
                files.push(CachedFile { name: part.bytes(nodes::NAME, row)?, part, row });
            }
            source_count += usize::from(files.len() > before);
        }
        // Each part returns its rows sorted, and a stable sort merges what is sorted already.
        if source_count > 1 {
            files.sort_by_key(|file| file.name);
        }
        Ok(files)
    }

    /// Calls `visit` with the size and the content of each file of a directory, in any order. Returns the
    /// directory's tree in the last backup.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn each_content(
        &self,
        path: &[u8],
        mut visit: impl FnMut(u64, [u8; 32]) -> Result<()>,
    ) -> Result<Option<Id>> {
        let Some((number, tree)) = self.directories.get(path) else { return Ok(None) };
        for part in self.nodes.parts() {
            for row in part.primary_range(&[Value::U32(*number)])? {
                visit(part.u64_at(nodes::SIZE, row)?, part.id_at(nodes::CONTENT, row)?)?;
            }
        }
        Ok(self.snapshot.is_some().then_some(*tree))
    }

    /// Returns an upper bound of the number of files of a directory.
    pub(crate) fn file_count_max(&self, path: &[u8]) -> Result<usize> {
        let Some((number, _)) = self.directories.get(path) else { return Ok(0) };
        let mut count = 0;
        for part in self.nodes.parts() {
            count += part.primary_range(&[Value::U32(*number)])?.size_hint().1.unwrap_or(0);
        }
        Ok(count)
    }

    /// Returns whether nobody has written to the tables since they were opened.
    pub(crate) fn is_newest(&self) -> bool {
        let newest = self.snapshot.as_ref().map(|own| (own.version(), own.newest()));
        newest.is_some_and(|(own, newest)| newest.is_ok_and(|newest| newest.version() == own))
    }

    /// Returns a directory; an empty one if the cache does not have it.
    pub(crate) fn directory(&self, path: &[u8]) -> Result<CachedDirectory<'_>> {
        let Some((number, tree)) = self.directories.get(path) else { return Ok(CachedDirectory::default()) };
        let is_stored = self.snapshot.is_some();
        let (number, tree) = (is_stored.then_some(*number), is_stored.then_some(*tree));
        Ok(CachedDirectory { number, tree, files: self.files(path)? })
    }

    /// Returns the state of the file with this unique part and inode, under any name and in any directory.
    /// The first call builds a hash table of all files.
    pub(crate) fn same_file(&self, unique: &[u8], inode: u64) -> Result<Option<FileState>> {
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
            for row in part.live_rows() {
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

    /// Returns the message in a file's content: for a file that is not compressed, the content itself.
    pub(crate) fn message_in(&self, content: [u8; 32]) -> Result<[u8; 32]> {
        let index = match self.by_content.get() {
            Some(index) => index,
            None => {
                let mut made = HashMap::new();
                for part in self.compressed.parts() {
                    for row in part.live_rows() {
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

    /// Returns whether the pieces of a content are known.
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
            for row in part.live_rows() {
                let unique = mail::parse_name(part.bytes(nodes::NAME, row)?).unique;
                index.insert(file_hash(unique, part.u64_at(nodes::INODE, row)?), RowId { part: number, row });
            }
        }
        Ok(index)
    }
}

/// Returns the directory of a repository's tables, below the data directory.
pub(crate) fn cache_directory(data: &Path, repository: &Id) -> PathBuf {
    data.join(CACHES).join(repository.to_string())
}

/// Returns the tables that were written to last, below the data directory, and where they are. Those of a
/// single repository are the only ones.
pub(crate) fn newest_cache(disk: &Arc<dyn Disk>, data: &Path) -> Option<(PathBuf, Arc<Cache>)> {
    let all = data.join(CACHES);
    let names = disk.list(&all).ok()?.into_iter();
    let places = names.filter(|name| name.to_str().is_some_and(|name| name.parse::<Id>().is_ok()));
    let mut places: Vec<PathBuf> = places.map(|name| all.join(name)).collect();
    if places.len() > 1 {
        places.sort_by_cached_key(|place| look(place).map_or(i64::MIN, |stat| stat.mtime_ns));
    }
    let place = places.pop()?;
    let cache = Cache::open(disk, &place).cache()?;
    Some((place, cache))
}

fn file_hash(unique: &[u8], inode: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (unique, inode).hash(&mut hasher);
    hasher.finish()
}
