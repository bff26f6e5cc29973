//! A repository answers for messages whose files are gone: they are searched, read, imported and put back.

use crate::support::{Fixture, query, subjects};
use backup::BackupOptions;
use pneu::archive::{Archive, ImportSource, LazyArchive, OpenRepository};
use pneu::{Error, FileError, Order, Progress, Silent, Stage, Summary, Wanted};
use restic::testing::{CLOCK_NS, MemoryStorage, surroundings};
use restic::{Cost, HeldLock, LockKind, Password, Repository, SaveOptions};
use std::cell::{Cell, RefCell};
use std::fs;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A second after the backup.
const BEHIND: i64 = CLOCK_NS / 1_000_000_000 + 1;

fn password() -> Password {
    Password::new(b"secret".to_vec())
}

fn options() -> BackupOptions {
    BackupOptions {
        tags: Vec::new(),
        configuration: None,
        save: SaveOptions::default(),
        program_version: "test".to_owned(),
    }
}

fn empty_repository() -> (Repository, Arc<MemoryStorage>) {
    let (storage, cost) = (MemoryStorage::new(), Cost { n: 2, r: 1, p: 1 });
    let made = Repository::init(Arc::clone(&storage) as _, &password(), cost, None, surroundings());
    (made.unwrap(), storage)
}

fn lock(repository: &Repository, _: Option<&Summary>) -> Result<HeldLock, Error> {
    Ok(repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(()))?)
}

/// Makes a repository in memory with one snapshot of the mailbox.
fn backed_up(fixture: &Fixture) -> (Repository, Arc<MemoryStorage>) {
    let (repository, storage) = empty_repository();
    let open = || Ok::<_, Error>(repository.reread());
    fixture.host.back_up(None, (open, lock), &options(), &Silent).unwrap();
    (repository, storage)
}

#[test]
fn a_backup_brings_the_index_in_step_and_names_what_it_leaves_out() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    let root = &fixture.roots[0].path;
    fs::create_dir_all(root.join("spam/cur")).unwrap();
    fs::create_dir_all(root.join("spam/new")).unwrap();
    fs::write(root.join("spam/.noindex"), "").unwrap();
    fs::write(root.join("spam/cur/3:2,"), "Subject: spam\n\nspam\n").unwrap();
    let (repository, storage) = empty_repository();
    let open = || Ok::<_, Error>(repository.reread());
    let done = fixture.host.back_up(Some(&fixture.roots), (open, lock), &options(), &Silent).unwrap();
    assert_eq!(done.updated.as_ref().unwrap().added, 1);
    assert_eq!((done.report.counts.files_new, done.is_whole()), (2, true));
    assert_eq!(subjects(&fixture.view(), "words"), ["first", "second"]);
    assert!(storage.ids(restic::FileKind::Lock).is_empty(), "the lock is released");
    let left_out = [root.join("spam")];
    assert_eq!(fixture.host.excluded_folders(done.updated.as_ref()).unwrap(), left_out);
    assert_eq!(fixture.host.excluded_folders(None).unwrap(), left_out);
}

#[test]
fn a_backup_without_a_repository_writes_nothing_and_says_why() {
    let fixture = Fixture::new();
    for number in 2..10 {
        fixture.put(&number.to_string(), "second", "more words");
    }
    let open = || Err::<Repository, _>(Error::Unindexed);
    let unlocked = |_: &Repository, _: Option<&Summary>| -> Result<HeldLock, Error> {
        panic!("there is nothing to lock")
    };
    let error =
        fixture.host.back_up(Some(&fixture.roots), (open, unlocked), &options(), &Silent).unwrap_err();
    assert!(matches!(error, Error::Unindexed), "not that the pass was stopped: {error:?}");
    let (repository, storage) = empty_repository();
    let locked = |_: &Repository, _: Option<&Summary>| Err::<HeldLock, _>(Error::Cancelled);
    let open = || Ok(repository.reread());
    let error = fixture.host.back_up(None, (open, locked), &options(), &Silent).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    assert!(storage.ids(restic::FileKind::Snapshot).is_empty());
}

