//! Something else happens on the disk at a certain call: a merge during a check, another first index during a
//! first index, a writer and the end of the work at the end of a rebuild.

use crate::support::{Fixture, message};
use disk::{Disk, File, Lock, Map, RealDisk, Result, Wait};
use index::{Environment, Mailbox, UpdateOptions};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use work::{Cancel, Context, Silent};

/// What happens at that call.
type Race = Box<dyn FnOnce() + Send>;

/// The real disk. Something happens just before one chosen call.
struct RacingDisk {
    /// Selects the calls that are counted.
    counts: fn(Call<'_>) -> bool,
    calls: AtomicUsize,
    at: usize,
    race: Mutex<Option<Race>>,
}

/// A call that can be counted.
#[derive(Clone, Copy)]
enum Call<'a> {
    Map,
    Lock(&'a Path),
}

impl RacingDisk {
    fn new(counts: fn(Call<'_>) -> bool, at: usize, race: impl FnOnce() + Send + 'static) -> Arc<RacingDisk> {
        Arc::new(RacingDisk {
            counts,
            calls: AtomicUsize::new(0),
            at,
            race: Mutex::new(Some(Box::new(race))),
        })
    }

    fn count(&self, call: Call<'_>) {
        if (self.counts)(call) && self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            let race = self.race.lock().unwrap().take();
            race.into_iter().for_each(|race| race());
        }
    }
}

impl fmt::Debug for RacingDisk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RacingDisk")
    }
}

impl Disk for RacingDisk {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        RealDisk.list(directory)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        RealDisk.read(path)
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        RealDisk.read_range(path, offset, length_bytes)
    }

    fn size(&self, path: &Path) -> Result<u64> {
        RealDisk.size(path)
    }

    fn map(&self, path: &Path) -> Result<Map> {
        self.count(Call::Map);
        RealDisk.map(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        RealDisk.create(path)
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn File>> {
        RealDisk.append(path, length_bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        RealDisk.remove(path)
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        RealDisk.create_directory(directory)
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        RealDisk.sync_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        RealDisk.sync_directory(directory)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        self.count(Call::Lock(path));
        RealDisk.lock(path, holder, wait)
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock> {
        RealDisk.share_lock(path, wait)
    }
}

fn put(fixture: &Fixture, number: usize) {
    let content = message(&format!("m{number}"), &format!("subject {number}"), "words");
    fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
}

fn environment_on(fixture: &Fixture, disk: &Arc<RacingDisk>) -> Environment {
    Environment { disk: disk.clone(), ..fixture.environment.clone() }
}

#[test]
fn a_check_beside_a_merging_writer_finds_no_damage() {
    let fixture = Fixture::new();
    // Seven text segments, so that the next pass merges them.
    for number in 0..7 {
        put(&fixture, number);
        fixture.update();
    }
    assert_eq!(fixture.mailbox().counts().unwrap().text_segments, 7);
    let counting = RacingDisk::new(|call| matches!(call, Call::Map), usize::MAX, || ());
    Mailbox::open(&environment_on(&fixture, &counting)).unwrap();
    let opening = counting.calls.load(Ordering::Relaxed);
    put(&fixture, 7);
    let (environment, roots) = (fixture.environment.clone(), fixture.roots.clone());
    // The merge removes files that the check has opened.
    let racing = RacingDisk::new(
        |call| matches!(call, Call::Map),
        opening,
        move || {
            index::update(&environment, &roots, &UpdateOptions::default(), &Silent).unwrap();
        },
    );
    let damage = index::check(&environment_on(&fixture, &racing), index::Depth::Deep).unwrap();
    assert!(racing.race.lock().unwrap().is_none(), "somebody wrote meanwhile");
    assert!(fixture.mailbox().counts().unwrap().text_segments < 7, "and merged");
    assert!(damage.is_empty(), "{damage:#?}");
}

#[test]
fn two_first_indexes_at_once_agree_and_the_directory_is_tagged() {
    let fixture = Fixture::new();
    (0..7).for_each(|number| put(&fixture, number));
    let (environment, roots) = (fixture.environment.clone(), fixture.roots.clone());
    // There is no index when the first pass looks, but there is one when the pass is about to create it.
    let is_writers = |call: Call<'_>| matches!(call, Call::Lock(path) if path.ends_with("index/lock"));
    let racing = RacingDisk::new(is_writers, 0, move || {
        index::update(&environment, &roots, &UpdateOptions::default(), &Silent).unwrap();
    });
    let environment = environment_on(&fixture, &racing);
    index::update(&environment, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    assert!(racing.race.lock().unwrap().is_none());
    assert_eq!(fixture.find("words").len(), 7);
    fixture.check();
    let tag = fixture.environment.index_directory().join("CACHEDIR.TAG");
    let signature = "Signature: 8a477f597d28d172789f06886806bc55";
    assert!(std::fs::read_to_string(&tag).unwrap().starts_with(signature));
    // If a pass is killed before it writes the tag, the next pass writes it.
    std::fs::remove_file(&tag).unwrap();
    put(&fixture, 8);
    fixture.update();
    assert!(std::fs::read_to_string(&tag).unwrap().starts_with(signature));
}

#[test]
fn an_end_after_the_new_index_is_published_is_no_interruption() {
    let fixture = Fixture::new();
    (0..7).for_each(|number| put(&fixture, number));
    fixture.update();
    put(&fixture, 7);
    let is_writers = |call: Call<'_>| match call {
        Call::Lock(path) => path.ends_with("index/lock") && !path.ends_with("rebuild/index/lock"),
        Call::Map => false,
    };
    // The first time it publishes, the second time it removes what nobody needs any more.
    let held = Arc::new(Mutex::new(None));
    let (lock, keeps) = (fixture.environment.index_directory().join("lock"), Arc::clone(&held));
    let context = Context { cancel: Cancel::new(), ..fixture.environment.context.clone() };
    let cancel = context.cancel.clone();
    let racing = RacingDisk::new(is_writers, 1, move || {
        *keeps.lock().unwrap() = Some(RealDisk.lock(&lock, "a test", Wait::Refuse).unwrap());
        cancel.cancel();
    });
    let environment = Environment { context, ..environment_on(&fixture, &racing) };
    let summary = index::rebuild(&environment, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    assert!(held.lock().unwrap().take().is_some(), "another process wrote meanwhile");
    assert_eq!((summary.added, fixture.find("words").len()), (8, 8));
    fixture.check();
}
