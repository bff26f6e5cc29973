//! Repairs of damaged directories, with a crash or a refusal at every operation of the disk.
//!
//! Input: snapshots and logs made by hand, and ways to damage them. Output: failures. Uses only the public
//! interface.

use crate::until::{DIRECTORY, empty, log, made, shared, snapshot};
use disk::Disk;
use std::collections::BTreeSet;
use std::path::Path;
use tarantool::repair::{Step, examine};
use tarantool::{Mode, PlanOptions, Tuples, plan, recover};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};
use work::Silent;

/// Returns the tuples of space 512.
fn contents(sim: &SimDisk, mode: Mode) -> tarantool::Result<Vec<Vec<u8>>> {
    let plan = plan(sim, Path::new(DIRECTORY), &PlanOptions { mode, ..PlanOptions::default() })?;
    let recovered = recover(&plan, mode, 1, &Silent)?;
    let mut all = Vec::new();
    for space in Tuples::in_memory(&recovered, Path::new(DIRECTORY))?.spaces() {
        if space.id == 512 {
            space.each(|tuple| {
                all.push(tuple.to_vec());
                Ok(())
            })?;
        }
    }
    Ok(all)
}

fn repair(sim: &SimDisk) -> tarantool::Result<()> {
    let repair = examine(sim, Path::new(DIRECTORY), &PlanOptions::default(), 1, &Silent)?;
    repair.carry_out(&shared(sim), 1.5, &Silent).map(drop)
}

/// Returns the steps of a repair, a line each.
fn steps(sim: &SimDisk) -> Vec<String> {
    let repair = examine(sim, Path::new(DIRECTORY), &PlanOptions::default(), 1, &Silent).unwrap();
    let short = |path: &Path| path.file_name().unwrap().to_str().unwrap().trim_start_matches('0').to_owned();
    let told = |step: &Step| match step {
        Step::Cut(torn) => format!("cut {} at {}", short(&torn.path), torn.keep_bytes),
        Step::Remove(torn) => format!("remove {}", short(&torn.path)),
        Step::Keep { path, copy } => format!("keep {} as {}", short(path), short(copy)),
        Step::Write { path } => format!("write {}", short(path)),
        Step::SetAside { path, aside } => format!("{} to {}", short(path), short(aside)),
    };
    repair.steps.iter().map(told).collect()
}

fn flip(sim: &SimDisk, name: &str, offset_from_end: usize) {
    let path = Path::new(DIRECTORY).join(name);
    let mut bytes = sim.read(&path).unwrap();
    let place = bytes.len() - offset_from_end;
    bytes[place] ^= 1;
    sim.put(&path, &bytes);
}

fn cut(sim: &SimDisk, name: &str, count: usize) {
    let path = Path::new(DIRECTORY).join(name);
    let bytes = sim.read(&path).unwrap();
    sim.put(&path, &bytes[..bytes.len() - count]);
}

/// Returns every file's bytes.
fn files(sim: &SimDisk) -> BTreeSet<Vec<u8>> {
    let names = sim.list(Path::new(DIRECTORY)).unwrap();
    names.iter().map(|name| sim.read(&Path::new(DIRECTORY).join(name)).unwrap()).collect()
}

