//! For tests of this crate and of its users: a storage in memory, and surroundings that are the same each
//! time.

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::{Parts, Version};
use crate::storage::{Storage, check_size};
use crate::surroundings::Surroundings;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use work::Context;
use zeroize::Zeroizing;

/// The time at which all tests begin: 2026-11-21 10:02 UTC.
pub const CLOCK_NS: i64 = 1_795_255_320_000_000_000;
/// The only process that is alive on the machine of [`surroundings`], besides its own.
pub const LIVING_PROCESS: u32 = 77;
const OWN_PROCESS: u32 = 12;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(CLOCK_NS) };
    static RANDOM: Cell<u64> = const { Cell::new(1) };
}

/// Returns surroundings whose clock and random bytes belong to the calling thread. The clock advances only
/// when something sleeps.
pub fn surroundings() -> Surroundings {
    Surroundings {
        context: Context::new(clock_ns, 2),
        fill_random,
        sleep: advance,
        hostname: "tower".to_owned(),
        username: "ana".to_owned(),
        uid: 1000,
        gid: 100,
        process: OWN_PROCESS,
        is_alive: |process| matches!(process, OWN_PROCESS | LIVING_PROCESS),
        place: Some("run 1".to_owned()),
        started: |process| {
            matches!(process, OWN_PROCESS | LIVING_PROCESS).then_some(u64::from(process) * 100)
        },
    }
}

/// Returns what work on a repository of version 2 in `storage` needs, with a key that is the same each time.
///
/// # Panics
/// Never: the key is not zero.
pub fn parts(storage: &Arc<MemoryStorage>) -> Parts {
    let key = Key::from_bytes(Zeroizing::new([5; Key::BYTES])).expect("the key is not zero");
    let storage: Arc<dyn Storage> = Arc::clone(storage) as Arc<dyn Storage>;
    Parts { storage, key: Arc::new(key), surroundings: surroundings(), version: Version::Two }
}

/// Returns the time of this thread's clock.
pub fn clock_ns() -> i64 {
    CLOCK.get()
}

/// Moves this thread's clock.
pub fn advance(time: Duration) {
    let ns = i64::try_from(time.as_nanos()).expect("tests wait less than centuries");
    CLOCK.set(CLOCK.get() + ns);
}

/// Fills with bytes that look random and are the same each time (splitmix64).
fn fill_random(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        let state = RANDOM.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        RANDOM.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..chunk.len()]);
    }
}

/// Returns whether an operation fails. It is asked before each one, may change the storage itself, and is
/// called by one thread at a time.
type Refuse = Box<dyn FnMut(&str) -> bool + Send>;

/// Changes what is read but not what is stored, like an unreliable line. It gets the name of the operation.
type Spoil = Box<dyn FnMut(&str, &mut Vec<u8>) + Send>;

/// A storage in memory. Operations are called `create`, `list locks`, `read config`, `size config`, `write
/// keys/1a2b..`, `remove ..`.
#[derive(Default)]
pub struct MemoryStorage {
    files: Mutex<BTreeMap<FileName, Arc<Vec<u8>>>>,
    operations: Mutex<Vec<String>>,
    refuse: Mutex<Option<Refuse>>,
    spoil: Mutex<Option<Spoil>>,
}

impl MemoryStorage {
    /// Returns an empty one.
    pub fn new() -> Arc<MemoryStorage> {
        Arc::new(MemoryStorage::default())
    }

    /// Lets `refuse` say from now on which operations fail.
    pub fn refuse(&self, refuse: impl FnMut(&str) -> bool + Send + 'static) {
        *lock(&self.refuse) = Some(Box::new(refuse));
    }

    /// Lets all operations be done again.
    pub fn refuse_nothing(&self) {
        *lock(&self.refuse) = None;
    }

    /// From now on, `spoil` changes what is read.
    pub fn spoil(&self, spoil: impl FnMut(&str, &mut Vec<u8>) + Send + 'static) {
        *lock(&self.spoil) = Some(Box::new(spoil));
    }

