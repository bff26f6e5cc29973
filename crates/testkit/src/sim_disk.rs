//! A disk in memory that counts, refuses and crashes, and then shows every state it could be found in.
//!
//! Comes in: the operations of a [`Disk`]. Goes out: the same answers a real disk gives, until a test asks for a fault. Must not know
//! what the files mean.
//!
//! # What is modelled
//!
//! The rules are those of [the crate `disk`](disk#what-is-durable-and-when), taken at their word: what they do not promise does not
//! hold. In particular
//!
//! - written bytes are seen by everybody at once, and after a crash by nobody for sure until [`disk::File::sync`]. Until then each
//!   512-byte sector is there or not (not: zeros, or what was there before), and the file has any length between the two;
//! - a created, renamed or removed name is seen at once, and after a crash for sure only after [`Disk::sync_directory`]. Until then
//!   each such change has happened or not, whatever was asked before or after it; a file that was synced may have no name, and a
//!   file whose name is there may be empty. One rename happens wholly or not at all;
//! - a sector that was written is never torn, and bytes that were synced stay what they were: decay is what [`SimDisk::flip`] and
//!   [`SimDisk::cut`] are for;
//! - a [`disk::File`] whose write or sync was refused refuses all else, as the real one does, and has cut the file back or not (a
//!   matter of the seed); a refused write may have written a part;
//! - locks are between those who use one `SimDisk`. Who asks to wait for a held lock gets an error: tests have one thread, and would
//!   wait forever. All locks end with a crash.
//!
//! Not modelled: hard and symbolic links, modes, several paths for one file (`a/../b`), SIGBUS (maps are copies), and a system that calls
//! pages clean which it failed to write *and* could not cut.
//!
//! # Numbers
//!
//! Operations are counted from 0, reading ones too. Everything is the same each time for the same seed.

mod drive;
mod fault;
mod file;
mod images;
mod operation;
mod state;

pub use drive::{
    Acknowledged, Runs, crash_at_every_operation, fail_at_every_operation, interrupt_at_every_operation,
};
pub use fault::Refusal;
pub use images::Image;
pub use operation::Operation;

use crate::Random;
use disk::{Disk, Error, Lock, Map, Result, Wait};
use fault::{Crashed, Faults};
use file::SimFile;
use state::State;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the random numbers of images apart from those of refused writes.
const IMAGES_STREAM: u64 = 1;
const REFUSALS_STREAM: u64 = 2;

/// A disk in memory. A clone is the same disk; [`SimDisk::fork`] makes another one.
#[derive(Clone)]
pub struct SimDisk {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    seed: u64,
    state: State,
    faults: Faults,
    trace: Vec<Operation>,
    locks: BTreeSet<PathBuf>,
}

