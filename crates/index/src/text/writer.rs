//! Writes segments of the text index. Each thread has one writer; writers start no threads.
//!
//! Input: documents with message numbers. Output: new segments, sealed in files, or in memory if they are
//! small. Files are synced, but their names are not, and nothing names them until the caller commits.

use crate::error::Result;
use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::document::{Document, Documents};
use crate::text::fields::{number_field, schema};
use crate::text::postings::Postings;
use crate::text::words::Lists;
use disk::Disk;
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::TerminatingWrite;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::index::SegmentComponent;
use tantivy::schema::Schema;
use tantivy::store::StoreWriter;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexSettings, TantivyDocument};

/// Memory for all segments being written, in bytes. A writer that has used up its share finishes its segment
/// and begins the next.
const MEMORY_BYTES: usize = 256 << 20;
/// Smallest share of a writer.
const SHARE_BYTES_MIN: usize = 32 << 20;
/// After how many bytes of text a writer looks how much memory it takes.
const LOOK_BYTES: usize = 1 << 18;

/// Returns a writer into the directory `path`. At most `writer_count` of them, which share the memory, may be
/// in use at a time.
pub(crate) fn writer(disk: &Arc<dyn Disk>, path: &Path, writer_count: usize) -> Box<dyn Documents> {
    writer_into(TextFiles::new(disk, path), (MEMORY_BYTES / writer_count.max(1)).max(SHARE_BYTES_MIN))
}

/// Returns a writer that finishes a segment when it has used up so much memory.
pub(super) fn writer_into(files: TextFiles, share_bytes: usize) -> Box<dyn Documents> {
    Box::new(TextWriter { files, share_bytes, open: None, finished: Vec::new() })
}

/// Writes documents into segments.
struct TextWriter {
    files: TextFiles,
    share_bytes: usize,
    open: Option<Open>,
    finished: Vec<TextSegment>,
}

/// A segment in memory.
struct Open {
    schema: Schema,
    document_count: u32,
    postings: Postings,
    columns: FastFieldsWriter,
    /// How much text came since the last look at the memory.
    new_bytes: usize,
}

impl TextWriter {
    fn add_to_segment(&mut self, document: &Document<'_>) -> tantivy::Result<()> {
        let open = match &mut self.open {
            Some(open) => open,
            None => self.open.insert(Open::new()?),
        };
        open.add(document)?;
        if open.new_bytes >= LOOK_BYTES {
            open.new_bytes = 0;
            if open.memory_bytes() >= self.share_bytes {
                self.finish_segment()?;
            }
        }
        Ok(())
    }

    fn finish_segment(&mut self) -> tantivy::Result<()> {
        if let Some(open) = self.open.take() {
            self.finished.push(open.write(&self.files)?);
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

impl Open {
    fn new() -> tantivy::Result<Open> {
        let schema = schema();
        Ok(Open {
            document_count: 0,
            postings: Postings::new(),
            columns: FastFieldsWriter::from_schema_and_tokenizer_manager(
                &schema,
                TokenizerManager::default(),
            )?,
            new_bytes: 0,
            schema,
        })
    }

    fn add(&mut self, document: &Document<'_>) -> tantivy::Result<()> {
        for (field, text) in &document.texts {
            self.postings.add(self.document_count, *field, text);
            self.new_bytes += text.len();
        }
        let mut values = TantivyDocument::new();
        values.add_u64(number_field(), u64::from(document.number));
        for (field, value) in &document.values {
            values.add_text(field.field(), value);
            self.new_bytes += value.len();
        }
        self.document_count += 1;
        self.columns.add_document(&values)
    }

    fn memory_bytes(&self) -> usize {
        self.postings.memory_bytes() + self.columns.mem_usage()
    }

    /// Writes the segment.
    fn write(mut self, files: &TextFiles) -> tantivy::Result<TextSegment> {
        // Each segment has its own list of segments, which is a small file.
        let own = files.with_own_small_files();
        let segment =
            Index::create(own.clone(), self.schema.clone(), IndexSettings::default())?.new_segment();
        let id = segment.id().uuid_string();
        let mut lists = Lists::new(&own, &id);
        self.postings.write(&segment, &mut lists)?;
        lists.finish()?;
        let mut columns = segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut columns, None)?;
        columns.terminate()?;
        // Nothing is stored, and yet tantivy expects an empty document for each.
        let IndexSettings { docstore_compression, docstore_blocksize, .. } = IndexSettings::default();
        let stored = segment.open_write(SegmentComponent::Store)?;
        let mut stored = StoreWriter::new(stored, docstore_compression, docstore_blocksize, false)?;
        for _ in 0..self.document_count {
            stored.store(&TantivyDocument::new(), &self.schema)?;
        }
        stored.close()?;
        own.seal(id, self.document_count).map_err(Into::into)
    }
}
