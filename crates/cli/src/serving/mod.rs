//! Serves mail until a signal comes. Input: a server that listens. Output: its end, with nothing half done.
//!
//! The server has the main thread. One thread follows the mail, one waits for commits, one for signals. Does
//! not know the command line.

mod browser;
mod following;
mod token;

pub(crate) use browser::{open as open_browser, open_and_leave as open_browser_and_leave};
pub(crate) use token::read as read_token;

use crate::archive::repository;
use crate::command::index::known_roots;
use crate::output::complain;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::signals;
use anyhow::{Context as _, Result};
use following::Thread;
use pneu::{Cancel, Host};
use serve::Mail;
use server::Server;
use std::sync::Arc;

/// The directory of what clients upload, in the data directory.
const UPLOADS: &str = "uploads";

/// Whether the server follows the mail itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// It does.
    Here,
    /// Another process does, or nobody.
    Elsewhere,
}

/// Answers requests until a signal comes. Signals must be heard already.
///
/// # Errors
/// The system refuses what is needed; the configuration cannot be read.
pub(crate) fn serve(session: &Session, server: Server, watch: Watch) -> Result<()> {
    let configuration = session.configured()?.clone();
    let username = configuration.own_addresses().into_iter().next();
    let username = username.or_else(|| session.whereabouts.user.clone()).unwrap_or_default();
    let archive = repository::shared(session, configuration.archive.clone())?;
    let host = Arc::new(Host::new(session.settings(configuration)));
    let uploads = session.environment.data.join(UPLOADS);
    let mail = Arc::new(Mail::new(Arc::clone(&host), &username, uploads).with_archive(archive));
    let handle = server.handle();
    signals::when_asked(move || handle.stop()).context("cannot handle Ctrl-C")?;
    let thread = match watch {
        Watch::Here => Some(Thread::start(session, (host, known_roots(session)?), Arc::clone(&mail))?),
        Watch::Elsewhere => None,
    };
    let tell = |error: pneu::Error| {
        complain(one_line(&format!("{}; it is tried again", remedy::explained(&error.into()))));
    };
    serve::run(server, &mail, &Cancel::when(signals::is_interrupted), tell)?;
    if let Some(thread) = thread {
        thread.finish();
    }
    Ok(())
}
