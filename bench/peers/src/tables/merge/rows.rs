//! The rows of the table, and their goals.
//!
//! Input: sizes. Output: rows, by the names that the pieces give their series. Does not know how they are
//! measured.

use super::names::theirs;
use super::{backups, find, merges, open, restore};
use crate::options::{Sizes, counted};
use crate::peers::restic::benchmarks::own_name;
use bench_own::archive::{self, ASKED_COUNT, DECODED_COUNT, LOADED_COUNT, LOOKUP_BLOB_COUNT};
use bench_own::engine::{MERGE, MERGE_ENTRIES, MERGE_TWICE, WITH_RUNS};
use measure::{Goal, Quantity, Row};

/// The program to compare with.
const RESTIC: &str = "restic";
/// 300 MB.
const FIRST_PEAK_BYTES: f64 = 3e8;

/// Returns all rows.
pub(super) fn all(sizes: &Sizes) -> Vec<Row> {
    [merge_rows(), lookups(), backups(sizes), others(sizes), opening(sizes)].concat()
}

fn less(times: f64) -> Goal {
    Goal::Times(times, RESTIC)
}

/// Merges: restic's merge alone, and its own benchmark, which also makes the indexes that it merges.
fn merge_rows() -> Vec<Row> {
    let memory = |times: f64| Quantity::PeakOfEach(times * MERGE_ENTRIES as f64);
    let wall = |times: f64| Quantity::WallOfEach(times * MERGE_ENTRIES as f64);
    let merge = "merge of 1,000 indexes of 1,000 packs, 8.66 M entries";
    let again = "the same with every index twice, 17.32 M entries";
    let own = "the same beside BenchmarkMasterIndexMerge, which makes the indexes too";
    let all_of = |work: &str| format!("{work}, with the mapped files that pneu merges");
    let (theirs_once, theirs_twice) =
        (theirs(merges::MERGE_OF_RESTIC), theirs(merges::MERGE_TWICE_OF_RESTIC));
    let row = |work: &str, quantity, our_series: &str, their_series: &str| {
        Row::new(work, quantity).of("pneu", our_series).of(RESTIC, their_series)
    };
    let with_runs = |series: &str| format!("{series}{WITH_RUNS}");
    vec![
        row(merge, wall(1.0), MERGE, &theirs_once).floor(merges::MERGE_FLOOR).want(less(3.0)).plotted(),
        row(merge, memory(1.0), MERGE, &theirs_once).want(less(2.0)).plotted(),
        row(&all_of(merge), memory(1.0), &with_runs(MERGE), &theirs_once),
        row(own, wall(1.0), MERGE, &own_name("BenchmarkMasterIndexMerge")),
        row(again, wall(2.0), MERGE_TWICE, &theirs_twice).want(less(3.0)).plotted(),
        row(again, memory(2.0), MERGE_TWICE, &theirs_twice).want(less(2.0)).plotted(),
        row(&all_of(again), memory(2.0), &with_runs(MERGE_TWICE), &theirs_twice),
    ]
}

/// Look-ups, decoding and loading, beside restic's own benchmarks.
fn lookups() -> Vec<Row> {
    let each = Quantity::WallOfEach(ASKED_COUNT as f64);
    let mut rows = Vec::new();
    for (which, benchmark, times) in
        [("unknown", "BenchmarkIndexHasUnknown", 4.0), ("known", "BenchmarkIndexHasKnown", 8.0)]
    {
        for (how, goal) in [("one by one", less(times)), ("in batches", Goal::Shown)] {
            let series = archive::again_name(which, LOOKUP_BLOB_COUNT, how);
            let work = format!("Has of {which} ids in 1.73 M, {how}");
            rows.push(
                Row::new(&work, each)
                    .of("pneu", &series)
                    .of(RESTIC, &own_name(benchmark))
                    .floor(&archive::again_name(archive::ANY, LOOKUP_BLOB_COUNT, archive::TOUCHED))
                    .want(goal)
                    .plotted(),
            );
        }
    }
    let of_json = |work: &str| Row::new(work, Quantity::WallOfEach(DECODED_COUNT as f64));
    rows.push(
        of_json("scan of index JSON on one core, nothing kept, per entry")
            .of("pneu", archive::SCANNED)
            .floor(archive::BYTES_TOUCHED)
            .want(Goal::AtMost(400.0))
            .plotted(),
    );
    rows.push(
        of_json("decode of index JSON on one core into an index that answers, per entry")
            .of("pneu", archive::DECODED)
            .of(RESTIC, &own_name("BenchmarkDecodeIndex"))
            .floor(archive::BYTES_TOUCHED)
            .want(Goal::AtMost(400.0))
            .plotted(),
    );
    let loaded = Row::new(
        "load an index file of 5,000 packs into an index that answers, per entry",
        Quantity::WallOfEach(LOADED_COUNT as f64),
    );
    rows.push(loaded.of("pneu", archive::LOADED).of(RESTIC, &own_name("BenchmarkLoadIndex/v2")).plotted());
    rows
}