/// Tells when the thread that holds it has ended.
struct EndOfThread(Sender<()>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

thread_local! {
    static END: RefCell<Option<EndOfThread>> = const { RefCell::new(None) };
}

/// Lets the pass go on only when the thread that opens the repository has ended.
struct AfterOpening(Mutex<Option<Receiver<()>>>);

impl Progress for AfterOpening {
    fn stage(&self, _stage: Stage) {
        if let Some(ended) = self.0.lock().unwrap().take() {
            ended.recv().unwrap();
        }
    }
}

#[test]
fn a_backup_without_a_repository_stops_the_pass() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    let (sender, ended) = mpsc::channel();
    let open = move || {
        END.set(Some(EndOfThread(sender)));
        Err::<Repository, _>(Error::Unindexed)
    };
    let progress = AfterOpening(Mutex::new(Some(ended)));
    let error = fixture.host.back_up(Some(&fixture.roots), (open, lock), &options(), &progress).unwrap_err();
    assert!(matches!(error, Error::Unindexed), "{error:?}");
    assert_eq!(subjects(&fixture.view(), "words"), ["first"], "the new message is not indexed");
}

#[test]
fn messages_without_files_are_found_and_read() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (repository, _) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.update();
    let view = fixture.view();
    assert_eq!(subjects(&view, "words"), ["first"]);
    let archive = Archive::new(fixture.host.settings(), &repository, &Silent);
    let (with_absent, unread) = archive.with_absent(view.clone()).unwrap();
    assert!(unread.is_empty());
    assert_eq!(subjects(&with_absent, "words"), ["first", "second"]);
    let message = view.message(&with_absent.named("second").unwrap().hit).unwrap();
    let error = view.read(&message).unwrap_err();
    assert!(matches!(&error, Error::File(FileError::Absent { name }) if name == "id:2@x"), "{error:?}");
    let bytes = archive.message(&message.sha256).unwrap().unwrap();
    assert!(String::from_utf8_lossy(&bytes).ends_with("\nmore words\n"));
    assert_eq!(archive.message(&[0; 32]).unwrap(), None);
}

#[test]
fn what_lies_in_packs_that_no_index_file_names_is_unread() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (_, storage) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.update();
    for id in storage.ids(restic::FileKind::Index) {
        storage.take(restic::FileName { kind: restic::FileKind::Index, id });
    }
    let repository = Repository::open(storage, &password(), None, surroundings()).unwrap();
    let archive = Archive::new(fixture.host.settings(), &repository, &Silent);
    let (view, unread) = archive.with_absent(fixture.view()).unwrap();
    assert_eq!(unread.unindexed.message_count, 1);
    assert_eq!(subjects(&view, "words"), ["first"]);
    let message = view.message(&view.named("id:2@x").unwrap().hit).unwrap();
    assert!(matches!(archive.message(&message.sha256).unwrap_err(), Error::Unindexed));
}

#[test]
fn who_asks_the_repository_may_be_stopped() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (_, storage) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.update();
    // Whether the message is there takes reading packs.
    for id in storage.ids(restic::FileKind::Index) {
        storage.take(restic::FileName { kind: restic::FileKind::Index, id });
    }
    let repository = Repository::open(storage, &password(), None, surroundings()).unwrap();
    // Without its index a tree cannot be read, so it is not known what may go.
    let error = fixture.host.sweepable(-1, Some(&repository)).unwrap_err();
    assert!(matches!(error, Error::Backup(_)), "{error:?}");
    fixture.host.settings().environment.context.cancel.cancel();
    let error = fixture.host.sweepable(-1, Some(&repository)).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error:?}");
}

#[test]
fn a_view_of_an_earlier_time_has_the_mail_of_then() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (repository, _) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.put("3", "third", "later words");
    fixture.update();
    let archive = Archive::new(fixture.host.settings(), &repository, &Silent);
    let snapshots = archive.choose(&fixture.view(), BEHIND).unwrap();
    let (then, unknown) = archive.view_at(fixture.view(), &snapshots, &Silent).unwrap();
    assert_eq!((subjects(&then, "words"), unknown.messages), (vec!["first".into(), "second".into()], 0));
    let none = archive.choose(&fixture.view(), BEHIND - 1).unwrap();
    assert!(none.chosen.snapshots.is_empty());
    assert_eq!(none.first_seconds(), Some(BEHIND - 1));
}

