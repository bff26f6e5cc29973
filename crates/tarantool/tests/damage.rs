//! Damaged snapshots and directories, in strict mode and in salvage mode.

use crate::damage_support::*;
use crate::support::{Sequence, Watch};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use tarantool::{Depth, Mode, PlanOptions, UncheckedFiles, inspect, plan};
use work::Silent;

#[test]
fn a_whole_directory_is_read_in_order() {
    let [strict, salvage] = outcomes(|_| ());
    assert_eq!(strict, "snapshot 0, logs [0, 300, 600], reached {1: 900}");
    assert_eq!(salvage, strict);
}

#[test]
fn a_snapshot_without_its_end_mark_is_refused() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(0, "snap"), |bytes| bytes.truncate(bytes.len() - 4)));
    assert_eq!(
        strict,
        "refused: 000.snap is damaged at byte 2138: the end mark is missing: the file is cut off"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: the end mark is missing: the file is cut off; lost: row 500 and all after it"
    );
}

#[test]
fn a_snapshot_cut_within_a_block_is_refused() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(0, "snap"), |bytes| bytes.truncate(borders(bytes)[2] + 100)));
    assert_eq!(strict, "refused: 000.snap is damaged at byte 1132: a block is cut off");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: bytes 1132 to 1231: a block is cut off; lost: row 256 and all after it"
    );
}

#[test]
fn a_snapshot_cut_between_blocks_is_refused() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(0, "snap"), |bytes| bytes.truncate(borders(bytes)[2])));
    assert_eq!(
        strict,
        "refused: 000.snap is damaged at byte 1132: the end mark is missing: the file is cut off"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: the end mark is missing: the file is cut off; lost: row 256 and all after it"
    );
}

#[test]
fn a_snapshot_with_a_tail_of_zeros_is_refused() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(0, "snap"), |bytes| {
            let at = borders(bytes)[2];
            bytes[at..].fill(0);
        });
    });
    assert_eq!(
        strict,
        "refused: 000.snap is damaged at byte 1132: neither a block nor the end mark begins here"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: bytes 1132 to 2141: neither a block nor the end mark begins here; lost: row 256 and \
         all after it"
    );
}

#[test]
fn a_snapshot_with_bytes_after_its_end_is_refused() {
    let [strict, salvage] = outcomes(|sim| edit(sim, &name(0, "snap"), |bytes| bytes.extend([1, 2, 3])));
    assert_eq!(strict, "refused: 000.snap is damaged at byte 2142: data follows the end mark");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: bytes 2142 to 2144: data follows the end mark; lost: no row that is known"
    );
}

/// A plan that reads only the heads of blocks leaves the other checks to the reader of the blocks.
#[test]
fn a_flipped_bit_in_a_snapshot_loses_its_block_alone() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(0, "snap"), |bytes| {
            let at = borders(bytes)[1] + 50;
            bytes[at] ^= 1;
        });
    });
    assert_eq!(strict, "snapshot 0, logs [0, 300, 600], reached {1: 900}");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.snap: bytes 608 to 1131: a block's checksum does not fit; lost: row 128 to 255"
    );
}

#[test]
fn logs_without_a_snapshot_are_refused() {
    let [strict, salvage] = outcomes(|sim| remove(sim, &name(0, "snap")));
    assert_eq!(
        strict,
        "refused: /t: holds no snapshot, but 3 logs need one; put the \
         snapshot back"
    );
    assert_eq!(
        salvage,
        "snapshot -1, logs [0, 300, 600], reached {1: 900}\n\
         lost: /t: there is no snapshot: all that was in it; lost: no row that is known"
    );
}

#[test]
fn an_empty_directory_is_no_database() {
    let [strict, salvage] = outcomes(|sim| sim.files().iter().for_each(|path| remove(sim, path)));
    assert_eq!(strict, "refused: /t: holds no snapshot and no log of Tarantool");
    assert_eq!(salvage, strict);
}

#[test]
fn the_newest_snapshot_is_used() {
    let [strict, salvage] = outcomes(|sim| write_snapshot(&shared(sim), 300, 400));
    assert_eq!(strict, "snapshot 300, logs [300, 600], reached {1: 900}");
    assert_eq!(salvage, strict);
}

#[test]
fn an_older_snapshot_and_its_logs_replace_a_damaged_one() {
    let [strict, salvage] = outcomes(damaged_snapshot);
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         remark: 300.snap is damaged at byte 1821: the end mark is missing: the file is cut off; an older \
         snapshot and the logs since hold the same"
    );
    assert_eq!(salvage, strict);
}

#[test]
fn an_older_snapshot_does_not_replace_if_logs_are_missing() {
    let [strict, salvage] = outcomes(|sim| {
        damaged_snapshot(sim);
        remove(sim, &name(0, "xlog"));
    });
    assert_eq!(
        strict,
        "refused: 300.snap is damaged at byte 1821: the end mark is missing: the file is cut off"
    );
    assert_eq!(
        salvage,
        "snapshot 300, logs [300, 600], reached {1: 900}\n\
         lost: 300.snap: the end mark is missing: the file is cut off; lost: row 400 and all after it"
    );
}

