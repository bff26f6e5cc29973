//! Several writers: changes of a second pass, made while a first one works by its plan, are neither lost nor
//! made twice.
//!
//! The observer of the first pass runs the second one when the first has its plan, or between two of its
//! batches.

use crate::support::{Fixture, StopAfter, message, subjects};
use disk::{Disk, RealDisk, Wait};
use index::{Environment, Error, Mailbox, Root, UpdateOptions};
use sha2::Digest;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Runs something once, at the first file that is read.
struct Meanwhile<'a>(Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>);

impl<'a> Meanwhile<'a> {
    fn new(what: impl FnOnce() + Send + 'a) -> Meanwhile<'a> {
        Meanwhile(Mutex::new(Some(Box::new(what))))
    }
}

impl work::Progress for Meanwhile<'_> {
    fn stage(&self, stage: work::Stage) {
        // The plan is made and the lock is not taken yet.
        if stage == work::Stage::Read {
            let what = self.0.lock().unwrap().take();
            what.into_iter().for_each(|what| what());
        }
    }
}

fn small_batches() -> UpdateOptions {
    UpdateOptions { batch_message_count: 5, ..UpdateOptions::default() }
}

fn filled(count: usize) -> Fixture {
    let fixture = Fixture::new();
    for number in 0..count {
        let content = message(&format!("m{number}"), &format!("subject {number}"), "words");
        fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture
}

#[test]
fn two_first_indexes_at_once_give_what_one_gives() {
    let fixture = filled(23);
    let meanwhile = Meanwhile::new(|| {
        fixture.update_with(&small_batches());
    });
    index::update(&fixture.environment, &fixture.roots, &small_batches(), &meanwhile).unwrap();
    assert_eq!(fixture.find("words").len(), 23);
    fixture.check();
    assert_eq!(fixture.update().added, 0);
}

#[test]
fn an_outdated_plan_undoes_nothing_of_another_pass() {
    let fixture = filled(9);
    fixture.update();
    let root = fixture.root();
    // The first pass plans: file 0 is gone, 3 moved, some are new. Then 0 comes back, 3 moves again, and one
    // new file is removed.
    fs::rename(root.join("f0/cur/0.x:2,S"), fixture.directory.path().join("aside")).unwrap();
    fs::rename(root.join("f0/cur/3.x:2,S"), root.join("f0/cur/3.x:2,FS")).unwrap();
    for number in 20..32 {
        fixture.put(
            "f1",
            "cur",
            &format!("{number}.y:2,S"),
            &message(&format!("m{number}"), "late", "words"),
        );
    }
    let meanwhile = Meanwhile::new(|| {
        fs::rename(fixture.directory.path().join("aside"), root.join("f0/cur/0.x:2,FS")).unwrap();
        fs::rename(root.join("f0/cur/3.x:2,FS"), root.join("f2/cur/3.x:2,FS")).unwrap();
        fs::remove_file(root.join("f1/cur/25.y:2,S")).unwrap();
        fixture.update();
    });
    index::update(&fixture.environment, &fixture.roots, &small_batches(), &meanwhile).unwrap();
    fixture.check();
    fixture.update();
    fixture.check();
    assert_eq!(fixture.find("words").len(), 20);
    assert_eq!(fixture.find("flag:flagged").len(), 2);
}

#[test]
fn a_root_that_another_pass_adds_stays() {
    let fixture = filled(12);
    let second = fixture.directory.path().join("work");
    fs::create_dir_all(second.join("inbox/cur")).unwrap();
    fs::write(second.join("inbox/cur/1.a:2,S"), message("w", "work", "words")).unwrap();
    let work = Root { name: "work".into(), path: second };
    let both = vec![fixture.roots[0].clone(), work.clone()];
    let meanwhile = Meanwhile::new(|| {
        index::update(&fixture.environment, &both, &small_batches(), &work::Silent).unwrap();
    });
    index::update(&fixture.environment, &fixture.roots, &small_batches(), &meanwhile).unwrap();
    assert!(fixture.mailbox().roots().contains(&work));
    assert_eq!(fixture.find("words").len(), 13);
    fixture.check();
}

#[test]
fn a_mistyped_root_is_not_remembered() {
    let fixture = filled(3);
    fixture.update();
    let typo = Root { name: "mail".into(), path: fixture.directory.path().join("mial") };
    let other = Root { name: "other".into(), path: fixture.directory.path().join("nowhere") };
    let summary =
        index::update(&fixture.environment, &[typo, other], &UpdateOptions::default(), &work::Silent)
            .unwrap();
    assert_eq!(summary.problems.len(), 2);
    assert_eq!(fixture.mailbox().roots(), fixture.roots);
    assert_eq!(fixture.find("words").len(), 3);
}

#[test]
fn an_own_commit_does_not_hide_commits_of_others() {
    let fixture = filled(6);
    let second = fixture.directory.path().join("work");
    fs::create_dir_all(second.join("inbox/cur")).unwrap();
    fs::write(second.join("inbox/cur/0.w:2,S"), message("w0", "work", "words")).unwrap();
    let both = vec![fixture.roots[0].clone(), Root { name: "work".into(), path: second.clone() }];
    let pass = |roots: &[Root], observer: &dyn work::Progress| {
        index::update(&fixture.environment, roots, &small_batches(), observer).unwrap();
    };
    pass(&both, &work::Silent);
    // The first pass finds new files in both roots, the other pass only those of the second root. The first
    // batch of the first pass has files of the first root, and commits. Its second batch has files that the
    // other pass has already added.
    for number in 0..5 {
        let content = message(&format!("a{number}"), "late", "words");
        fixture.put("f0", "cur", &format!("a{number}.x:2,S"), &content);
        fs::write(
            second.join(format!("inbox/cur/b{number}.x:2,S")),
            message(&format!("b{number}"), "late", "words"),
        )
        .unwrap();
    }
    let meanwhile = Meanwhile::new(|| pass(&both[1..], &work::Silent));
    pass(&both, &meanwhile);
    fixture.check();
    assert_eq!(fixture.find("words").len(), 17);
}

/// Puts six files. When a pass has planned to read them, another one adds them all, and then the content of
/// one of them is replaced. Returns what the first pass says.
fn six_files_added_meanwhile(fixture: &Fixture, options: &UpdateOptions) -> index::Summary {
    fixture.update();
    for number in 0..5 {
        let content = message(&format!("late{number}"), "late", "late words");
        fixture.put("f1", "cur", &format!("late{number}.x:2,S"), &content);
    }
    let path = fixture.put("f0", "cur", "new.x:2,S", &message("first", "first", "words"));
    let meanwhile = Meanwhile::new(|| {
        fixture.update();
        fs::write(&path, message("second", "second", "words, more of them")).unwrap();
    });
    index::update(&fixture.environment, &fixture.roots, options, &meanwhile).unwrap()
}

#[test]
fn what_another_pass_has_read_meanwhile_is_not_added_twice() {
    let fixture = filled(4);
    let summary = six_files_added_meanwhile(&fixture, &small_batches());
    assert_eq!((summary.added, summary.new_messages), (0, 1), "one is new, but it was read for nothing");
    fixture.check();
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 1);
    assert_eq!(fixture.find("subject:first or subject:second"), ["first"]);
    assert_eq!(fixture.find("subject:late").len(), 5);
}

