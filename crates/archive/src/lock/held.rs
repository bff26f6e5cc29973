//! A lock that is held: renewed in time, known to be lost when it could not be, removed at the end.
//!
//! Comes in: time that passes. Goes out: whether work may go on. Must not know what others hold.
//!
//! A thread looks at the clock each second, because a machine that slept has not counted the time. After five minutes it writes a new file and removes
//! the old one. If no renewal was possible for 22.5 minutes, others may soon take the lock for stale: then it is renewed only if its file
//! is still there before and after, and is lost otherwise. The same holds if a renewal that began in time took too long. The file that
//! proves it is always one that was there in time.

use super::LockKind;
use super::note::Note;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::storage::{FileKind, FileName};
use crate::unpacked::{self, Parts};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// A lock; it is removed when this is dropped.
#[derive(Debug)]
pub struct HeldLock {
    keeper: Arc<Keeper>,
    thread: Option<JoinHandle<()>>,
}

/// Gives a lock up while its holder is busy elsewhere: for a process that is about to end.
#[derive(Clone, Debug)]
pub struct Surrender(Weak<Keeper>);

/// How often the clock is looked at.
const LOOK: Duration = Duration::from_secs(1);
const NS_A_MINUTE: i64 = 60 * 1_000_000_000;
const RENEW_NS: i64 = 5 * NS_A_MINUTE;
/// Half an hour, less one and a half renewals.
const LOST_NS: i64 = 30 * NS_A_MINUTE - RENEW_NS / 2 * 3;

#[derive(Debug)]
struct Keeper {
    parts: Parts,
    kind: LockKind,
    /// The lock's files: the newest is the last, others could not be removed yet. Held while they are exchanged.
    files: Mutex<Vec<Id>>,
    renewed_ns: AtomicI64,
    tried_ns: AtomicI64,
    is_lost: AtomicBool,
    is_over: Mutex<bool>,
    wake: Condvar,
}

impl HeldLock {
    /// Writes a lock, whoever else has one.
    pub(super) fn write(parts: &Parts, kind: LockKind) -> Result<HeldLock> {
        let (id, ns) = write_note(parts, kind)?;
        let keeper = Keeper {
            parts: parts.clone(),
            kind,
            files: Mutex::new(vec![id]),
            renewed_ns: AtomicI64::new(ns),
            tried_ns: AtomicI64::new(ns),
            is_lost: AtomicBool::new(false),
            is_over: Mutex::new(false),
            wake: Condvar::new(),
        };
        Ok(HeldLock { keeper: Arc::new(keeper), thread: None })
    }

    /// Begins to renew it.
    pub(super) fn keep(&mut self) -> Result<()> {
        let keeper = Arc::clone(&self.keeper);
        let thread = std::thread::Builder::new().name("lock".to_owned()).spawn(move || keeper.keep());
        self.thread = Some(thread.map_err(|error| Error::Storage {
            action: "keep a lock".to_owned(),
            address: self.keeper.parts.storage.address(),
            what: error.to_string(),
        })?);
        Ok(())
    }

    /// Returns what it allows others.
    pub fn kind(&self) -> LockKind {
        self.keeper.kind
    }

    /// Returns the name of its newest file.
    pub(super) fn id(&self) -> Option<Id> {
        lock(&self.keeper.files).last().copied()
    }

    /// Makes sure that the lock is still held. To be called before each write or removal; it costs a look at the clock.
    ///
    /// # Errors
    /// [`Error::LockLost`]: then nothing may be written or removed any more.
    pub fn check(&self) -> Result<()> {
        self.keeper.check()
    }

    /// Gives the lock up.
    ///
    /// # Errors
    /// What the storage says. The lock's file stays then, until others take it for stale.
    pub fn release(mut self) -> Result<()> {
        self.end()
    }

    /// Returns what gives the lock up from another thread.
    pub fn surrender(&self) -> Surrender {
        Surrender(Arc::downgrade(&self.keeper))
    }

