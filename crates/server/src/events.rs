//! Streams of events (WHATWG HTML, 9.2). Input: events from any thread. Output: the newest one that was not
//! sent, as bytes. Does not know what events mean.
//!
//! There is no queue. An event tells a new state, so one that was not sent is replaced by the next. If it has
//! something that the next lacks, use [`EventSender::update`].

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// What the client says in `Last-Event-ID` when it connects again.
    pub id: Option<String>,
    /// Its name; `None` is `message` to browsers.
    pub name: Option<String>,
    /// Its text, of any number of lines.
    pub data: String,
}

impl Event {
    /// Returns the lines of an event. Line ends and NUL cannot be said in an id or a name, and are left out.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.data.len() + 64);
        for (field, value) in [("id: ", &self.id), ("event: ", &self.name)] {
            if let Some(value) = value {
                text.push_str(field);
                text.extend(value.chars().filter(|letter| !matches!(letter, '\r' | '\n' | '\0')));
                text.push('\n');
            }
        }
        for line in self.data.replace("\r\n", "\n").split(['\r', '\n']) {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text
    }
}

/// A sign of life, so that both sides notice when the other has gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ping {
    /// How long after the last event or sign of life it is sent.
    pub interval: Duration,
    /// What is sent; `None` is a comment that browsers do not show to pages.
    pub event: Option<Event>,
}

/// How a stream of events behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventOptions {
    /// Signs of life; `None` sends none. Then a client that goes away is noticed if its machine says so, and
    /// one whose network is cut keeps its place.
    pub ping: Option<Ping>,
    /// Whether the stream ends after one event. Signs of life do not count.
    pub closes_after_event: bool,
}

/// Makes a stream of events, and the handle that fills it.
pub fn events(options: EventOptions) -> (EventSender, EventStream) {
    let slot = Arc::new(Slot::default());
    let sender = EventSender(Arc::new(SenderEnd(Arc::clone(&slot))));
    (sender, EventStream { slot, options })
}

/// Fills a stream of events, from any thread. The stream ends when the last clone goes.
#[derive(Clone)]
pub struct EventSender(Arc<SenderEnd>);

impl EventSender {
    /// Sends an event, in place of one that waits. Returns whether somebody still listens.
    pub fn send(&self, event: Event) -> bool {
        self.update(|_| event)
    }

    /// Sends the event that is made of the one that waits. Returns whether somebody still listens.
    pub fn update(&self, merge: impl FnOnce(Option<Event>) -> Event) -> bool {
        let mut state = self.0.0.state();
        if state.is_gone {
            return false;
        }
        let waiting = state.newest.take();
        state.newest = Some(merge(waiting));
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Returns whether somebody listens.
    pub fn is_open(&self) -> bool {
        !self.0.0.state().is_gone
    }
}

impl fmt::Debug for EventSender {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("EventSender")
    }
}

/// A stream of events, to be given as the body of an answer.
pub struct EventStream {
    slot: Arc<Slot>,
    pub(crate) options: EventOptions,
}

impl EventStream {
    /// Waits for an event. `None` is the end.
    pub(crate) fn poll_event(&self, context: &Context) -> Poll<Option<Event>> {
        let mut state = self.slot.state();
        if let Some(event) = state.newest.take() {
            return Poll::Ready(Some(event));
        }
        if state.is_complete {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("EventStream")
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let mut state = self.slot.state();
        (state.is_gone, state.newest) = (true, None);
    }
}

/// What both ends share.
#[derive(Default)]
struct Slot(Mutex<State>);

#[derive(Default)]
struct State {
    newest: Option<Event>,
    /// Nobody sends any more.
    is_complete: bool,
    /// Nobody listens any more.
    is_gone: bool,
    waker: Option<Waker>,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all clones of a sender share.
struct SenderEnd(Arc<Slot>);

impl Drop for SenderEnd {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_complete = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> Event {
        Event { data: data.to_owned(), ..Event::default() }
    }

    fn poll(stream: &EventStream) -> Poll<Option<Event>> {
        stream.poll_event(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn events_are_lines() {
        let full = Event { id: Some("a1".to_owned()), name: Some("state".to_owned()), data: "{}".to_owned() };
        assert_eq!(full.text(), "id: a1\nevent: state\ndata: {}\n\n");
        assert_eq!(event("a\nb\r\nc\rd\n").text(), "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
        assert_eq!(event("").text(), "data: \n\n");
    }

    #[test]
    fn no_value_begins_another_field() {
        let odd =
            Event { id: Some("a\ndata: b\0".to_owned()), name: Some("\r\nc".to_owned()), data: "\n".into() };
        assert_eq!(odd.text(), "id: adata: b\nevent: c\ndata: \ndata: \n\n");
    }

    #[test]
    fn an_event_replaces_the_one_that_waits() {
        let (sender, stream) = events(EventOptions::default());
        assert!(poll(&stream).is_pending());
        assert!(sender.send(event("a")) && sender.send(event("b")));
        assert_eq!(poll(&stream), Poll::Ready(Some(event("b"))));
        assert!(sender.send(event("c")));
        assert!(sender.update(|waiting| event(&format!("{}d", waiting.unwrap().data))));
        let clone = sender.clone();
        drop(sender);
        assert_eq!(poll(&stream), Poll::Ready(Some(event("cd"))));
        assert!(poll(&stream).is_pending());
        drop(clone);
        assert_eq!(poll(&stream), Poll::Ready(None));
    }

    #[test]
    fn a_sender_notices_that_nobody_listens() {
        let (sender, stream) = events(EventOptions::default());
        assert!(sender.is_open() && sender.send(event("a")));
        drop(stream);
        assert!(!sender.is_open() && !sender.send(event("b")));
    }
}
