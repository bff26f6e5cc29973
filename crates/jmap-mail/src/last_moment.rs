//! Keeps the view of the last moment that was asked for: it takes long to make, and clients ask again.
//!
//! Input: what shows a moment, and what makes its view. Output: the view. Knows no archive.

use pneu::{Id, Root, View};
use std::sync::{Mutex, PoisonError};

/// The commit, and the snapshots that show a moment, each with the roots that it is used for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) state: String,
    pub(crate) snapshots: Vec<(Id, Vec<Root>)>,
}

/// The last moment that was asked for.
#[derive(Debug, Default)]
pub(crate) struct LastMoment(Mutex<Option<(Shown, View)>>);

impl LastMoment {
    /// Returns the view of a moment. `make` is called unless it is the last one.
    pub(crate) fn get<E>(&self, shown: Shown, make: impl FnOnce() -> Result<View, E>) -> Result<View, E> {
        // The pair is exchanged whole: a panic of another holder leaves nothing half done.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, view)) = &*last
            && *known == shown
        {
            return Ok(view.clone());
        }
        // The old one goes first: two would need twice the memory.
        *last = None;
        let view = make()?;
        *last = Some((shown, view.clone()));
        Ok(view)
    }
}
