//! Merges segments of the text index, so that a query looks into few.
//!
//! In: the segments that a commit names. Out: one new segment in their place. Runs without the writer's lock, under its own; the
//! caller publishes the exchange. Documents of swept messages are left behind.

use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::reader::open_index;
use crate::text::writer::segments as listed;
use tantivy::indexer::merge_filtered_segments;
use tantivy::{IndexSettings, Segment};

/// Most segments that one merge takes.
const MERGE_SEGMENT_COUNT_MAX: usize = 16;
/// Segments of about one size before they are merged.
const TIER_SEGMENT_COUNT: usize = 6;
/// Segments up to this many documents are one tier; each next tier holds this many times more.
const TIER_FIRST_DOCUMENTS: u32 = 4096;
/// How many times larger each tier is than the one before it.
const TIER_FACTOR: u32 = 8;

/// An exchange of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextMerge {
    /// Ids of the segments that go.
    pub old: Vec<String>,
    /// The segments that come.
    pub new: Vec<TextSegment>,
}

/// Chooses which segments to merge next, or none: those of the smallest tier that has too many.
pub(crate) fn choose(segments: &[TextSegment]) -> Option<Vec<TextSegment>> {
    (0..8).find_map(|tier| {
        let members: Vec<_> =
            segments.iter().filter(|segment| tier_of(segment.document_count) == tier).cloned().collect();
        (members.len() >= TIER_SEGMENT_COUNT)
            .then(|| members.into_iter().take(MERGE_SEGMENT_COUNT_MAX).collect())
    })
}

/// Writes the merged segment. Nothing names it yet.
///
/// # Errors
/// What tantivy says: a damaged file, a full disk.
pub(crate) fn merge(files: &TextFiles, chosen: &[TextSegment]) -> tantivy::Result<TextMerge> {
    let index = open_index(files, chosen)?;
    let sources: Vec<Segment> = index.searchable_segments()?;
    let keep_all = sources.iter().map(|_| None).collect();
    let merged =
        merge_filtered_segments(&sources, IndexSettings::default(), keep_all, files.with_own_small_files())?;
    Ok(TextMerge { old: chosen.iter().map(|segment| segment.id.clone()).collect(), new: listed(&merged)? })
}

fn tier_of(document_count: u32) -> u32 {
    let mut bound = TIER_FIRST_DOCUMENTS;
    let mut tier = 0;
    while document_count > bound && tier < 7 {
        bound = bound.saturating_mul(TIER_FACTOR);
        tier += 1;
    }
    tier
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(counts: &[u32]) -> Vec<TextSegment> {
        let id = |index: usize| format!("{index:032x}");
        counts
            .iter()
            .enumerate()
            .map(|(index, count)| TextSegment { id: id(index), document_count: *count })
            .collect()
    }

    #[test]
    fn merges_the_smallest_tier_that_is_full() {
        let chosen = |counts: &[u32]| {
            choose(&segments(counts))
                .map(|chosen| chosen.iter().map(|segment| segment.document_count).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[1, 2, 3, 4, 5]), None);
        assert_eq!(chosen(&[1, 2, 3, 4, 5, 6]), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(chosen(&[90_000, 1, 2, 3, 4, 5, 6, 5000]), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(chosen(&[65_536; 6]), Some(vec![65_536; 6]));
        assert_eq!(chosen(&[1; 40]).map(|chosen| chosen.len()), Some(MERGE_SEGMENT_COUNT_MAX));
    }
}
