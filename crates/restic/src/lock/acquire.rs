//! Takes a lock: looks for the locks of others, writes its own, waits and looks again.

use super::held_lock::HeldLock;
use super::lock_file::{LockFile, LockKind, load};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::Parts;
use crate::remedy::Remedy;
use std::collections::BTreeSet;
use std::time::Duration;

/// Waits between attempts to read locks that could not be read.
const REREAD: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(10), Duration::from_secs(20)];
/// Waits between attempts to lock a locked repository: they double from the first to the second.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// How often `told` is called during a wait.
const ASK: Duration = Duration::from_secs(1);

/// Called during a wait with a sentence, and with the remedy if the wait may be in vain. An error from it
/// ends the wait.
pub type Told<'a> = &'a dyn Fn(&str, Option<Remedy>) -> Result<()>;

/// Locks a repository. If another process holds a lock that excludes this one, waits for up to `patience` and
/// calls `told` at least once a second with a sentence that says which process holds it. `told` also hears of
/// each lock that is removed because the pneu that wrote it has certainly
/// ended.
///
/// # Errors
/// [`Error::Locked`], [`Error::UnreadableLock`], storage errors, what `told`
/// returns.
pub fn acquire(parts: &Parts, kind: LockKind, patience: Duration, told: Told<'_>) -> Result<HeldLock> {
    let (mut left, mut pause) = (patience, PAUSE_MIN);
    loop {
        match try_once(parts, kind, told) {
            Err(locked @ Error::Locked { .. }) if !left.is_zero() => {
                let time = pause.min(left);
                wait(parts, time, &|| told(&locked.to_string(), locked.remedy()))?;
                left -= time;
                pause = (pause * 2).min(PAUSE_MAX);
            }
            done => return done,
        }
    }
}

fn try_once(parts: &Parts, kind: LockKind, told: Told<'_>) -> Result<HeldLock> {
    refuse_others(parts, kind, None, told)?;
    // From here on our own file is removed if anything goes wrong.
    let mut held = HeldLock::write(parts, kind)?;
    (parts.surroundings.sleep)(parts.storage.settle_time());
    refuse_others(parts, kind, held.id(), told)?;
    held.keep()?;
    Ok(held)
}

fn wait(parts: &Parts, time: Duration, ask: &dyn Fn() -> Result<()>) -> Result<()> {
    let mut left = time;
    while !left.is_zero() {
        ask()?;
        let step = left.min(ASK);
        (parts.surroundings.sleep)(step);
        left -= step;
    }
    ask()
}

/// Fails if another lock excludes one of `kind`. Locks that cannot be read are tried again, because they may
/// be being written or renewed. Locks of a pneu that has certainly ended are removed.
fn refuse_others(parts: &Parts, kind: LockKind, own: Option<Id>, told: Told<'_>) -> Result<()> {
    let mut harmless: BTreeSet<Id> = own.into_iter().collect();
    let mut delays = REREAD.iter();
    loop {
        let mut listed = parts.storage.list(FileKind::Lock)?;
        listed.sort_unstable();
        // A storage that writes in steps may leave empty files.
        listed.retain(|(id, size)| *size > 0 && !harmless.contains(id));
        let mut unread = None;
        for (id, _) in listed {
            match load(parts, id) {
                Ok(note) if is_taken_away(parts, id, &note) => {
                    let what =
                        format!("a lock was removed, because its process has ended: {}", note.writer());
                    told(&what, None)?;
                }
                Ok(note) if kind == LockKind::Exclusive || note.kind == LockKind::Exclusive => {
                    let by = note.describe(&parts.surroundings);
                    return Err(Error::Locked { address: parts.storage.address(), by });
                }
                Ok(_) => _ = harmless.insert(id),
                Err(error) => unread = Some(error),
            }
        }
        match (unread, delays.next()) {
            (None, _) => return Ok(()),
            (Some(_), Some(&delay)) => (parts.surroundings.sleep)(delay),
            (Some(error), None) => return Err(of_lock(error)),
        }
    }
}

