//! Updates the cache after a backup.
//!
//! Input: directories as they were stored. Output: one commit of the tables, after the snapshot is written:
//! what the next backup tells as new is counted from them. A crash before the commit costs only time: rows
//! are true of files whichever snapshot is the newest, and every backup checks that the repository has their
//! content.

use crate::blobs::entry::Stat;
use crate::cache::columns::{directories, nodes};
use crate::cache::file::{CachedDirectory, CachedFile, FileRow};
use crate::cache::read::Cache;
use crate::cache::tables::{self, ATTACHMENT};
use crate::error::Result;
use disk::{Disk, Wait};
use restic::Id;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use store::{MergeOptions, Options, Rows, Snapshot, Transaction, Value, Writer};

/// How the files of a directory differ from the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Rows to be written: of changed files, or of all files if the directory has no rows yet.
    pub nodes: Vec<FileRow>,
    /// Names of files that have rows but do not exist any more.
    pub gone: Vec<Vec<u8>>,
    /// How many files are unchanged.
    pub unchanged_count: u64,
    /// How many files changed under the same name.
    pub changed_count: u64,
    /// How many files have new names.
    pub new_count: u64,
}

/// A file's name, its metadata, the SHA-256 of its content, and whether all of it is unchanged.
pub(crate) type FileNow<'a> = (&'a [u8], &'a Stat, [u8; 32], bool);

impl Difference {
    /// Compares files, sorted by name, with the cache.
    pub(crate) fn of<'n>(before: &CachedDirectory<'_>, now: impl Iterator<Item = FileNow<'n>>) -> Difference {
        let mut difference = Difference::default();
        // A directory that was read from a tree has no rows yet: all of them must be written.
        let has_rows = before.number.is_some();
        let mut old = before.files.iter().peekable();
        let mut gone = |file: &CachedFile<'_>| {
            if has_rows {
                difference.gone.push(file.name.to_vec());
            }
        };
        for (name, stat, content, is_same) in now {
            while let Some(file) = old.next_if(|file| file.name < name) {
                gone(file);
            }
            let was_there = old.next_if(|file| file.name == name).is_some();
            match (was_there, is_same) {
                (_, true) => difference.unchanged_count += 1,
                (true, false) => difference.changed_count += 1,
                (false, false) => difference.new_count += 1,
            }
            if !is_same || !has_rows {
                difference.nodes.push(FileRow::new(name, stat, content));
            }
        }
        old.for_each(gone);
        difference
    }
}

/// Changes of the cache, for one commit.
pub(crate) struct CacheUpdate {
    directories: Rows,
    nodes: Rows,
    chunks: Rows,
    compressed: Rows,
    deletes: Transaction,
    visited: HashSet<Vec<u8>>,
    new_pieces: std::collections::HashMap<[u8; 32], Vec<Id>>,
    next_directory: u32,
    /// The tables as the backup read them; none if there were none.
    known: Option<Snapshot>,
}

impl CacheUpdate {
    /// Returns an empty update of the cache.
    pub(crate) fn new(cache: Option<&Cache>) -> CacheUpdate {
        let [directories, nodes, chunks, compressed] = tables::empty();
        let stored = cache.and_then(|cache| cache.snapshot.as_ref());
        CacheUpdate {
            directories,
            nodes,
            chunks,
            compressed,
            deletes: Transaction::new(),
            visited: HashSet::new(),
            new_pieces: std::collections::HashMap::new(),
            next_directory: stored.and_then(tables::next_directory).unwrap_or(0),
            known: stored.cloned(),
        }
    }

    /// Adds what only the lists in snapshots have, so that new tables have it too.
    pub(crate) fn carry(&mut self, cache: &Cache) -> Result<()> {
        for (message, pieces) in cache.only_listed()?.0 {
            tables::push_pieces((&mut self.chunks, &mut self.compressed), message, &pieces)?;
            self.new_pieces.insert(message, pieces);
        }
        Ok(())
    }

