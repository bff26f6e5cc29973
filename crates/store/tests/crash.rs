//! Crashes, refused operations and interruptions at every operation of commits, seals, loads and merges.

use crate::support::{
    Change, TABLES, Twin, check, directory, item, key_of, link, options, read_all, schemas, shared,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use store::{
    Error, MergeOptions, Outcome, Prepared, Result, Snapshot, Version, Writer, merge, merge_all, verify,
};
use testkit::SimDisk;
use testkit::sim_disk::{
    Acknowledged, crash_at_every_operation, fail_at_every_operation, interrupt_at_every_operation,
};
use work::Cancel;

const ATTACHMENTS: [&str; 2] = ["state", "note"];

/// What the work acknowledged, and what is in flight.
#[derive(Clone, Debug, Default)]
struct Model {
    is_created: bool,
    acknowledged: Twin,
    in_flight: Option<Twin>,
}

type Ledger = Acknowledged<Model>;

#[derive(Clone, Debug)]
enum Step {
    Commit(Change),
    Group(Vec<Change>),
    Load(Change),
    Prepared(Change),
    Flush,
    Reopen,
    Merge,
    MergeAll,
}

fn items(numbers: std::ops::Range<u32>, version: u32) -> Change {
    let change = Change::default().attach("state", &version.to_le_bytes());
    numbers.fold(change, |change, number| {
        change
            .put(0, item(number, version))
            .put(1, link(u64::from(number % 3), "end", u8::try_from(version).unwrap()))
    })
}

/// All kinds of work, in every order that matters.
fn workload() -> Vec<Step> {
    let forget = |change: Change, number| change.delete(0, key_of(0, &item(number, 0)));
    vec![
        Step::Commit(items(0..3, 1)),
        Step::Commit(forget(items(2..4, 2), 0)),
        Step::Flush,
        Step::Commit(items(1..3, 3)),
        Step::Group(vec![items(4..5, 4), forget(items(5..6, 5), 4)]),
        // More than a journal holds.
        Step::Commit(items(3..20, 6)),
        Step::Reopen,
        Step::Load(forget(items(18..24, 7), 5)),
        Step::Commit(forget(Change::default(), 20).attach("note", b"short")),
        Step::Load(items(30..31, 8)),
        Step::Merge,
        Step::Commit(items(6..8, 9)),
        Step::MergeAll,
        Step::Commit(items(7..9, 10)),
        // One for the journal, one that is more than it holds.
        Step::Prepared(items(8..10, 11)),
        Step::Prepared(forget(items(12..40, 12), 3)),
        Step::Flush,
    ]
}

fn begin(ledger: &Ledger, changes: &[Change]) {
    ledger.record(|model| {
        let after = changes.iter().fold(model.acknowledged.clone(), |twin, change| twin.after(change));
        model.in_flight = Some(after);
    });
}

fn acknowledge(ledger: &Ledger) {
    ledger.record(|model| model.acknowledged = model.in_flight.take().expect("it was begun"));
}

fn open(disk: &SimDisk) -> Result<Writer> {
    Writer::open(&shared(disk), directory(), options(20))
}

/// Does all the work, and gives up at the first error.
fn work(disk: &SimDisk, ledger: &Ledger) -> Result<()> {
    let mut writer = Writer::open_or_create(&shared(disk), directory(), &schemas(), options(20))?;
    ledger.record(|model| model.is_created = true);
    for step in workload() {
        match step {
            Step::Commit(change) => {
                begin(ledger, std::slice::from_ref(&change));
                attempt(&mut writer, |writer| writer.commit(change.transaction()))?;
                acknowledge(ledger);
            }
            Step::Group(changes) => {
                begin(ledger, &changes);
                let group: Vec<_> = changes.iter().map(Change::transaction).collect();
                attempt(&mut writer, |writer| writer.commit_group(&group))?;
                acknowledge(ledger);
            }
            Step::Load(change) => {
                begin(ledger, std::slice::from_ref(&change));
                attempt(&mut writer, |writer| writer.load_transaction(change.transaction()))?;
                acknowledge(ledger);
            }
            Step::Prepared(change) => {
                let prepared = Prepared::new(&writer.snapshot()?, change.transaction(), &options(20))?;
                begin(ledger, std::slice::from_ref(&change));
                let commit = |writer: &mut Writer| match writer.commit_prepared(prepared)? {
                    Outcome::Committed(version) => Ok(version),
                    Outcome::Outdated(_) => panic!("nobody else has committed"),
                };
                attempt(&mut writer, commit)?;
                acknowledge(ledger);
            }
            Step::Flush => drop(attempt(&mut writer, Writer::flush)?),
            Step::Reopen => {
                drop(writer);
                writer = open(disk)?;
            }
            Step::Merge | Step::MergeAll => {
                drop(writer);
                let options = MergeOptions { seed: 5, ..MergeOptions::default() };
                match step {
                    Step::Merge => drop(merge(&shared(disk), directory(), &options)?),
                    _ => while merge_all(&shared(disk), directory(), &options)?.is_some() {},
                }
                writer = open(disk)?;
            }
        }
    }
    Ok(())
}

/// After an error, either the writer refuses everything, or nothing happened and the writer continues.
fn attempt(writer: &mut Writer, act: impl FnOnce(&mut Writer) -> Result<Version>) -> Result<Version> {
    let before = writer.version();
    let result = act(writer);
    if result.is_err() {
        assert_eq!(writer.version(), before);
        let refuses = |result: Result<Version>| matches!(result, Err(Error::Poisoned { .. }));
        if writer.snapshot().is_err() {
            assert!(refuses(writer.flush()) && refuses(writer.commit(items(0..1, 0).transaction())));
        }
    }
    result
}

/// The store holds everything that was acknowledged. What was in flight is there completely or not at all.
/// The store can be written again.
fn check_found(disk: &SimDisk, model: &Model) {
    let found = match Snapshot::open(&shared(disk), directory()) {
        Err(error) if error.is_not_found() && !model.is_created => Twin::default(),
        other => {
            let snapshot = other.expect("a store that was created can be opened");
            let found = read_all(&snapshot, &ATTACHMENTS).unwrap();
            check(&snapshot, &found).unwrap();
            assert_eq!(verify(&snapshot), []);
            found
        }
    };
    assert!(
        found == model.acknowledged || Some(&found) == model.in_flight.as_ref(),
        "found {found:#?}, which is neither of {model:#?}"
    );
    go_on(disk, found);
}

fn go_on(disk: &SimDisk, found: Twin) {
    let mut writer = Writer::open_or_create(&shared(disk), directory(), &schemas(), options(20)).unwrap();
    let change = items(50..52, 11).put(0, item(1, 12));
    writer.commit(change.transaction()).unwrap();
    writer.flush().unwrap();
    let twin = found.after(&change);
    check(&writer.snapshot().unwrap(), &twin).unwrap();
    drop(writer);
    while merge_all(&shared(disk), directory(), &MergeOptions::default()).unwrap().is_some() {}
    let snapshot = open(disk).unwrap().snapshot().unwrap();
    check(&snapshot, &twin).unwrap();
    // manifest, journal, three locks, two segments: no leftover files.
    assert_eq!(disk.files().len(), 7, "{:?}", disk.files());
}

#[test]
fn a_crash_at_any_operation_loses_nothing_acknowledged() {
    let runs = crash_at_every_operation(&SimDisk::new(11), Model::default(), work, check_found);
    assert!(runs.operation_count > 150 && runs.checked_count > 500, "{runs:?}");
}

#[test]
fn a_crash_while_the_store_is_reopened_loses_nothing() {
    let count = AtomicUsize::new(0);
    crash_at_every_operation(&SimDisk::new(12), Model::default(), work, move |disk, model| {
        // States after neighbouring crashes hardly differ, so only some are tested.
        if !count.fetch_add(1, Ordering::Relaxed).is_multiple_of(151) {
            return;
        }
        let reopen = |disk: &SimDisk, _: &Ledger| {
            Writer::open_or_create(&shared(disk), directory(), &schemas(), options(20)).map(drop)
        };
        crash_at_every_operation(disk, model.clone(), reopen, |disk, model| {
            let model = Model { is_created: false, ..model.clone() };
            check_found(disk, &model);
        });
    });
}

#[test]
fn a_refused_operation_loses_nothing_acknowledged() {
    let runs = fail_at_every_operation(&SimDisk::new(13), Model::default(), work, |disk, model| {
        // A full check of every state takes too long here. The tests of crashes do it.
        match Snapshot::open(&shared(disk), directory()) {
            Err(error) if error.is_not_found() => assert!(!model.is_created),
            other => {
                let found = read_all(&other.unwrap(), &ATTACHMENTS).unwrap();
                assert!(
                    found == model.acknowledged || Some(&found) == model.in_flight.as_ref(),
                    "found {found:#?}, which is neither of {model:#?}"
                );
            }
        }
        let mut writer = Writer::open_or_create(&shared(disk), directory(), &schemas(), options(20)).unwrap();
        writer.commit(items(0..1, 12).transaction()).unwrap();
    });
    assert!(runs.operation_count > 150, "{runs:?}");
}

/// A store with segments, dead rows and a journal.
fn filled(disk: &SimDisk) -> Twin {
    let ledger = Acknowledged::new(Model::default());
    work(disk, &ledger).unwrap();
    let change = items(2..5, 20);
    open(disk).unwrap().commit(change.transaction()).unwrap();
    ledger.record(|model| model.acknowledged.after(&change))
}

#[test]
fn a_writer_never_disturbs_a_reader() {
    let disk = SimDisk::new(14);
    let before = filled(&disk);
    let changes = [items(3..6, 30), items(5..40, 31), items(0..2, 32)];
    let states: Vec<Twin> = changes.iter().fold(vec![before], |mut states, change| {
        states.push(states[states.len() - 1].after(change));
        states
    });
    let read = move |disk: &SimDisk| {
        let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
        let found = read_all(&snapshot, &ATTACHMENTS).unwrap();
        assert!(states.contains(&found), "a state that never was");
        let newest = snapshot.newest().unwrap();
        assert_eq!(Some(&read_all(&newest, &ATTACHMENTS).unwrap()), states.last());
        assert_eq!(verify(&newest), []);
    };
    let write = move |disk: &SimDisk| {
        let mut writer = open(disk).unwrap();
        for change in &changes {
            writer.commit(change.transaction()).unwrap();
            writer.flush().unwrap();
        }
        drop(writer);
        while merge_all(&shared(disk), directory(), &MergeOptions::default()).unwrap().is_some() {}
    };
    let alone = disk.fork();
    write(&alone);
    let started = Arc::new(AtomicBool::new(false));
    let runs = interrupt_at_every_operation(
        &disk,
        move |disk| {
            // The first run is not interrupted, so it sees no writer.
            if started.swap(true, Ordering::Relaxed) {
                read(disk);
            } else {
                drop(read_all(&Snapshot::open(&shared(disk), directory()).unwrap(), &ATTACHMENTS).unwrap());
            }
        },
        write,
    );
    assert!(runs.operation_count >= 4, "{runs:?}");
}

#[test]
fn a_merge_includes_what_a_writer_changes_meanwhile() {
    let disk = SimDisk::new(15);
    let before = filled(&disk);
    // Changes by the journal and by a seal: some rows of the older segment die, and all rows of the younger
    // one.
    let changes = [
        items(1..4, 40).delete(0, key_of(0, &item(7, 0))),
        items(8..11, 41),
        items(40..60, 42),
        items(12..13, 43),
    ];
    let after = changes.iter().fold(before.clone(), |twin, change| twin.after(change));
    let has_written = Arc::new(AtomicBool::new(false));
    let carried_count = Arc::new(AtomicUsize::new(0));
    let check_merge = {
        let (has_written, carried_count) = (Arc::clone(&has_written), Arc::clone(&carried_count));
        move |disk: &SimDisk| {
            has_written.store(false, Ordering::Relaxed);
            let options = MergeOptions { seed: 9, ..MergeOptions::default() };
            let report = merge_all(&shared(disk), directory(), &options).unwrap().unwrap();
            let has_written = has_written.load(Ordering::Relaxed);
            // Nothing interrupts from here on.
            let disk = &disk.fork();
            let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
            check(&snapshot, if has_written { &after } else { &before }).unwrap();
            assert_eq!(verify(&snapshot), []);
            let items = snapshot.table(TABLES[0]).unwrap();
            let merged = &items.parts()[0];
            assert_eq!(merged.row_count(), report.row_count);
            if has_written && merged.has_dead() {
                carried_count.fetch_add(1, Ordering::Relaxed);
            }
            drop(open(disk).unwrap());
            let parts = snapshot.tables().iter().flat_map(store::Table::parts);
            let named = parts.map(|part| 1 + usize::from(part.has_dead())).sum::<usize>();
            assert!(disk.files().len() <= named + 4, "{:?}", disk.files());
        }
    };
    let write = move |disk: &SimDisk| {
        let mut writer = match open(disk) {
            // The merge is publishing.
            Err(Error::Io(disk::Error::Locked { .. })) => return,
            other => other.unwrap(),
        };
        for change in &changes {
            writer.commit(change.transaction()).unwrap();
        }
        has_written.store(true, Ordering::Relaxed);
    };
    let runs = interrupt_at_every_operation(&disk, check_merge, write);
    assert!(runs.operation_count > 20, "{runs:?}");
    assert!(carried_count.load(Ordering::Relaxed) >= 5, "{carried_count:?}");
}

#[test]
fn a_merge_that_is_stopped_leaves_nothing() {
    let disk = SimDisk::new(17);
    let before = filled(&disk);
    let files = |disk: &SimDisk| -> Vec<PathBuf> {
        disk.files().into_iter().filter(|path| !path.to_string_lossy().ends_with("lock")).collect()
    };
    let (stopped_count, now) = (AtomicUsize::new(0), Arc::new(Mutex::new(Cancel::new())));
    let work = |disk: &SimDisk| {
        let cancel = Cancel::new();
        *now.lock().unwrap() = cancel.clone();
        let there = files(disk);
        let options = MergeOptions { seed: 9, cancel: Some(cancel), ..MergeOptions::default() };
        match merge_all(&shared(disk), directory(), &options) {
            Err(Error::Cancelled) => {
                assert_eq!(files(disk), there);
                stopped_count.fetch_add(1, Ordering::Relaxed);
            }
            other => assert!(other.unwrap().is_some()),
        }
        let disk = &disk.fork();
        let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
        check(&snapshot, &before).unwrap();
        assert_eq!(verify(&snapshot), []);
    };
    let stop = Arc::clone(&now);
    let runs = interrupt_at_every_operation(&disk, work, move |_| stop.lock().unwrap().cancel());
    let stopped_count = stopped_count.load(Ordering::Relaxed);
    assert!(stopped_count >= 10 && stopped_count < runs.operation_count, "{stopped_count} of {runs:?}");
}

#[test]
fn a_merge_that_waits_for_a_writer_can_be_stopped() {
    let disk = SimDisk::new(18);
    let before = filled(&disk);
    let alone = disk.fork();
    let cancel = Cancel::new();
    let options = MergeOptions { seed: 9, cancel: Some(cancel.clone()), ..MergeOptions::default() };
    merge_all(&shared(&alone), directory(), &options).unwrap().unwrap();
    let writer = open(&disk).unwrap();
    let there = disk.files().len();
    // After more operations than a merge takes, it can only be trying to get the lock that the writer has.
    let cancels = cancel.clone();
    disk.interrupt_at(disk.operation_count() + alone.operation_count(), move || cancels.cancel());
    let stopped = merge_all(&shared(&disk), directory(), &options);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    drop(writer);
    check(&Snapshot::open(&shared(&disk), directory()).unwrap(), &before).unwrap();
    assert!(disk.files().len() <= there + 2, "no more than two locks: {:?}", disk.files());
}

#[test]
fn commits_after_a_kill_survive_a_crash() {
    let count = Arc::new(AtomicUsize::new(0));
    let disk = SimDisk::new(16);
    let ledger: Ledger = Acknowledged::new(Model::default());
    disk.observe({
        let (ledger, count) = (ledger.clone(), Arc::clone(&count));
        // The first writer is killed here. Nothing of its last operation is durable, but every process sees
        // it.
        move |_, disk| {
            let killed = &disk.fork();
            let model = ledger.record(|model| model.clone());
            let change = Change::default().put(0, item(77, 1)).attach("note", b"after the kill");
            let mut writer =
                Writer::open_or_create(&shared(killed), directory(), &schemas(), options(20)).unwrap();
            writer.commit(change.transaction()).unwrap();
            for image in killed.images() {
                let snapshot = Snapshot::open(&shared(&image.disk), directory())
                    .unwrap_or_else(|error| panic!("{}: {error}", image.description));
                let found = read_all(&snapshot, &ATTACHMENTS).unwrap();
                let may_be = [Some(&model.acknowledged), model.in_flight.as_ref()];
                let is_whole = may_be.into_iter().flatten().any(|twin| twin.after(&change) == found);
                assert!(is_whole, "{}: found {found:#?} after {model:#?}", image.description);
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    work(&disk, &ledger).unwrap();
    disk.observe_no_more();
    assert!(count.load(Ordering::Relaxed) > 150, "{count:?}");
}
