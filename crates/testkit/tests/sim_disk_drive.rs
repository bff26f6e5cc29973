//! The drivers with the smallest possible store: a manifest that names a journal of records. A correct writer
//! passes. Each wrong one, which omits one step, is caught.

use disk::{Disk, File};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use testkit::SimDisk;
use testkit::sim_disk::{
    Acknowledged, Refusal, crash_at_every_operation, fail_at_every_operation, interrupt_at_every_operation,
};

const RECORD_BYTES: usize = 700;

/// The step that a writer omits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    NoSyncBeforeRename,
    NoSyncOfDirectory,
    NoSyncOfJournalName,
    NoSyncOfRecord,
    NoCutOfTornTail,
    AcknowledgedWhenBegun,
    FailedSyncIgnored,
    JournalRemovedFirst,
}

/// How many records were acknowledged, and how many begun.
#[derive(Clone, Copy, Debug, Default)]
struct Model {
    acknowledged: usize,
    begun: usize,
}

fn root() -> &'static Path {
    Path::new("/db")
}

/// A record: its number in every byte pair, so that a part of it never looks complete.
fn record(number: usize) -> Vec<u8> {
    u16::try_from(number + 1).unwrap().to_le_bytes().repeat(RECORD_BYTES / 2)
}

/// Reads the manifest: the journal's name and how many records come before it.
fn manifest(disk: &SimDisk) -> disk::Result<(String, usize)> {
    let text = String::from_utf8(disk.read(&root().join("manifest"))?).unwrap();
    let (name, count) = text.split_once(' ').expect("the manifest is whole");
    Ok((name.to_owned(), count.parse().unwrap()))
}

/// Returns how many records the store has, and how many of them are in the journal. A torn tail does not
/// count.
fn read(disk: &SimDisk) -> disk::Result<(usize, usize)> {
    let (name, before) = match manifest(disk) {
        Err(error) if error.is_not_found() => return Ok((0, 0)),
        manifest => manifest?,
    };
    let bytes = disk.read(&root().join(name))?;
    let is_whole = |(index, found): &(usize, &[u8])| *found == record(before + index);
    let count = bytes.chunks(RECORD_BYTES).enumerate().take_while(is_whole).count();
    Ok((before + count, count))
}

/// Opens the journal for the next record, or creates the first.
fn open(disk: &SimDisk, wrong: Wrong) -> disk::Result<Box<dyn File>> {
    let (total, in_journal) = read(disk)?;
    if total == 0 {
        return new_journal(disk, 0, wrong);
    }
    let path = root().join(manifest(disk)?.0);
    let length_bytes = match wrong {
        Wrong::NoCutOfTornTail => disk.read(&path)?.len(),
        _ => in_journal * RECORD_BYTES,
    };
    disk.append(&path, length_bytes as u64)
}

/// Creates a journal for the records after the first `count`, and names it in the manifest. The old journal
/// is removed.
fn new_journal(disk: &SimDisk, count: usize, wrong: Wrong) -> disk::Result<Box<dyn File>> {
    let former = manifest(disk).ok().map(|(name, _)| root().join(name));
    let name = format!("journal.{}", disk.list(root())?.len() + count);
    if wrong == Wrong::JournalRemovedFirst
        && let Some(former) = &former
    {
        disk.remove(former)?;
    }
    disk.remove(&root().join(&name))?;
    let journal = disk.create(&root().join(&name))?;
    if wrong != Wrong::NoSyncOfJournalName {
        disk.sync_directory(root())?;
    }
    publish(disk, format!("{name} {count}").as_bytes(), wrong)?;
    former.map_or(Ok(()), |former| disk.remove(&former))?;
    Ok(journal)
}

fn publish(disk: &SimDisk, bytes: &[u8], wrong: Wrong) -> disk::Result<()> {
    let beside = root().join("manifest.new");
    disk.remove(&beside)?;
    let mut file = disk.create(&beside)?;
    file.write(bytes)?;
    if wrong != Wrong::NoSyncBeforeRename {
        file.sync()?;
    }
    disk.rename(&beside, &root().join("manifest"))?;
    if wrong != Wrong::NoSyncOfDirectory { disk.sync_directory(root()) } else { Ok(()) }
}

