//! A repository that is opened when it is first asked, for messages whose files are gone.
//!
//! Input: a closure that opens it, which is the front end's: it knows the address, the password and the lock.
//! Output: messages, from their files or else from the repository.

use super::{Archive, Unread};
use crate::error::{Error, Result};
use crate::message_file::{MessageContent, Wanted};
use crate::settings::Settings;
use crate::view::View;
use index::{Hit, Message};
use mail::FileContent;
use restic::{HeldLock, Repository};
use std::cell::OnceCell;
use std::result;
use work::Silent;

/// An open repository, and the lock under which it is read.
#[derive(Debug)]
pub struct OpenRepository {
    /// The repository.
    pub repository: Repository,
    /// Its lock; `None` if it is read without one.
    pub lock: Option<HeldLock>,
}

/// Opens a repository; `None` if none is named.
pub type OpenOnce<'a, E> = dyn Fn() -> result::Result<Option<OpenRepository>, E> + 'a;

/// A repository that is opened when it is first asked, and stays open. `E` is the front end's error.
pub struct LazyArchive<'a, E> {
    settings: &'a Settings,
    open: Box<OpenOnce<'a, E>>,
    /// None inside if no repository is named.
    opened: OnceCell<Option<OpenRepository>>,
}

impl<'a, E: From<Error>> LazyArchive<'a, E> {
    /// Takes what opens the repository. Nothing is opened yet. `open` is called again after it failed.
    pub fn new(
        settings: &'a Settings,
        open: impl Fn() -> result::Result<Option<OpenRepository>, E> + 'a,
    ) -> LazyArchive<'a, E> {
        LazyArchive { settings, open: Box::new(open), opened: OnceCell::new() }
    }

    /// Opens the repository now if only it has one of these messages.
    ///
    /// # Errors
    /// What `open` returns; damage in the index.
    pub fn open_for(&self, view: &View, hits: &[Hit]) -> result::Result<(), E> {
        for hit in hits {
            if view.is_absent(hit)? {
                self.opened()?;
                break;
            }
        }
        Ok(())
    }

    /// Reads a message from the first of its files that still holds it, as [`View::read_wanted`] does. If
    /// none does, reads it from the repository: its path is then `None`.
    ///
    /// # Errors
    /// [`Error::File`] if no file holds it and the repository does not either, or none is named; what `open`
    /// returns; the repository cannot be read; [`Error::Cancelled`].
    pub fn read(&self, view: &View, message: &Message, wanted: Wanted) -> result::Result<MessageContent, E> {
        match view.read_wanted(message, wanted) {
            Err(error @ Error::File(_)) => match self.message(&message.sha256)? {
                Some(bytes) => {
                    let mut content = FileContent::default();
                    content.bytes = bytes;
                    let now_ns = self.settings.environment.context.now_ns();
                    Ok(MessageContent::new(None, content, now_ns))
                }
                None => Err(error.into()),
            },
            read => Ok(read?),
        }
    }

    /// Returns a message by its content's SHA-256; `None` if no repository is named or it does not have it.
    fn message(&self, sha256: &[u8; 32]) -> result::Result<Option<Vec<u8>>, E> {
        let Some(OpenRepository { repository, .. }) = self.opened()? else { return Ok(None) };
        // While a lock is held, nothing else ends the program.
        if repository.surroundings().context.cancel.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        Ok(Archive::new(self.settings, repository, &Silent).message(sha256)?)
    }

    fn opened(&self) -> result::Result<Option<&OpenRepository>, E> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened.as_ref());
        }
        let opened = (self.open)()?;
        Ok(self.opened.get_or_init(|| opened).as_ref())
    }
}

/// What a handle means, as far as everything could be read.
#[derive(Debug)]
pub struct Lookup<T> {
    /// What was found.
    pub found: Result<T>,
    /// What of the repository could not be read to find it.
    pub unread: Unread,
}

impl View {
    /// Looks for what a handle means, and if nothing matches, looks again among the messages that only a
    /// repository has, too. `with_absent` returns the same view with these; `None` if no repository is named.
    ///
    /// # Errors
    /// Those of `with_absent`. What `find` returns is in the result.
    pub fn look_up<T, E>(
        &self,
        find: impl Fn(&View) -> Result<T>,
        with_absent: impl FnOnce(View) -> result::Result<Option<(View, Unread)>, E>,
    ) -> result::Result<Lookup<T>, E> {
        let here = find(self);
        if !matches!(here, Err(Error::NoMatch { .. })) {
            return Ok(Lookup { found: here, unread: Unread::default() });
        }
        Ok(match with_absent(self.clone())? {
            Some((view, unread)) => Lookup { found: find(&view), unread },
            None => Lookup { found: here, unread: Unread::default() },
        })
    }
}