#[test]
fn damage_before_the_snapshot_does_not_matter() {
    let [strict, salvage] = outcomes(|sim| {
        write_snapshot(&shared(sim), 600, 400);
        edit(sim, &name(0, "xlog"), |bytes| bytes[6] = b'9');
        edit(sim, &name(300, "xlog"), |bytes| {
            let at = borders(bytes)[5] + 50;
            bytes[at] ^= 1;
        });
    });
    assert_eq!(strict, "snapshot 600, logs [600], reached {1: 900}");
    assert_eq!(salvage, strict);
}

#[test]
fn a_directory_whose_only_snapshot_is_unreadable_is_refused() {
    let [strict, salvage] = outcomes(|sim| {
        for lsn in [0, 300, 600] {
            remove(sim, &name(lsn, "xlog"));
        }
        sim.put(&name(0, "snap"), b"SNAP\n");
    });
    assert_eq!(strict, "refused: 000.snap is damaged at byte 5: the header does not end with an empty line");
    assert_eq!(
        salvage,
        "snapshot -1, logs [], reached {}\n\
         lost: /t: there is no snapshot: all that was in it; lost: no row that is known"
    );
}

/// Reading ahead on all cores gives the same plan as reading one block after the other.
#[test]
fn reading_ahead_makes_the_same_plan() {
    for seed in 0..60_u64 {
        let (sim, disk) = made();
        let mut random = Sequence(seed);
        let mut at = |limit: usize| usize::try_from(random.next()).unwrap() % limit;
        for _ in 0..at(4) {
            let path =
                [name(0, "snap"), name(0, "xlog"), name(300, "xlog"), name(600, "xlog")][at(4)].clone();
            edit(&sim, &path, |bytes| {
                let place = at(bytes.len());
                if at(4) == 0 { bytes.truncate(place) } else { bytes[place] ^= 1 << at(8) }
            });
        }
        let files = UncheckedFiles::open(disk.as_ref(), Path::new(DIRECTORY), Path::new(DIRECTORY)).unwrap();
        let told_bytes = AtomicU64::new(0);
        let checked = files.check(
            2,
            &Watch(|bytes| {
                told_bytes.fetch_add(bytes, Ordering::Relaxed);
            }),
        );
        assert_eq!(told_bytes.into_inner(), files.stored_bytes());
        let checked = Some(Arc::new(checked));
        for mode in [Mode::Strict, Mode::Salvage] {
            let slowly = PlanOptions { mode, depth: Depth::Rows, ..PlanOptions::default() };
            let ahead = PlanOptions { checked: checked.clone(), ..slowly.clone() };
            let tell = |options: &PlanOptions| match plan(disk.as_ref(), Path::new(DIRECTORY), options) {
                Ok(plan) => told(&plan),
                Err(error) => error.to_string(),
            };
            assert_eq!(tell(&ahead), tell(&slowly), "seed {seed}");
            let look = |options: &PlanOptions| {
                let mut reports = Vec::new();
                inspect(disk.as_ref(), Path::new(DIRECTORY), options, |report| {
                    reports.push(format!("{} {} {:?}", report.block_count, report.row_count, report.damage));
                    true
                })
                .unwrap();
                reports
            };
            assert_eq!(look(&ahead), look(&slowly), "seed {seed}");
        }
    }
}

/// A block that was read ahead is not read again.
#[test]
fn a_block_that_was_read_ahead_is_not_read_again() {
    let (sim, disk) = made();
    let directory = Path::new(DIRECTORY);
    let checked = UncheckedFiles::open(disk.as_ref(), directory, directory).unwrap().check(2, &Silent);
    edit(&sim, &name(300, "xlog"), |bytes| {
        let at = borders(bytes)[2] + 50;
        bytes[at] ^= 1;
    });
    let options =
        PlanOptions { depth: Depth::Rows, checked: Some(Arc::new(checked)), ..PlanOptions::default() };
    plan(disk.as_ref(), directory, &options).unwrap();
    plan(disk.as_ref(), directory, &PlanOptions { checked: None, ..options }).unwrap_err();
}

/// With more than one core, more than one thread works: each waits until a second one has started.
#[test]
fn files_are_read_on_all_cores() {
    if std::thread::available_parallelism().is_ok_and(|count| count.get() == 1) {
        return;
    }
    let (_, disk) = made();
    let directory = Path::new(DIRECTORY);
    let threads = Mutex::new(BTreeSet::new());
    let arrived = Condvar::new();
    let wait_for_another = Watch(|_| {
        let mut seen = threads.lock().unwrap();
        if !seen.insert(format!("{:?}", std::thread::current().id())) {
            return;
        }
        arrived.notify_all();
        // The wait is this long only if the test fails.
        let limit = std::time::Duration::from_secs(20);
        drop(arrived.wait_timeout_while(seen, limit, |seen| seen.len() < 2).unwrap());
    });
    UncheckedFiles::open(disk.as_ref(), directory, directory).unwrap().check(2, &wait_for_another);
    assert!(threads.into_inner().unwrap().len() > 1);
}
