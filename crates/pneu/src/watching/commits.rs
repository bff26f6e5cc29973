//! Waits for commits: of the index, and of what the user saved, by any process.
//!
//! Input: a host. Output: its newest view, as soon as there is a newer one. The directories of the index and
//! of the user's data tell when something was committed. Writes nothing.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use watch::{Interest, Watcher};
use work::Progress;

/// How often the index is looked at if its directory cannot be watched.
const LOOK: Duration = Duration::from_secs(1);

/// Tells that something may have been committed.
pub(super) struct CommitWatch {
    directories: [PathBuf; 3],
    watcher: Option<Watcher>,
}

impl CommitWatch {
    /// Begins to watch the index of a host.
    pub(super) fn new(host: &Host) -> CommitWatch {
        let environment = &host.settings().environment;
        let directories =
            [environment.index_directory(), environment.user_directory(), environment.data.clone()];
        let mut watch = CommitWatch { directories, watcher: None };
        watch.cover();
        watch
    }

    /// Watches the directories that are there. To be called before each look, so that no commit is missed,
    /// and none in a directory that is new.
    pub(super) fn cover(&mut self) {
        // What could not be watched before may be there now.
        self.watcher = self.watcher.take().or_else(|| Watcher::new().ok());
        let wanted = self.directories.iter().map(|path| (path.clone(), Interest::NamesAndContents));
        let covered = self.watcher.as_mut().and_then(|watcher| watcher.cover(wanted).ok());
        if covered.is_none_or(|covered| covered.left_out_count > 0 || covered.watched_count < 2) {
            self.watcher = None;
        }
    }

    /// Waits until something happens, or until it is time to look again; at most so long.
    pub(super) fn wait(&mut self, left: Option<Duration>) {
        // What a report says does not matter: the newest state is looked at.
        let is_watched = self.watcher.as_mut().is_some_and(|watcher| watcher.wait(left).is_ok());
        if !is_watched {
            std::thread::sleep(left.unwrap_or(LOOK).min(LOOK));
        }
    }
}

/// A wait for newer commits, which goes on from one call to the next.
pub struct Commits<'h> {
    host: &'h Host,
    watch: CommitWatch,
    /// What was returned last.
    told: Option<Told>,
}

/// What tells two states apart: the token, and the saved queries, which are in a file of their own.
#[derive(PartialEq, Eq)]
struct Told {
    token: String,
    /// None if they cannot be read.
    saved_queries: Option<BTreeMap<String, String>>,
}

impl Host {
    /// Begins to wait for commits. The first one that [`Commits::next`] returns is the newest there is.
    pub fn commits(&self) -> Commits<'_> {
        Commits { host: self, watch: CommitWatch::new(self), told: None }
    }
}

impl Commits<'_> {
    /// Waits until there is a commit of the index or of the user's data that was not returned yet, and
    /// returns the newest view, with its token of the change log. Other saved queries count as a commit,
    /// which the token does not tell. Returns none after `timeout`. That `progress` is cancelled is noticed
    /// whenever something happens in the directories, and after `timeout`.
    ///
    /// # Errors
    /// There is no index; [`Error::Cancelled`]; damage.
    pub fn next(
        &mut self,
        timeout: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<Option<(View, String)>> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            self.watch.cover();
            let view = self.host.newest_view()?;
            let token = view.changes(None)?.token;
            let now = Told { token: token.clone(), saved_queries: view.saved_queries().ok().cloned() };
            if self.told.as_ref() != Some(&now) {
                self.told = Some(now);
                return Ok(Some((view, token)));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.watch.wait(left);
        }
    }
}
