//! Chooses which segments to merge next. Changes nothing.
//!
//! Input: the sizes of one table's segments, in order of arrival. Output: a run of neighbours, or none.
//! Does not depend on files, rows or schemas.

use crate::limits::{
    MERGE_IDLE_RATIO, MERGE_IDLE_ROWS_MAX, MERGE_SEGMENT_COUNT_MAX, MERGE_SEGMENT_COUNT_MIN,
    MERGE_SMALL_ROWS, ROWS_PER_SEGMENT_MAX, SEGMENTS_BEFORE_MERGE,
};
use std::cmp::Ordering;
use std::ops::Range;

/// How many rows a segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentSize {
    /// Rows that count.
    pub(crate) live_row_count: u32,
    /// Rows that were replaced or deleted since.
    pub(crate) dead_row_count: u32,
}

/// A run of neighbours that look worth a merge.
struct Candidate {
    run: Range<usize>,
    live_row_count: u64,
}

/// Chooses which segments to merge next, or none. Merging until it chooses none always
/// ends, and leaves at most [`SEGMENTS_BEFORE_MERGE`] segments.
///
/// Chooses only neighbours, so that rows stay roughly in the order of their arrival, and never more than
/// [`MERGE_SEGMENT_COUNT_MAX`] segments, or more live rows than fit into one segment. In this order:
///
/// 1. The cheapest run in which no segment is larger than the others together. The merged segment is then at
///    least twice as large as the one any of its rows came from, so a row is copied at most log2(rows) times
///    in its life.
/// 2. With too many segments, the cheapest run, whatever its proportions.
/// 3. A single segment with more dead rows than live ones, and not just a few, to be written again without
///    them.
pub(crate) fn choose(segments: &[SegmentSize]) -> Option<Range<usize>> {
    cheapest(segments, |largest, total| largest <= total - largest)
        .or_else(|| {
            let too_many = segments.len() > SEGMENTS_BEFORE_MERGE;
            too_many.then(|| cheapest(segments, |_, _| true)).flatten()
        })
        .or_else(|| {
            // A merge seals the memtable: for a few dead rows, as a table of forty has after every commit,
            // that costs more than it brings.
            let mostly_dead = |size: &SegmentSize| {
                size.dead_row_count > size.live_row_count && size.dead_row_count >= MERGE_SMALL_ROWS
            };
            segments.iter().position(mostly_dead).map(|index| index..index + 1)
        })
}

/// Chooses which segments to merge next when there is time, or none. Leaves fewer than [`choose`]: in every
/// run of neighbours one has more than [`MERGE_IDLE_RATIO`] times the rows of the others together. A row is
/// copied about that many times for each factor of that many by which the table grows.
///
/// Chooses the longest run without such a segment, so that its rows are copied once. Runs with more than
/// [`MERGE_IDLE_ROWS_MAX`] rows are left to [`choose`].
pub(crate) fn choose_idle(segments: &[SegmentSize]) -> Option<Range<usize>> {
    let suits = |run: &Run| {
        run.largest <= (run.total - run.largest).saturating_mul(MERGE_IDLE_RATIO)
            && run.candidate.live_row_count <= MERGE_IDLE_ROWS_MAX
    };
    let longest = (0..segments.len()).filter_map(|from| {
        let runs = runs_from(segments, from).take(MERGE_SEGMENT_COUNT_MAX).skip(1);
        runs.filter(suits).map(|run| run.candidate.run).last()
    });
    longest.max_by_key(ExactSizeIterator::len).or_else(|| choose(segments))
}

/// Returns the run with the fewest rows to copy for each segment it saves, among those whose largest segment
/// and total suit.
fn cheapest(segments: &[SegmentSize], suits: impl Fn(u64, u64) -> bool) -> Option<Range<usize>> {
    let runs = (0..segments.len()).flat_map(|from| runs_from(segments, from).take(MERGE_SEGMENT_COUNT_MAX));
    let suiting = runs
        .filter(|run| run.candidate.run.len() >= MERGE_SEGMENT_COUNT_MIN && suits(run.largest, run.total));
    suiting.map(|run| run.candidate).min_by(compare).map(|candidate| candidate.run)
}