    fn end(&mut self) -> Result<()> {
        *lock(&self.keeper.is_over) = true;
        self.keeper.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been told by itself; the file goes all the same.
            _ = thread.join();
        }
        let files = std::mem::take(&mut *lock(&self.keeper.files));
        let removed = files.into_iter().map(|id| self.keeper.remove(id));
        removed.fold(Ok(()), Result::and)
    }
}

impl Surrender {
    /// Says whether the lock is held still.
    pub fn is_held(&self) -> bool {
        self.0.upgrade().is_some_and(|keeper| !*lock(&keeper.is_over))
    }

    /// Removes the lock's files as well as it can. Whoever works under the lock is told at the next check
    /// that it is lost.
    pub fn give_up(&self) {
        let Some(keeper) = self.0.upgrade() else { return };
        *lock(&keeper.is_over) = true;
        keeper.wake.notify_all();
        let mut files = lock(&keeper.files);
        keeper.is_lost.store(true, Ordering::Release);
        for id in files.drain(..) {
            // Nobody is there to be told.
            _ = keeper.remove(id);
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Nobody is there to be told; whoever wants to know calls `release`.
        _ = self.end();
    }
}

impl Keeper {
    fn keep(&self) {
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            drop(is_over);
            self.look();
            is_over = lock(&self.is_over);
            if !*is_over {
                is_over = self.wake.wait_timeout(is_over, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Does what the time asks for.
    fn look(&self) {
        let now = self.now();
        if self.age_ns() > LOST_NS {
            // The one who works is told by its own check.
            _ = self.check();
        } else if now.saturating_sub(self.tried_ns.load(Ordering::Acquire)) >= RENEW_NS {
            self.tried_ns.store(now, Ordering::Release);
            // What fails now is tried again in five minutes, and counts only when that was too long.
            let mut files = lock(&self.files);
            // Given up meanwhile: nobody would remove another file.
            if !self.is_lost.load(Ordering::Acquire) && !files.is_empty() {
                _ = self.renew(&mut files);
            }
        }
    }

    fn check(&self) -> Result<()> {
        if !self.is_lost.load(Ordering::Acquire) && self.age_ns() <= LOST_NS {
            return Ok(());
        }
        // Whoever else comes waits here for the outcome.
        let mut files = lock(&self.files);
        if !self.is_lost.load(Ordering::Acquire) && (self.age_ns() <= LOST_NS || self.renew_late(&mut files))
        {
            return Ok(());
        }
        // From here on, as from a renewal that came too late, nothing brings it back.
        self.is_lost.store(true, Ordering::Release);
        Err(Error::LockLost { address: self.parts.storage.address() })
    }

    /// Renews a lock in time. A write that ends too late proves nothing by itself: meanwhile others may have taken the lock for stale.
    fn renew(&self, files: &mut Vec<Id>) -> Result<()> {
        let (id, ns) = write_note(&self.parts, self.kind)?;
        if self.age_ns() <= LOST_NS || files.last().is_some_and(|old| self.is_there(*old)) {
            self.exchange(files, id, ns);
        } else {
            // To be removed with the others.
            files.push(id);
            self.is_lost.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Says whether nobody took a file of the lock away.
    fn is_there(&self, file: Id) -> bool {
        let listed = self.parts.storage.list(FileKind::Lock);
        listed.is_ok_and(|listed| listed.iter().any(|(id, _)| *id == file))
    }

    /// Renews a lock that others may take for stale: only if nobody did, before and after. Says whether that went well.
    fn renew_late(&self, files: &mut Vec<Id>) -> bool {
        let Some(&old) = files.last() else { return false };
        if !self.is_there(old) {
            return false;
        }
        let Ok((id, ns)) = write_note(&self.parts, self.kind) else { return false };
        (self.parts.surroundings.sleep)(self.parts.storage.settle_time());
        if !self.is_there(old) {
            files.push(id);
            return false;
        }
        self.exchange(files, id, ns);
        true
    }

    /// Takes a new file for the old ones.
    fn exchange(&self, files: &mut Vec<Id>, id: Id, ns: i64) {
        self.renewed_ns.store(ns, Ordering::Release);
        self.tried_ns.store(ns, Ordering::Release);
        files.retain(|&old| old != id && self.remove(old).is_err());
        files.push(id);
    }

    fn remove(&self, id: Id) -> Result<()> {
        self.parts.storage.remove(FileName { kind: FileKind::Lock, id })
    }

    fn age_ns(&self) -> i64 {
        self.now().saturating_sub(self.renewed_ns.load(Ordering::Acquire))
    }

    fn now(&self) -> i64 {
        (self.parts.surroundings.clock_ns)()
    }
}

/// Writes a lock's file. Returns its name and the time in it.
fn write_note(parts: &Parts, kind: LockKind) -> Result<(Id, i64)> {
    let note = Note::now(&parts.surroundings, kind);
    let id = unpacked::save(parts, FileKind::Lock, &note.to_json())?;
    Ok((id, note.time.ns()))
}

/// Nothing that is locked here is left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Surroundings;
    use crate::testing::{CLOCK_NS, MemoryStorage, advance, clock_ns, parts};
    use std::sync::mpsc;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A lock whose thread is left out: tests look at the clock themselves.
    fn held(storage: &Arc<MemoryStorage>) -> HeldLock {
        let held = HeldLock::write(&parts(storage), LockKind::Shared).unwrap();
        storage.operations();
        held
    }

    fn name(id: Id) -> FileName {
        FileName { kind: FileKind::Lock, id }
    }

    #[test]
    fn every_five_minutes_a_new_file_is_written_before_the_old_one_goes() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        for _ in 0..3 {
            let old = held.id().unwrap();
            advance(MINUTE * 5 - Duration::from_nanos(1));
            held.keeper.look();
            assert!(storage.operations().is_empty());
            advance(Duration::from_nanos(1));
            held.keeper.look();
            let new = held.id().unwrap();
            assert_eq!(
                storage.operations(),
                [format!("write {}", name(new)), format!("remove {}", name(old))]
            );
            assert_eq!(storage.ids(FileKind::Lock), [new]);
            let json = unpacked::load(&*storage, &parts(&storage).key, FileKind::Lock, new).unwrap();
            assert_eq!(Note::from_json(&json).unwrap().time.ns(), clock_ns());
            storage.operations();
        }
        held.check().unwrap();
    }

    #[test]
    fn what_cannot_be_renewed_is_tried_again_and_then_lost_for_good() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        let old = held.id().unwrap();
        storage.refuse(|operation| operation.starts_with("write"));
        for minutes in 1..=22 {
            advance(MINUTE);
            held.keeper.look();
            let tries = storage.operations().len();
            assert_eq!(tries, usize::from(minutes % 5 == 0), "{minutes}");
            held.check().unwrap();
        }
        advance(MINUTE / 2);
        held.check().unwrap();
        advance(Duration::from_nanos(1));
        assert!(matches!(held.check(), Err(Error::LockLost { .. })));
        storage.refuse_nothing();
        assert!(matches!(held.check(), Err(Error::LockLost { .. })), "it stays lost");
        assert_eq!(storage.ids(FileKind::Lock), [old]);
        drop(held);
        assert!(storage.ids(FileKind::Lock).is_empty());
    }

    #[test]
    fn a_machine_that_slept_goes_on_if_its_lock_is_still_there() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        let old = held.id().unwrap();
        advance(MINUTE * 600);
        held.check().unwrap();
        let new = held.id().unwrap();
        let steps = ["list locks".to_owned(), format!("write {}", name(new)), "list locks".to_owned()];
        assert_eq!(storage.operations(), [&steps[..], &[format!("remove {}", name(old))]].concat());
        held.check().unwrap();
        assert!(storage.operations().is_empty());
        // The thread alone does the same.
        advance(MINUTE * 600);
        held.keeper.look();
        assert_eq!(storage.operations().len(), 4);
        held.check().unwrap();
    }

    #[test]
    fn a_lock_that_somebody_took_away_is_lost_whenever_that_was() {
        // At the first look, or while the new file is settling.
        for look in [1, 2] {
            let storage = MemoryStorage::new();
            let held = held(&storage);
            let old = held.id().unwrap();
            let (other, mut looks) = (Arc::clone(&storage), 0);
            storage.refuse(move |operation| {
                looks += u32::from(operation == "list locks");
                if looks == look {
                    other.take(name(old));
                }
                false
            });
            advance(MINUTE * 23);
            assert!(matches!(held.check(), Err(Error::LockLost { .. })), "{look}");
            assert_eq!(storage.operations().len(), if look == 1 { 1 } else { 3 });
            drop(held);
            assert!(storage.ids(FileKind::Lock).is_empty());
        }
    }

    #[test]
    fn a_renewal_that_took_too_long_counts_only_if_nobody_took_the_lock_meanwhile() {
        for is_taken in [false, true] {
            let storage = MemoryStorage::new();
            let held = held(&storage);
            let old = held.id().unwrap();
            let other = Arc::clone(&storage);
            storage.refuse(move |operation| {
                if operation.starts_with("write") {
                    advance(MINUTE * 20);
                    if is_taken {
                        other.take(name(old));
                    }
                }
                false
            });
            advance(MINUTE * 5);
            held.keeper.look();
            storage.refuse_nothing();
            // By what stands in the new file there are 2.5 minutes left.
            assert_eq!(held.check().is_err(), is_taken);
            advance(MINUTE * 5);
            assert_eq!(held.check().is_err(), is_taken, "the new file is no proof for itself");
            drop(held);
            assert!(storage.ids(FileKind::Lock).is_empty());
        }
    }

    #[test]
    fn an_old_file_that_stays_is_removed_later() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        storage.refuse(|operation| operation.starts_with("remove"));
        advance(MINUTE * 5);
        held.keeper.look();
        held.check().unwrap();
        assert_eq!(storage.ids(FileKind::Lock).len(), 2);
        storage.refuse_nothing();
        advance(MINUTE * 5);
        held.keeper.look();
        assert_eq!(storage.ids(FileKind::Lock), [held.id().unwrap()]);
    }

