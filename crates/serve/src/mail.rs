//! One user's mail: what all answers share. Input: a host, and who asks. Output: the account in its newest
//! state, the session, those who wait for events. Knows no addresses.

use crate::subscribers::Subscribers;
use jmap::Limits;
use jmap_mail::{Account, Cache, Session};
use pneu::Host;
use server::Request;
use std::sync::{Arc, PoisonError, RwLock};

/// One user's mail.
#[derive(Debug)]
pub struct Mail {
    pub(crate) limits: Limits,
    pub(crate) subscribers: Subscribers,
    username: String,
    source: RwLock<Arc<Source>>,
}

/// Where answers come from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) host: Arc<Host>,
    /// What it keeps depends on the host's configuration.
    cache: Cache,
}

impl Source {
    fn new(host: Arc<Host>) -> Arc<Source> {
        Arc::new(Source { host, cache: Cache::default() })
    }

    /// Returns the account in its newest state, for one request.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn account(&self, session: &Session, request: &Request) -> pneu::Result<Account<'_>> {
        // Another process may have committed something just now: who asks after a change sees it.
        self.host.refresh()?;
        Ok(Account::new(&self.host, &self.cache, session)?.with_cancel(request.cancel.clone()))
    }
}

impl Mail {
    /// Serves the mail of a host. The user's name is shown to clients; it may be empty.
    pub fn new(host: Arc<Host>, username: &str) -> Mail {
        Mail {
            limits: Limits::default(),
            subscribers: Subscribers::default(),
            username: username.to_owned(),
            source: RwLock::new(Source::new(host)),
        }
    }

    /// Serves the mail of another host from now on, of the same index with another configuration.
    pub fn replace_host(&self, host: Arc<Host>) {
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = Source::new(host);
    }

    pub(crate) fn source(&self) -> Arc<Source> {
        // Sources are exchanged whole: a panic of another holder leaves nothing half done.
        Arc::clone(&self.source.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the session of who sent a request.
    pub(crate) fn session(&self, request: &Request) -> Session {
        crate::session::session(&request.origin, &self.username, &self.limits)
    }
}
