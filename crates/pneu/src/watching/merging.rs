//! Merges what passes wrote, on a thread of its own beside the loop that follows the mail.
//!
//! Input: how many messages each pass added. Output: an index that is merged as after passes of their own,
//! and more when no pass follows for a while; what went wrong, for the loop to tell. The loop never waits for
//! it: at the end, the merge that runs gives up. Does not know what changed in the mail. The process may end
//! at any time: what was not published is removed later.

use crate::error::{Error, Result};
use crate::host::Host;
use index::{Environment, Merging};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;
use work::{Cancel, Context, Progress, Workers};

/// What the thread does, and how. Tests have other means.
pub(super) struct Means {
    /// Merges.
    pub merge: fn(&Environment, Merging, &dyn Progress) -> index::Result<()>,
    /// Starts the thread.
    pub thread: fn() -> Builder,
    /// How long no pass ends before more is merged than is due.
    pub idle: Duration,
    /// How long nothing is merged after an error: it may take long to meet it again.
    pub retry: Duration,
}

impl Default for Means {
    fn default() -> Means {
        let (idle, retry) = (Duration::from_secs(1), Duration::from_secs(30));
        Means { merge: index::merge, thread: Builder::new, idle, retry }
    }
}

/// What the loop and the thread share.
#[derive(Default)]
pub(super) struct Merger {
    means: Means,
    state: Mutex<State>,
    changed: Condvar,
    /// Stops the merge that runs.
    cancel: Cancel,
}

#[derive(Default)]
struct State {
    /// How many messages passes added since the last request was taken, if any pass ended.
    new_count: Option<u64>,
    /// The thread is to end.
    has_ended: bool,
    /// The thread is there.
    is_running: bool,
    /// What went wrong and was not told yet.
    troubles: Vec<Trouble>,
}

/// What went wrong.
pub(super) enum Trouble {
    /// A merge failed.
    Failed(Error),
    /// There is no thread: the system refused it, with this error, or it met a fault of the program.
    NoThread(Option<io::Error>),
}

/// Ends the thread when it is dropped.
pub(super) struct End<'a>(pub &'a Merger);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.cancel.cancel();
        self.0.changed.notify_all();
    }
}

impl Merger {
    /// Returns one with other means.
    #[cfg(test)]
    pub(super) fn with(means: Means) -> Merger {
        Merger { means, ..Merger::default() }
    }

    /// Has the index merged after a pass that added this many messages.
    pub(super) fn ask(&self, new_count: u64) {
        let mut state = self.state();
        state.new_count = Some(state.new_count.unwrap_or(0).saturating_add(new_count));
        self.changed.notify_all();
    }

    /// Returns whether the thread is there. If not, passes have to merge.
    pub(super) fn is_running(&self) -> bool {
        self.state().is_running
    }

    /// Returns what went wrong since the last call.
    pub(super) fn take_troubles(&self) -> Vec<Trouble> {
        std::mem::take(&mut self.state().troubles)
    }

    /// Starts the thread that merges what is asked for, until the end.
    pub(super) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, host: &'scope Host) {
        self.state().is_running = true;
        let run = || {
            // States are exchanged whole, and what a merge wrote counts only when it is published.
            if catch_unwind(AssertUnwindSafe(|| self.run(host))).is_err() {
                self.has_no_thread(None);
            }
        };
        if let Err(error) = (self.means.thread)().spawn_scoped(scope, run) {
            self.has_no_thread(Some(error));
        }
    }

    fn has_no_thread(&self, why: Option<io::Error>) {
        let mut state = self.state();
        state.is_running = false;
        state.troubles.push(Trouble::NoThread(why));
    }

    fn run(&self, host: &Host) {
        // Not the threads of passes: one that waits for its own work must not begin a merge or wait for it.
        let thread = Workers::new(1);
        let merge = |merging, stops_for_more| -> Result<()> {
            let environment = host.environment_of_writer();
            // The end stops it, and no signal that the loop has not seen: the process may end at once where
            // the loop only waits.
            let context = Context { cancel: self.cancel.clone(), ..environment.context };
            let environment = Environment { context, ..environment };
            let stopping = Stopping { merger: self, stops_for_more };
            thread.run_apart(|| (self.means.merge)(&environment, merging, &stopping))?;
            host.follow()
        };
        // Messages of merges that failed count again: the next one may take as much as all of them together.
        let mut asked_count: u64 = 0;
        while let Some(new_count) = self.next() {
            asked_count = asked_count.saturating_add(new_count);
            let mut merged = merge(Merging::Due { new_count: asked_count }, false);
            if merged.is_ok() {
                asked_count = 0;
                if self.is_quiet(self.means.idle) {
                    merged = merge(Merging::Idle, true);
                }
            }
            if let Err(error) = merged {
                self.state().troubles.push(Trouble::Failed(error));
                self.wait_for_end(self.means.retry);
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

/// Shows nothing, and stops at the end.
struct Stopping<'a> {
    merger: &'a Merger,
    /// Whether it also stops when a pass has ended, so that what is due after it does not wait.
    stops_for_more: bool,
}

impl Progress for Stopping<'_> {
    fn is_cancelled(&self) -> bool {
        let state = self.merger.state();
        state.has_ended || (self.stops_for_more && state.new_count.is_some())
    }
}
