//! The mailboxes of recent states, so that they are counted once, and compared with later ones; the tags of
//! the last state.
//!
//! Input: states, their mailboxes and tags. Output: those of a state that a client was told of. Knows nothing
//! of the index.

use crate::last_moment::LastMoment;
use crate::mailbox::Folders;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// How many states are kept. After more commits a client reads all mailboxes again.
const STATE_COUNT_MAX: usize = 64;

/// What requests share: the mailboxes of recent states, tags, and the last moment that was asked for. It
/// lives as long as the server.
#[derive(Debug, Default)]
pub struct Cache {
    /// The newest is the last.
    states: Mutex<VecDeque<(String, Arc<Folders>)>>,
    /// Of the state that was counted last.
    tags: Mutex<Option<(String, Arc<Tags>)>>,
    pub(crate) moment: LastMoment,
}

/// Tags, each with the number of its emails.
type Tags = BTreeMap<String, u64>;

impl Cache {
    /// Returns the mailboxes of a state.
    pub(crate) fn get(&self, state: &str) -> Option<Arc<Folders>> {
        // A list is exchanged as a whole: a panic of another holder leaves nothing half done.
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.iter().rev().find(|(known, _)| known == state).map(|(_, folders)| Arc::clone(folders))
    }

    /// Returns the tags of a state, and counts them if another state was counted last.
    pub(crate) fn tags<E>(
        &self,
        state: &str,
        count: impl FnOnce() -> Result<Tags, E>,
    ) -> Result<Arc<Tags>, E> {
        let known = || self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tags)) = known().as_ref().filter(|(known, _)| known == state) {
            return Ok(Arc::clone(tags));
        }
        let tags = Arc::new(count()?);
        *known() = Some((state.to_owned(), Arc::clone(&tags)));
        Ok(tags)
    }

    /// Keeps the mailboxes of a state. Equal ones of the state before are shared.
    pub(crate) fn put(&self, state: &str, folders: Folders) -> Arc<Folders> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let last = states.back().filter(|(_, last)| **last == folders);
        let folders = last.map_or_else(|| Arc::new(folders), |(_, last)| Arc::clone(last));
        if !states.iter().any(|(known, _)| known == state) {
            states.push_back((state.to_owned(), Arc::clone(&folders)));
        }
        if states.len() > STATE_COUNT_MAX {
            states.pop_front();
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_states_are_kept() {
        let cache = Cache::default();
        for state in 0..STATE_COUNT_MAX + 1 {
            cache.put(&state.to_string(), Folders::default());
        }
        assert!(cache.get("0").is_none());
        let (one, last) = (cache.get("1").unwrap(), cache.get(&STATE_COUNT_MAX.to_string()).unwrap());
        assert!(Arc::ptr_eq(&one, &last));
    }
}
