//! Opens the segments of the text index that a commit names, and no others.
//!
//! Input: files and the names of segments. Output: tantivy's index over them, or a reader of each. Gives
//! tantivy the list of segments that it would otherwise keep in a file. Must not know what is searched.

use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::fields::schema;
use store::read_together;
use tantivy::{Index, IndexMeta, SegmentReader};

/// Opens segments in the given order.
pub(super) fn open_segments(
    files: &TextFiles,
    segments: &[TextSegment],
) -> tantivy::Result<Vec<SegmentReader>> {
    if segments.is_empty() {
        return Ok(Vec::new());
    }
    let own = files.with_own_small_files();
    let index = open_in(&own, files, segments)?;
    let found = index.searchable_segments()?;
    let open = |named: &TextSegment| {
        let segment = found.iter().find(|segment| segment.id().uuid_string() == named.id);
        let missing = || tantivy::TantivyError::SystemError(format!("segment {} is not opened", named.id));
        SegmentReader::open(segment.ok_or_else(missing)?)
    };
    read_together(segments, |&named| open(named));
    let opened = segments.iter().map(open).collect();
    own.forget();
    opened
}

/// Opens tantivy's index over the segments that a commit names.
pub(super) fn open_index(files: &TextFiles, segments: &[TextSegment]) -> tantivy::Result<Index> {
    open_in(&files.with_own_small_files(), files, segments)
}

/// Opens it in `own`, with the files of segments that `files` has, or gets now.
fn open_in(own: &TextFiles, files: &TextFiles, segments: &[TextSegment]) -> tantivy::Result<Index> {
    own.put_small("meta.json", meta(segments)?);
    segments.iter().try_for_each(|segment| files.map(segment))?;
    files.open(segments)?;
    segments.iter().for_each(|segment| own.share(files, segment));
    Index::open(own.clone())
}

/// Returns the list of segments in the form that tantivy reads.
fn meta(segments: &[TextSegment]) -> tantivy::Result<Vec<u8>> {
    let empty = IndexMeta::with_schema(schema());
    let mut value = serde_json::to_value(&empty).map_err(std::io::Error::other)?;
    let list = segments
        .iter()
        .map(|segment| {
            let (id, count) = (dashed(&segment.id), segment.document_count);
            serde_json::json!({ "segment_id": id, "max_doc": count, "deletes": null })
        })
        .collect();
    if let Some(slot) = value.get_mut("segments") {
        *slot = serde_json::Value::Array(list);
    }
    Ok(serde_json::to_vec(&value).map_err(std::io::Error::other)?)
}

/// Writes an id with dashes. tantivy names files by 32 hex digits, but lists ids in groups.
fn dashed(id: &str) -> String {
    let parts = [id.get(0..8), id.get(8..12), id.get(12..16), id.get(16..20), id.get(20..32)];
    parts.map(Option::unwrap_or_default).join("-")
}
