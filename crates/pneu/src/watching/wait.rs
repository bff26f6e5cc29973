//! Waits until a query matches a message that it did not match before.
//!
//! Input: a query. Output: the messages. The index is brought in step by others: the directory of the index
//! tells when they have committed. Writes nothing.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::NumberSet;
use query::Query;
use std::time::{Duration, Instant};
use watch::{Interest, Watcher};
use work::Progress;

/// How often the index is looked at if its directory cannot be watched.
const LOOK: Duration = Duration::from_secs(1);

impl Host {
    /// Waits until a query matches messages that it does not match now, and returns these. Returns none after
    /// `timeout`. `waits` is called when nothing is half done, so that a signal may end the process.
    ///
    /// # Errors
    /// There is no index; the query cannot be answered; [`Error::Cancelled`].
    pub fn wait_for(
        &self,
        query: &Query,
        timeout: Option<Duration>,
        progress: &dyn Progress,
        waits: &dyn Fn(),
    ) -> Result<Option<(View, NumberSet)>> {
        let environment = &self.settings().environment;
        let directories =
            [environment.index_directory(), environment.user_directory(), environment.data.clone()];
        let mut watcher = Watcher::new().ok();
        // Covered before each look, so that no commit is missed, and none in a directory that is new.
        let cover = |watcher: &mut Option<Watcher>| {
            let wanted = directories.iter().map(|path| (path.clone(), Interest::NamesAndContents));
            let covered = watcher.as_mut().and_then(|watcher| watcher.cover(wanted).ok());
            // The directories of the index and of all data are there.
            if covered.is_none_or(|covered| covered.left_out_count > 0 || covered.watched_count < 2) {
                *watcher = None;
            }
        };
        cover(&mut watcher);
        let mut known = self.newest_view()?.matching(query)?;
        let end = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            cover(&mut watcher);
            let view = self.newest_view()?;
            let mut found = view.matching(query)?;
            if found.bound() < known.bound() {
                // The index was made anew, and gives other numbers.
                known = found.clone();
            }
            known.grow(found.bound());
            found.minus(&known);
            if !found.is_empty() {
                return Ok(Some((view, found)));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            waits();
            // What a report says does not matter: the newest state is looked at.
            let is_watched = watcher.as_mut().is_some_and(|watcher| watcher.wait(left).is_ok());
            if !is_watched {
                std::thread::sleep(left.unwrap_or(LOOK).min(LOOK));
            }
        }
    }
}