/// Removes a lock if its writer has certainly ended. Returns whether it was removed; where nothing may be
/// removed, the lock still excludes others.
fn is_taken_away(parts: &Parts, id: Id, note: &LockFile) -> bool {
    note.is_certainly_gone(&parts.surroundings)
        && parts.storage.remove(FileName { kind: FileKind::Lock, id }).is_ok()
}

fn of_lock(error: Error) -> Error {
    match error {
        Error::Damage { file, what } => Error::UnreadableLock { file, what },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::time::Time;
    use crate::format::unpacked;
    use crate::lock::lock_file::Birth;
    use crate::lock::{WhichLocks, unlock};
    use crate::storage::Storage;
    use crate::testing::{CLOCK_NS, LIVING_PROCESS, MemoryStorage, clock_ns, parts};
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;

    /// As long as it takes in memory.
    const SETTLE: Duration = Duration::from_millis(200);
    const NOBODY_WAITS: Told<'static> = &|who, _| panic!("nobody waits: {who}");

    fn now(parts: &Parts, kind: LockKind) -> Result<HeldLock> {
        acquire(parts, kind, Duration::ZERO, NOBODY_WAITS)
    }

    /// Writes a lock of another process that is alive.
    fn others(parts: &Parts, kind: LockKind) -> Id {
        let mut note = LockFile::now(&parts.surroundings, kind);
        note.process = i64::from(LIVING_PROCESS);
        note.birth = Some(Birth { place: "run 1".to_owned(), started: u64::from(LIVING_PROCESS) * 100 });
        unpacked::save(parts, FileKind::Lock, &note.to_json()).unwrap()
    }

    fn name(id: Id) -> FileName {
        FileName { kind: FileKind::Lock, id }
    }

    /// Since the test's beginning.
    fn elapsed() -> Duration {
        Duration::from_nanos((clock_ns() - CLOCK_NS).unsigned_abs())
    }

    #[test]
    fn many_share_and_one_excludes() {
        use LockKind::{Exclusive, Shared};
        for (held, wanted, goes) in [
            (Shared, Shared, true),
            (Shared, Exclusive, false),
            (Exclusive, Shared, false),
            (Exclusive, Exclusive, false),
        ] {
            let storage = MemoryStorage::new();
            let parts = parts(&storage);
            let first = now(&parts, held).unwrap();
            let second = now(&parts, wanted);
            assert_eq!(second.is_ok(), goes, "{held:?} {wanted:?}");
            if let Err(error) = &second {
                let how = if held == Exclusive { "exclusively " } else { "" };
                let (who, day) = ("by ana on tower, process 12, since", "2026-11-21 10:02 UTC");
                assert_eq!(error.to_string(), format!("memory is locked {how}{who} {day}"));
                assert_eq!(error.remedy(), Some(Remedy::RemoveStaleLocks));
                assert_eq!(storage.ids(FileKind::Lock).len(), 1);
            }
            drop((first, second));
            assert!(storage.ids(FileKind::Lock).is_empty());
        }
    }

    #[test]
    fn looks_writes_waits_and_looks_again() {
        let storage = MemoryStorage::new();
        let held = now(&parts(&storage), LockKind::Exclusive).unwrap();
        let file = name(held.id().unwrap());
        assert_eq!(
            storage.operations(),
            ["list locks".to_owned(), format!("write {file}"), "list locks".to_owned()]
        );
        assert_eq!(elapsed(), SETTLE);
        drop(held);
        assert_eq!(storage.operations(), [format!("remove {file}")]);
    }

    #[test]
    fn who_came_at_the_same_time_makes_both_give_up() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let (for_others, mut looks) = (parts.clone(), 0);
        let other = MemoryStorage::new();
        let theirs = others(&Parts { storage: other.clone(), ..for_others }, LockKind::Exclusive);
        let bytes = other.read(name(theirs)).unwrap();
        let place = Arc::clone(&storage);
        storage.refuse(move |operation| {
            looks += u32::from(operation == "list locks");
            if looks == 2 {
                place.put(name(theirs), bytes.clone());
            }
            false
        });
        assert!(matches!(now(&parts, LockKind::Shared), Err(Error::Locked { .. })));
        assert_eq!(storage.ids(FileKind::Lock), [theirs]);
    }

    #[test]
    fn locks_that_cannot_be_read_are_tried_four_times() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let broken = Id::of(b"other bytes");
        storage.put(name(broken), b"no lock".to_vec());
        let error = now(&parts, LockKind::Shared).unwrap_err();
        let why = "its content does not match its name";
        assert_eq!(error.to_string(), format!("{} is damaged: {why}", name(broken)));
        assert_eq!(error.remedy(), Some(Remedy::RemoveAllLocks));
        assert_eq!(elapsed(), REREAD.iter().sum());
        let lists = storage.operations().iter().filter(|operation| *operation == "list locks").count();
        assert_eq!((lists, storage.ids(FileKind::Lock)), (4, vec![broken]));
    }

    #[test]
    fn a_lock_that_is_renewed_meanwhile_is_found_under_its_new_name() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let theirs = others(&parts, LockKind::Exclusive);
        let bytes = storage.read(name(theirs)).unwrap();
        let place = Arc::clone(&storage);
        // The file goes between being listed and being read; five seconds later there is one again.
        let reads = Cell::new(0);
        storage.refuse(move |operation| {
            if operation.starts_with("read") && reads.replace(1) == 0 {
                place.take(name(theirs));
            } else if operation == "list locks" && reads.get() > 0 {
                place.put(name(theirs), bytes.clone());
            }
            false
        });
        assert!(matches!(now(&parts, LockKind::Shared), Err(Error::Locked { .. })));
        assert_eq!(elapsed(), REREAD[0]);
    }

    #[test]
    fn empty_files_are_no_locks_and_harmless_ones_are_read_once() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        storage.put(name(Id::of(b"")), Vec::new());
        others(&parts, LockKind::Shared);
        // A second one that cannot be read at first.
        let late = others(&parts, LockKind::Shared);
        let mut refusals = 1;
        storage.refuse(move |operation| {
            let refused = operation == format!("read {}", name(late)) && refusals > 0;
            refusals -= i32::from(refused);
            refused
        });
        storage.operations();
        now(&parts, LockKind::Shared).unwrap();
        let reads = storage.operations().iter().filter(|operation| operation.starts_with("read")).count();
        // Each once and the late one twice before the own lock is written, both once after it.
        assert_eq!((reads, elapsed()), (5, REREAD[0] + SETTLE));
    }

    #[test]
    fn who_has_patience_gets_the_lock_when_it_is_free() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let first = RefCell::new(Some(now(&parts, LockKind::Exclusive).unwrap()));
        let begin = elapsed();
        let asked = Cell::new(0);
        let waiting = |who: &str, helps: Option<Remedy>| {
            assert!(who.starts_with("memory is locked exclusively by ana"), "{who}");
            assert_eq!(helps, Some(Remedy::RemoveStaleLocks));
            asked.set(asked.get() + 1);
            if elapsed() - begin >= Duration::from_secs(7) {
                drop(first.borrow_mut().take());
            }
            Ok(())
        };
        let held = acquire(&parts, LockKind::Exclusive, Duration::from_secs(600), &waiting).unwrap();
        // 5 seconds in vain, then 10.
        assert_eq!((elapsed() - begin, asked.get()), (Duration::from_secs(15) + SETTLE, 17));
        held.check().unwrap();
    }

    #[test]
    fn patience_ends_or_is_ended() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        others(&parts, LockKind::Exclusive);
        let patience = Duration::from_millis(200_500);
        let refused = acquire(&parts, LockKind::Shared, patience, &|_, _| Ok(())).unwrap_err();
        assert!(matches!(refused, Error::Locked { .. }));
        assert_eq!(elapsed(), patience);
        let lists = storage.operations().iter().filter(|operation| *operation == "list locks").count();
        // At 0, 5, 15, 35, 75, 135, 195 and 200.5 seconds.
        assert_eq!(lists, 8);
        let ended = acquire(&parts, LockKind::Shared, patience, &|_, _| Err(Error::Interrupted)).unwrap_err();
        assert!(matches!(ended, Error::Interrupted) && elapsed() == patience);
    }

    #[test]
    fn a_storage_that_refuses_leaves_no_lock_behind() {
        for (refused, kept) in [("list", 0), ("write", 0)] {
            let storage = MemoryStorage::new();
            storage.refuse(move |operation| operation.starts_with(refused));
            assert!(
                matches!(now(&parts(&storage), LockKind::Shared), Err(Error::Storage { .. })),
                "{refused}"
            );
            assert_eq!(storage.ids(FileKind::Lock).len(), kept);
        }
        // The second look fails.
        let storage = MemoryStorage::new();
        let mut looks = 0;
        storage.refuse(move |operation| {
            looks += u32::from(operation == "list locks");
            operation == "list locks" && looks == 2
        });
        assert!(matches!(now(&parts(&storage), LockKind::Shared), Err(Error::Storage { .. })));
        assert!(storage.ids(FileKind::Lock).is_empty());
    }

    #[test]
    fn what_a_pneu_left_that_has_ended_is_taken_away_and_told() {
        for (left, wanted) in [
            (LockKind::Exclusive, LockKind::Shared),
            (LockKind::Exclusive, LockKind::Exclusive),
            (LockKind::Shared, LockKind::Shared),
        ] {
            let storage = MemoryStorage::new();
            let parts = parts(&storage);
            let mut dead = LockFile::now(&parts.surroundings, left);
            dead.process = 5;
            unpacked::save(&parts, FileKind::Lock, &dead.to_json()).unwrap();
            let living = (wanted == LockKind::Shared).then(|| others(&parts, LockKind::Shared));
            let said = RefCell::new(Vec::new());
            let told = |what: &str, _: Option<Remedy>| {
                said.borrow_mut().push(what.to_owned());
                Ok(())
            };
            let held = acquire(&parts, wanted, Duration::ZERO, &told).unwrap();
            let (why, who) = ("its process has ended", "ana on tower, process 5, since 2026-11-21 10:02 UTC");
            let sentence = format!("a lock was removed, because {why}: {who}");
            assert_eq!(*said.borrow(), [sentence], "{left:?} {wanted:?}");
            drop(held);
            assert_eq!(storage.ids(FileKind::Lock), Vec::from_iter(living));
        }
    }

    #[test]
    fn what_somebody_else_left_or_cannot_be_removed_stays() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let dead = |place: Option<&str>| {
            let mut note = LockFile::now(&parts.surroundings, LockKind::Exclusive);
            note.process = 5;
            note.birth = place.map(|place| Birth { place: place.to_owned(), started: 500 });
            unpacked::save(&parts, FileKind::Lock, &note.to_json()).unwrap()
        };
        for place in [None, Some("run 2"), Some("run 1")] {
            let left = dead(place);
            if place == Some("run 1") {
                storage.refuse(|operation| operation.starts_with("remove"));
            }
            let refused = now(&parts, LockKind::Shared).unwrap_err().to_string();
            assert!(refused.contains("that process seems to be gone"), "{refused}");
            assert_eq!(storage.ids(FileKind::Lock), [left], "{place:?}");
            storage.refuse_nothing();
            storage.take(name(left));
        }
    }

    #[test]
    fn unlocking_takes_the_stale_ones_or_all() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let living = others(&parts, LockKind::Shared);
        let mut dead = LockFile::now(&parts.surroundings, LockKind::Exclusive);
        (dead.process, dead.birth) = (5, None);
        let mut old = LockFile::now(&parts.surroundings, LockKind::Shared);
        old.hostname = "laptop".to_owned();
        old.time = Time::from_ns(CLOCK_NS - 1801 * 1_000_000_000, 0);
        for note in [dead, old] {
            unpacked::save(&parts, FileKind::Lock, &note.to_json()).unwrap();
        }
        let (broken, empty) = (Id::of(b"broken"), Id::of(b""));
        storage.put(name(broken), b"no lock".to_vec());
        storage.put(name(empty), Vec::new());
        assert_eq!(unlock(&parts, WhichLocks::Stale).unwrap(), 2);
        let mut left = [living, broken, empty];
        left.sort_unstable();
        assert_eq!(storage.ids(FileKind::Lock), left);
        assert_eq!(unlock(&parts, WhichLocks::Stale).unwrap(), 0);
        assert_eq!(unlock(&parts, WhichLocks::All).unwrap(), 3);
        assert!(storage.ids(FileKind::Lock).is_empty());
    }
}