#[test]
fn a_small_pass_begins_again_if_others_added_messages() {
    let fixture = filled(4);
    let summary = six_files_added_meanwhile(&fixture, &UpdateOptions::default());
    assert_eq!((summary.added, summary.new_messages), (0, 0), "a new plan has nothing to read");
    fixture.check();
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 0);
    assert_eq!(fixture.find("subject:first or subject:second"), ["first"]);
    assert_eq!(fixture.find("subject:late").len(), 5);
}

/// Runs something at each file that is read.
struct AtEachFile<F> {
    is_reading: AtomicBool,
    run: F,
}

impl<F: Fn() + Send + Sync> AtEachFile<F> {
    fn new(run: F) -> AtEachFile<F> {
        AtEachFile { is_reading: AtomicBool::new(false), run }
    }
}

impl<F: Fn() + Send + Sync> work::Progress for AtEachFile<F> {
    fn stage(&self, stage: work::Stage) {
        self.is_reading.store(stage == work::Stage::Read, Ordering::Relaxed);
    }

    fn add(&self, _items: u64, _bytes: u64) {
        if self.is_reading.load(Ordering::Relaxed) {
            (self.run)();
        }
    }
}

#[test]
fn the_lock_is_free_while_the_next_batch_is_read() {
    for thread_count in [1, 2] {
        // So many files that threads parse them, in batches of a few.
        let mut fixture = filled(200);
        fixture.environment.context.threads = work::Threads::Exactly(thread_count);
        let path = fixture.environment.data.join("index/lock");
        let started = Instant::now();
        let take = || {
            // Whoever publishes the batch before has it for some syncs. If it is kept for as long as this
            // batch is read, that never ends.
            while RealDisk.lock(&path, "a test", Wait::Refuse).is_err() {
                assert!(started.elapsed() < Duration::from_secs(60), "a pass reads with the lock held");
                std::thread::yield_now();
            }
        };
        let options = UpdateOptions { batch_message_count: 20, ..UpdateOptions::default() };
        index::update(&fixture.environment, &fixture.roots, &options, &AtEachFile::new(take)).unwrap();
        assert_eq!(fixture.find("words").len(), 200);
        fixture.check();
    }
}

