//! The disk itself: its files, the requested faults, and how each operation happens.
//!
//! Input: faults that a test requests, and operations one by one. Output: the state that an operation leaves,
//! or its error. Does not depend on what the operations are for.

use super::fault::{Crashed, Faults, Refusal};
use super::operation::Operation;
use super::state::State;
use disk::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Observes the disk in the middle of each operation.
type Observer = Arc<dyn Fn(usize, &SimDisk) + Send + Sync>;

/// A disk in memory. A clone is the same disk; [`SimDisk::fork`] makes another one.
#[derive(Clone)]
pub struct SimDisk {
    inner: Arc<Mutex<Inner>>,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    Whole,
    /// By this many.
    Shares(usize),
}

pub(super) struct Inner {
    pub(super) seed: u64,
    pub(super) state: State,
    pub(super) faults: Faults,
    observer: Option<Observer>,
    pub(super) trace: Vec<Operation>,
    pub(super) locks: BTreeMap<PathBuf, Held>,
}

impl SimDisk {
    /// Returns an empty disk.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk::from_state(seed, State::default())
    }

    pub(super) fn from_state(seed: u64, state: State) -> SimDisk {
        let (faults, trace, locks) = (Faults::default(), Vec::new(), BTreeMap::new());
        let inner = Inner { seed, state, faults, observer: None, trace, locks };
        SimDisk { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Returns another disk with the same files, durable and not: what the next process finds after this one
    /// was killed. It counts from 0, and has no locks and no faults.
    pub fn fork(&self) -> SimDisk {
        let inner = self.inner();
        SimDisk::from_state(inner.seed, inner.state.clone())
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

    /// Crashes at operation `number`. The operation happens, but nothing of it is durable. It and all later
    /// operations return an error for which [`SimDisk::is_crash`] is true.
    pub fn crash_at(&self, number: usize) {
        self.inner().faults.crash_at = Some(number);
    }

    /// Returns whether the crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.inner().faults.has_crashed
    }

    /// Returns whether `error` is the simulated crash.
    pub fn is_crash(error: &Error) -> bool {
        let Error::Io { source, .. } = error else { return false };
        source.get_ref().and_then(|inner| inner.downcast_ref::<Crashed>()).is_some()
    }

    /// Refuses only operation `number`, if `refusal` applies to it.
    pub fn refuse_at(&self, number: usize, refusal: Refusal) {
        self.inner().faults.refuse = Some((number..number + 1, refusal));
    }

    /// Refuses operation `number` and all later ones to which `refusal` applies.
    pub fn refuse_from(&self, number: usize, refusal: Refusal) {
        self.inner().faults.refuse = Some((number..usize::MAX, refusal));
    }

    /// Stops all refusals.
    pub fn allow_all(&self) {
        self.inner().faults.refuse = None;
    }

    /// Runs `action` right before operation `number`, as another process might. It may use this disk.
    pub fn interrupt_at(&self, number: usize, action: impl FnOnce() + Send + 'static) {
        self.inner().faults.interrupt = Some((number, Box::new(action)));
    }

    /// Calls `observer` in the middle of each operation that changes anything (the operation has happened,
    /// but nothing of it is durable), with its number and this disk. The observer may fork the disk or get
    /// its images. It must not change the disk, because that would be observed, too.
    pub fn observe(&self, observer: impl Fn(usize, &SimDisk) + Send + Sync + 'static) {
        self.inner().observer = Some(Arc::new(observer));
    }

    /// Ends [`SimDisk::observe`].
    pub fn observe_no_more(&self) {
        self.inner().observer = None;
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

    /// Returns the content of the lock. A test that panicked while it held the lock must not hide its message
    /// behind another panic.
    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation: counts it, and returns its error, if it has one.
    pub(super) fn begin(&self, operation: Operation) -> Result<Turn<'_>> {
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

/// A running operation, alone with the disk.
pub(super) struct Turn<'a> {
    disk: &'a SimDisk,
    pub(super) inner: MutexGuard<'a, Inner>,
    number: usize,
    pub(super) operation: Operation,
}

impl<'a> Turn<'a> {
    /// Makes the change, which is visible at once but not durable yet. At this moment the disk may crash or
    /// be observed.
    pub(super) fn happen<T>(
        mut self,
        change: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> Result<(Turn<'a>, T)> {
        let result = change(&mut self.inner.state);
        if self.inner.faults.crashes(self.number) {
            return Err(self.operation.error(io::Error::other(Crashed)));
        }
        let value = result.map_err(|source| self.operation.error(source))?;
        let observer = self.inner.observer.clone().filter(|_| self.operation.changes());
        if let Some(observer) = observer {
            let Turn { disk, inner, number, operation } = self;
            drop(inner);
            observer(number, disk);
            self = Turn { disk, inner: disk.inner(), number, operation };
        }
        Ok((self, value))
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner();
        let (files, operations) = (inner.state.files().len(), inner.trace.len());
        write!(formatter, "SimDisk({files} files, {operations} operations)")
    }
}
