//! The thread of a server that follows the mail. Input: roots. Output: an index in step, and word of it when
//! nothing is half done; what a new configuration says, as soon as it is read. Does not know who reads the
//! index.

use crate::archive::repository;
use crate::follow::{Follower, OnFailure, Says};
use crate::output::complain;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::signals;
use anyhow::{Context as _, Result};
use pneu::archive::{SharedArchive, Unopened};
use pneu::setup::configuration::ArchiveConfiguration;
use pneu::{Host, Root, Stage};
use serve::Mail;
use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the end of the process waits for work to stop. What is killed then loses nothing that was
/// committed.
const PATIENCE: Duration = Duration::from_secs(3);

/// A thread that follows the mail.
pub(crate) struct Thread(Arc<Work>);

impl Thread {
    /// Starts it. Clients of `mail` get answers by a new configuration as soon as it is read.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(
        session: &Session,
        (host, roots): (Arc<Host>, Vec<Root>),
        mail: Arc<Mail>,
    ) -> Result<Thread> {
        let (session, work) = (session.for_thread(), Arc::new(Work::default()));
        let of_thread = Arc::clone(&work);
        let archive = RefCell::new(host.settings().configuration.archive.clone());
        let follow = move || {
            let _ends = Ends(&of_thread);
            let follower = Follower {
                session: &session,
                progress: &*of_thread,
                waits: &|| of_thread.set(false),
                goes_on_with: &|host| replace(&mail, host, &archive, &session),
                says: Says::Troubles,
                on_failure: OnFailure::TryAgain,
            };
            if let Err(error) = follower.follow(&host, &roots) {
                complain(format!("the mail is not followed any more: {}", remedy::explained(&error)));
            }
        };
        let spawned = thread::Builder::new().name("follow".to_owned()).spawn(follow);
        spawned.context("cannot start a thread that follows the mail")?;
        Ok(Thread(work))
    }

    /// Waits until nothing is half done, but not for ever. A signal has come.
    pub(crate) fn finish(&self) {
        let waited = self.0.changed.wait_timeout_while(self.0.state(), PATIENCE, |works| *works);
        drop(waited);
    }
}

/// Lets clients get answers by a new configuration. `known` is what it said of the archive before: one that
/// stays the same stays open.
fn replace(mail: &Mail, host: &Arc<Host>, known: &RefCell<Option<ArchiveConfiguration>>, session: &Session) {
    let configured = host.settings().configuration.archive.clone();
    if known.replace(configured.clone()) == configured {
        return mail.replace_host(Arc::clone(host));
    }
    let archive = repository::shared(session, configured).unwrap_or_else(|error| {
        let what = one_line(&format!("the archive cannot be used: {error:#}")).into_owned();
        complain(&what);
        SharedArchive::new(move || Err(Unopened::Failed(what.clone())))
    });
    mail.replace_archive(Arc::clone(host), archive);
}

/// Whether the thread works, or waits for changes.
#[derive(Default)]
struct Work {
    works: Mutex<bool>,
    changed: Condvar,
}

impl Work {
    fn set(&self, works: bool) {
        *self.state() = works;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, bool> {
        self.works.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl work::Progress for Work {
    fn stage(&self, _stage: Stage) {
        self.set(true);
    }

    fn expect(&self, _items: u64, _bytes: u64) {
        self.set(true);
    }

    fn waiting(&self, _holder: &str) {
        self.set(false);
    }

    fn is_cancelled(&self) -> bool {
        self.set(true);
        signals::is_interrupted()
    }
}

/// The thread ends, whatever the reason.
struct Ends<'a>(&'a Work);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