#[test]
fn a_pass_without_new_messages_gives_no_number_back_that_another_one_has() {
    let fixture = filled(3);
    fixture.update();
    // The first pass reads one file, which is a copy. Meanwhile another one adds a message.
    fixture.put("f0", "cur", "copy.x:2,S", &message("m0", "subject 0", "words"));
    let meanwhile = Meanwhile::new(|| {
        fixture.put("f1", "cur", "late.x:2,S", &message("late", "late", "late words"));
        fixture.update();
    });
    index::update(&fixture.environment, &fixture.roots, &UpdateOptions::default(), &meanwhile).unwrap();
    fixture.put("f2", "cur", "later.x:2,S", &message("later", "later", "words"));
    fixture.update();
    fixture.check();
    assert_eq!(fixture.find("subject:late or subject:later").len(), 2);
    assert_eq!(fixture.find("body:late"), ["late"]);
}

#[test]
fn an_index_that_is_deleted_and_made_again_during_a_pass_is_not_taken_for_the_old_one() {
    let fixture = filled(23);
    let count = AtomicUsize::new(0);
    let replace = || {
        // Numbers are set aside, and the first batch is published.
        if count.fetch_add(1, Ordering::Relaxed) == 7 {
            fs::remove_dir_all(fixture.environment.data.join("index")).unwrap();
            // The other one has as many commits: one for the numbers, and one file.
            let environment = Environment { seed: 8, ..fixture.environment.clone() };
            let once = StopAfter::new(1);
            let stopped = index::update(&environment, &fixture.roots, &small_batches(), &once);
            assert!(matches!(stopped, Err(Error::Interrupted)));
        }
    };
    index::update(&fixture.environment, &fixture.roots, &small_batches(), &AtEachFile::new(replace)).unwrap();
    assert_eq!(fixture.find("words").len(), 23);
    fixture.check();
}

