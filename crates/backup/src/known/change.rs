//! What a backup learns, to be known at the next one.
//!
//! In: directories as they were stored. Out: one commit of the tables, after the snapshot is there. A crash before it costs time: rows say
//! what was true of files, whichever snapshot is the newest, and their content is looked for in the archive each time.

use crate::entry::Stat;
use crate::error::Result;
use crate::known::{Known, KnownDirectory, KnownFile, KnownNode, tables};
use archive::Id;
use disk::{Disk, Wait};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use store::{MergeOptions, Options, Rows, Transaction, Value, Writer};
use tables::{ATTACHMENT, directories, nodes};

/// How the files of a directory differ from what was known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Rows that are to be written: of what changed, or of all if there are none yet.
    pub nodes: Vec<KnownNode>,
    /// Names of files that have rows and are not there any more.
    pub gone: Vec<Vec<u8>>,
    /// Files that are as they were.
    pub unchanged_count: u64,
    /// Files of a known name of which something changed.
    pub changed_count: u64,
    /// Files of other names.
    pub new_count: u64,
}

/// A file's name, what it says of itself, the SHA-256 of its content, and whether all of it is as it was.
pub(crate) type FileNow<'a> = (&'a [u8], &'a Stat, [u8; 32], bool);

impl Difference {
    /// Compares files, in the order of their names, with what was known.
    pub(crate) fn of<'n>(before: &KnownDirectory<'_>, now: impl Iterator<Item = FileNow<'n>>) -> Difference {
        let mut difference = Difference::default();
        // What was read from trees has no rows yet: all of it is to be written.
        let has_rows = before.number.is_some();
        let mut old = before.files.iter().peekable();
        let mut gone = |file: &KnownFile<'_>| {
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
                difference.nodes.push(KnownNode::new(name, stat, content));
            }
        }
        old.for_each(gone);
        difference
    }
}

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

    /// Takes note of what only lists in the archive say, so that tables begun anew know it, too.
    pub(crate) fn carry(&mut self, known: &Known) -> Result<()> {
        for (message, pieces) in known.only_listed()?.0 {
            super::list::push((&mut self.chunks, &mut self.compressed), message, &pieces)?;
            self.new_pieces.insert(message, pieces);
        }
        Ok(())
    }

    /// Takes note of a directory as it was stored, with its tree, its number if it has one, and the tree that it had.
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
            for file in &before.files {
                let number = before.number.unwrap_or_default();
                self.deletes.delete(nodes::TABLE, &[Value::U32(number), Value::Bytes(file.name)]);
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
