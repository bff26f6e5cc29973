//! Reads attachments on a thread of its own, beside the loop that follows the mail.
//!
//! Input: requests, each after a pass. Output: what was read, for the loop to tell. The loop never waits for
//! it, except at the end: then the command that runs is killed. Does not know what changed in the mail.

use crate::error::Result;
use crate::host::Host;
use index::AttachmentsRead;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use work::Progress;

/// How long another process is left to read attachments before it is looked whether it has ended.
const WAIT: Duration = Duration::from_secs(1);

/// What the loop and the thread share.
#[derive(Default)]
pub(super) struct Beside {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// There may be something to read.
    is_asked: bool,
    /// The thread works, or is about to.
    is_busy: bool,
    /// The thread is to end.
    has_ended: bool,
    /// What was read, and not told yet.
    done: Vec<Result<AttachmentsRead>>,
}

/// Ends the thread when it is dropped.
pub(super) struct End<'a>(pub &'a Beside);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.changed.notify_all();
    }
}

impl Beside {
    /// Asks for what is new to be read.
    pub(super) fn ask(&self) {
        let mut state = self.state();
        (state.is_asked, state.is_busy) = (true, true);
        self.changed.notify_all();
    }

    /// Returns whether something is being read. If not, nothing is before the next request.
    pub(super) fn is_busy(&self) -> bool {
        self.state().is_busy
    }

    /// Returns what was read since the last call.
    pub(super) fn take_done(&self) -> Vec<Result<AttachmentsRead>> {
        std::mem::take(&mut self.state().done)
    }

    /// Reads what is asked for, until the end.
    pub(super) fn run(&self, host: &Host, progress: &dyn Progress) {
        let stopping = Stopping { beside: self, progress };
        while self.next() {
            let done = host.read_attachments_beside(&stopping);
            let mut state = self.state();
            if done.as_ref().is_ok_and(|read| read.is_read_by.is_some()) {
                // The other process may be past the newest messages.
                state.is_asked = true;
                drop(self.changed.wait_timeout(state, WAIT));
                continue;
            }
            state.done.push(done);
            state.is_busy = state.is_asked;
        }
        self.state().is_busy = false;
    }

    /// Waits for a request. Returns whether there is one, and not the end.
    fn next(&self) -> bool {
        let mut state = self.state();
        while !state.is_asked && !state.has_ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_asked = false;
        !state.has_ended
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows nothing, and stops at the end of the loop.
struct Stopping<'a> {
    beside: &'a Beside,
    progress: &'a dyn Progress,
}

impl Progress for Stopping<'_> {
    fn is_cancelled(&self) -> bool {
        self.beside.state().has_ended || self.progress.is_cancelled()
    }
}
