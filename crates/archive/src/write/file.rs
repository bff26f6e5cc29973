//! Saving what a reader gives, cut into blobs.
//!
//! Comes in: the content of a file. Goes out: the names of its blobs, in order. Must not know what the file is.

use super::Saver;
use crate::blob::BlobKind;
use crate::chunker::Chunker;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::storage::FileName;
use std::io::Read;

/// A file that is saved, or will be when [`Saver::finish`] returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedFile {
    /// Its blobs; none if it is empty.
    pub content: Vec<Id>,
    /// Its length in bytes.
    pub byte_count: u64,
    /// How many bytes it added to the repository.
    pub packed_bytes: u64,
}

impl Saver<'_> {
    /// Saves all that `source` gives, cut as restic cuts it. Memory: the longest blob, 8 MiB, several times.
    ///
    /// # Errors
    /// [`Error::Source`] if `source` cannot be read; the saver goes on then. Whatever else fails ends it.
    pub fn save_file(&self, source: &mut dyn Read) -> Result<SavedFile> {
        let mut file = SavedFile::default();
        let mut buffer = self.buffers().pop().unwrap_or_default();
        let result = self.save_chunks(source, &mut buffer, &mut file);
        self.buffers().push(buffer);
        result.map(|()| file)
    }

    fn save_chunks(&self, source: &mut dyn Read, buffer: &mut Vec<u8>, file: &mut SavedFile) -> Result<()> {
        let mut chunks = self.chunker()?.chunks(source, buffer);
        while let Some(chunk) = chunks.next().map_err(Error::Source)? {
            let saved = self.save_blob(BlobKind::Data, None, chunk)?;
            file.content.push(saved.id);
            file.byte_count += chunk.len() as u64;
            file.packed_bytes += saved.packed_bytes;
        }
        Ok(())
    }

    /// Returns what cuts with the repository's own polynomial.
    fn chunker(&self) -> Result<&Chunker> {
        if let Some(chunker) = self.chunker.get() {
            return Ok(chunker);
        }
        let made = Chunker::new(self.repository.config().chunker_polynomial)
            .ok_or_else(|| Error::damage(FileName::CONFIG, "nothing can be cut with its polynomial"))?;
        Ok(self.chunker.get_or_init(|| made))
    }
}
