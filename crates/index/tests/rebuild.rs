//! Rebuilding an index. Whatever was damaged, a rebuilt index answers like a new one. After a crash there is
//! either the old index or the new one.

use crate::support::{Dump, Fixture, dump, environment, message, query};
use index::{Depth, Environment, Error, Mailbox, UpdateOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;
use work::Silent;

fn environment_of(disk: &SimDisk) -> Environment {
    // Of two commits, one has its text in a file.
    Environment { text_slots: 1, ..environment(Arc::new(disk.clone()), Path::new("/data")) }
}

fn indexed(count: usize) -> (Fixture, SimDisk) {
    let fixture = Fixture::new();
    for number in 0..count {
        let content =
            message(&format!("m{number}"), &format!("subject {number}"), &format!("words n{number}"));
        fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
    }
    let disk = SimDisk::new(11);
    // Two commits, so that there are segments and a journal.
    index::update(&environment_of(&disk), &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    fixture.put("f0", "cur", "last.x:2,F", &message("last", "last", "words nlast"));
    index::update(&environment_of(&disk), &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    (fixture, disk)
}

fn rebuild(disk: &SimDisk, fixture: &Fixture) -> index::Result<index::Summary> {
    index::rebuild(&environment_of(disk), &fixture.roots, &UpdateOptions::default(), &Silent)
}

/// The answers of an index.
fn answers(disk: &SimDisk, root: &Path) -> index::Result<(Dump, [u64; 3])> {
    let mailbox = Mailbox::open(&environment_of(disk))?;
    let mut counts = [0; 3];
    for (count, question) in counts.iter_mut().zip(["words", "flag:flagged", "\"words n7\""]) {
        *count = mailbox.count(&query(question))?;
    }
    Ok((dump(&mailbox, root), counts))
}

fn is_sound(disk: &SimDisk) -> bool {
    index::diagnose(&environment_of(disk), Depth::Deep).is_ok_and(|damage| damage.is_empty())
}

/// Returns one file of each kind.
fn kinds(disk: &SimDisk) -> BTreeMap<String, PathBuf> {
    let mut kinds = BTreeMap::new();
    for path in disk.files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let kind = path.extension().map_or(name.trim_end_matches(char::is_numeric).to_owned(), |end| {
            end.to_string_lossy().into_owned()
        });
        if !matches!(kind.as_str(), "lock" | "TAG") {
            kinds.entry(kind).or_insert(path);
        }
    }
    kinds
}

#[test]
fn whatever_is_damaged_a_rebuild_gives_the_answers_of_a_fresh_index() {
    let (fixture, disk) = indexed(30);
    let right = answers(&disk, fixture.root()).unwrap();
    let kinds = kinds(&disk);
    assert!(kinds.keys().eq(["journal-", "manifest", "text"]), "{kinds:?}");
    for (kind, path) in kinds {
        let length = disk::Disk::read(&disk, &path).unwrap().len();
        let harmed = disk.fork();
        harmed.flip(&path, length / 2);
        let cut = disk.fork();
        cut.cut(&path, length / 2);
        for (how, harmed) in [("flipped", harmed), ("cut", cut)] {
            let found = index::diagnose(&environment_of(&harmed), Depth::Deep).unwrap();
            // If half of the journal's last record is missing, the record looks unfinished, which is not
            // damage.
            assert!(!found.is_empty() || kind == "journal-", "{kind} {how}");
            rebuild(&harmed, &fixture).unwrap_or_else(|error| panic!("{kind} {how}: {error}"));
            assert!(is_sound(&harmed), "{kind} {how}");
            assert_eq!(answers(&harmed, fixture.root()).unwrap(), right, "{kind} {how}");
            let again =
                index::update(&environment_of(&harmed), &fixture.roots, &UpdateOptions::default(), &Silent);
            let again = again.unwrap();
            assert_eq!((again.added, again.moved, again.gone), (0, 0, 0), "{kind} {how}");
        }
    }
}

#[test]
fn readers_keep_the_old_index_and_its_files_are_removed() {
    let (fixture, disk) = indexed(10);
    let mailbox = Mailbox::open(&environment_of(&disk)).unwrap();
    let before = dump(&mailbox, fixture.root());
    let old = disk.files();
    fixture.put("f1", "cur", "new.x:2,", &message("new", "new", "words"));
    rebuild(&disk, &fixture).unwrap();
    assert_eq!(dump(&mailbox, fixture.root()), before);
    assert_eq!(mailbox.count(&query("words")).unwrap(), 11);
    assert_eq!(answers(&disk, fixture.root()).unwrap().1[0], 12);
    let kept: Vec<_> = disk.files().into_iter().filter(|path| old.contains(path)).collect();
    assert!(kept.iter().all(|path| is_permanent(path)), "{kept:?}");
    let beside: Vec<_> = disk.files().into_iter().filter(|path| path.starts_with("/data/rebuild")).collect();
    assert_eq!(beside, [PathBuf::from("/data/rebuild/lock")]);
}

fn is_permanent(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    name.ends_with("lock") || name == "CACHEDIR.TAG" || name == "manifest"
}

#[test]
fn a_crash_at_any_operation_leaves_the_old_index_or_the_new() {
    let (fixture, disk) = indexed(6);
    let old = answers(&disk, fixture.root()).unwrap();
    fixture.put("f1", "cur", "new.x:2,", &message("new", "new", "words"));
    let whole = disk.fork();
    let start = whole.operation_count();
    rebuild(&whole, &fixture).unwrap();
    let new = answers(&whole, fixture.root()).unwrap();
    assert_ne!(old, new);
    // Other tests cover the work of the pass. This test covers how the new index replaces the old one.
    let operations = whole.operation_count();
    let step = ((operations - start) / 60).max(1);
    let tail = operations.saturating_sub(60).max(start);
    for number in (start..tail).step_by(step).chain(tail..operations) {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let _ = rebuild(&crashed, &fixture);
        for image in crashed.images() {
            let found = answers(&image.disk, fixture.root())
                .unwrap_or_else(|error| panic!("crash at {number}, {}: {error}", image.description));
            assert!(found == old || found == new, "crash at {number}, {}", image.description);
            assert!(is_sound(&image.disk), "crash at {number}, {}", image.description);
        }
        let image = crashed.images().swap_remove(0);
        // Another process chooses other names.
        let again = Environment { seed: 8, ..environment_of(&image.disk) };
        index::rebuild(&again, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
        assert_eq!(answers(&image.disk, fixture.root()).unwrap(), new, "again after a crash at {number}");
    }
}

/// Asks to stop at once.
struct Impatient;

impl work::Progress for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_rebuild_that_is_interrupted_or_finds_no_mail_changes_nothing() {
    let (fixture, disk) = indexed(6);
    let old = answers(&disk, fixture.root()).unwrap();
    let environment = environment_of(&disk);
    let options = UpdateOptions::default();
    let interrupted = index::rebuild(&environment, &fixture.roots, &options, &Impatient);
    assert!(matches!(interrupted, Err(Error::Interrupted)), "{interrupted:?}");
    std::fs::rename(fixture.root(), fixture.directory.path().join("aside")).unwrap();
    // One root has mail, the other does not.
    let other = fixture.directory.path().join("other");
    std::fs::create_dir_all(other.join("cur")).unwrap();
    let both = [index::Root { name: "other".into(), path: other }, fixture.roots[0].clone()];
    let unmounted = index::rebuild(&environment, &both, &options, &Silent);
    assert!(matches!(unmounted, Err(Error::NoMaildir { .. })), "{unmounted:?}");
    std::fs::rename(fixture.directory.path().join("aside"), fixture.root()).unwrap();
    assert_eq!(answers(&disk, fixture.root()).unwrap(), old);
    assert!(disk.files().iter().all(|path| !path.starts_with("/data/rebuild") || path.ends_with("lock")));
}

#[test]
fn messages_that_a_rebuild_cannot_reach_are_reported() {
    let (fixture, disk) = indexed(9);
    // A folder behind a link, such as one to another disk, with a folder in it.
    let aside = fixture.directory.path().join("aside");
    for (folder, name) in [("aside", "a.x:2,"), ("aside/deep", "b.x:2,"), ("aside/deep", "c.x:2,")] {
        let directory = fixture.directory.path().join(folder).join("cur");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::create_dir_all(directory.with_file_name("new")).unwrap();
        std::fs::write(directory.join(name), message(name, name, "words")).unwrap();
    }
    let link = fixture.root().join("linked");
    std::os::unix::fs::symlink(&aside, &link).unwrap();
    index::update(&environment_of(&disk), &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(answers(&disk, fixture.root()).unwrap().1[0], 13);
    assert_eq!(rebuild(&disk.fork(), &fixture).unwrap().problems, []);
    // A folder that was simply removed is not reported.
    std::fs::remove_dir_all(fixture.root().join("f2")).unwrap();
    std::fs::rename(&aside, fixture.directory.path().join("elsewhere")).unwrap();
    for (is_readable, what) in
        [(true, "3 messages of it were indexed and are not in the new index"), (false, "")]
    {
        let other = disk.fork();
        if !is_readable {
            set_version(&other, 1);
        }
        let problems = rebuild(&other, &fixture).unwrap().problems;
        assert_eq!(problems.len(), usize::from(is_readable), "{problems:?}");
        if let Some(problem) = problems.first() {
            assert_eq!(problem.path, link);
            assert!(
                problem.what.contains("leads nowhere") && problem.what.ends_with(what),
                "{}",
                problem.what
            );
        }
        assert_eq!(answers(&other, fixture.root()).unwrap().1[0], 7);
    }
    std::fs::rename(fixture.directory.path().join("elsewhere"), &aside).unwrap();
}

#[test]
fn an_older_version_is_rebuilt_and_a_newer_one_is_left_alone() {
    let (fixture, disk) = indexed(6);
    let right = answers(&disk, fixture.root()).unwrap();
    for (version, is_mended) in [(1, true), (2, true), (index::format::STATE_VERSION + 1, false)] {
        let other = disk.fork();
        set_version(&other, version);
        let opened = Mailbox::open(&environment_of(&other)).map(|_| ()).unwrap_err();
        assert_eq!(index::is_older(&opened), is_mended, "{opened}");
        if is_mended {
            assert_eq!(index::remembered_roots(&environment_of(&other)), Some(fixture.roots.clone()));
            assert_eq!(index::diagnose(&environment_of(&other), Depth::Deep).unwrap().len(), 1);
            rebuild(&other, &fixture).unwrap();
            assert_eq!(answers(&other, fixture.root()).unwrap(), right);
        } else {
            assert!(index::diagnose(&environment_of(&other), Depth::Deep).is_err());
            assert!(matches!(rebuild(&other, &fixture), Err(Error::Version { .. })));
        }
    }
}

/// Commits the state of another version: the bytes of version 1, or today's bytes with another version
/// number.
fn set_version(disk: &SimDisk, version: u32) {
    let disk: Arc<dyn disk::Disk> = Arc::new(disk.clone());
    let mut writer = store::Writer::open(&disk, Path::new("/data/index"), store::Options::default()).unwrap();
    let mut bytes = writer.snapshot().unwrap().attachment("mail").unwrap().to_vec();
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    if version == 1 {
        // Version 1 had one number less.
        bytes.drain(20..24);
    }
    let mut transaction = store::Transaction::default();
    transaction.attachments.push(("mail".into(), bytes));
    writer.commit(transaction).unwrap();
}
