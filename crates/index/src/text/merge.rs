//! Merges segments of the text index, so that a query searches few of them.
//!
//! Input: the segments that a commit names. Output: one or more new segments that replace them. A merge runs
//! without the writer's lock, under its own; the caller publishes the replacement. Documents of swept
//! messages are dropped.

use crate::error::{Error, Result};
use crate::set::NumberSet;
use crate::state::TextSegment;
use crate::text::directory::{TextFiles, file_name};
use crate::text::fields::NUMBER;
use crate::text::open::open_index;
use crate::text::words;
use disk::Disk;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::indexer::merge_filtered_segments;
use tantivy::{BitSet, IndexSettings, Segment, SegmentReader};
use work::Cancel;

/// Most segments that one merge takes.
const MERGE_SEGMENT_COUNT_MAX: usize = 16;
/// How many segments of similar size there are before they are merged. A first index on two cores makes up to
/// six of a size; merging them would take a quarter of its time, on one core, and save a query little.
const TIER_SEGMENT_COUNT: usize = 8;
/// If a commit has more segments than this, some are merged whatever the cost, as every query searches each
/// of them.
const SEGMENT_COUNT_MAX: usize = 64;
/// Segments with up to this many documents form the first tier.
const TIER_FIRST_DOCUMENTS: u32 = 1024;
/// How many times more documents each tier has than the one before it.
const TIER_FACTOR: u32 = 8;

/// Fewest segments that are merged when there is time: a few new messages are not worth the syncs.
const IDLE_SEGMENT_COUNT_MIN: usize = 4;
/// Segments with up to this many documents are similar.
const IDLE_SMALL_DOCUMENTS: u64 = 128;

/// Fewest documents in a group that a core merges in parallel with others: seconds of work.
const GROUP_DOCUMENTS_MIN: u32 = 16_384;
/// Fewest segments in such a group. With fewer, the merge would leave almost as many segments as before.
const GROUP_SEGMENT_COUNT_MIN: usize = 3;

/// Says whether the document of a message is kept: the id of its segment, and the message's number.
type Keeps<'a> = dyn Fn(&str, u32) -> bool + Sync + 'a;

/// The replacement of some segments by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextMerge {
    /// Ids of the segments that are replaced.
    pub old: Vec<String>,
    /// The segments that replace them.
    pub new: Vec<TextSegment>,
}

/// Chooses which segments to merge next, or none. Takes the smallest tier that has too many segments, and at
/// most `documents_max` documents in total. If there are far too many segments, chooses some whatever their
/// size.
pub(crate) fn choose(segments: &[TextSegment], documents_max: u64) -> Option<Vec<TextSegment>> {
    let due = (0..8).find_map(|tier| {
        let members = segments.iter().filter(|segment| tier_of(segment.document_count) == tier);
        let mut total = 0;
        let chosen: Vec<_> = members
            .take(MERGE_SEGMENT_COUNT_MAX)
            .take_while(|segment| {
                total += u64::from(segment.document_count);
                total <= documents_max
            })
            .cloned()
            .collect();
        (chosen.len() >= TIER_SEGMENT_COUNT).then_some(chosen)
    });
    due.or_else(|| {
        let mut all = segments.to_vec();
        all.sort_by_key(|segment| segment.document_count);
        all.truncate(MERGE_SEGMENT_COUNT_MAX);
        (segments.len() > SEGMENT_COUNT_MAX).then_some(all)
    })
}

/// Chooses which segments to merge when there is time, or none: at least [`IDLE_SEGMENT_COUNT_MIN`] with at
/// most `documents_max` documents. Those that stay apart each have more than [`TIER_FACTOR`] times the
/// documents of all smaller ones together.
pub(crate) fn choose_idle(segments: &[TextSegment], documents_max: u64) -> Option<Vec<TextSegment>> {
    let mut ascending = segments.to_vec();
    ascending.sort_by_key(|segment| segment.document_count);
    let (mut smaller, mut chosen) = (0, 0);
    for (count, segment) in (1..).zip(&ascending) {
        let documents = u64::from(segment.document_count);
        let is_similar = documents <= IDLE_SMALL_DOCUMENTS || documents <= smaller * u64::from(TIER_FACTOR);
        smaller += documents;
        if is_similar && smaller <= documents_max {
            chosen = count;
        }
    }
    ascending.truncate(chosen);
    (chosen >= IDLE_SEGMENT_COUNT_MIN).then_some(ascending)
}

/// Returns how many documents some segments have in total.
pub(crate) fn document_count(segments: &[TextSegment]) -> u64 {
    segments.iter().map(|segment| u64::from(segment.document_count)).sum()
}