#[test]
fn a_mailbox_that_is_refreshed_in_the_middle_of_a_pass_answers_as_a_new_one() {
    let mut fixture = filled(40);
    // Nothing is published while the mailboxes are compared.
    fixture.environment.context.threads = work::Threads::Exactly(1);
    let own = index::OwnAddresses::new(&["bo@example.org".to_owned()]);
    fixture.update();
    for number in 40..80 {
        let content = message(&format!("m{number}"), &format!("subject {number}"), "words");
        fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
    }
    let ask = |mailbox: &Mailbox| {
        ["flag:personal", "", "flag:seen", "not words", "subject:subject"].map(|text| subjects(mailbox, text))
    };
    let followed = Mutex::new(fixture.mailbox().with_own_addresses(own.clone()));
    ask(&followed.lock().unwrap());
    let refresh = || {
        let mut followed = followed.lock().unwrap();
        if let Some(newer) = followed.newer(&fixture.environment).unwrap() {
            *followed = newer;
        }
        let fresh = Mailbox::open(&fixture.environment).unwrap().with_own_addresses(own.clone());
        assert_eq!(ask(&followed), ask(&fresh));
    };
    index::update(&fixture.environment, &fixture.roots, &small_batches(), &AtEachFile::new(refresh)).unwrap();
    refresh();
    assert_eq!(ask(&followed.lock().unwrap())[0].len(), 80);
}

/// An archive that holds nothing, or one message, and is asked only while the lock is free.
struct Asked<'a> {
    lock: &'a Path,
    message: Option<([u8; 32], Vec<u8>)>,
    count: AtomicUsize,
}

impl Asked<'_> {
    fn note(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        RealDisk.lock(self.lock, "a test", Wait::Refuse).expect("an archive may be far away");
    }
}

impl index::Archive for Asked<'_> {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        self.note();
        Ok(vec![false; sha256.len()])
    }
}

impl index::ReadableArchive for Asked<'_> {
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> index::Result<()>) -> index::Result<()> {
        self.message.iter().try_for_each(|(key, _)| visit(*key))
    }

    fn read(&self, _key: &[u8; 32]) -> index::Result<Option<index::ArchivedFile>> {
        self.note();
        let file = |(_, bytes): &([u8; 32], Vec<u8>)| index::ArchivedFile {
            bytes: bytes.clone(),
            named_seconds: None,
        };
        Ok(self.message.as_ref().map(file))
    }
}

#[test]
fn an_archive_is_asked_while_the_lock_is_free() {
    let fixture = filled(4);
    fixture.update();
    let lock = fixture.environment.data.join("index/lock");
    let bytes = message("old", "archived", "words").into_bytes();
    let message = Some((<[u8; 32]>::from(sha2::Sha256::digest(&bytes)), bytes));
    let archive = Asked { lock: &lock, message, count: AtomicUsize::new(0) };
    let options = UpdateOptions::default();
    let adopted = index::adopt(&fixture.environment, &archive, &options, &work::Silent).unwrap();
    assert_eq!((adopted.messages, archive.count.load(Ordering::Relaxed)), (1, 1));
    fs::remove_file(fixture.root().join("f1/cur/1.x:2,S")).unwrap();
    fixture.update();
    let swept = index::sweep(&fixture.environment, -1, &archive, &work::Silent).unwrap();
    assert_eq!((swept.forgotten, archive.count.load(Ordering::Relaxed) > 1), (2, true));
    fixture.check();
}

#[test]
fn a_first_index_that_read_nothing_does_not_decide_about_headers() {
    let fixture = Fixture::new();
    let content = message("m", "subject", "words").replace("Subject", "X-Mailer: elm\nSubject");
    fixture.put("f", "cur", "1.x:2,S", &content);
    // It sets numbers aside, and is killed.
    let interrupted = AtEachFile::new(|| panic!("the program is killed"));
    let run = || index::update(&fixture.environment, &fixture.roots, &UpdateOptions::default(), &interrupted);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    let headers = vec!["X-Mailer".to_owned()];
    fixture.update_with(&UpdateOptions { headers, ..UpdateOptions::default() });
    assert_eq!(fixture.find_with("x-mailer:elm", &["X-Mailer"]), ["subject"]);
    fixture.check();
}