impl SimDisk {
    /// Returns an empty disk.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk::from_state(seed, State::default())
    }

    fn from_state(seed: u64, state: State) -> SimDisk {
        let (faults, trace, locks) = (Faults::default(), Vec::new(), BTreeSet::new());
        SimDisk { inner: Arc::new(Mutex::new(Inner { seed, state, faults, trace, locks })) }
    }

    /// Returns another disk with the same files, durable and not: what the next process finds when this one was killed. It counts
    /// from 0, and has no locks and no faults.
    pub fn fork(&self) -> SimDisk {
        let inner = self.inner();
        SimDisk::from_state(inner.seed, inner.state.clone())
    }

    /// Returns the disks that may be found after a crash at this moment, 12 at the most, each only once. All on them is durable.
    pub fn images(&self) -> Vec<Image> {
        let inner = self.inner();
        let mut random = Random::of(inner.seed, IMAGES_STREAM, inner.trace.len() as u64);
        images::images(inner.seed, &inner.state, &mut random)
    }

    /// Returns how many operations there were. The next one has this number.
    pub fn operation_count(&self) -> usize {
        self.inner().trace.len()
    }

    /// Returns all operations so far.
    pub fn trace(&self) -> Vec<Operation> {
        self.inner().trace.clone()
    }

    /// Returns the paths of all files as running programs see them.
    pub fn files(&self) -> Vec<PathBuf> {
        self.inner().state.files()
    }

    /// Crashes at operation `number`: it happens, but nothing of it is durable, and it and all later ones return an error that
    /// [`SimDisk::is_crash`].
    pub fn crash_at(&self, number: usize) {
        self.inner().faults.crash_at = Some(number);
    }

    /// Says whether the crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.inner().faults.has_crashed
    }

    /// Says whether `error` is the simulated crash.
    pub fn is_crash(error: &Error) -> bool {
        let Error::Io { source, .. } = error else { return false };
        source.get_ref().and_then(|inner| inner.downcast_ref::<Crashed>()).is_some()
    }

    /// Refuses operation `number`, if it is one that `refusal` concerns, and no other.
    pub fn refuse_at(&self, number: usize, refusal: Refusal) {
        self.inner().faults.refuse = Some((number..number + 1, refusal));
    }

    /// Refuses operation `number` and all later ones that `refusal` concerns.
    pub fn refuse_from(&self, number: usize, refusal: Refusal) {
        self.inner().faults.refuse = Some((number..usize::MAX, refusal));
    }

    /// Refuses nothing any more.
    pub fn allow_all(&self) {
        self.inner().faults.refuse = None;
    }

    /// Runs `action` right before operation `number`, as another process might; it may use this disk.
    pub fn interrupt_at(&self, number: usize, action: impl FnOnce() + Send + 'static) {
        self.inner().faults.interrupt = Some((number, Box::new(action)));
    }

    /// Calls `observer` in the middle of each operation that changes anything (it has happened, but nothing of it is durable), with
    /// its number and this disk: to be forked or asked for its images, since what is done to it would be observed in its turn.
    pub fn observe(&self, observer: impl Fn(usize, &SimDisk) + Send + Sync + 'static) {
        self.inner().faults.observer = Some(Arc::new(observer));
    }

    /// Undoes [`SimDisk::observe`].
    pub fn observe_no_more(&self) {
        self.inner().faults.observer = None;
    }

    /// Flips the lowest bit of the byte at `offset` of a file, durably.
    ///
    /// # Panics
    /// If there is no such file or byte.
    pub fn flip(&self, path: &Path, offset: usize) {
        self.damage(path, |bytes| bytes[offset] ^= 1);
    }

    /// Cuts a file to `length_bytes`, durably.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn cut(&self, path: &Path, length_bytes: usize) {
        self.damage(path, |bytes| bytes.truncate(length_bytes));
    }

    /// Replaces or creates a file, durably. Its directory must be there.
    ///
    /// # Panics
    /// If its directory is not there.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        self.inner().state.put(path, bytes);
    }

    fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut inner = self.inner();
        let mut bytes = inner.state.read(path).expect("a file to be damaged is there").to_vec();
        change(&mut bytes);
        inner.state.put(path, &bytes);
    }

    /// Returns what is behind the lock. A test that panicked while it held it must not hide its message behind another panic.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation: counts it, and returns the error it meets if it meets one.
    fn begin(&self, operation: Operation) -> Result<Turn<'_>> {
        let mut inner = self.inner();
        let count = inner.trace.len();
        if let Some((_, action)) = inner.faults.interrupt.take_if(|(number, _)| *number == count) {
            drop(inner);
            action();
            inner = self.inner();
        }
        let number = inner.trace.len();
        inner.trace.push(operation.clone());
        match inner.faults.error(number, &operation) {
            Some(error) => Err(operation.error(error)),
            None => Ok(Turn { disk: self, inner, number, operation }),
        }
    }
}

/// An operation under way, alone with the disk.
struct Turn<'a> {
    disk: &'a SimDisk,
    inner: MutexGuard<'a, Inner>,
    number: usize,
    operation: Operation,
}

