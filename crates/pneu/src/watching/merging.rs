//! Merges what passes wrote, on a thread of its own beside the loop that follows the mail.
//!
//! Input: how many messages each pass added. Output: an index that is merged as after passes of their own,
//! and more when no pass follows for a while; errors, for the loop to tell. The loop never waits for it,
//! except at the end, for the merge that runs. Does not know what changed in the mail. The process may end at
//! any time: what was not published is removed later.

use crate::error::{Error, Result};
use crate::host::Host;
use index::Merging;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;
use work::{Progress, Workers};

/// How long no pass ends before more is merged than is due.
const IDLE: Duration = Duration::from_secs(1);

/// How long nothing is merged after an error: it may take long to meet it again.
const RETRY: Duration = Duration::from_secs(30);

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
    /// The thread is there.
    is_running: bool,
    /// Errors that were not told yet.
    errors: Vec<Error>,
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

    /// Returns whether the thread is there. If the system refuses it, or after a panic, passes have to merge.
    pub(super) fn is_running(&self) -> bool {
        self.state().is_running
    }

    /// Returns the errors since the last call.
    pub(super) fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut self.state().errors)
    }

    /// Starts the thread that merges what is asked for, until the end.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        host: &'scope Host,
        progress: &'scope dyn Progress,
    ) {
        self.state().is_running = true;
        let running = Running(self);
        // If the system refuses, what runs in the thread is dropped here.
        let _ = Builder::new().spawn_scoped(scope, move || {
            let running = running;
            running.0.run(host, progress);
        });
    }

    fn run(&self, host: &Host, progress: &dyn Progress) {
        // Not the threads of passes: one that waits for its own work must not begin a merge.
        let thread = Workers::new(1);
        let merge = |merging, stops_for_more| -> Result<()> {
            let environment = host.environment_of_writer();
            let stopping = Stopping { merger: self, progress, stops_for_more };
            thread.run(|| index::merge(&environment, merging, &stopping))?;
            host.follow()
        };
        while let Some(new_count) = self.next() {
            let mut merged = merge(Merging::Due { new_count }, false);
            if merged.is_ok() && self.is_quiet(IDLE) {
                merged = merge(Merging::Idle, true);
            }
            if let Err(error) = merged {
                self.state().errors.push(error);
                self.wait_for_end(RETRY);
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
    fn is_quiet(&self, time: Duration) -> bool {
        let is_waiting = |state: &mut State| state.new_count.is_none() && !state.has_ended;
        let waited = self.changed.wait_timeout_while(self.state(), time, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits for some time, or for the end.
    fn wait_for_end(&self, time: Duration) {
        drop(self.changed.wait_timeout_while(self.state(), time, |state| !state.has_ended));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that the thread is gone when it is dropped, also by a panic.
struct Running<'a>(&'a Merger);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.state().is_running = false;
    }
}

/// Shows nothing, and stops at the end.
struct Stopping<'a> {
    merger: &'a Merger,
    progress: &'a dyn Progress,
    /// Whether it also stops when a pass has ended, so that what is due after it does not wait.
    stops_for_more: bool,
}

impl Progress for Stopping<'_> {
    fn is_cancelled(&self) -> bool {
        let state = self.merger.state();
        let has_more = self.stops_for_more && state.new_count.is_some();
        state.has_ended || has_more || self.progress.is_cancelled()
    }
}