#[test]
fn an_index_made_anew_imports_what_only_the_repository_has_and_files_come_back() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (repository, _) = backed_up(&fixture);
    fs::remove_file(&gone).unwrap();
    fs::remove_dir_all(fixture.host.settings().environment.index_directory()).unwrap();
    fixture.update();
    let source = ImportSource::read(repository, &fixture.roots).unwrap();
    let imported = fixture.host.import(&source, &Default::default(), &Silent).unwrap();
    assert_eq!((imported.adopted.messages, imported.problems.len()), (1, 0));
    let (_, again) =
        fixture.host.rebuild(&fixture.roots, Some(&source), &Default::default(), &Silent).unwrap();
    assert_eq!(again.adopted.messages, 1);

    let repository = source.repository();
    let snapshots: Vec<_> = repository
        .snapshots()
        .unwrap()
        .complete()
        .unwrap()
        .into_iter()
        .map(|(_, snapshot)| snapshot)
        .collect();
    let archive = Archive::new(fixture.host.settings(), repository, &Silent);
    let (view, _) = archive.with_absent(fixture.view()).unwrap();
    let hits = view.find(&query(&view, "second"), &Order::default()).unwrap();
    let report = archive.undelete((&view, &hits.list), &snapshots, None, &Silent).unwrap();
    assert_eq!(report.done.len(), 1, "{report:?}");
    fixture.update();
    assert_eq!(subjects(&fixture.view(), "words"), ["first", "second"]);
}

#[test]
fn a_repository_is_opened_when_no_file_holds_a_message_and_only_once() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (_, storage) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.update();
    let view = fixture.view();
    let open_count = Cell::new(0);
    let open = || -> Result<_, Error> {
        open_count.set(open_count.get() + 1);
        let repository = Repository::open(Arc::clone(&storage) as _, &password(), None, surroundings())?;
        Ok(Some(OpenRepository { repository, lock: None }))
    };
    let lazy = LazyArchive::new(fixture.host.settings(), open);
    let hits = ["id:1@x", "id:2@x"].map(|handle| view.named(handle).unwrap().hit);
    let [there, absent] = hits.map(|hit| view.message(&hit).unwrap());
    assert!(lazy.read(&view, &there, Wanted::Content).unwrap().path.is_some());
    lazy.open_for(&view, &hits[..1]).unwrap();
    assert_eq!(open_count.get(), 0);
    lazy.open_for(&view, &hits).unwrap();
    let read = lazy.read(&view, &absent, Wanted::Content).unwrap();
    assert!(read.path.is_none() && read.content.bytes.ends_with(b"\nmore words\n"));
    assert_eq!(open_count.get(), 1);
    let none = LazyArchive::new(fixture.host.settings(), || Ok(None));
    let error: Error = none.read(&view, &absent, Wanted::Content).unwrap_err();
    assert!(matches!(error, Error::File(FileError::Absent { .. })), "{error:?}");
}

#[test]
fn what_matches_nothing_is_looked_up_among_absent_messages_too() {
    let fixture = Fixture::new();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    let (repository, _) = backed_up(&fixture);
    fs::remove_file(gone).unwrap();
    fixture.update();
    let asked = Cell::new(false);
    let with_absent = |view| {
        asked.set(true);
        Archive::new(fixture.host.settings(), &repository, &Silent).with_absent(view).map(Some)
    };
    let look_up = |handle: &str| {
        let lookup = fixture.view().look_up(|view| view.named(handle), with_absent).unwrap();
        assert!(lookup.unread.is_empty());
        lookup.found
    };
    assert!(look_up("subject:first").is_ok() && !asked.get());
    assert!(look_up("subject:second").is_ok() && asked.get());
    assert!(matches!(look_up("subject:third"), Err(Error::NoMatch { .. })));
    let none = fixture.view().look_up(|view| view.named("subject:second"), |_| Ok::<_, Error>(None)).unwrap();
    assert!(matches!(none.found, Err(Error::NoMatch { .. })));
}