/// Writes some records, in two sessions and with a new journal after every third.
fn write(disk: &SimDisk, model: &Acknowledged<Model>, wrong: Wrong) -> disk::Result<()> {
    for session in [0..=4, 5..=7] {
        write_session(disk, model, wrong, session)?;
    }
    Ok(())
}

fn write_session(
    disk: &SimDisk,
    model: &Acknowledged<Model>,
    wrong: Wrong,
    numbers: RangeInclusive<usize>,
) -> disk::Result<()> {
    let mut journal = open(disk, wrong)?;
    for number in numbers {
        if number % 3 == 2 {
            journal = new_journal(disk, number, wrong)?;
        }
        model.record(|model| model.begun = number + 1);
        if wrong == Wrong::AcknowledgedWhenBegun {
            model.record(|model| model.acknowledged = number + 1);
        }
        journal.write(&record(number))?;
        match wrong {
            Wrong::NoSyncOfRecord => {}
            Wrong::FailedSyncIgnored => drop(journal.sync()),
            _ => journal.sync()?,
        }
        model.record(|model| model.acknowledged = number + 1);
    }
    Ok(())
}

/// Opens the disk, compares it with the model, and continues writing.
fn check(disk: &SimDisk, model: &Model, wrong: Wrong) {
    let found = read(disk).unwrap().0;
    assert!((model.acknowledged..=model.begun).contains(&found), "{found} found, {model:?}");
    disk.create_directory(root()).unwrap();
    open(disk, wrong).unwrap().write(&record(found)).unwrap();
    assert_eq!(read(disk).unwrap().0, found + 1, "what is written on what was found is found");
}

fn start() -> SimDisk {
    let disk = SimDisk::new(7);
    disk.create_directory(root()).unwrap();
    disk
}

/// Crashes a writer that omits `wrong`.
fn crash(wrong: Wrong) -> testkit::sim_disk::Runs {
    let write = |disk: &SimDisk, model: &Acknowledged<Model>| write(disk, model, wrong);
    crash_at_every_operation(&start(), Model::default(), write, move |disk, model| check(disk, model, wrong))
}

fn fail(wrong: Wrong) -> testkit::sim_disk::Runs {
    let write = |disk: &SimDisk, model: &Acknowledged<Model>| write(disk, model, wrong);
    fail_at_every_operation(&start(), Model::default(), write, |disk, model| check(disk, model, wrong))
}

/// Returns whether `run` panics.
fn is_caught(run: impl Fn() -> testkit::sim_disk::Runs) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
}

#[test]
fn a_right_writer_survives_every_crash() {
    let runs = crash(Wrong::Nothing);
    assert!(runs.operation_count > 40 && runs.checked_count > 150, "{runs:?}");
    assert_eq!(crash(Wrong::Nothing), runs, "the same each time");
}

#[test]
fn a_right_writer_survives_every_refusal() {
    let runs = fail(Wrong::Nothing);
    assert!(runs.operation_count > 40 && runs.checked_count > 150, "{runs:?}");
}

#[test]
fn each_step_left_out_is_caught_by_crashes() {
    for wrong in [
        Wrong::NoSyncBeforeRename,
        Wrong::NoSyncOfDirectory,
        Wrong::NoSyncOfJournalName,
        Wrong::NoSyncOfRecord,
        Wrong::NoCutOfTornTail,
        Wrong::AcknowledgedWhenBegun,
        Wrong::JournalRemovedFirst,
    ] {
        assert!(is_caught(|| crash(wrong)), "{wrong:?}");
    }
    assert!(
        !is_caught(|| crash(Wrong::FailedSyncIgnored)),
        "no sync fails in a crash before the last operation"
    );
}

#[test]
fn each_step_left_out_is_caught_by_refusals() {
    for wrong in [Wrong::FailedSyncIgnored, Wrong::AcknowledgedWhenBegun, Wrong::JournalRemovedFirst] {
        assert!(is_caught(|| fail(wrong)), "{wrong:?}");
    }
}

