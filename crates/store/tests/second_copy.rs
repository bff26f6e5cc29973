//! A store with a second copy: after any crash, or any damage to one copy, the other is enough.

use crate::support::{
    Change, Twin, check, directory, item, key_of, link, options, read_all, schemas, shared,
};
use disk::Disk;
use std::path::{Path, PathBuf};
use store::{
    Error, FileDamage, MergeOptions, Options, Result, Snapshot, Writer, damage_of, merge_all, repair,
    second_copy, verify,
};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};

/// What the work acknowledged, and what is in flight.
#[derive(Clone, Debug, Default)]
struct Model {
    is_created: bool,
    acknowledged: Twin,
    in_flight: Option<Twin>,
}

fn twice() -> Options {
    Options { keeps_copy: true, ..options(20) }
}

fn merging() -> MergeOptions {
    MergeOptions { seed: 5, keeps_copy: true, ..MergeOptions::default() }
}

fn places() -> [PathBuf; 2] {
    [directory().to_owned(), second_copy(directory())]
}

fn items(numbers: std::ops::Range<u32>, version: u32) -> Change {
    numbers.fold(Change::default().attach("state", &version.to_le_bytes()), |change, number| {
        change.put(0, item(number, version)).put(1, link(u64::from(number % 3), "end", 1))
    })
}

fn open(disk: &SimDisk) -> Result<Writer> {
    Writer::open_or_create(&shared(disk), directory(), &schemas(), twice())
}

/// Records, a seal of them, a commit too large for the journal, a merge, and records again.
fn work(disk: &SimDisk, ledger: &Acknowledged<Model>) -> Result<()> {
    let mut writer = open(disk)?;
    ledger.record(|model| model.is_created = true);
    let changes =
        [items(0..3, 1), items(2..4, 2).delete(0, key_of(0, &item(0, 0))), items(3..20, 3), items(5..6, 4)];
    for (number, change) in changes.iter().enumerate() {
        ledger.record(|model| model.in_flight = Some(model.acknowledged.after(change)));
        writer.commit(change.transaction())?;
        ledger.record(|model| model.acknowledged = model.in_flight.take().expect("it was begun"));
        if number == 1 {
            writer.flush()?;
        }
        if number == 2 {
            drop(writer);
            while merge_all(&shared(disk), directory(), &merging())?.is_some() {}
            writer = open(disk)?;
        }
    }
    Ok(())
}

/// Reads the rows of one copy. Returns nothing if there is no store.
fn found_in(disk: &SimDisk, place: &Path) -> Option<Twin> {
    match Snapshot::open(&shared(disk), place) {
        Err(error) if error.is_not_found() => None,
        other => {
            let snapshot = other.expect("each of the two can be opened");
            assert_eq!(verify(&snapshot), []);
            Some(read_all(&snapshot, &["state"]).unwrap())
        }
    }
}

fn check_found(disk: &SimDisk, model: &Model) {
    let is_right = |found: &Twin| *found == model.acknowledged || Some(found) == model.in_flight.as_ref();
    for place in places() {
        match found_in(disk, &place) {
            Some(found) => assert!(is_right(&found), "{}: {found:#?} of {model:#?}", place.display()),
            None => assert!(!model.is_created, "{} is gone", place.display()),
        }
    }
    let before = match Snapshot::open_newer(&shared(disk), directory()) {
        Err(error) if error.is_not_found() && !model.is_created => Twin::default(),
        other => read_all(&other.unwrap(), &["state"]).unwrap(),
    };
    assert!(is_right(&before));
    assert_eq!(damage_of(&shared(disk), directory()), []);
    // The next writer continues from the newer copy, and makes both equal.
    let change = items(50..52, 9);
    let mut writer = open(disk).unwrap();
    writer.commit(change.transaction()).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let after = before.after(&change);
    for place in places() {
        assert_eq!(found_in(disk, &place).as_ref(), Some(&after));
    }
    let count = |place: &Path| files_of(disk).iter().filter(|file| file.parent() == Some(place)).count();
    assert_eq!(count(&places()[0]), count(&places()[1]), "{:?}", disk.files());
}

#[test]
fn after_a_crash_each_copy_has_all_that_was_acknowledged() {
    let runs = crash_at_every_operation(&SimDisk::new(31), Model::default(), work, check_found);
    assert!(runs.operation_count > 150, "{runs:?}");
}

