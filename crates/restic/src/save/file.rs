//! Cuts what a reader returns into blobs and saves them.
//!
//! Input: the content of a file. Output: the ids of its blobs, in order.

use super::Saver;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::format::blob::BlobKind;
use crate::format::chunker::Chunker;
use std::io::Read;

/// A file that is durable once [`Saver::finish`] has returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedFile {
    /// Its blobs; none if it is empty.
    pub content: Vec<Id>,
    /// Its length in bytes.
    pub byte_count: u64,
    /// Bytes that it added to the repository.
    pub packed_bytes: u64,
}

impl Saver<'_> {
    /// Saves everything that `source` returns, cut as restic cuts it. Takes several times the memory of the
    /// longest blob, 8 MiB.
    ///
    /// # Errors
    /// [`Error::Source`] if `source` cannot be read; the saver can still be used then. Any other error ends
    /// it.
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
