//! A repository that all requests of a server share: it is opened when it is first needed, without asking
//! anybody, and stays open.
//!
//! Input: a closure that opens it, which is the front end's. Output: messages whose files are gone, which of
//! them it has, the mail of an earlier time. It is never locked: a prune at the same time may make a read
//! fail, and the next one then works. Must not know who asks.

use super::{Archive, SnapshotsAt};
use crate::error::Result;
use crate::message_file::MessageContent;
use crate::unopened::Unopened;
use crate::view::View;
use backup::MessageArchive;
use index::Archive as _;
use mail::FileContent;
use restic::Repository;
use std::fmt;
use std::result;
use std::sync::{Arc, Mutex, PoisonError};
use work::{Progress, Silent};

/// Opens a repository without asking anybody.
pub type OpenUnasked = dyn Fn() -> result::Result<Repository, Unopened> + Send + Sync;

/// A repository that requests share.
pub struct SharedArchive {
    open: Box<OpenUnasked>,
    /// Held while it is opened, so that it is opened once.
    opened: Mutex<Option<Arc<Repository>>>,
}

impl fmt::Debug for SharedArchive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedArchive").finish_non_exhaustive()
    }
}

impl SharedArchive {
    /// Takes what opens the repository. Nothing is opened yet. `open` is called again after it failed.
    pub fn new(open: impl Fn() -> result::Result<Repository, Unopened> + Send + Sync + 'static) -> Self {
        SharedArchive { open: Box::new(open), opened: Mutex::default() }
    }

    /// Returns the repository as requests before left it: its index may be read, and older than now.
    fn opened(&self) -> Result<Arc<Repository>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(repository) = &*opened {
            return Ok(Arc::clone(repository));
        }
        let repository = Arc::new((self.open)()?);
        *opened = Some(Arc::clone(&repository));
        Ok(repository)
    }

    /// Returns the repository as it is now.
    ///
    /// # Errors
    /// [`Error::Unopened`](crate::Error::Unopened).
    pub fn repository(&self) -> Result<Arc<Repository>> {
        let repository = Arc::new(self.opened()?.reread());
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&repository));
        Ok(repository)
    }

    /// Reads a message by its content's SHA-256; `None` if the repository does not have it.
    ///
    /// # Errors
    /// [`Error::Unopened`](crate::Error::Unopened); [`Error::Unindexed`](crate::Error::Unindexed); the
    /// repository cannot be read.
    pub fn read(&self, view: &View, sha256: &[u8; 32]) -> Result<Option<MessageContent>> {
        let settings = view.settings();
        let message = |repository: &Repository| Archive::new(settings, repository, &Silent).message(sha256);
        let bytes = match message(&*self.opened()?) {
            Ok(Some(bytes)) => Some(bytes),
            // Another process may have changed it since its index was read.
            Ok(None) | Err(_) => message(&*self.repository()?)?,
        };
        let now_ns = settings.environment.context.now_ns();
        let content = |bytes| {
            let mut content = FileContent::default();
            content.bytes = bytes;
            MessageContent::new(None, content, now_ns)
        };
        Ok(bytes.map(content))
    }

    /// Returns, for each content, whether the repository holds it, as of now.
    ///
    /// # Errors
    /// [`Error::Unopened`](crate::Error::Unopened); the repository cannot be read.
    pub fn holds(&self, view: &View, contents: &[[u8; 32]]) -> Result<Vec<bool>> {
        let repository = self.repository()?;
        let archive = MessageArchive { environment: &view.settings().environment, repository: &repository };
        Ok(archive.messages(&[], &Silent).holds(contents)?)
    }

    /// Chooses the snapshots that show the mail of a moment. `end_seconds` is the first second that is later,
    /// since 1970.
    ///
    /// # Errors
    /// [`Error::Unopened`](crate::Error::Unopened); as [`Archive::choose`].
    pub fn choose(&self, view: &View, end_seconds: i64) -> Result<SnapshotsAt> {
        Archive::new(view.settings(), &*self.opened()?, &Silent).choose(view, end_seconds)
    }

    /// Returns the view of the mail that the chosen snapshots have, as [`Archive::view_at`] does.
    ///
    /// # Errors
    /// [`Error::Unopened`](crate::Error::Unopened); as [`Archive::view_at`].
    pub fn view_at(&self, view: View, snapshots: &SnapshotsAt, progress: &dyn Progress) -> Result<View> {
        let (settings, repository) = (view.settings().clone(), self.repository()?);
        Ok(Archive::new(&settings, &repository, &Silent).view_at(view, snapshots, progress)?.0)
    }
}
