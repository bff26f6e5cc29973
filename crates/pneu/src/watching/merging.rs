//! Merges what passes wrote, on a thread of its own beside the loop that follows the mail.
//!
//! Input: how many messages each pass added. Output: an index that is merged as after passes of their own,
//! and more when no pass follows for a while. The loop never waits for it, except at the end, for the merge
//! that runs. Does not know what changed in the mail. The process may end at any time: what was not published
//! is removed later.

use crate::error::Result;
use crate::host::Host;
use index::Merging;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use work::{Progress, Workers};

/// How long no pass ends before more is merged than is due.
const IDLE: Duration = Duration::from_secs(1);

/// What the loop and the thread share.
#[derive(Default)]
pub(super) struct Merger {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many messages passes added since the last merge, if any pass ended.
    new_count: Option<u64>,
    /// The thread is to end.
    has_ended: bool,
}

/// Ends the thread when it is dropped.
pub(super) struct End<'a>(pub &'a Merger);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.changed.notify_all();
    }
}

impl Merger {
    /// Has the index merged after a pass that added this many messages.
    pub(super) fn ask(&self, new_count: u64) {
        let mut state = self.state();
        state.new_count = Some(state.new_count.unwrap_or(0).saturating_add(new_count));
        self.changed.notify_all();
    }

    /// Merges what is asked for, until the end. An error is left to the passes: whatever hinders a merge
    /// hinders them, too, and the next request tries again.
    pub(super) fn run(&self, host: &Host, progress: &dyn Progress) {
        // Not the threads of passes: one that waits for its own work must not begin a merge.
        let thread = Workers::new(1);
        let stopping = Stopping { merger: self, progress };
        let merge = |merging| -> Result<()> {
            let environment = host.environment_of_writer();
            thread.run(|| index::merge(&environment, merging, &stopping))?;
            host.follow()
        };
        while let Some(new_count) = self.next() {
            if merge(Merging::Due { new_count }).is_ok() && self.is_idle() {
                let _ = merge(Merging::Idle);
            }
        }
    }

    /// Waits for a request. Returns `None` at the end.
    fn next(&self) -> Option<u64> {
        let is_waiting = |state: &mut State| state.new_count.is_none() && !state.has_ended;
        let waited = self.changed.wait_while(self.state(), is_waiting);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.has_ended { None } else { state.new_count.take() }
    }

    /// Waits for some time, and returns whether nothing was asked for meanwhile.
    fn is_idle(&self) -> bool {
        let is_waiting = |state: &mut State| state.new_count.is_none() && !state.has_ended;
        let waited = self.changed.wait_timeout_while(self.state(), IDLE, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows nothing, and stops when a pass has ended, so that what is due after it does not wait.
struct Stopping<'a> {
    merger: &'a Merger,
    progress: &'a dyn Progress,
}

impl Progress for Stopping<'_> {
    fn is_cancelled(&self) -> bool {
        let state = self.merger.state();
        state.has_ended || state.new_count.is_some() || self.progress.is_cancelled()
    }
}