#[test]
fn after_a_refused_operation_nothing_acknowledged_is_lost() {
    let runs = fail_at_every_operation(&SimDisk::new(32), Model::default(), work, |disk, model| {
        let found = match Snapshot::open_newer(&shared(disk), directory()) {
            Err(error) if error.is_not_found() => return assert!(!model.is_created),
            other => read_all(&other.unwrap(), &["state"]).unwrap(),
        };
        assert!(found == model.acknowledged || Some(&found) == model.in_flight.as_ref());
        open(disk).unwrap().commit(items(0..1, 12).transaction()).unwrap();
    });
    assert!(runs.operation_count > 150, "{runs:?}");
}

/// A store with segments, dead rows and two records in its journal, and its rows before and after the last
/// record.
fn filled() -> (SimDisk, Twin, Twin) {
    let disk = SimDisk::new(33);
    let mut writer = open(&disk).unwrap();
    let changes = [items(0..30, 1), items(2..3, 2), items(40..41, 3), items(41..44, 4)];
    let mut twins = vec![Twin::default()];
    for (number, change) in changes.iter().enumerate() {
        writer.commit(change.transaction()).unwrap();
        twins.push(twins[number].after(change));
        if number == 1 {
            writer.flush().unwrap();
        }
    }
    (disk, twins[3].clone(), twins[4].clone())
}

fn files_of(disk: &SimDisk) -> Vec<PathBuf> {
    let files = disk.files().into_iter();
    files.filter(|path| path.extension().is_none_or(|end| end != "lock") && !path.ends_with("lock")).collect()
}

fn files_as(damage: &[FileDamage]) -> Vec<&Path> {
    damage.iter().map(|damage| &*damage.file).collect()
}

#[test]
fn damage_in_one_copy_is_repaired_from_the_other() {
    let (disk, before, after) = filled();
    let files = files_of(&disk);
    assert!(files.iter().any(|file| file.extension().is_some_and(|end| end == "dead")), "{files:?}");
    let expected: Vec<(PathBuf, Vec<u8>)> =
        files.iter().map(|file| (file.clone(), disk.read(file).unwrap())).collect();
    for file in &files {
        let is_own = file.parent() == Some(directory());
        let length = disk.read(file).unwrap().len();
        let places = (0..length).step_by((length / 9).max(1)).chain([length - 1]);
        let flipped = places.clone().map(|place| {
            let harmed = disk.fork();
            harmed.flip(file, place);
            harmed
        });
        let cut = places.map(|place| {
            let harmed = disk.fork();
            harmed.cut(file, place);
            harmed
        });
        let missing = disk.fork();
        missing.remove(file).unwrap();
        for (number, harmed) in flipped.chain(cut).chain([missing]).enumerate() {
            let context = format!("{} {number}", file.display());
            match Snapshot::open_newer(&shared(&harmed), directory()) {
                Ok(snapshot) => match read_all(&snapshot, &["state"]) {
                    Ok(found) => assert!(found == after || !is_own && found == before, "{context}"),
                    Err(error) => {
                        assert!(is_own && error.to_string().contains("damaged"), "{context}: {error}");
                    }
                },
                Err(error) => {
                    assert!(is_own, "{context}: the second copy is not needed: {error}");
                    assert!(error.to_string().contains(&*file.to_string_lossy()), "{context}: {error}");
                }
            }
            assert_eq!(repair(&shared(&harmed), directory(), &twice()).unwrap(), [], "{context}");
            for (path, bytes) in &expected {
                assert!(harmed.read(path).unwrap() == *bytes, "{context}: {} is mended", path.display());
            }
        }
    }
}

#[test]
fn a_journal_that_lost_its_end_is_read_from_the_other_copy() {
    let (disk, _, after) = filled();
    let journals: Vec<PathBuf> =
        files_of(&disk).into_iter().filter(|path| path.to_string_lossy().contains("journal-")).collect();
    for journal in &journals {
        let bytes = disk.read(journal).unwrap();
        let mut zeroed = bytes.clone();
        zeroed[bytes.len() - 512..].fill(0);
        for harm in [&zeroed[..], &bytes[..bytes.len() - 512]] {
            let harmed = disk.fork();
            harmed.put(journal, harm);
            let snapshot = Snapshot::open_newer(&shared(&harmed), directory()).unwrap();
            check(&snapshot, &after).unwrap();
            // The next writer has the record, too, and both copies get what it writes.
            let change = items(60..61, 7);
            open(&harmed).unwrap().commit(change.transaction()).unwrap();
            for place in places() {
                assert_eq!(found_in(&harmed, &place), Some(after.after(&change)));
            }
        }
    }
}

