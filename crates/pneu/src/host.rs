//! The host: the newest state of an index, for a program that lives long.
//!
//! Views are handed out of one current mailbox. A newer commit replaces it by the exchange of a reference,
//! and is made of the one before by their difference. Writers wait for each other here, in the order in which
//! they come.

use crate::error::Result;
use crate::settings::Settings;
use crate::view::View;
use index::{Environment, Mailbox, Root, Summary, TagChange, TagSummary, UpdateOptions};
use query::Query;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use work::{Progress, Stage};

/// The newest state of an index, shared by all threads of a program.
///
/// The index may also be written by other processes: [`Host::refresh`] takes over what they committed.
#[derive(Debug)]
pub struct Host {
    settings: Arc<Settings>,
    /// The newest state that was opened; none until somebody asks.
    current: RwLock<Option<Mailbox>>,
    /// Held while a newer state is opened, so that it is opened once.
    opening: Mutex<()>,
    /// Held while this process writes: the queue of its writers. Counts them.
    writing: Mutex<u64>,
}

impl Host {
    /// Makes a host. Nothing is opened until a view is asked for.
    pub fn new(settings: Settings) -> Host {
        Host {
            settings: Arc::new(settings),
            current: RwLock::default(),
            opening: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    /// Returns what the host was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns a view of the current state: a few reference counts. The first call opens the index.
    ///
    /// # Errors
    /// There is no index yet; it is damaged, or of a newer version.
    pub fn view(&self) -> Result<View> {
        if let Some(mailbox) = &*self.current() {
            return Ok(View::new(Arc::clone(&self.settings), mailbox.clone()));
        }
        self.refresh()?;
        let opened = self.current().clone();
        let mailbox = match opened {
            Some(mailbox) => mailbox,
            // `refresh` leaves none only if it fails.
            None => self.open()?,
        };
        Ok(View::new(Arc::clone(&self.settings), mailbox))
    }

    /// Takes over the newest commit of the index and of the tags, and returns whether there was a newer one.
    /// Views that were made before keep what they show. The cost depends on what changed, not on how much
    /// there is.
    ///
    /// # Errors
    /// As [`Host::view`]; the current state then stays.
    pub fn refresh(&self) -> Result<bool> {
        let _opening = locked(&self.opening);
        let current = self.current().clone();
        let newer = match &current {
            Some(mailbox) => mailbox.newer(&self.settings.environment)?,
            None => Some(self.open()?),
        };
        let Some(newer) = newer else { return Ok(false) };
        // Before anybody sees it: a view shows one state of index and tags.
        newer.pin()?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(newer);
        Ok(true)
    }

    /// Returns the environment of the next writer. Each has a seed of its own: what is written twice, because
    /// the index was deleted in between, must not look the same.
    fn environment_of_writer(&self, writer_count: &mut u64) -> Environment {
        *writer_count += 1;
        let environment = &self.settings.environment;
        Environment { seed: environment.seed.wrapping_add(*writer_count), ..environment.clone() }
    }

    fn open(&self) -> Result<Mailbox> {
        let mailbox = Mailbox::open(&self.settings.environment)?;
        Ok(mailbox.with_own_addresses(self.settings.own_addresses()))
    }

    fn current(&self) -> std::sync::RwLockReadGuard<'_, Option<Mailbox>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the index in step with the disk, and takes over the result. Makes the index if there is none.
    ///
    /// # Errors
    /// Damage, a full disk, a directory that cannot be written; [`Error::Cancelled`](crate::Error::Cancelled)
    /// if `progress` asked to stop: what was published by then stays.
    pub fn update(
        &self,
        roots: &[Root],
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<Summary> {
        let mut writing = locked(&self.writing);
        let environment = self.environment_of_writer(&mut writing);
        let options =
            UpdateOptions { headers: self.settings.configuration.headers.clone(), ..options.clone() };
        let progress = RefreshBeforeMerge { host: self, progress };
        let summary = index::update(&environment, roots, &options, &progress)?;
        self.refresh()?;
        Ok(summary)
    }

    /// Changes the tags of all messages that a query matches now, and of their copies.
    ///
    /// # Errors
    /// A text that cannot be a tag; the query cannot be answered; damage, a full disk: then nothing was
    /// changed.
    pub fn tag(&self, query: &Query, change: &TagChange) -> Result<TagSummary> {
        let mut writing = locked(&self.writing);
        let environment = self.environment_of_writer(&mut writing);
        self.refresh()?;
        let view = self.view()?;
        let found = view.matching(query)?;
        let summary = index::change_tags(&environment, view.mailbox(), &found, change)?;
        self.refresh()?;
        Ok(summary)
    }
}

/// Takes over what a pass changed before its merges begin. A merge by itself changes no row and costs next to
/// nothing to take over; changes and merges together would have to be told apart row by row.
struct RefreshBeforeMerge<'a> {
    host: &'a Host,
    progress: &'a dyn Progress,
}

impl Progress for RefreshBeforeMerge<'_> {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Merge {
            // If it fails, so does the refresh at the end, which says so.
            let _ = self.host.refresh();
        }
        self.progress.stage(stage);
    }

    fn expect(&self, items: u64, bytes: u64) {
        self.progress.expect(items, bytes);
    }

    fn add(&self, items: u64, bytes: u64) {
        self.progress.add(items, bytes);
    }

    fn waiting(&self, holder: &str) {
        self.progress.waiting(holder);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}

/// Takes a lock. A panic of another holder leaves nothing half done: states are exchanged whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