    #[test]
    fn a_lock_is_given_up_from_elsewhere_and_is_lost_then() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        let surrender = held.surrender();
        assert!(surrender.is_held());
        surrender.give_up();
        assert!(storage.ids(FileKind::Lock).is_empty() && !surrender.is_held());
        assert!(matches!(held.check(), Err(Error::LockLost { .. })));
        storage.operations();
        // The thread may be about to look.
        advance(MINUTE * 5);
        held.keeper.look();
        drop(held);
        surrender.give_up();
        assert!(storage.operations().is_empty() && !surrender.is_held());
    }

    #[test]
    fn giving_up_says_what_went_wrong() {
        let storage = MemoryStorage::new();
        held(&storage).release().unwrap();
        assert!(storage.ids(FileKind::Lock).is_empty());
        storage.refuse(|operation| operation.starts_with("remove"));
        assert!(matches!(held(&storage).release(), Err(Error::Storage { .. })));
    }

    #[test]
    fn the_thread_renews_and_ends_with_the_lock() {
        /// All threads see this one.
        static CLOCK: AtomicI64 = AtomicI64::new(CLOCK_NS);
        let storage = MemoryStorage::new();
        let mut parts = parts(&storage);
        let clock_ns = || CLOCK.load(Ordering::Acquire);
        parts.surroundings = Surroundings { clock_ns, ..parts.surroundings };
        let mut held = HeldLock::write(&parts, LockKind::Exclusive).unwrap();
        let old = held.id().unwrap();
        let (done, renewed) = mpsc::channel();
        storage.refuse(move |operation| {
            if operation.starts_with("remove") {
                _ = done.send(());
            }
            false
        });
        held.keep().unwrap();
        CLOCK.fetch_add(RENEW_NS, Ordering::AcqRel);
        held.keeper.wake.notify_all();
        // No test waits for a thread that never comes.
        renewed.recv_timeout(MINUTE).unwrap();
        // The thread holds the files until the old one is gone.
        assert_ne!(held.id().unwrap(), old);
        assert_eq!(storage.ids(FileKind::Lock), [held.id().unwrap()]);
        assert_eq!(held.kind(), LockKind::Exclusive);
        drop(held);
        assert!(storage.ids(FileKind::Lock).is_empty());
        assert_eq!(Arc::strong_count(&(parts.storage)), 2, "the thread has ended");
    }
}
