//! One user's mail: what all answers share. Input: a host, and who asks. Output: the account in its newest
//! state, the session, those who wait for events. Knows no addresses.

use crate::subscribers::Subscribers;
use jmap::Limits;
use jmap_mail::{Account, Cache, Session, UPLOADS_BYTES_MAX, Uploads};
use pneu::Host;
use pneu::archive::SharedArchive;
use server::Request;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// One user's mail.
#[derive(Debug)]
pub struct Mail {
    pub(crate) limits: Limits,
    pub(crate) subscribers: Subscribers,
    pub(crate) uploads: Uploads,
    username: String,
    source: RwLock<Arc<Source>>,
}

/// Where answers come from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) host: Arc<Host>,
    /// What it keeps depends on the host's configuration, and on the archive.
    cache: Cache,
    archive: Option<Arc<SharedArchive>>,
}

impl Source {
    fn new(host: Arc<Host>, archive: Option<Arc<SharedArchive>>) -> Arc<Source> {
        Arc::new(Source { host, cache: Cache::default(), archive })
    }

    /// Returns the account in its newest state, for one request.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn account<'a>(&'a self, mail: &'a Mail, request: &Request) -> pneu::Result<Account<'a>> {
        // Another process may have committed something just now: who asks after a change sees it.
        self.host.refresh()?;
        let account = Account::new(&self.host, &self.cache, &mail.session(request))?;
        let account = account.with_cancel(request.cancel.clone()).with_uploads(&mail.uploads);
        Ok(match &self.archive {
            Some(archive) => account.with_archive(archive),
            None => account,
        })
    }
}

impl Mail {
    /// Serves the mail of a host. The user's name is shown to clients; it may be empty. What clients upload
    /// lies in a directory of its own, `uploads`, which is made when it is needed.
    pub fn new(host: Arc<Host>, username: &str, uploads: PathBuf) -> Mail {
        let limits = Limits::default();
        Mail {
            uploads: Uploads::new(uploads, &limits, UPLOADS_BYTES_MAX),
            limits,
            subscribers: Subscribers::default(),
            username: username.to_owned(),
            source: RwLock::new(Source::new(host, None)),
        }
    }

    /// Serves also messages that only this archive has, and the mail of moments that it has.
    #[must_use]
    pub fn with_archive(self, archive: SharedArchive) -> Mail {
        self.replace_archive(self.source().host.clone(), archive);
        self
    }

    /// Serves the mail of another host from now on, of the same index with another configuration. The archive
    /// stays, and stays open.
    pub fn replace_host(&self, host: Arc<Host>) {
        let archive = self.source().archive.clone();
        self.replace(Source::new(host, archive));
    }

    /// Does so with another archive, too. Requests that are being answered end with the one before.
    pub fn replace_archive(&self, host: Arc<Host>, archive: SharedArchive) {
        self.replace(Source::new(host, Some(Arc::new(archive))));
    }

    fn replace(&self, source: Arc<Source>) {
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = source;
    }

    pub(crate) fn source(&self) -> Arc<Source> {
        // Sources are exchanged whole: a panic of another holder leaves nothing half done.
        Arc::clone(&self.source.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the session of who sent a request.
    pub(crate) fn session(&self, request: &Request) -> Session {
        let root_count = self.source().host.view().map_or(0, |view| view.roots().len());
        crate::session::session(&request.origin, &self.username, &self.limits, root_count)
    }
}