impl<'a> Turn<'a> {
    /// Does what is seen at once and not yet durable; then is the moment for a crash, or for somebody to look at the disk.
    fn happen<T>(mut self, change: impl FnOnce(&mut State) -> io::Result<T>) -> Result<(Turn<'a>, T)> {
        let result = change(&mut self.inner.state);
        if self.inner.faults.crashes(self.number) {
            return Err(self.operation.error(io::Error::other(Crashed)));
        }
        let value = result.map_err(|source| self.operation.error(source))?;
        let observer = self.inner.faults.observer.clone().filter(|_| self.operation.changes());
        if let Some(observer) = observer {
            let Turn { disk, inner, number, operation } = self;
            drop(inner);
            observer(number, disk);
            self = Turn { disk, inner: disk.inner(), number, operation };
        }
        Ok((self, value))
    }
}

impl Disk for SimDisk {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        let turn = self.begin(Operation::List(directory.to_owned()))?;
        Ok(turn.happen(|state| state.list(directory))?.1)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let turn = self.begin(Operation::Read(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(<[u8]>::to_vec))?.1)
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        let turn = self.begin(Operation::ReadRange { path: path.to_owned(), offset, length_bytes })?;
        Ok(turn.happen(|state| state.read_range(path, offset, length_bytes))?.1)
    }

    fn size(&self, path: &Path) -> Result<u64> {
        let turn = self.begin(Operation::Size(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(|bytes| bytes.len() as u64))?.1)
    }

    fn map(&self, path: &Path) -> Result<Map> {
        let turn = self.begin(Operation::Map(path.to_owned()))?;
        Ok(turn.happen(|state| state.read(path).map(Map::from))?.1)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn disk::File>> {
        let turn = self.begin(Operation::Create(path.to_owned()))?;
        let (_, inode) = turn.happen(|state| state.create(path))?;
        Ok(Box::new(SimFile::new(self, inode, path, 0)))
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn disk::File>> {
        let turn = self.begin(Operation::Append { path: path.to_owned(), length_bytes })?;
        let (mut turn, (inode, length_bytes)) =
            turn.happen(|state| state.cut_for_append(path, length_bytes))?;
        turn.inner.state.sync(inode);
        Ok(Box::new(SimFile::new(self, inode, path, length_bytes)))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        assert_eq!(from.parent(), to.parent(), "one sync of one directory must make a rename durable");
        let turn = self.begin(Operation::Rename { from: from.to_owned(), to: to.to_owned() })?;
        turn.happen(|state| state.rename(from, to)).map(|_| ())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let turn = self.begin(Operation::Remove(path.to_owned()))?;
        turn.happen(|state| state.remove(path)).map(|_| ())
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        let turn = self.begin(Operation::CreateDirectory(directory.to_owned()))?;
        let (mut turn, ()) = turn.happen(|state| state.create_directory(directory))?;
        turn.inner.state.sync_new_directories();
        Ok(())
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        let turn = self.begin(Operation::SyncDirectory(directory.to_owned()))?;
        let (mut turn, ()) = turn.happen(|state| state.list(directory).map(|_| ()))?;
        turn.inner.state.sync_directory(directory);
        Ok(())
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        let turn = self.begin(Operation::Lock(path.to_owned()))?;
        if turn.inner.locks.contains(path) {
            return Err(match wait {
                Wait::Refuse => Error::Locked { path: path.to_owned(), holder: turn.inner.state.text(path) },
                Wait::Block => {
                    turn.operation.error(io::Error::other("it is held, and the wait would never end"))
                }
            });
        }
        let (mut turn, ()) = turn.happen(|state| state.replace_unsynced(path, holder.as_bytes()))?;
        turn.inner.locks.insert(path.to_owned());
        Ok(Lock::new(Held { disk: self.clone(), path: path.to_owned() }))
    }
}

/// A held lock.
struct Held {
    disk: SimDisk,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.disk.inner().locks.remove(&self.path);
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner();
        let (files, operations) = (inner.state.files().len(), inner.trace.len());
        write!(formatter, "SimDisk({files} files, {operations} operations)")
    }
}