/// Writes one record after the existing ones.
fn write_next(disk: &SimDisk, wrong: Wrong) {
    let next = read(disk).unwrap().0;
    write_session(disk, &Acknowledged::new(Model::default()), wrong, next..=next).unwrap();
}

/// If a file that the manifest named is gone, a reader reads again. It must then see the same records or one
/// more.
fn read_beside_a_writer(disk: &SimDisk) {
    let found = (0..2).find_map(|_| read(disk).ok()).expect("the second attempt succeeds").0;
    assert!((5..=6).contains(&found), "{found}");
}

#[test]
fn a_reader_is_interrupted_by_a_writer_anywhere() {
    for first in [4, 5] {
        let disk = start();
        write_session(&disk, &Acknowledged::new(Model::default()), Wrong::Nothing, 0..=first - 1).unwrap();
        let reader = |disk: &SimDisk| {
            let found = (0..2).find_map(|_| read(disk).ok()).expect("the second attempt succeeds").0;
            assert!((first..=first + 1).contains(&found), "{found}");
        };
        let runs = interrupt_at_every_operation(&disk, reader, |disk| write_next(disk, Wrong::Nothing));
        assert_eq!(runs.operation_count, 2);
    }
}

#[test]
fn a_reader_that_does_not_read_again_is_caught() {
    let disk = start();
    write_session(&disk, &Acknowledged::new(Model::default()), Wrong::Nothing, 0..=4).unwrap();
    let reader = |disk: &SimDisk| assert!(read(disk).unwrap().0 >= 5);
    let is_caught =
        is_caught(|| interrupt_at_every_operation(&disk, reader, |disk| write_next(disk, Wrong::Nothing)));
    assert!(is_caught);
    interrupt_at_every_operation(&disk, read_beside_a_writer, |disk| write_next(disk, Wrong::Nothing));
}

#[test]
fn a_read_only_disk_can_be_read() {
    let disk = start();
    write_session(&disk, &Acknowledged::new(Model::default()), Wrong::Nothing, 0..=4).unwrap();
    disk.refuse_from(0, Refusal::ReadOnly);
    assert_eq!(read(&disk).unwrap().0, 5);
    assert!(open(&disk, Wrong::Nothing).is_err());
}

#[test]
#[should_panic(expected = "the last one is lost")]
fn what_is_acknowledged_after_the_last_operation_is_checked_too() {
    let work = |disk: &SimDisk, acknowledged: &Acknowledged<bool>| {
        drop(disk.create(&root().join("file"))?);
        acknowledged.record(|acknowledged| *acknowledged = true);
        disk::Result::Ok(())
    };
    crash_at_every_operation(&start(), false, work, |disk, acknowledged| {
        assert!(!acknowledged || disk.files().len() == 1, "the last one is lost");
    });
}

#[test]
#[should_panic(expected = "record() uses the disk")]
fn a_model_that_is_changed_during_an_operation_is_caught() {
    let work = |disk: &SimDisk, model: &Acknowledged<()>| {
        model.record(|()| disk.create(Path::new("/db/file")).map(|_| ()))
    };
    crash_at_every_operation(&start(), (), work, |_, ()| {});
}

#[test]
fn work_may_use_several_threads() {
    let work = |disk: &SimDisk, model: &Acknowledged<usize>| {
        std::thread::scope(|scope| {
            let write = |number| {
                let (disk, model) = (disk.clone(), model.clone());
                move || {
                    disk::publish(&disk, root(), &format!("file {number}"), b"bytes").unwrap();
                    model.record(|count| *count += 1);
                }
            };
            (0..4).for_each(|number| drop(scope.spawn(write(number))));
        });
        disk::Result::Ok(())
    };
    let runs = crash_at_every_operation(&start(), 0, work, |disk, count| {
        let is_whole = |path: &&PathBuf| disk.read(path).unwrap() == b"bytes";
        assert!(disk.files().iter().filter(is_whole).count() >= *count);
    });
    assert_eq!(runs.operation_count, 24);
}