/// Both programs at the same backups.
fn backups(sizes: &Sizes) -> Vec<Row> {
    use Quantity::{Cpu, MinorFaults, Outputs, Peak, Size, Wall};
    let messages = sizes.backup_messages;
    let (floor, read) = (backups::walk_work(messages), backups::read_work(messages));
    let unchanged = |quantity| Row::new(&backups::unchanged_work(messages), quantity);
    let first = |quantity| Row::new(&backups::first_work(messages), quantity);
    let arrived = |quantity| Row::new(&backups::arrived_work(messages), quantity);
    let flagged = |quantity| Row::new(&backups::flagged_work(messages), quantity);
    vec![
        unchanged(Wall).floor(&floor).want(less(20.0)).plotted(),
        unchanged(Cpu).floor(&floor).plotted(),
        unchanged(Peak).plotted(),
        unchanged(MinorFaults),
        Row::new(&backups::unchanged_cold_work(messages), Wall)
            .floor(&backups::walk_cold_work(messages))
            .cold()
            .plotted(),
        first(Cpu).floor(&read).want(less(3.0)).plotted(),
        first(Wall).floor(&read).plotted(),
        first(Peak).want(Goal::AtMost(FIRST_PEAK_BYTES)).plotted(),
        first(MinorFaults),
        first(Outputs),
        first(Size).plotted(),
        arrived(Wall).floor(&floor).want(less(10.0)).plotted(),
        arrived(Cpu).floor(&floor),
        arrived(Peak),
        flagged(Wall).floor(&floor).want(less(10.0)).plotted(),
        flagged(Cpu).floor(&floor),
        flagged(Peak),
    ]
}

/// Finding and restoring.
fn others(sizes: &Sizes) -> Vec<Row> {
    use Quantity::{Cpu, Outputs, Peak, Wall};
    let find = |quantity| Row::new(&find::work(sizes.find_messages), quantity);
    let restore = |quantity| Row::new(&restore::work(sizes.backup_messages), quantity);
    vec![
        find(Wall).want(less(20.0)).plotted(),
        find(Cpu),
        find(Peak).plotted(),
        restore(Wall).floor(&restore::copied(sizes.backup_messages)).want(less(2.0)).plotted(),
        restore(Cpu),
        restore(Peak).plotted(),
        restore(Outputs),
    ]
}

/// Opening a large repository.
fn opening(sizes: &Sizes) -> Vec<Row> {
    use Quantity::{Cpu, Peak, Wall};
    let blobs = sizes.blobs;
    let (first, cached) = (open::look_first(blobs), open::look(blobs));
    let each = Quantity::PeakOfEach(blobs as f64);
    // restic has no process in which an index alone is timed.
    let alone = |how: &str, series: &str, most| {
        let work = format!("open the index of {} blobs within a process, {how}", counted(blobs));
        Row::new(&work, Wall).of("pneu", &archive::open_name(blobs, series)).want(Goal::AtMost(most))
    };
    let (index, nothing) = (open::read_index(blobs), open::nothing(blobs, ""));
    let (trees, both) = (open::read_trees(blobs), open::read_both(blobs));
    let mut rows = vec![
        alone("no cache yet", archive::COLD, 2.0).floor(&index),
        alone("cached", archive::CACHED, 0.05),
        Row::new(&first, Wall).floor(&index).plotted(),
        Row::new(&first, Cpu),
        Row::new(&first, each).want(Goal::AtMost(60.0)).plotted(),
        Row::new(&cached, Wall).floor(&nothing).plotted(),
        Row::new(&cached, Cpu),
        Row::new(&cached, each).want(Goal::AtMost(60.0)).plotted(),
        Row::new(&open::look_cold(blobs), Wall).floor(&open::nothing(blobs, ", cold")).cold().plotted(),
    ];
    for (work, floor) in
        [(open::check(blobs), &both), (open::stats(blobs), &trees), (open::find(blobs), &trees)]
    {
        rows.push(Row::new(&work, Wall).floor(floor).plotted());
        rows.push(Row::new(&work, Cpu));
        rows.push(Row::new(&work, Peak).plotted());
    }
    rows.push(Row::new(&open::key(blobs), Wall).floor(&nothing));
    rows
}
