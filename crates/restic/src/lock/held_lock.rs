//! A lock that this process holds: renews it in time, notices when it is lost, and removes it at the end.
//!
//! A thread looks at the clock once a second, because a machine that slept has not counted the time. Every
//! five minutes the thread writes a new file and removes the old one. If no renewal succeeded for 22.5
//! minutes, others may soon consider the lock stale. It is then renewed only if its file exists before and
//! after the renewal; otherwise the lock is lost. The same holds if a renewal that began in time took too
//! long. The file that proves the lock is always one that was written in time.

use super::lock_file::{LockFile, LockKind};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::{self, Parts};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// A lock. It is removed when this is dropped.
#[derive(Debug)]
pub struct HeldLock {
    refresher: Arc<LockRefresher>,
    thread: Option<JoinHandle<()>>,
}

/// Releases a lock from another thread, for a process that is about to end.
#[derive(Clone, Debug)]
pub struct LockReleaser(Weak<LockRefresher>);

/// How often the clock is looked at.
const LOOK: Duration = Duration::from_secs(1);
const NS_A_MINUTE: i64 = 60 * 1_000_000_000;
const RENEW_NS: i64 = 5 * NS_A_MINUTE;
/// Half an hour, less one and a half renewals.
const LOST_NS: i64 = 30 * NS_A_MINUTE - RENEW_NS / 2 * 3;

#[derive(Debug)]
struct LockRefresher {
    parts: Parts,
    kind: LockKind,
    /// The lock's files. The last one is the newest; the others could not be removed yet. The mutex is held
    /// while files are exchanged.
    files: Mutex<Vec<Id>>,
    renewed_ns: AtomicI64,
    tried_ns: AtomicI64,
    is_lost: AtomicBool,
    is_over: Mutex<bool>,
    wake: Condvar,
}

impl HeldLock {
    /// Writes a lock file without looking at other locks.
    pub(super) fn write(parts: &Parts, kind: LockKind) -> Result<HeldLock> {
        let (id, ns) = write_file(parts, kind)?;
        let refresher = LockRefresher {
            parts: parts.clone(),
            kind,
            files: Mutex::new(vec![id]),
            renewed_ns: AtomicI64::new(ns),
            tried_ns: AtomicI64::new(ns),
            is_lost: AtomicBool::new(false),
            is_over: Mutex::new(false),
            wake: Condvar::new(),
        };
        Ok(HeldLock { refresher: Arc::new(refresher), thread: None })
    }

    /// Starts the thread that renews the lock.
    pub(super) fn keep(&mut self) -> Result<()> {
        let refresher = Arc::clone(&self.refresher);
        let thread = std::thread::Builder::new().name("lock".to_owned()).spawn(move || refresher.keep());
        self.thread = Some(thread.map_err(|error| Error::Storage {
            action: "keep a lock".to_owned(),
            address: self.refresher.parts.storage.address(),
            what: error.to_string(),
        })?);
        Ok(())
    }

    /// Returns the kind of the lock.
    pub fn kind(&self) -> LockKind {
        self.refresher.kind
    }

    /// Returns the name of its newest file.
    pub(super) fn id(&self) -> Option<Id> {
        lock(&self.refresher.files).last().copied()
    }

    /// Makes sure that the lock is still held. Must be called before each write or removal; costs a look at
    /// the clock.
    ///
    /// # Errors
    /// [`Error::LockLost`]: nothing may be written or removed any more.
    pub fn check(&self) -> Result<()> {
        self.refresher.check()
    }

    /// Seals and stores JSON as [`unpacked::save`], as long as the lock is held.
    ///
    /// # Errors
    /// As [`unpacked::save`], or [`Error::LockLost`].
    pub(crate) fn save(&self, parts: &Parts, kind: FileKind, json: &[u8]) -> Result<Id> {
        let (name, sealed) = unpacked::seal(parts, kind, json)?;
        parts.storage.write_while(name, &sealed, &|| self.check())?;
        Ok(name.id)
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// Storage errors. The lock's file then stays until others consider it stale.
    pub fn release(mut self) -> Result<()> {
        self.end()
    }

    /// Returns a handle that releases the lock from another thread.
    pub fn releaser(&self) -> LockReleaser {
        LockReleaser(Arc::downgrade(&self.refresher))
    }

    fn end(&mut self) -> Result<()> {
        *lock(&self.refresher.is_over) = true;
        self.refresher.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported already; the file is removed all the same.
            _ = thread.join();
        }
        let files = std::mem::take(&mut *lock(&self.refresher.files));
        let removed = files.into_iter().map(|id| self.refresher.remove(id));
        removed.fold(Ok(()), Result::and)
    }
}

impl LockReleaser {
    /// Returns whether the lock is still held.
    pub fn is_held(&self) -> bool {
        self.0.upgrade().is_some_and(|refresher| !*lock(&refresher.is_over))
    }

    /// Removes the lock's files as far as possible. The next check of the work under the lock fails, because
    /// the lock is lost.
    pub fn release(&self) {
        let Some(refresher) = self.0.upgrade() else { return };
        *lock(&refresher.is_over) = true;
        refresher.wake.notify_all();
        let mut files = lock(&refresher.files);
        refresher.is_lost.store(true, Ordering::Release);
        for id in files.drain(..) {
            // There is nobody to report an error to.
            _ = refresher.remove(id);
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // There is nobody to report an error to; callers that want it call `release`.
        _ = self.end();
    }
}

impl LockRefresher {
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

