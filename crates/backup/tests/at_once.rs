//! Backups to a slow storage: several packs are stored at the same time, and progress says how much there is.
//!
//! Input: messages, and a storage whose writes wait until enough others wait. Output: how many waited; what
//! an observer hears.

use crate::support::{Fixture, init_with, lock, message, options, surroundings};
use backup::{BackupOptions, Target};
use restic::testing::MemoryStorage;
use restic::{FileKind, FileName, Id, Result, SaveOptions, Storage};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use work::{Progress, Silent};

/// How many packs have to be written at the same time.
const AT_ONCE: usize = 4;
/// After this time, no other write will come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A storage in memory that completes writes of packs together.
#[derive(Debug, Default)]
struct Slow {
    inner: MemoryStorage,
    packs: Mutex<Packs>,
    changed: Condvar,
    /// Whether writes have to wait yet.
    is_slow: AtomicBool,
}

/// The packs that are being written.
#[derive(Debug, Default)]
struct Packs {
    now: usize,
    most: usize,
    /// Whether a write waited in vain. Then no other write waits.
    is_given_up: bool,
}

impl Slow {
    fn wait_for_others(&self) {
        let mut packs = self.packs.lock().unwrap();
        packs.now += 1;
        packs.most = packs.most.max(packs.now);
        self.changed.notify_all();
        let is_alone = |packs: &mut Packs| packs.most < AT_ONCE && !packs.is_given_up;
        let (mut packs, waited) = self.changed.wait_timeout_while(packs, PATIENCE, is_alone).unwrap();
        packs.is_given_up |= waited.timed_out();
        packs.now -= 1;
    }
}

impl Storage for Slow {
    fn address(&self) -> String {
        self.inner.address()
    }

    fn create(&self) -> Result<()> {
        self.inner.create()
    }

    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>> {
        self.inner.list(kind)
    }

    fn read(&self, name: FileName) -> Result<Vec<u8>> {
        self.inner.read(name)
    }

    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        self.inner.read_range(name, offset, length)
    }

    fn size(&self, name: FileName) -> Result<Option<u64>> {
        self.inner.size(name)
    }

    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()> {
        if name.kind == FileKind::Pack && self.is_slow.load(Ordering::Relaxed) {
            self.wait_for_others();
        }
        self.inner.write(name, bytes)
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.inner.remove(name)
    }
}

#[test]
fn as_many_packs_are_stored_at_once_as_there_are_threads() {
    let fixture = Fixture::new();
    let slow = Arc::new(Slow::default());
    let mut surroundings = surroundings();
    surroundings.context.threads = work::Threads::Exactly(AT_ONCE);
    let repository = init_with(Arc::clone(&slow) as Arc<dyn Storage>, surroundings).unwrap();
    let lock = lock(&repository).unwrap();
    let target = Target { repository: &repository, lock: &lock };
    let save = SaveOptions { pack_bytes_min: 1024, ..SaveOptions::default() };
    let options = BackupOptions { save, ..options() };
    let backup = || backup::backup(&fixture.environment, &target, &options, &Silent).unwrap();
    fixture.index();
    backup();
    for number in 0..60u64 {
        let line = |line: u64| format!("{:x}\n", (number * 200 + line).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let noise: String = (0..200).map(line).collect();
        fixture.put("inbox", "cur", &format!("{}.m:2,", 100 + number), noise.as_bytes());
    }
    fixture.index();
    slow.is_slow.store(true, Ordering::Relaxed);
    assert_eq!(backup().problems, []);
    let packs = slow.packs.lock().unwrap();
    assert_eq!((packs.most, packs.is_given_up), (AT_ONCE, false));
}

/// How much there is to do, and how much of that was done.
#[derive(Debug, Default)]
struct Amounts {
    expected: AtomicU64,
    done: AtomicU64,
}

impl Progress for Amounts {
    fn expect(&self, items: u64, bytes: u64) {
        assert_eq!((bytes, self.done.load(Ordering::Relaxed)), (0, 0), "the amount comes first");
        self.expected.fetch_add(items, Ordering::Relaxed);
    }

    fn add(&self, items: u64, _bytes: u64) {
        self.done.fetch_add(items, Ordering::Relaxed);
    }
}

#[test]
fn the_number_of_messages_is_known_before_the_first_is_read() {
    let fixture = Fixture::new();
    let repository = init_with(Arc::new(MemoryStorage::default()), surroundings()).unwrap();
    let lock = lock(&repository).unwrap();
    let target = Target { repository: &repository, lock: &lock };
    let amounts = || {
        fixture.index();
        let amounts = Amounts::default();
        backup::backup(&fixture.environment, &target, &options(), &amounts).unwrap();
        (amounts.expected.into_inner(), amounts.done.into_inner())
    };
    assert_eq!(amounts(), (8, 8), "a first backup");
    assert_eq!(amounts(), (8, 8), "nothing changed");
    fixture.put("inbox", "cur", "60.x:2,", message(60).as_bytes());
    assert_eq!(amounts(), (9, 9), "one folder changed");
}