    /// Adds a directory as it was stored, with its tree, its number if it has one, and its tree in the cache.
    pub(crate) fn directory(
        &mut self,
        path: &[u8],
        tree: Id,
        (number, tree_before): (Option<u32>, Option<Id>),
        difference: &Difference,
    ) -> Result<()> {
        self.visited.insert(path.to_vec());
        let is_new = number.is_none();
        let number = number.unwrap_or(self.next_directory);
        if is_new {
            self.next_directory += 1;
        }
        if is_new || tree_before != Some(tree) {
            self.directories.push(&[Value::Bytes(path), Value::U32(number), Value::Id(&tree.0)])?;
        }
        for name in &difference.gone {
            self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(name)]);
        }
        for node in &difference.nodes {
            tables::push_node(&mut self.nodes, number, node)?;
        }
        Ok(())
    }

    /// Marks a directory as visited and unchanged.
    pub(crate) fn unchanged(&mut self, path: &[u8]) {
        self.visited.insert(path.to_vec());
    }

    /// Adds the pieces of a content.
    pub(crate) fn pieces(&mut self, content: [u8; 32], pieces: &[Id]) -> Result<()> {
        if self.new_pieces.insert(content, pieces.to_vec()).is_none() {
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.0).collect();
            self.chunks.push(&[Value::Id(&content), Value::Bytes(&bytes)])?;
        }
        Ok(())
    }

    /// Adds a message whose file is compressed.
    pub(crate) fn compressed(&mut self, message: [u8; 32], content: [u8; 32]) -> Result<()> {
        Ok(self.compressed.push(&[Value::Id(&message), Value::Id(&content)])?)
    }

    /// Deletes the rows of directories that were not visited, because they do not exist any more.
    pub(crate) fn forget_others(&mut self, cache: &Cache) -> Result<()> {
        let gone: Vec<Vec<u8>> =
            cache.paths().filter(|path| !self.visited.contains(*path)).map(<[u8]>::to_vec).collect();
        for path in gone {
            let before = cache.directory(&path)?;
            for file in &before.files {
                let number = before.number.unwrap_or_default();
                self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(file.name)]);
            }
            self.deletes.delete(directories::TABLE, &[Value::Bytes(&path)]);
        }
        Ok(())
    }

    /// Commits the update, unless another backup has committed since this one read the tables. Directory
    /// numbers must be unique, and the other backup's rows are as good.
    ///
    /// # Errors
    /// The disk reports a failure. The next backup then takes longer; nothing is lost.
    pub(crate) fn commit(self, disk: &Arc<dyn Disk>, place: &Path, holder: &str, seed: u64) -> Result<()> {
        let mut transaction = self.deletes;
        for rows in [self.directories, self.nodes, self.chunks, self.compressed] {
            if !rows.is_empty() {
                transaction.put(rows);
            }
        }
        if transaction.is_empty() {
            return Ok(());
        }
        transaction.attach(ATTACHMENT, tables::attachment(self.next_directory));
        let based_on = self.known.as_ref().map(|known| known.version().sequence);
        // What the backup has opened and verified is not opened again.
        let options = Options {
            holder: holder.to_owned(),
            wait: Wait::Block,
            seed,
            known: self.known,
            ..Options::default()
        };
        let mut writer = Writer::open_or_create(disk, place, &tables::schemas(), options)?;
        let now = writer.snapshot()?;
        let found = tables::next_directory(&now).map(|_| now.version().sequence);
        if found != based_on {
            return Ok(());
        }
        writer.commit(transaction)?;
        let known = Some(writer.snapshot()?);
        drop(writer);
        let merge = MergeOptions { holder: holder.to_owned(), seed, known, ..MergeOptions::default() };
        match store::merge(disk, place, &merge) {
            Ok(_) | Err(store::Error::Io(disk::Error::Locked { .. })) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Removes tables that cannot be used. Their content is read from the repository again.
pub(crate) fn discard(disk: &dyn Disk, place: &Path) -> Result<()> {
    match disk.list(place) {
        Ok(names) => {
            for name in names {
                disk.remove(&place.join(name))?;
            }
            Ok(disk.sync_directory(place)?)
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}
