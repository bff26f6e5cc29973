//! How long a connection may take for what it does now. Input: what happens on it. Output: a deadline.
//! Does not know what is read or written.
//!
//! Everything here happens within the connection's own task, so the deadline can only change while that task
//! runs, and is looked at after each of its steps.

use crate::limits::Limits;
use crate::registry::Place;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// What a connection does now, and until when.
pub(crate) struct Pace {
    place: Place,
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    /// `None` while it is our turn.
    deadline: Option<Instant>,
    /// Everything that was given to the connection has been written.
    is_flushed: bool,
    waits_for_flush: Option<Waker>,
    /// The last bytes that arrived are the end of a head.
    ends_head: bool,
    /// Some of the next head has arrived already.
    has_more: bool,
    /// The request that was looked at last has a body, and what came with it may be more than that.
    has_body: bool,
    /// A request was refused before its body was read.
    is_body_unread: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waits for the first byte of another request.
    Idle,
    /// Waits for the rest of a head.
    Head,
    /// Waits for the rest of a body.
    Body,
    /// The request is being answered.
    Answer,
    /// An answer is being written; `has_ended` if all of it was given to the connection.
    Send { has_ended: bool },
    /// Events are being written.
    Events { has_ended: bool },
    /// Waits for the client to hang up.
    Linger,
}

impl Pace {
    /// A client has connected.
    pub(crate) fn new(place: Place, limits: &Limits) -> Pace {
        let state = State {
            phase: Phase::Head,
            deadline: after(limits.head_time),
            is_flushed: true,
            waits_for_flush: None,
            ends_head: false,
            has_more: false,
            has_body: false,
            is_body_unread: false,
        };
        Pace { place, limits: limits.clone(), state: Mutex::new(state) }
    }

    /// Bytes have arrived.
    pub(crate) fn reads(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.ends_head = bytes.ends_with(b"\n\r\n") || bytes.ends_with(b"\n\n");
        match state.phase {
            Phase::Idle => state.enter(Phase::Head, after(self.limits.head_time)),
            Phase::Answer | Phase::Send { .. } | Phase::Events { .. } => state.has_more = true,
            Phase::Head | Phase::Body | Phase::Linger => {}
        }
    }

    /// A head is complete, and the request is looked at. `has_body` says whether a body follows. If none
    /// does, and the last bytes are no end of a head, they are the begin of the next.
    pub(crate) fn looks_at(&self, has_body: bool) {
        let mut state = self.state();
        (state.has_body, state.has_more) = (has_body, !has_body && !state.ends_head);
        state.enter(Phase::Answer, None);
    }

    /// Returns whether a request is being answered after which more came: what came hides the client's end.
    pub(crate) fn may_miss_end(&self) -> bool {
        let state = self.state();
        let is_answer = matches!(state.phase, Phase::Answer | Phase::Send { .. } | Phase::Events { .. });
        is_answer && (state.has_more || state.has_body)
    }

    /// A request is complete that needs no login.
    pub(crate) fn answers(&self) {
        self.state().enter(Phase::Answer, None);
    }

    /// A body is being read.
    pub(crate) fn awaits_body(&self) {
        self.state().enter(Phase::Body, after(self.limits.body_time));
    }

    /// A request is refused, and its body stays unread.
    pub(crate) fn has_unread_body(&self) {
        self.state().is_body_unread = true;
    }

    /// Returns whether the client may still be sending a body that nobody reads.
    pub(crate) fn is_body_unread(&self) -> bool {
        self.state().is_body_unread
    }

    /// A request of somebody who logged in is complete.
    pub(crate) fn works(&self) {
        self.state().enter(Phase::Answer, None);
        self.place.works();
    }

    /// An answer begins. It must be taken as a whole, within its time.
    pub(crate) fn sends(&self) {
        let mut state = self.state();
        state.enter(Phase::Send { has_ended: false }, after(self.limits.answer_time));
        state.is_flushed = false;
    }

    /// An answer begins whose events must be taken one by one.
    pub(crate) fn sends_events(&self) {
        let mut state = self.state();
        state.enter(Phase::Events { has_ended: false }, after(self.limits.event_time));
        state.is_flushed = false;
    }

    /// A piece of an answer was given to the connection.
    pub(crate) fn gives(&self) {
        let mut state = self.state();
        state.is_flushed = false;
        if let Phase::Events { .. } = state.phase {
            state.deadline = after(self.limits.event_time);
        }
    }

    /// The last byte of an answer was given to the connection.
    pub(crate) fn has_ended(&self) {
        let mut state = self.state();
        let is_flushed = state.is_flushed;
        match &mut state.phase {
            Phase::Send { has_ended } | Phase::Events { has_ended } => *has_ended = true,
            _ => return,
        }
        if is_flushed {
            self.rests(&mut state);
        }
    }

    /// Everything that was given to the connection has been written.
    pub(crate) fn is_flushed(&self) {
        let mut state = self.state();
        state.is_flushed = true;
        let waker = state.waits_for_flush.take();
        match state.phase {
            Phase::Events { has_ended: false } => state.deadline = None,
            Phase::Send { has_ended: true } | Phase::Events { has_ended: true } => {
                self.rests(&mut state);
            }
            _ => {}
        }
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until everything has been written: another event would only queue.
    pub(crate) fn poll_flushed(&self, context: &Context) -> Poll<()> {
        let mut state = self.state();
        if state.is_flushed {
            return Poll::Ready(());
        }
        state.waits_for_flush = Some(context.waker().clone());
        Poll::Pending
    }

    /// The connection is done, and waits for the client to hang up.
    pub(crate) fn lingers(&self) {
        self.state().enter(Phase::Linger, after(self.limits.linger_time));
        self.place.waits();
    }

    /// Does some of a connection's work until it is done. Returns `None` if it took too long.
    pub(crate) async fn keep<T>(&self, mut work: impl FnMut(&mut Context) -> Poll<T>) -> Option<T> {
        let mut alarm = Box::pin(sleep_until(Instant::now()));
        poll_fn(|context| {
            if let Poll::Ready(done) = work(context) {
                return Poll::Ready(Some(done));
            }
            let Some(deadline) = self.state().deadline else { return Poll::Pending };
            if alarm.deadline() != deadline {
                alarm.as_mut().reset(deadline);
            }
            alarm.as_mut().poll(context).map(|()| None)
        })
        .await
    }

    /// An answer has been sent.
    fn rests(&self, state: &mut State) {
        if state.has_more {
            state.enter(Phase::Head, after(self.limits.head_time));
        } else {
            state.enter(Phase::Idle, after(self.limits.idle_time));
        }
        self.place.waits();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn enter(&mut self, phase: Phase, deadline: Option<Instant>) {
        (self.phase, self.deadline) = (phase, deadline);
    }
}

/// A time that the clock cannot show is none.
fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}
