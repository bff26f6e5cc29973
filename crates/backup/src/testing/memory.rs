//! A repository in memory.

use crate::blobs::entry::EntryView;
use crate::blobs::entry::{Content, ContentView, Entry};
use crate::blobs::reader::BlobReader;
use crate::blobs::unindexed::UnindexedBlobs;
use crate::blobs::writer::BlobWriter;
use crate::error::Result;
use restic::Id;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Mutex;
use work::Progress;

/// Keeps everything, and counts what was saved.
#[derive(Default)]
pub(crate) struct MemoryRepository {
    pub(crate) pieces: Mutex<BTreeMap<Id, Vec<u8>>>,
    pub(crate) trees: Mutex<BTreeMap<Id, Vec<Entry>>>,
    /// How many pieces and trees were saved since the last call of `brought`.
    pub(crate) brought: Mutex<(usize, usize)>,
    /// Pieces that no index names.
    pub(crate) unindexed: Mutex<UnindexedBlobs>,
}

impl MemoryRepository {
    /// Returns how many pieces and trees were saved since the last call.
    pub(crate) fn brought(&self) -> (usize, usize) {
        std::mem::take(&mut *self.brought.lock().unwrap())
    }
}

impl BlobReader for MemoryRepository {
    fn tree(&self, id: &Id) -> Result<Vec<Entry>> {
        let missing = || restic::Error::NoBlob { what: format!("tree {id}") };
        Ok(self.trees.lock().unwrap().get(id).cloned().ok_or_else(missing)?)
    }

    fn piece(&self, id: &Id) -> Result<Vec<u8>> {
        Ok(self.pieces.lock().unwrap()[id].clone())
    }

    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        self.has_pieces(ids)
    }

    fn unindexed_blobs(&self, _progress: &dyn Progress) -> Result<UnindexedBlobs> {
        Ok(self.unindexed.lock().unwrap().clone())
    }
}

pub(crate) fn id_of(bytes: &[u8]) -> Id {
    Id(Sha256::digest(bytes).into())
}

fn kept(entry: &EntryView<'_>) -> Entry {
    let content = match entry.content {
        ContentView::File(pieces) => Content::File(pieces.to_vec()),
        ContentView::Directory(tree) => Content::Directory(tree),
        ContentView::Other => Content::Other,
    };
    Entry { name: entry.name.to_vec(), stat: *entry.stat, content }
}

impl BlobWriter for MemoryRepository {
    fn has_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        let pieces = self.pieces.lock().unwrap();
        Ok(ids.iter().map(|id| pieces.contains_key(id)).collect())
    }

    fn has_tree(&self, id: &Id) -> Result<bool> {
        Ok(self.trees.lock().unwrap().contains_key(id))
    }

    fn save_piece(&self, id: Id, content: &[u8]) -> Result<()> {
        // Content is not compared with an existing piece of the same id.
        if id != id_of(content) {
            let is_there = self.pieces.lock().unwrap().contains_key(&id);
            return if is_there { Ok(()) } else { Err(restic::Error::NotItsName { id }.into()) };
        }
        assert!(!content.is_empty() && (content.len() as u64) < crate::blobs::entry::PIECE_BYTES_MIN);
        self.brought.lock().unwrap().0 += 1;
        self.pieces.lock().unwrap().insert(id, content.to_vec());
        Ok(())
    }

    fn save_stream(&self, content: &mut dyn Read) -> Result<Vec<Id>> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).unwrap();
        self.brought.lock().unwrap().0 += 1;
        let pieces = bytes.chunks(300_000).map(|piece| (id_of(piece), piece.to_vec()));
        let pieces: Vec<(Id, Vec<u8>)> = pieces.collect();
        let ids = pieces.iter().map(|(id, _)| *id).collect();
        self.pieces.lock().unwrap().extend(pieces);
        Ok(ids)
    }

    fn save_tree(&self, entries: &[EntryView<'_>]) -> Result<Id> {
        let entries: Vec<Entry> = entries.iter().map(kept).collect();
        assert!(entries.is_sorted_by(|a, b| a.name < b.name), "{entries:?}");
        let id = id_of(format!("{entries:?}").as_bytes());
        self.brought.lock().unwrap().1 += 1;
        self.trees.lock().unwrap().insert(id, entries);
        Ok(id)
    }
}