    /// Returns all operations since the last call.
    pub fn operations(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.operations))
    }

    /// Stores a file whose content need not match its name, as damage does.
    pub fn put(&self, name: FileName, bytes: Vec<u8>) {
        lock(&self.files).insert(name, Arc::new(bytes));
    }

    /// Removes a file, as another process does.
    pub fn take(&self, name: FileName) {
        lock(&self.files).remove(&name);
    }

    /// Returns all files of a kind, by name.
    pub fn ids(&self, kind: FileKind) -> Vec<Id> {
        lock(&self.files).keys().filter(|name| name.kind == kind).map(|name| name.id).collect()
    }

    fn begin(&self, operation: String) -> Result<()> {
        let fails = lock(&self.refuse).as_mut().is_some_and(|refuse| refuse(&operation));
        lock(&self.operations).push(operation.clone());
        match fails {
            false => Ok(()),
            true => {
                Err(Error::Storage { action: operation, address: self.address(), what: "refused".to_owned() })
            }
        }
    }

    /// Returns what comes of bytes on their way.
    fn arrived(&self, operation: &str, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(spoil) = lock(&self.spoil).as_mut() {
            spoil(operation, &mut bytes);
        }
        bytes
    }

    fn file(&self, name: FileName) -> Result<Arc<Vec<u8>>> {
        let missing = || match name {
            FileName::CONFIG => Error::NoRepository { address: self.address() },
            _ => Error::Missing { file: name, address: self.address() },
        };
        lock(&self.files).get(&name).cloned().ok_or_else(missing)
    }
}

impl Storage for MemoryStorage {
    fn address(&self) -> String {
        "memory".to_owned()
    }

    fn create(&self) -> Result<()> {
        self.begin("create".to_owned())
    }

    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>> {
        self.begin(format!("list {}", kind.directory()))?;
        let files = lock(&self.files);
        let of_kind = files.iter().filter(|(name, _)| name.kind == kind);
        Ok(of_kind.map(|(name, bytes)| (name.id, bytes.len() as u64)).collect())
    }

    fn read(&self, name: FileName) -> Result<Vec<u8>> {
        self.begin(format!("read {name}"))?;
        let bytes = self.file(name)?;
        check_size(name, bytes.len() as u64)?;
        Ok(self.arrived(&format!("read {name}"), bytes.to_vec()))
    }

    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        self.begin(format!("read {name} {offset}+{length}"))?;
        let file = self.file(name)?;
        let range = usize::try_from(offset).ok().and_then(|begin| file.get(begin..)?.get(..length as usize));
        let short =
            || Error::damage(name, format!("it has {} bytes, too few for {offset}+{length}", file.len()));
        let bytes = range.map(<[u8]>::to_vec).ok_or_else(short)?;
        Ok(self.arrived(&format!("read {name} {offset}+{length}"), bytes))
    }

    fn size(&self, name: FileName) -> Result<Option<u64>> {
        self.begin(format!("size {name}"))?;
        Ok(lock(&self.files).get(&name).map(|bytes| bytes.len() as u64))
    }

    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()> {
        self.begin(format!("write {name}"))?;
        let before = lock(&self.files).insert(name, Arc::new(bytes.to_vec()));
        assert!(before.is_none(), "{name} is written a second time");
        Ok(())
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.begin(format!("remove {name}"))?;
        lock(&self.files).remove(&name);
        Ok(())
    }
}

impl Debug for MemoryStorage {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "MemoryStorage({} files)", lock(&self.files).len())
    }
}

/// A test that failed while it held the lock has said so already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_only_when_somebody_sleeps() {
        let surroundings = surroundings();
        assert_eq!((surroundings.context.now_ns(), surroundings.context.now_ns()), (CLOCK_NS, CLOCK_NS));
        (surroundings.sleep)(Duration::from_secs(2));
        assert_eq!(surroundings.context.now_ns(), CLOCK_NS + 2_000_000_000);
        let mut random = [0; 12];
        (surroundings.fill_random)(&mut random);
        assert_eq!(random[..8], 0x910a_2dec_8902_5cc1_u64.to_le_bytes());
    }

    #[test]
    fn a_storage_does_what_it_promises_or_what_a_test_wants() {
        let storage = MemoryStorage::new();
        let name = FileName { kind: FileKind::Pack, id: Id([1; 32]) };
        assert!(matches!(storage.read(name), Err(Error::Missing { .. })));
        storage.write(name, b"content").unwrap();
        assert_eq!(
            (storage.list(FileKind::Pack).unwrap(), storage.size(name).unwrap()),
            (vec![(name.id, 7)], Some(7))
        );
        assert_eq!(storage.read_range(name, 3, 4).unwrap(), b"tent");
        assert!(matches!(storage.read_range(name, 4, 4), Err(Error::Damage { .. })));
        storage.refuse(|operation| operation.starts_with("remove"));
        assert!(storage.remove(name).is_err() && storage.read(name).is_ok());
        storage.refuse_nothing();
        storage.remove(name).unwrap();
        assert!(storage.list(FileKind::Pack).unwrap().is_empty() && storage.ids(FileKind::Pack).is_empty());
        assert_eq!(storage.operations().last().unwrap(), "list data");
    }
}