/// A run, and the sizes that count. A small segment costs the same whatever its size: a file, an open, a step
/// in every look-up.
struct Run {
    candidate: Candidate,
    largest: u64,
    total: u64,
}

/// Returns the runs that begin with a segment and fit into one, from the shortest.
fn runs_from(segments: &[SegmentSize], from: usize) -> impl Iterator<Item = Run> {
    let (mut largest, mut total, mut live_row_count) = (0, 0, 0);
    let runs = (from + 1..).zip(segments.iter().skip(from)).map(move |(to, size)| {
        let weight = u64::from(size.live_row_count.max(MERGE_SMALL_ROWS));
        largest = weight.max(largest);
        total += weight;
        live_row_count += u64::from(size.live_row_count);
        Run { candidate: Candidate { run: from..to, live_row_count }, largest, total }
    });
    runs.take_while(|run| run.candidate.live_row_count <= u64::from(ROWS_PER_SEGMENT_MAX))
}

/// Orders by rows copied for each segment saved, then longer runs first.
fn compare(left: &Candidate, right: &Candidate) -> Ordering {
    let cost = |candidate: &Candidate, other: &Candidate| {
        // Both sides multiplied by both divisors; one more row each, so that among empty segments the longest
        // run wins.
        u128::from(candidate.live_row_count + 1) * (other.run.len() as u128 - 1)
    };
    cost(left, right).cmp(&cost(right, left)).then(right.run.len().cmp(&left.run.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn live(rows: &[u32]) -> Vec<SegmentSize> {
        rows.iter().map(|&live_row_count| SegmentSize { live_row_count, dead_row_count: 0 }).collect()
    }

    #[test]
    fn choices() {
        const K: u32 = 1000 * 1000;
        type Line<'a> = (&'a str, &'a [u32], Option<Range<usize>>);
        let table: &[Line] = &[
            ("nothing there", &[], None),
            ("one is enough", &[5], None),
            ("three are not yet worth it", &[K, K, K], None),
            ("four equals", &[K, K, K, K], Some(0..4)),
            ("all equals at once", &[K, K, K, K, K, K], Some(0..6)),
            ("a large one is left alone", &[100 * K, K, K, K], None),
            ("and the others are merged beside it", &[100 * K, K, K, K, K], Some(1..5)),
            ("also in front of it", &[K, K, K, K, 100 * K], Some(0..4)),
            ("never around it", &[K, K, 100 * K, K, K], None),
            ("tiers double", &[8 * K, 4 * K, 2 * K, K, K], Some(1..5)),
            ("each tier alone is not worth it", &[8 * K, 4 * K, 2 * K, K], None),
            ("the small ones first", &[K, K, K, K, 10, 10, 10, 10], Some(4..8)),
            ("small ones count as equals", &[900, 1, 1, 1], Some(0..4)),
            ("empty ones too", &[0, 0, 0, 0, 0], Some(0..5)),
        ];
        for (name, rows, expected) in table {
            assert_eq!(choose(&live(rows)), *expected, "{name}: {rows:?}");
        }
    }

    #[test]
    fn choices_when_there_is_time() {
        const K: u32 = 20_000;
        type Line<'a> = (&'a str, &'a [u32], Option<Range<usize>>);
        let table: &[Line] = &[
            ("nothing there", &[], None),
            ("one is enough", &[5], None),
            ("two equals", &[K, K], Some(0..2)),
            ("as many as are merged at once", &[1 << 20, 1 << 20], Some(0..2)),
            ("too many", &[1 << 20, (1 << 20) + 1], None),
            ("at the ratio", &[8 * K, K], Some(0..2)),
            ("beyond it", &[8 * K + 1, K], None),
            ("all in one step", &[8 * K, 4 * K, 2 * K, K, 5], Some(0..5)),
            ("a large one is left alone", &[100 * K, 2 * K, K], Some(1..3)),
            ("also behind the others", &[2 * K, K, 100 * K], Some(0..2)),
            ("small ones count as equals", &[1, 1], Some(0..2)),
            ("and are little beside large ones", &[10_000, 1], None),
        ];
        for (name, rows, expected) in table {
            assert_eq!(choose_idle(&live(rows)), *expected, "{name}: {rows:?}");
        }
        assert_eq!(choose_idle(&live(&[ROWS_PER_SEGMENT_MAX; 2])), None, "too many rows");
        let mut dead = live(&[5]);
        dead[0].dead_row_count = MERGE_SMALL_ROWS;
        assert_eq!(choose_idle(&dead), Some(0..1), "dead rows");
    }

    #[test]
    fn more_dead_than_live_is_written_again() {
        let mut segments = live(&[1_000_000, 5_000_000]);
        segments[1].dead_row_count = 5_000_000;
        assert_eq!(choose(&segments), None, "half is not yet worth it");
        segments[1].dead_row_count += 1;
        assert_eq!(choose(&segments), Some(1..2));
    }

    #[test]
    fn a_few_dead_rows_are_left() {
        let mut segments = live(&[1]);
        segments[0].dead_row_count = MERGE_SMALL_ROWS - 1;
        assert_eq!(choose(&segments), None);
        segments[0].dead_row_count += 1;
        assert_eq!(choose(&segments), Some(0..1));
    }

    #[test]
    fn too_many_are_merged_whatever_their_proportions() {
        // Each twice the size of the next: no run is in proportion.
        let steep: Vec<u32> =
            (0..21).rev().cycle().take(SEGMENTS_BEFORE_MERGE + 1).map(|power| 3_u32.pow(power)).collect();
        assert!(choose(&live(&steep)).is_some());
    }

    #[test]
    fn a_merged_segment_never_has_too_many_rows() {
        assert_eq!(choose(&live(&[ROWS_PER_SEGMENT_MAX; 4])), None);
        let quarter = ROWS_PER_SEGMENT_MAX / 4;
        assert_eq!(choose(&live(&[quarter; 4])), Some(0..4));
        assert_eq!(choose(&live(&[quarter; 5])), Some(0..4));
    }

    #[test]
    fn no_more_than_the_limit_at_once() {
        let many = vec![7; MERGE_SEGMENT_COUNT_MAX + 10];
        assert_eq!(choose(&live(&many)).map(|run| run.len()), Some(MERGE_SEGMENT_COUNT_MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn arrivals_stay_few_and_are_seldom_copied(sizes in prop::collection::vec(1_u32..2_000_000, 1..300)) {
            let mut segments: Vec<SegmentSize> = Vec::new();
            let (mut arrived, mut copied) = (0_u64, 0_u64);
            for size in sizes {
                segments.extend(live(&[size]));
                arrived += u64::from(size);
                while let Some(run) = choose(&segments) {
                    let total: u32 = segments[run.clone()].iter().map(|size| size.live_row_count).sum();
                    copied += u64::from(total);
                    segments.splice(run, live(&[total]));
                }
                prop_assert!(segments.len() <= SEGMENTS_BEFORE_MERGE);
            }
            prop_assert!(copied <= arrived * 30, "{copied} rows copied of {arrived}");
        }

        #[test]
        fn with_time_between_very_few_stay(sizes in prop::collection::vec(1_u32..6_000, 1..300)) {
            let mut segments: Vec<SegmentSize> = Vec::new();
            let (mut arrived, mut copied) = (0_u64, 0_u64);
            for size in sizes {
                segments.extend(live(&[size]));
                arrived += u64::from(size);
                while let Some(run) = choose_idle(&segments) {
                    let total: u32 = segments[run.clone()].iter().map(|size| size.live_row_count).sum();
                    copied += u64::from(total);
                    segments.splice(run, live(&[total]));
                }
                prop_assert!(segments.len() <= 6, "{segments:?}");
            }
            prop_assert!(copied <= arrived * 40, "{copied} rows copied of {arrived}");
        }
    }
}