    /// Renews the lock if it is time.
    fn look(&self) {
        let now = self.now();
        if self.age_ns() > LOST_NS {
            // The work under the lock learns of it by its own check.
            _ = self.check();
        } else if now.saturating_sub(self.tried_ns.load(Ordering::Acquire)) >= RENEW_NS {
            self.tried_ns.store(now, Ordering::Release);
            // A failure is tried again in five minutes. It matters only if the lock gets too old.
            let mut files = lock(&self.files);
            // If the lock was released meanwhile, nobody would remove another file.
            if !self.is_lost.load(Ordering::Acquire) && !files.is_empty() {
                _ = self.renew(&mut files);
            }
        }
    }

    fn check(&self) -> Result<()> {
        if !self.is_lost.load(Ordering::Acquire) && self.age_ns() <= LOST_NS {
            return Ok(());
        }
        // Other threads wait here for the outcome.
        let mut files = lock(&self.files);
        if !self.is_lost.load(Ordering::Acquire) && (self.age_ns() <= LOST_NS || self.renew_late(&mut files))
        {
            return Ok(());
        }
        // From here on the lock stays lost, as after a renewal that came too late.
        self.is_lost.store(true, Ordering::Release);
        Err(Error::LockLost { address: self.parts.storage.address() })
    }

    /// Renews the lock. A write that ends too late proves nothing by itself, because others may have
    /// considered the lock stale by then.
    fn renew(&self, files: &mut Vec<Id>) -> Result<()> {
        let (id, ns) = write_file(&self.parts, self.kind)?;
        if self.age_ns() <= LOST_NS || files.last().is_some_and(|old| self.is_there(*old)) {
            self.exchange(files, id, ns);
        } else {
            // It is removed with the others.
            files.push(id);
            self.is_lost.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Returns whether a file of the lock still exists.
    fn is_there(&self, file: Id) -> bool {
        let listed = self.parts.storage.list(FileKind::Lock);
        listed.is_ok_and(|listed| listed.iter().any(|(id, _)| *id == file))
    }

    /// Renews a lock that others may consider stale, but only if its file exists before and after. Returns
    /// whether that succeeded.
    fn renew_late(&self, files: &mut Vec<Id>) -> bool {
        let Some(&old) = files.last() else { return false };
        if !self.is_there(old) {
            return false;
        }
        let Ok((id, ns)) = write_file(&self.parts, self.kind) else { return false };
        (self.parts.surroundings.sleep)(self.parts.storage.settle_time());
        if !self.is_there(old) {
            files.push(id);
            return false;
        }
        self.exchange(files, id, ns);
        true
    }

    /// Replaces the old files by a new one.
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
        self.parts.surroundings.context.now_ns()
    }
}

/// Writes a lock's file. Returns its name and the time in it.
fn write_file(parts: &Parts, kind: LockKind) -> Result<(Id, i64)> {
    let note = LockFile::now(&parts.surroundings, kind);
    let id = unpacked::save(parts, FileKind::Lock, &note.to_json())?;
    Ok((id, note.time.ns()))
}

/// A panic leaves no data behind this mutex half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            held.refresher.look();
            assert!(storage.operations().is_empty());
            advance(Duration::from_nanos(1));
            held.refresher.look();
            let new = held.id().unwrap();
            assert_eq!(
                storage.operations(),
                [format!("write {}", name(new)), format!("remove {}", name(old))]
            );
            assert_eq!(storage.ids(FileKind::Lock), [new]);
            let json = unpacked::load(&*storage, &parts(&storage).key, FileKind::Lock, new).unwrap();
            assert_eq!(LockFile::from_json(&json).unwrap().time.ns(), clock_ns());
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
            held.refresher.look();
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
        held.refresher.look();
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
            held.refresher.look();
            storage.refuse_nothing();
            // According to the new file, 2.5 minutes are left.
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
        held.refresher.look();
        held.check().unwrap();
        assert_eq!(storage.ids(FileKind::Lock).len(), 2);
        storage.refuse_nothing();
        advance(MINUTE * 5);
        held.refresher.look();
        assert_eq!(storage.ids(FileKind::Lock), [held.id().unwrap()]);
    }

    #[test]
    fn a_lock_is_given_up_from_elsewhere_and_is_lost_then() {
        let storage = MemoryStorage::new();
        let held = held(&storage);
        let releaser = held.releaser();
        assert!(releaser.is_held());
        releaser.release();
        assert!(storage.ids(FileKind::Lock).is_empty() && !releaser.is_held());
        assert!(matches!(held.check(), Err(Error::LockLost { .. })));
        storage.operations();
        // The thread may be about to look.
        advance(MINUTE * 5);
        held.refresher.look();
        drop(held);
        releaser.release();
        assert!(storage.operations().is_empty() && !releaser.is_held());
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
        parts.surroundings.context.clock_ns = clock_ns;
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
        held.refresher.wake.notify_all();
        // No test waits for a thread that never comes.
        renewed.recv_timeout(MINUTE).unwrap();
        // The thread keeps the list of files locked until the old one is removed.
        assert_ne!(held.id().unwrap(), old);
        assert_eq!(storage.ids(FileKind::Lock), [held.id().unwrap()]);
        assert_eq!(held.kind(), LockKind::Exclusive);
        drop(held);
        assert!(storage.ids(FileKind::Lock).is_empty());
        assert_eq!(Arc::strong_count(&(parts.storage)), 2, "the thread has ended");
    }
}