#[test]
fn each_sector_of_two_damaged_journals_comes_from_the_sound_copy() {
    let (disk, _, after) = filled();
    let journals: Vec<PathBuf> =
        files_of(&disk).into_iter().filter(|path| path.to_string_lossy().contains("journal-")).collect();
    let [second, own] = &journals[..] else { panic!("{journals:?}") };
    disk.flip(own, 512 + 5);
    disk.flip(second, 1024 + 5);
    assert_eq!(repair(&shared(&disk), directory(), &twice()).unwrap(), []);
    check(&Snapshot::open(&shared(&disk), directory()).unwrap(), &after).unwrap();
    // The same sector is damaged in both: the repair invents nothing and removes nothing.
    disk.flip(own, 1024 + 5);
    disk.flip(second, 1024 + 6);
    let bytes = [own, second].map(|path| disk.read(path).unwrap());
    let left = repair(&shared(&disk), directory(), &twice()).unwrap();
    let mut named = files_as(&left);
    named.sort();
    assert_eq!(named, [second.as_path(), own]);
    assert!(left[0].what.contains("was written whole and is damaged"), "{left:?}");
    assert_eq!([own, second].map(|path| disk.read(path).unwrap()), bytes);
    let refused = open(&disk).unwrap_err();
    assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
    assert_eq!([own, second].map(|path| disk.read(path).unwrap()), bytes);
}

#[test]
fn rows_lost_in_both_copies_are_counted() {
    let (disk, _, _) = filled();
    let segments =
        files_of(&disk).into_iter().filter(|path| path.extension().is_some_and(|end| end == "seg"));
    let largest = segments.max_by_key(|path| disk.read(path).unwrap().len()).unwrap();
    for place in places() {
        disk.flip(&place.join(largest.file_name().unwrap()), 100);
    }
    let left = repair(&shared(&disk), directory(), &twice()).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|damage| damage.what.contains("it holds 29 rows of items")), "{left:?}");
}

#[test]
fn the_next_writer_replaces_a_missing_or_old_second_copy() {
    let disk = SimDisk::new(34);
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), options(20)).unwrap();
    let mut twin = Twin::default();
    for change in [items(0..30, 1), items(3..5, 2)] {
        writer.commit(change.transaction()).unwrap();
        twin.apply(&change);
    }
    drop(writer);
    assert_eq!(found_in(&disk, &places()[1]), None);
    let old = disk.fork();
    drop(open(&disk).unwrap());
    assert_eq!(found_in(&disk, &places()[1]).as_ref(), Some(&twin));
    // A store that was written without its second copy.
    let change = items(7..9, 3);
    Writer::open(&shared(&disk), directory(), options(20)).unwrap().commit(change.transaction()).unwrap();
    drop(open(&disk).unwrap());
    assert_eq!(found_in(&disk, &places()[1]), Some(twin.after(&change)));
    let reopen = |disk: &SimDisk, _: &Acknowledged<Twin>| open(disk).map(drop);
    crash_at_every_operation(&old, twin, reopen, |disk, twin| {
        drop(open(disk).unwrap());
        for place in places() {
            assert_eq!(found_in(disk, &place).as_ref(), Some(twin));
        }
    });
}

#[test]
fn a_repair_killed_at_any_operation_loses_nothing_and_can_be_repeated() {
    let (whole, _, after) = filled();
    for harmed in files_of(&whole) {
        let disk = whole.fork();
        disk.flip(&harmed, 10);
        let mend =
            |disk: &SimDisk, _: &Acknowledged<()>| repair(&shared(disk), directory(), &twice()).map(drop);
        let after = after.clone();
        crash_at_every_operation(&disk, (), mend, move |disk, ()| {
            assert_eq!(repair(&shared(disk), directory(), &twice()).unwrap(), []);
            for place in places() {
                assert_eq!(found_in(disk, &place).as_ref(), Some(&after));
            }
        });
    }
}

