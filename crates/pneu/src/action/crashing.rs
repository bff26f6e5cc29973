//! Crashes, for tests of actions: hands that stop, and what comes after that.
//!
//! Input: how many operations are done before the crash. Output: files as the crash left them. Does not know
//! what the tests expect.

use crate::action::carry_out::{self, LeftAlone, conclude, conclude_undo, resolve_all};
use crate::action::hands::{Hands, RealHands};
use crate::action::log::{Entry, Log, State};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Hands that end the process, as it were, at one operation.
pub(super) struct Crashing {
    pub left: Cell<usize>,
}

impl Crashing {
    fn count(&self) {
        let left = self.left.get();
        assert!(left > 0, "a crash");
        self.left.set(left - 1);
    }
}

impl Hands for Crashing {
    fn move_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        self.count();
        // To another file system, a move is a copy and a removal.
        let directories = from.parent().zip(to.parent()).unwrap();
        let device = |path: &Path| mail::stat_entry(path).unwrap().device;
        if device(directories.0) != device(directories.1) {
            mail::copy_file(from, to)?;
            self.count();
            RealHands.sync(directories.1)?;
            return RealHands.remove(from);
        }
        RealHands.move_file(from, to)
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> mail::Result<()> {
        self.count();
        RealHands.rename_directory(from, to)
    }

    fn copy_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        self.count();
        RealHands.copy_file(from, to)
    }

    fn remove(&self, path: &Path) -> mail::Result<()> {
        self.count();
        RealHands.remove(path)
    }

    fn sync(&self, directory: &Path) -> mail::Result<()> {
        self.count();
        RealHands.sync(directory)
    }
}

/// Undoes an action that has no index. Returns what was left alone.
pub(super) fn undo(log: &Log<'_>, hands: &dyn Hands, entry: &mut Entry) -> Vec<LeftAlone> {
    let left = carry_out::undo(log, hands, entry, &|_, _| false).unwrap().left;
    conclude_undo(log, entry).unwrap();
    left
}

/// Finishes what a crash left of an action that has no index.
pub(super) fn recover(log: &Log<'_>, hands: &dyn Hands) {
    let Some(mut entry) = log.newest().unwrap() else { return };
    match entry.state {
        State::Begun => {
            resolve_all(hands, &mut entry);
            conclude(log, &mut entry).unwrap();
        }
        State::Undoing => _ = undo(log, hands, &mut entry),
        State::Done | State::Undone => {}
    }
}

/// Does something that may crash. Returns whether it came to its end.
pub(super) fn ends(work: &dyn Fn()) -> bool {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let ended = catch_unwind(AssertUnwindSafe(work)).is_ok();
    std::panic::set_hook(hook);
    ended
}
