//! What a backup learns, to be known at the next one.
//!
//! In: directories as they were stored. Out: one commit of the tables, after the snapshot is there. A crash before it costs time: rows say
//! what was true of files, whichever snapshot is the newest, and their content is looked for in the archive each time.

use crate::error::Result;
use crate::known::{Known, KnownDirectory, KnownNode, tables};
use archive::Id;
use disk::{Disk, Wait};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use store::{MergeOptions, Options, Rows, Transaction, Value, Writer};
use tables::{ATTACHMENT, directories, nodes};

/// What is to be known.
pub(crate) struct Changes {
    directories: Rows,
    nodes: Rows,
    chunks: Rows,
    compressed: Rows,
    deletes: Transaction,
    visited: HashSet<Vec<u8>>,
    new_pieces: std::collections::HashMap<[u8; 32], Vec<Id>>,
    next_directory: u32,
    /// How many commits the tables had that this is based on; none if there were no tables.
    based_on: Option<u64>,
}

impl Changes {
    /// Begins on what is known now.
    pub(crate) fn new(known: Option<&Known>) -> Changes {
        let [directories, nodes, chunks, compressed] = tables::empty();
        let stored = known.and_then(|known| known.snapshot.as_ref());
        Changes {
            directories,
            nodes,
            chunks,
            compressed,
            deletes: Transaction::new(),
            visited: HashSet::new(),
            new_pieces: std::collections::HashMap::new(),
            next_directory: stored.and_then(tables::next_directory).unwrap_or(0),
            based_on: stored.map(|stored| stored.version().sequence),
        }
    }

    /// Takes note of a directory as it was stored. `now` is in the order of names.
    pub(crate) fn directory(
        &mut self,
        path: &[u8],
        tree: Id,
        before: &KnownDirectory,
        now: &[KnownNode],
    ) -> Result<()> {
        self.visited.insert(path.to_vec());
        let number = before.number.unwrap_or(self.next_directory);
        if before.number.is_none() {
            self.next_directory += 1;
        }
        if before.number.is_none() || before.tree != Some(tree) {
            self.directories.push(&[Value::Bytes(path), Value::U32(number), Value::Id(&tree.0)])?;
        }
        // What was read from trees has no rows yet: all of it is new.
        let mut old =
            if before.number.is_some() { before.nodes.iter().peekable() } else { [].iter().peekable() };
        for node in now {
            while let Some(gone) = old.next_if(|old| old.name < node.name) {
                self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(&gone.name)]);
            }
            if old.next_if(|old| old.name == node.name) != Some(node) {
                tables::push_node(&mut self.nodes, number, node)?;
            }
        }
        for gone in old {
            self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(&gone.name)]);
        }
        Ok(())
    }

    /// Takes note of a directory of which nothing changed.
    pub(crate) fn unchanged(&mut self, path: &[u8]) {
        self.visited.insert(path.to_vec());
    }

    /// Takes note of the pieces of a content.
    pub(crate) fn pieces(&mut self, content: [u8; 32], pieces: &[Id]) -> Result<()> {
        if self.new_pieces.insert(content, pieces.to_vec()).is_none() {
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.0).collect();
            self.chunks.push(&[Value::Id(&content), Value::Bytes(&bytes)])?;
        }
        Ok(())
    }

    /// Takes note of a message whose file has another content: it is compressed.
    pub(crate) fn compressed(&mut self, message: [u8; 32], content: [u8; 32]) -> Result<()> {
        Ok(self.compressed.push(&[Value::Id(&message), Value::Id(&content)])?)
    }

    /// Takes out the rows of directories that were not visited: they are not there any more.
    pub(crate) fn forget_others(&mut self, known: &Known) -> Result<()> {
        let gone: Vec<Vec<u8>> =
            known.paths().filter(|path| !self.visited.contains(*path)).map(<[u8]>::to_vec).collect();
        for path in gone {
            let before = known.directory(&path)?;
            for node in &before.nodes {
                let number = before.number.unwrap_or_default();
                self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(&node.name)]);
            }
            self.deletes.delete(directories::TABLE, &[Value::Bytes(&path)]);
        }
        Ok(())
    }

    /// Commits all of it, unless another backup did meanwhile: what that one knows is as good, and numbers of directories are given once.
    ///
    /// # Errors
    /// What the disk says: then less is known at the next backup, and nothing is lost.
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
        let options = || Options { holder: holder.to_owned(), wait: Wait::Block, seed, ..Options::default() };
        let mut writer = Writer::open_or_create(disk, place, &tables::schemas(), options())?;
        let now = writer.snapshot()?;
        let found = tables::next_directory(&now).map(|_| now.version().sequence);
        if found != self.based_on {
            return Ok(());
        }
        writer.commit(transaction)?;
        drop(writer);
        let merge = MergeOptions { holder: holder.to_owned(), seed, ..MergeOptions::default() };
        match store::merge(disk, place, &merge) {
            Ok(_) | Err(store::Error::Io(disk::Error::Locked { .. })) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Removes tables that cannot be used: what they knew is read from the archive again.
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
