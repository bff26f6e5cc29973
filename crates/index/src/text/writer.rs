//! Writes segments of the text index. Each thread has one writer; writers start no threads.
//!
//! Input: documents with message numbers. Output: sealed files of new segments. They are synced, but nothing
//! names them until the caller commits.

use crate::error::Result;
use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::document::{Document, Documents};
use crate::text::fields::{number_field, schema, tokenizers};
use crate::text::words;
use disk::Disk;
use std::path::Path;
use std::sync::Arc;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::{Index, TantivyDocument};

/// Memory for all segments being written, in bytes. A writer that has used up its share finishes its segment
/// and begins the next.
const MEMORY_BYTES: usize = 320 << 20;
/// Smallest share of a writer. tantivy requires at least 15 MB.
const SHARE_BYTES_MIN: usize = 32 << 20;

/// Returns a writer into the directory `path`. At most `writer_count` of them, which share the memory, may be
/// in use at a time.
pub(crate) fn writer(disk: &Arc<dyn Disk>, path: &Path, writer_count: usize) -> Box<dyn Documents> {
    Box::new(TextWriter {
        files: TextFiles::new(disk, path),
        share_bytes: (MEMORY_BYTES / writer_count.max(1)).max(SHARE_BYTES_MIN),
        open: None,
        finished: Vec::new(),
    })
}

/// Writes documents into segments.
struct TextWriter {
    files: TextFiles,
    share_bytes: usize,
    open: Option<SingleSegmentIndexWriter>,
    finished: Vec<TextSegment>,
}

impl TextWriter {
    fn add_to_segment(&mut self, document: &Document<'_>) -> tantivy::Result<()> {
        let writer = match &mut self.open {
            Some(writer) => writer,
            None => self.open.insert(begin(&self.files, self.share_bytes)?),
        };
        writer.add_document(for_tantivy(document))?;
        if writer.mem_usage() >= self.share_bytes {
            self.finish_segment()?;
        }
        Ok(())
    }

    fn finish_segment(&mut self) -> tantivy::Result<()> {
        if let Some(writer) = self.open.take() {
            let mut segments = segments(&writer.finalize()?)?;
            words::write(&self.files, &segments)?;
            self.files.note_digests(&mut segments)?;
            self.finished.extend(segments);
        }
        Ok(())
    }
}

impl Documents for TextWriter {
    fn add(&mut self, document: &Document<'_>) -> Result<()> {
        self.add_to_segment(document).map_err(|error| self.files.error(error))
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<TextSegment>> {
        self.finish_segment().map_err(|error| self.files.error(error))?;
        Ok(self.finished)
    }
}

fn for_tantivy(document: &Document<'_>) -> TantivyDocument {
    let mut made = TantivyDocument::new();
    made.add_u64(number_field(), u64::from(document.number));
    for (field, text) in &document.texts {
        made.add_text(field.field(), text);
    }
    for (field, value) in &document.values {
        made.add_text(field.field(), value);
    }
    made
}

/// Returns the segments that an index lists, without the digests of their files.
pub(super) fn segments(index: &Index) -> tantivy::Result<Vec<TextSegment>> {
    let metas = index.searchable_segment_metas()?;
    Ok(metas
        .iter()
        .map(|meta| TextSegment {
            id: meta.id().uuid_string(),
            document_count: meta.max_doc(),
            digests: Default::default(),
        })
        .collect())
}

fn begin(files: &TextFiles, share_bytes: usize) -> tantivy::Result<SingleSegmentIndexWriter> {
    // Each writer has its own list of segments, which is a small file.
    let own = files.with_own_small_files();
    Index::builder().schema(schema()).tokenizers(tokenizers()).single_segment_index_writer(own, share_bytes)
}
