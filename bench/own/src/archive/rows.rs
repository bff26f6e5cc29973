//! What is shown side by side, and what is to be reached.
//!
//! Comes in: nothing. Goes out: comparisons, by the names that the pieces give their series. Must not know how they are measured.

use super::backups::{self, ours, theirs};
use super::merges::{ASKED_COUNT, DECODED_COUNT};
use super::restic::benchmarks::own_name;
use super::{BLOB_COUNT, LOOKUP_BLOB_COUNT, decode, find, index, open, restore};
use crate::comparison::{Comparison, Goal, Quantity};
use crate::engine::{MERGE, MERGE_ENTRIES, MERGE_TWICE};

/// 300 MB.
const FIRST_PEAK_BYTES: f64 = 3e8;

/// Returns all rows.
pub(super) fn all() -> Vec<Comparison> {
    [programs(), merges(), lookups(), opening()].concat()
}

fn row(work: &str, ours: &str, theirs: &str, quantity: Quantity, goal: Goal) -> Comparison {
    let (work, ours, theirs) = (work.to_owned(), ours.to_owned(), theirs.to_owned());
    Comparison { work, ours, theirs, floor: String::new(), quantity, goal }
}

/// Both programs at the same work.
fn programs() -> Vec<Comparison> {
    use Quantity::{Cpu, Peak, Wall};
    let by_both = |work: &str, floor: &str, quantity, goal| Comparison {
        floor: floor.to_owned(),
        ..row(work, &ours(work), &theirs(work), quantity, goal)
    };
    let shown = Goal::Shown;
    let walk = backups::WALK;
    vec![
        by_both(backups::UNCHANGED, walk, Wall, Goal::Times(20.0)),
        by_both(backups::UNCHANGED, walk, Cpu, shown),
        by_both(backups::UNCHANGED, "", Peak, shown),
        by_both(backups::FIRST, "", Cpu, Goal::Times(3.0)),
        by_both(backups::FIRST, "", Wall, shown),
        by_both(backups::FIRST, "", Peak, Goal::AtMost(FIRST_PEAK_BYTES)),
        by_both(backups::ARRIVED, walk, Wall, Goal::Times(10.0)),
        by_both(backups::ARRIVED, walk, Cpu, shown),
        by_both(backups::FLAGGED, walk, Wall, Goal::Times(10.0)),
        by_both(backups::FLAGGED, walk, Cpu, shown),
        by_both(find::FIND, "", Wall, Goal::Times(20.0)),
        by_both(find::FIND, "", Cpu, shown),
        by_both(restore::RESTORE, "", Wall, Goal::Times(2.0)),
        by_both(restore::RESTORE, "", Cpu, shown),
        by_both(restore::RESTORE, "", Peak, shown),
    ]
}

/// Merges: restic's alone, and its own benchmark, in which it makes what it merges too.
fn merges() -> Vec<Comparison> {
    let once = Quantity::WallOfEach(MERGE_ENTRIES as f64);
    let twice = Quantity::WallOfEach(2.0 * MERGE_ENTRIES as f64);
    let memory = |times: f64| Quantity::PeakOfEach(times * MERGE_ENTRIES as f64);
    let (merge, again) = (
        "merge of 1,000 indexes of 1,000 packs, 8.66 M entries",
        "the same with every index twice, 17.32 M entries",
    );
    let (their_merge, their_again) =
        ("restic: merge of 1,000 indexes of 1,000 packs", "restic: the same with every index twice");
    vec![
        row(merge, MERGE, their_merge, once, Goal::Times(3.0)),
        row(&beside_file(merge), MERGE, their_merge, memory(1.0), Goal::Times(2.0)),
        row(
            "the same beside BenchmarkMasterIndexMerge, which makes the indexes too",
            MERGE,
            &own_name("BenchmarkMasterIndexMerge"),
            once,
            Goal::Shown,
        ),
        row(again, MERGE_TWICE, their_again, twice, Goal::Times(3.0)),
        row(&beside_file(again), MERGE_TWICE, their_again, memory(2.0), Goal::Times(2.0)),
    ]
}

/// What pneu merges are mapped files, and what comes of it is one: they belong to the cache of the system. All of restic's is in memory.
fn beside_file(work: &str) -> String {
    format!("{work}; besides, pneu writes a file of 49 B an entry that stays")
}

/// Look-ups and decoding, beside restic's own benchmarks.
fn lookups() -> Vec<Comparison> {
    let each = Quantity::WallOfEach(ASKED_COUNT as f64);
    let mut rows = Vec::new();
    for (which, benchmark, times) in
        [("unknown", "BenchmarkIndexHasUnknown", 4.0), ("known", "BenchmarkIndexHasKnown", 8.0)]
    {
        for (how, goal) in [("one by one", Goal::Times(times)), ("in batches", Goal::Shown)] {
            let ours = index::again_name(which, LOOKUP_BLOB_COUNT, how);
            let work = format!("Has of {which} ids in 1.73 M, {how}");
            rows.push(row(&work, &ours, &own_name(benchmark), each, goal));
        }
    }
    let each = Quantity::WallOfEach(DECODED_COUNT as f64);
    let decoded = own_name("BenchmarkDecodeIndex");
    rows.push(row("decode of index JSON, an entry", decode::NAME, &decoded, each, Goal::AtMost(400.0)));
    rows
}

/// Opening a large repository.
fn opening() -> Vec<Comparison> {
    let (cold, cached) = (theirs(open::COLD), theirs(open::CACHED));
    let index_cold = index::open_name(BLOB_COUNT, index::COLD);
    let index_cached = index::open_name(BLOB_COUNT, index::CACHED);
    let each = Quantity::PeakOfEach(BLOB_COUNT as f64);
    let of_index = "index of 5,000,000 blobs alone, beside the whole command of restic";
    vec![
        row(
            &format!("open the {of_index}, no cache yet"),
            &index_cold,
            &cold,
            Quantity::Wall,
            Goal::AtMost(2.0),
        ),
        row(
            &format!("open the {of_index}, cached"),
            &index_cached,
            &cached,
            Quantity::Wall,
            Goal::AtMost(0.05),
        ),
        row(open::COLD, &ours(open::COLD), &cold, Quantity::Wall, Goal::Shown),
        row(open::COLD, &ours(open::COLD), &cold, each, Goal::AtMost(60.0)),
        row(open::CACHED, &ours(open::CACHED), &cached, Quantity::Wall, Goal::Shown),
        row(open::CACHED, &ours(open::CACHED), &cached, each, Goal::AtMost(60.0)),
        row(open::STATS, &ours(open::STATS), &theirs(open::STATS), Quantity::Wall, Goal::Shown),
    ]
}
