//! All connections, so that they do not become too many. Output: room for a new one. Does not know what is
//! said on them.

use crate::limits::Limits;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// All connections.
#[derive(Default)]
pub(crate) struct Registry {
    state: Mutex<State>,
    count_max: usize,
    /// A connection ended, or can be closed for a new one.
    has_room: Notify,
}

#[derive(Default)]
struct State {
    connections: BTreeMap<u64, Entry>,
    /// Grows with each connection, and each time that one of them begins to wait.
    next: u64,
}

struct Entry {
    task: Option<AbortHandle>,
    /// Since when it waits for a complete request of somebody who logged in. `None`: such a request is being
    /// answered.
    waits_since: Option<u64>,
}

impl Registry {
    pub(crate) fn new(limits: &Limits) -> Registry {
        Registry { count_max: limits.connections_max.max(1), ..Registry::default() }
    }

    /// Waits for room, and returns it. Takes it from the connection that has waited longest, if there is one.
    pub(crate) async fn enter(self: &Arc<Registry>) -> Place {
        loop {
            if let Some(place) = self.try_enter() {
                return place;
            }
            self.has_room.notified().await;
        }
    }

    fn try_enter(self: &Arc<Registry>) -> Option<Place> {
        let mut state = self.state();
        if state.connections.len() >= self.count_max {
            close_oldest(&mut state)?;
        }
        let id = state.next();
        state.connections.insert(id, Entry { task: None, waits_since: Some(id) });
        Some(Place { registry: Arc::clone(self), id })
    }

    /// Says which task has a place, so that it can be ended.
    pub(crate) fn belongs_to(&self, id: u64, task: AbortHandle) {
        match self.state().connections.get_mut(&id) {
            Some(entry) => entry.task = Some(task),
            None => task.abort(),
        }
    }

    /// Closes the connection that has waited longest.
    pub(crate) fn close_oldest(&self) {
        let _ = close_oldest(&mut self.state());
    }

    /// Closes all connections, and waits until they have let go of everything.
    pub(crate) async fn close_all(&self) {
        for task in self.state().connections.values().filter_map(|entry| entry.task.as_ref()) {
            task.abort();
        }
        // Those that gave way to others before may still be about to end.
        tokio::task::yield_now().await;
        while !self.state().connections.is_empty() {
            self.has_room.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

fn close_oldest(state: &mut State) -> Option<()> {
    let waiting = state.connections.iter().filter_map(|(id, entry)| Some((entry.waits_since?, *id)));
    let (_, id) = waiting.min()?;
    if let Some(task) = state.connections.remove(&id).and_then(|entry| entry.task) {
        task.abort();
    }
    Some(())
}

/// Room for a connection, until this value goes.
pub(crate) struct Place {
    registry: Arc<Registry>,
    id: u64,
}

impl Place {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// A request of somebody who logged in is complete: the connection is not closed for others.
    pub(crate) fn works(&self) {
        if let Some(entry) = self.registry.state().connections.get_mut(&self.id) {
            entry.waits_since = None;
        }
    }

    /// The answer has been sent.
    pub(crate) fn waits(&self) {
        let mut state = self.registry.state();
        let now = state.next();
        if let Some(entry) = state.connections.get_mut(&self.id) {
            entry.waits_since = Some(now);
            self.registry.has_room.notify_one();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.state().connections.remove(&self.id);
        self.registry.has_room.notify_one();
    }
}