/// A store with two acknowledged records in its journal, its rows, and the journal's name.
fn with_records() -> (SimDisk, Twin, PathBuf) {
    let disk = SimDisk::new(7);
    let mut writer = open(&disk).unwrap();
    let changes = [items(0..3, 1), items(3..5, 2)];
    let mut twin = Twin::default();
    for change in &changes {
        writer.commit(change.transaction()).unwrap();
        twin = twin.after(change);
    }
    let journal = disk.files().into_iter().find(|path| {
        path.parent() == Some(directory())
            && path.file_name().unwrap().to_string_lossy().starts_with("journal")
    });
    (disk, twin, journal.unwrap().file_name().unwrap().into())
}

#[test]
fn a_manifest_of_another_store_is_replaced_by_the_own_one() {
    let (disk, twin, _) = with_records();
    let others = SimDisk::new(8);
    let other_options = Options { seed: 99, ..twice() };
    let mut other = Writer::open_or_create(&shared(&others), directory(), &schemas(), other_options).unwrap();
    for version in 1..4 {
        // The first one has the number of the own one, the next ones have larger numbers.
        let manifest = Disk::read(&others, &directory().join("manifest")).unwrap();
        for place in places() {
            let harmed = disk.fork();
            harmed.put(&place.join("manifest"), &manifest);
            assert_eq!(repair(&shared(&harmed), directory(), &twice()).unwrap(), [], "{version}");
            for place in places() {
                assert_eq!(found_in(&harmed, &place).as_ref(), Some(&twin), "{version}");
            }
        }
        other.commit(items(0..3, version).transaction()).unwrap();
        other.flush().unwrap();
    }
}

#[test]
fn damage_is_no_reason_to_go_back_to_an_older_copy() {
    let (disk, older, _) = with_records();
    let of_copy = |disk: &SimDisk| -> Vec<PathBuf> {
        let place = second_copy(directory());
        files_of(disk).into_iter().filter(|path| path.parent() == Some(&place)).collect()
    };
    let copied: Vec<(PathBuf, Vec<u8>)> =
        of_copy(&disk).into_iter().map(|path| (path.clone(), Disk::read(&disk, &path).unwrap())).collect();
    let mut writer = open(&disk).unwrap();
    writer.flush().unwrap();
    let change = items(60..61, 7);
    writer.commit(change.transaction()).unwrap();
    writer.commit(items(61..62, 7).transaction()).unwrap();
    drop(writer);
    // Somebody put the older copy back, and the newer journal is damaged.
    of_copy(&disk).iter().for_each(|path| Disk::remove(&disk, path).unwrap());
    copied.iter().for_each(|(path, bytes)| disk.put(path, bytes));
    let journal = directory().join("journal-2");
    disk.flip(&journal, 512 + 100);
    let damage = repair(&shared(&disk), directory(), &twice()).unwrap();
    assert!(files_as(&damage).contains(&&*journal), "{damage:?}");
    assert_ne!(found_by_reader(&disk), Some(older), "what is missing is not hidden");
}

#[test]
fn an_unreadable_copy_does_not_count_as_no_store() {
    let (disk, twin, journal) = with_records();
    let [own, second] = places();
    let gone = disk.fork();
    Disk::remove(&gone, &own.join("manifest")).unwrap();
    assert_eq!(found_by_reader(&gone), Some(twin.clone()), "the copy answers");
    gone.flip(&second.join(&journal), 600);
    let before = gone.files();
    assert!(Snapshot::open_newer(&shared(&gone), directory()).is_err());
    assert!(open(&gone).is_err());
    assert_eq!(gone.files(), before, "nothing is begun anew");
    assert_eq!(repair(&shared(&gone), directory(), &twice()).unwrap(), []);
    assert_eq!(found_by_reader(&gone), Some(twin));
}

#[test]
fn a_writer_repairs_a_damaged_copy_before_it_overwrites_it() {
    let (disk, twin, journal) = with_records();
    let [own, second] = places();
    let length = Disk::read(&disk, &own.join(&journal)).unwrap().len();
    // One copy lost its last record without a trace. The other has it, but is damaged before it.
    disk.cut(&own.join(&journal), length - 512);
    disk.flip(&second.join(&journal), 600);
    drop(open(&disk).unwrap());
    for place in places() {
        assert_eq!(found_in(&disk, &place), Some(twin.clone()), "{}", place.display());
    }
}

fn found_by_reader(disk: &SimDisk) -> Option<Twin> {
    let snapshot = Snapshot::open_newer(&shared(disk), directory()).ok()?;
    Some(read_all(&snapshot, &["state"]).unwrap())
}
