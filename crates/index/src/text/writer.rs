//! Writes segments of the text index: one writer a thread, no thread of its own.
//!
//! In: documents with message numbers. Out: sealed files of new segments, synced but named by nobody until the caller commits.

use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::fields::{TextField, ValueField, header_word, number_field, schema, tokenizers};
use crate::text::words;
use query::fold::fold;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::{Index, TantivyDocument};

/// Memory of all segments being written, in bytes. A writer whose share is used up finishes its segment and begins the next.
const MEMORY_BYTES: usize = 320 << 20;
/// Least share of a writer: tantivy takes no less than 15 MB.
const SHARE_BYTES_MIN: usize = 32 << 20;

/// Longest whole value in bytes.
const WHOLE_BYTES_MAX: usize = 1024;
/// How much of a value regular expressions see, in bytes: what is longer is cut at a character.
const VALUE_BYTES_MAX: usize = 1024;

/// A message as the text index sees it.
pub(crate) struct Document {
    inner: TantivyDocument,
}

impl Document {
    /// Begins the document of message `number`.
    pub(crate) fn new(number: u32) -> Document {
        let mut inner = TantivyDocument::new();
        inner.add_u64(number_field(), u64::from(number));
        Document { inner }
    }

    /// Adds text to a field. Texts of one field are kept apart: no phrase reaches from one into the next.
    pub(crate) fn add(&mut self, field: TextField, text: &str) {
        if !text.is_empty() {
            self.inner.add_text(field.field(), text);
        }
    }

    /// Adds a value to a column, as it is; a long one is cut.
    pub(crate) fn add_value(&mut self, field: ValueField, value: &str) {
        let kept = value.get(..value.floor_char_boundary(VALUE_BYTES_MAX)).unwrap_or(value);
        if !kept.is_empty() {
            self.inner.add_text(field.field(), kept);
        }
    }

    /// Adds a header field that the configuration names: its words and its value.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        self.add(TextField::Header, &header_word(name, value));
        self.add_value(ValueField::Header, &header_word(name, value));
    }

    /// Adds a whole value, folded; one that is too long for a term is left out.
    pub(crate) fn add_whole(&mut self, field: TextField, value: &str) {
        self.add_exact(field, &fold(value));
    }

    /// Adds a whole value as it is; one that is too long for a term is left out.
    pub(crate) fn add_exact(&mut self, field: TextField, value: &str) {
        if !value.is_empty() && value.len() <= WHOLE_BYTES_MAX {
            self.inner.add_text(field.field(), value);
        }
    }
}

/// Writes documents into segments.
pub(crate) struct TextWriter {
    files: TextFiles,
    share_bytes: usize,
    open: Option<SingleSegmentIndexWriter>,
    finished: Vec<TextSegment>,
}

impl TextWriter {
    /// Begins without a segment; `writer_count` such writers share the memory.
    pub(crate) fn new(files: &TextFiles, writer_count: usize) -> TextWriter {
        TextWriter {
            files: files.clone(),
            share_bytes: (MEMORY_BYTES / writer_count.max(1)).max(SHARE_BYTES_MIN),
            open: None,
            finished: Vec::new(),
        }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// What tantivy says, a full disk among it.
    pub(crate) fn add(&mut self, document: Document) -> tantivy::Result<()> {
        let writer = match &mut self.open {
            Some(writer) => writer,
            None => self.open.insert(begin(&self.files, self.share_bytes)?),
        };
        writer.add_document(document.inner)?;
        if writer.mem_usage() >= self.share_bytes {
            self.finish_segment()?;
        }
        Ok(())
    }

    /// Finishes the open segment and returns all that were written. Their names still need the directory synced.
    ///
    /// # Errors
    /// What tantivy says, a full disk among it.
    pub(crate) fn finish(mut self) -> tantivy::Result<Vec<TextSegment>> {
        self.finish_segment()?;
        Ok(self.finished)
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
    // Its own small files: each writer's list of segments is its own.
    let own = files.with_own_small_files();
    Index::builder().schema(schema()).tokenizers(tokenizers()).single_segment_index_writer(own, share_bytes)
}