/// Writes the merged segments: one, or one per core if there is much to do, or none if no document is left.
/// No commit names them yet. Documents of messages that are not in `known` are dropped.
///
/// # Errors
/// [`Error::Interrupted`] once `cancel` says so. An error of tantivy: a damaged file, a full disk.
pub(crate) fn merge(
    (disk, path): (&Arc<dyn Disk>, &Path),
    chosen: &[TextSegment],
    known: Option<&NumberSet>,
    cancel: &Cancel,
) -> Result<TextMerge> {
    let files = &TextFiles::new(disk, path).stopped_by(cancel);
    let is_known = known.map(|known| move |_: &str, number| known.contains(number));
    let keeps = is_known.as_ref().map(|is_known| is_known as &Keeps<'_>);
    let size = |segment: &TextSegment| {
        let size = disk.size(&path.join(file_name(&segment.id)));
        // A small segment has no file. Without a size, groups are uneven.
        size.unwrap_or(u64::from(segment.document_count))
    };
    let merged = groups(chosen, rayon::current_num_threads(), &size)
        .par_iter()
        .map(|group| merge_group(files, group, keeps))
        .collect::<tantivy::Result<Vec<_>>>()
        // tantivy passes on that it was stopped as an error of a file.
        .map_err(|error| if cancel.is_cancelled() { Error::Interrupted } else { files.error(error) })?;
    let old = chosen.iter().map(|segment| segment.id.clone()).collect();
    Ok(TextMerge { old, new: merged.into_iter().flatten().collect() })
}

/// Replaces documents of a segment by those of new segments, which no commit names yet. Documents of messages
/// that are not in `known` are dropped.
///
/// # Errors
/// An error of tantivy: a damaged file, a full disk.
pub(crate) fn replace(
    (disk, path): (&Arc<dyn Disk>, &Path),
    (old, new): (&TextSegment, &[TextSegment]),
    replaced: &NumberSet,
    known: Option<&NumberSet>,
) -> Result<TextMerge> {
    let files = &TextFiles::new(disk, path);
    let all: Vec<TextSegment> = std::iter::once(old).chain(new).cloned().collect();
    let keeps = |segment: &str, number: u32| {
        known.is_none_or(|known| known.contains(number)) && (segment != old.id || !replaced.contains(number))
    };
    let merged = merge_group(files, &all, Some(&keeps)).map_err(|error| files.error(error))?;
    Ok(TextMerge { old: vec![old.id.clone()], new: merged })
}

/// Divides segments into groups that are merged in parallel, each into one segment. There are as many groups
/// as threads, provided that each group is worth it and its result leaves the tier, so that no document is
/// merged twice within a tier. `size` returns how much work a segment is.
fn groups(
    chosen: &[TextSegment],
    thread_count: usize,
    size: &dyn Fn(&TextSegment) -> u64,
) -> Vec<Vec<TextSegment>> {
    let tier = chosen.iter().map(|segment| tier_of(segment.document_count)).max().unwrap_or(0);
    let is_worth_it = |group: &Vec<TextSegment>| {
        let documents = u32::try_from(document_count(group)).unwrap_or(u32::MAX);
        group.len() >= GROUP_SEGMENT_COUNT_MIN
            && documents >= GROUP_DOCUMENTS_MIN
            && tier_of(documents) > tier
    };
    let cut = (2..=thread_count).rev().map(|count| cut_even(chosen, count, size));
    cut.into_iter().find(|groups| groups.iter().all(is_worth_it)).unwrap_or_else(|| vec![chosen.to_vec()])
}

/// Divides segments into groups with about the same size in total.
fn cut_even(
    chosen: &[TextSegment],
    count: usize,
    size: &dyn Fn(&TextSegment) -> u64,
) -> Vec<Vec<TextSegment>> {
    let mut sorted: Vec<(u64, &TextSegment)> =
        chosen.iter().map(|segment| (size(segment), segment)).collect();
    sorted.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut groups = vec![(0, Vec::new()); count];
    for (size, segment) in sorted {
        if let Some((total, smallest)) = groups.iter_mut().min_by_key(|(total, group)| (*total, group.len()))
        {
            *total += size;
            smallest.push(segment.clone());
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn merge_group(
    files: &TextFiles,
    chosen: &[TextSegment],
    keeps: Option<&Keeps<'_>>,
) -> tantivy::Result<Vec<TextSegment>> {
    let bound = files.bound_to(chosen);
    let index = open_index(&bound, chosen)?;
    let sources: Vec<Segment> = index.searchable_segments()?;
    let alive = |source: &Segment| keeps.map(|keeps| alive(source, keeps)).transpose();
    let alive = sources.iter().map(alive).collect::<tantivy::Result<Vec<_>>>()?;
    if alive.iter().all(|alive| alive.as_ref().is_some_and(|alive| alive.num_alive_docs() == 0)) {
        return Ok(Vec::new());
    }
    let own = files.with_own_small_files().with_sources(&bound);
    let merged = merge_filtered_segments(&sources, IndexSettings::default(), alive, own.clone())?;
    words::write(&own, &merged)?;
    let seal = |segment: Segment| Ok(own.seal(segment.id().uuid_string(), segment.meta().max_doc())?);
    merged.searchable_segments()?.into_iter().map(seal).collect()
}

/// Returns which documents of a segment are kept.
fn alive(source: &Segment, keeps: &Keeps<'_>) -> tantivy::Result<AliveBitSet> {
    let id = source.id().uuid_string();
    let reader = SegmentReader::open(source)?;
    let numbers = reader.fast_fields().u64(NUMBER)?;
    let mut alive = BitSet::with_max_value(reader.max_doc());
    for document in 0..reader.max_doc() {
        let number = numbers.first(document).and_then(|number| u32::try_from(number).ok());
        if number.is_some_and(|number| keeps(&id, number)) {
            alive.insert(document);
        }
    }
    let mut bytes = Vec::new();
    write_alive_bitset(&alive, &mut bytes)?;
    Ok(AliveBitSet::open(OwnedBytes::new(bytes)))
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
    use crate::state::TextPlace;
    use crate::text::document::Document;
    use crate::text::fields::TextField;
    use crate::text::parts::PARTS;
    use crate::text::unnamed;
    use crate::text::words::WORD_COUNT_MIN;
    use crate::text::writer::writer_into;
    use disk::RealDisk;
    use std::collections::HashSet;

    /// Returns the parts of a segment.
    fn contents(files: &TextFiles, segment: &TextSegment) -> Vec<Option<Vec<u8>>> {
        let read = |end| {
            let part = files.part(&segment.id, end).unwrap()?;
            Some(
                tantivy::directory::FileHandle::read_bytes(&part, 0..tantivy::HasLen::len(&part))
                    .unwrap()
                    .to_vec(),
            )
        };
        PARTS.into_iter().map(read).collect()
    }

    #[test]
    fn parts_that_were_in_files_while_segments_were_merged_are_the_same() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let files = TextFiles::new(&disk, place.path());
        let write = |first: usize| {
            let words: Vec<String> =
                (first..first + WORD_COUNT_MIN).map(|number| format!("w{number}")).collect();
            let mut document = Document::new(u32::try_from(first).unwrap());
            document.add(TextField::Body, words.join(" "));
            let mut writer = writer_into(files.clone(), usize::MAX);
            writer.add(&document).unwrap();
            writer.finish().unwrap()
        };
        let chosen = [write(0), write(7)].concat();
        let merged = [files.clone(), files.clone().spilling()].map(|files| {
            let [merged] = merge_group(&files, &chosen, None).unwrap().try_into().unwrap();
            assert_eq!(merged.document_count, 2);
            contents(&files, &merged)
        });
        assert!(merged[0] == merged[1] && merged[0].iter().all(Option::is_some));
        let named: HashSet<&str> = chosen.iter().map(|segment| segment.id.as_str()).collect();
        assert_eq!(
            unnamed(&RealDisk, place.path(), &named).unwrap().len(),
            2,
            "nothing but segments is left"
        );
        // A part of a segment is of no use, whether the segment is named or not.
        for id in ["0".repeat(32), chosen[0].id.clone()] {
            std::fs::write(place.path().join(format!("{id}.pos")), "left over").unwrap();
        }
        assert_eq!(unnamed(&RealDisk, place.path(), &named).unwrap().len(), 4);
    }

    #[test]
    fn a_merge_that_is_stopped_writes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let write = |number: u32| {
            let mut document = Document::new(number);
            document.add(TextField::Body, format!("w{number}"));
            let mut writer = writer_into(TextFiles::new(&disk, place.path()), usize::MAX);
            writer.add(&document).unwrap();
            writer.finish().unwrap()
        };
        let chosen = [write(0), write(1)].concat();
        let cancel = Cancel::new();
        assert_eq!(merge((&disk, place.path()), &chosen, None, &cancel).unwrap().new.len(), 1);
        cancel.cancel();
        let stopped = merge((&disk, place.path()), &chosen, None, &cancel);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "small segments are in no files");
    }

    fn segments(counts: &[u32]) -> Vec<TextSegment> {
        let id = |index: usize| format!("{index:032x}");
        counts
            .iter()
            .enumerate()
            .map(|(index, count)| TextSegment {
                id: id(index),
                document_count: *count,
                digest: 1,
                place: TextPlace::File,
            })
            .collect()
    }

    #[test]
    fn merges_the_smallest_tier_that_is_full() {
        let chosen = |counts: &[u32]| {
            choose(&segments(counts), u64::MAX)
                .map(|chosen| chosen.iter().map(|segment| segment.document_count).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[1, 2, 3, 4, 5, 6, 7]), None);
        assert_eq!(chosen(&[1, 2, 3, 4, 5, 6, 7, 8]), Some(vec![1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(chosen(&[90_000, 1, 2, 3, 4, 5, 6, 7, 8, 5000]), Some(vec![1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(chosen(&[65_536; 8]), Some(vec![65_536; 8]));
        assert_eq!(chosen(&[1; 40]).map(|chosen| chosen.len()), Some(MERGE_SEGMENT_COUNT_MAX));
    }

    #[test]
    fn merges_no_more_documents_than_asked_for_until_segments_are_very_many() {
        let count = |counts: &[u32], max: u64| choose(&segments(counts), max).map(|chosen| chosen.len());
        assert_eq!(count(&[100; 10], 1000), Some(10));
        assert_eq!(count(&[100; 10], 999), Some(9));
        assert_eq!(count(&[100; 10], 799), None, "fewer than are worth it");
        // The next tier does not fit either, but is not looked at in vain.
        let mut both = vec![100; 8];
        both.extend([50_000; 8]);
        assert_eq!(count(&both, 399_999), Some(8));
        assert_eq!(count(&[50_000; 8], 399_999), None);
        assert_eq!(count(&[50_000; SEGMENT_COUNT_MAX], 1), None);
        assert_eq!(count(&[50_000; SEGMENT_COUNT_MAX + 1], 1), Some(MERGE_SEGMENT_COUNT_MAX));
    }

    #[test]
    fn with_time_only_the_largest_stay_apart() {
        let chosen = |counts: &[u32], max: u64| {
            choose_idle(&segments(counts), max)
                .map(|chosen| chosen.iter().map(|segment| segment.document_count).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[], 1000), None);
        assert_eq!(chosen(&[5, 3, 1], 1000), None, "not worth it");
        assert_eq!(chosen(&[5, 3, 1, 2], 1000), Some(vec![1, 2, 3, 5]));
        assert_eq!(chosen(&[128, 1, 1, 1], 1000), Some(vec![1, 1, 1, 128]));
        assert_eq!(chosen(&[129, 1, 1, 1], 1000), None, "too large for so few");
        assert_eq!(chosen(&[129, 1, 1, 1, 1], 1000), Some(vec![1, 1, 1, 1]));
        assert_eq!(chosen(&[8000, 400, 300, 200, 100], 1 << 20), Some(vec![100, 200, 300, 400, 8000]));
        assert_eq!(chosen(&[8001, 400, 300, 200, 100], 1 << 20), Some(vec![100, 200, 300, 400]));
        assert_eq!(chosen(&[8000, 400, 300, 200, 100], 8999), Some(vec![100, 200, 300, 400]), "too many");
        assert_eq!(chosen(&[100; 4], 399), None, "three would not be worth it");
    }

    #[test]
    fn much_is_merged_on_all_cores_and_little_into_one() {
        let cut = |counts: &[u32], threads: usize| {
            let groups = groups(&segments(counts), threads, &|segment| u64::from(segment.document_count));
            groups.iter().map(|group| document_count(group)).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[1000; 16], 4), [16_000]);
        assert_eq!(cut(&[30_000; 6], 2), [90_000; 2]);
        assert_eq!(cut(&[30_000; 6], 8), [90_000; 2], "not one segment for each");
        assert_eq!(cut(&[30_000; 5], 2), [150_000]);
        assert_eq!(cut(&[20_000; 6], 2), [120_000], "halves would stay in their tier");
        assert_eq!(cut(&[65_536, 8_200, 8_200, 8_200, 8_200, 8_200], 2), [106_536], "no group of one");
        assert_eq!(cut(&[60_000, 20_000, 20_000, 10_000, 10_000, 1000], 2), [121_000]);
        // Long mail is more work.
        let size = |segment: &TextSegment| match segment.document_count {
            30_000 => 9,
            _ => 3,
        };
        let groups = groups(&segments(&[30_000, 30_001, 30_002, 30_003, 30_004, 30_005, 30_006]), 2, &size);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(groups[0][0].document_count, 30_000);
    }
}