/// Directories that are damaged, and the steps of their repair.
fn damaged() -> Vec<(SimDisk, &'static [&'static str])> {
    let torn = made();
    cut(&torn, "00000000000000000007.xlog", 10);
    let begun = made();
    begun.put(Path::new("/t/00000000000000000008.xlog"), b"");
    // The rows 4 to 7 are in a block, of which nothing is left.
    let flipped = made();
    flip(&flipped, "00000000000000000003.xlog", 30);
    let missing = made();
    missing.remove(Path::new("/t/00000000000000000003.xlog")).unwrap();
    missing.sync_directory(Path::new(DIRECTORY)).unwrap();
    let older = made();
    cut(&older, "00000000000000000003.snap", 4);
    // Nothing but a snapshot without an end: its own name is needed.
    let alone = empty();
    snapshot(&alone, "{1: 3}", 5.0, &[1, 2, 3]);
    cut(&alone, "00000000000000000003.snap", 4);
    // Nothing is left of the newest snapshot, but the older one and the logs since have all but row 3.
    let older_and_less = made();
    flip(&older_and_less, "00000000000000000003.snap", 10);
    flip(&older_and_less, "00000000000000000000.xlog", 10);
    // A log that cannot be applied, whose rows are beyond the new snapshot.
    let open = empty();
    snapshot(&open, "{}", 5.0, &[]);
    log(&open, "{}", "1/1 insert 512 [1]\n1/2(2 insert 512 [2]\n1/5 insert 512 [5]\n1/6(6 insert 512 [6]");
    vec![
        (torn, &["cut 7.xlog at 87"]),
        (begun, &["remove 8.xlog"]),
        (flipped, &["write 8.snap", "3.xlog to 3.xlog.damaged", "7.xlog to 7.xlog.damaged"]),
        (missing, &["write 8.snap", ".xlog to .xlog.damaged", "7.xlog to 7.xlog.damaged"]),
        (older, &["3.snap to 3.snap.damaged"]),
        (
            older_and_less,
            &[
                "write 8.snap",
                ".xlog to .xlog.damaged",
                "3.snap to 3.snap.damaged",
                "3.xlog to 3.xlog.damaged",
                "7.xlog to 7.xlog.damaged",
            ],
        ),
        (alone, &["keep 3.snap as 3.snap.damaged", "write 3.snap"]),
        (open, &["write 5.snap", ".xlog to .xlog.damaged"]),
    ]
}

#[test]
fn repaired_directories_have_all_sound_rows_and_need_no_repair() {
    for (sim, expected) in damaged() {
        assert_eq!(steps(&sim), expected);
        let rows = contents(&sim, Mode::Salvage).unwrap();
        let before = files(&sim);
        repair(&sim).unwrap();
        assert_eq!(contents(&sim, Mode::Strict).unwrap(), rows, "{expected:?}");
        assert_eq!(steps(&sim), Vec::<String>::new(), "{expected:?}");
        let is_cut = expected[0].starts_with("cut") || expected[0].starts_with("remove");
        assert!(is_cut || before.is_subset(&files(&sim)), "{expected:?}: no byte is thrown away");
    }
    assert_eq!(steps(&made()), Vec::<String>::new());
}

#[test]
fn a_name_that_is_taken_is_not_used_again() {
    let sim = made();
    cut(&sim, "00000000000000000003.snap", 4);
    sim.put(Path::new("/t/00000000000000000003.snap.damaged"), b"from an earlier repair");
    assert_eq!(steps(&sim), ["3.snap to 3.snap.damaged-2"]);
    repair(&sim).unwrap();
    assert_eq!(
        sim.read(Path::new("/t/00000000000000000003.snap.damaged")).unwrap(),
        b"from an earlier repair"
    );
}

/// Without Tarantool's own spaces nothing starts.
#[test]
fn logs_alone_are_not_repaired() {
    let sim = empty();
    log(&sim, "{}", "1/1 insert 512 [1]");
    let refused = examine(&sim, Path::new(DIRECTORY), &PlanOptions::default(), 1, &Silent).err().unwrap();
    assert!(refused.to_string().contains("holds no snapshot of which anything is left"), "{refused}");
}

#[test]
fn a_crash_or_a_refusal_leaves_what_the_same_repair_completes() {
    for (start, expected) in damaged() {
        let rows = contents(&start, Mode::Salvage).unwrap();
        let before = files(&start);
        let is_cut = expected[0].starts_with("cut") || expected[0].starts_with("remove");
        let check = move |sim: &SimDisk, is_done: &bool| {
            match contents(sim, Mode::Strict) {
                Ok(found) => assert_eq!(found, rows, "what loads is what the repair gives"),
                Err(refused) => assert!(!is_done, "acknowledged, and refused: {refused}"),
            }
            assert!(is_cut || before.is_subset(&files(sim)), "no byte is thrown away");
            repair(sim).unwrap();
            assert_eq!(contents(sim, Mode::Strict).unwrap(), rows);
        };
        let work = |sim: &SimDisk, ledger: &Acknowledged<bool>| {
            repair(sim)?;
            ledger.record(|is_done| *is_done = true);
            Ok::<(), tarantool::Error>(())
        };
        let runs = crash_at_every_operation(&start, false, work, check.clone());
        assert!(runs.operation_count > 5, "{expected:?}: {runs:?}");
        fail_at_every_operation(&start, false, work, check);
    }
}
