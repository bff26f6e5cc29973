//! What all connections of a server share. Does not know any of them.

use crate::allowed::Names;
use crate::application::Application;
use crate::limits::Limits;
use crate::login::Logins;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) names: Names,
    pub(crate) logins: Arc<Logins>,
    pub(crate) application: Arc<dyn Application>,
    /// One for each request that may be answered at the same time.
    pub(crate) turns: Arc<Semaphore>,
    /// One for each long answer that may be read from at the same time.
    pub(crate) reads: Arc<Semaphore>,
    pub(crate) event_streams: Arc<Semaphore>,
}
