//! Backups to a slow storage: several packs are stored at the same time.
//!
//! Input: messages, and a storage whose writes wait until enough others wait. Output: how many waited.

use crate::support::{Fixture, init_with, lock, options, surroundings};
use backup::{BackupOptions, Target};
use restic::testing::MemoryStorage;
use restic::{FileKind, FileName, Id, Result, SaveOptions, Storage};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use work::Silent;

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
    surroundings.context.thread_count = AT_ONCE;
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
