//! The host: the newest state of an index, for a long-running program.
//!
//! Views are handed out of one current mailbox. A newer commit replaces it by the exchange of a reference,
//! and is made of the one before by their difference. Writers of the index wait for each other here, in the
//! order in which they come. So do writers of what the user saved, in a queue of their own: it has a lock and
//! files of its own, and a tag need not wait for a pass.

use crate::archive::{ImportSource, Imported};
use crate::attachments::Filters;
use crate::error::Result;
use crate::queue::Queue;
use crate::saved_queries::{self, QueryRemoval, SavedQueries};
use crate::settings::Settings;
use crate::view::View;
use backup::MessageArchive;
use index::{
    Absent, AttachmentReader, Environment, Looked, Mailbox, NoArchive, Places, Root, Summary, Swept,
    UpdateOptions,
};
use restic::Repository;
use std::collections::BTreeMap;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use work::{Progress, Relay, Stage, Workers, on_threads};

/// The newest state of an index, shared by all threads of a program.
///
/// Other processes may also write to the index: [`Host::refresh`] takes over their commits.
///
/// Call its methods from threads of your own, not from a worker of a rayon pool: a worker that waits for its
/// turn to write does not do the work that the writer before it waits for.
#[derive(Debug)]
pub struct Host {
    settings: Arc<Settings>,
    /// What reads the text of attachments, if the configuration names any command for that.
    pub(crate) filters: Option<Arc<Filters>>,
    /// The newest state that was opened; `None` until it is needed.
    current: RwLock<Option<State>>,
    /// Held while a newer state is opened, so that it is opened once.
    opening: Mutex<()>,
    /// The queue of this process's writers of the index.
    index_writers: Queue,
    /// The queue of this process's writers of tags and saved queries.
    user_writers: Queue,
    /// How many writers there were.
    writer_count: AtomicU64,
    /// The threads of views.
    view_threads: Arc<Workers>,
    /// The threads that open a state. They are not those of views, so that no long search delays an opening,
    /// nor those of writers, which wait for one. With a thread for each processor, all are the global pool's.
    opening_threads: Workers,
}

/// The state that a view shows.
#[derive(Clone, Debug)]
struct State {
    mailbox: Mailbox,
    queries: SavedQueries,
}

/// Whether there is an index, and whether this version can use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// There is none yet.
    Missing,
    /// It has an older version: [`Host::rebuild`] rebuilds it. Holds the roots that it remembers.
    Outdated(Vec<Root>),
    /// It can be used. Holds its roots.
    Usable(Vec<Root>),
}

impl Host {
    /// Creates a host. Opens nothing until a view is needed.
    pub fn new(mut settings: Settings) -> Host {
        if let Some(days) = settings.configuration.changes_days {
            settings.environment.changes_kept_seconds = i64::from(days) * 24 * 60 * 60;
        }
        let threads = settings.environment.context.threads;
        Host {
            current: RwLock::default(),
            opening: Mutex::default(),
            index_writers: Queue::default(),
            user_writers: Queue::default(),
            writer_count: AtomicU64::default(),
            view_threads: Arc::new(Workers::new(threads)),
            opening_threads: Workers::new(threads),
            filters: Filters::new(&settings.configuration, &settings.filter_variables).map(Arc::new),
            settings: Arc::new(settings),
        }
    }

    /// Returns the settings of the host.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns a view of the current state: a few reference counts. The first call opens the index.
    ///
    /// # Errors
    /// There is no index yet; it is damaged, or of a newer version.
    pub fn view(&self) -> Result<View> {
        if self.current().is_none() {
            self.refresh()?;
        }
        let current = self.current().clone();
        match current {
            Some(state) => Ok(self.view_of(state)),
            // `refresh` leaves `None` only if it fails.
            None => self.open_view(),
        }
    }

    /// Opens the newest state for a single request. The host does not keep it, and nothing is read before it
    /// is needed: for a program that ends after it, and for which [`View::pin`] would be waste.
    ///
    /// # Errors
    /// As [`Host::view`].
    pub fn open_view(&self) -> Result<View> {
        Ok(self.view_of(State { mailbox: self.open()?, queries: SavedQueries::default() }))
    }

    fn view_of(&self, State { mailbox, queries }: State) -> View {
        View::new(Arc::clone(&self.settings), mailbox, queries, Arc::clone(&self.view_threads))
    }

    /// Returns whether there is an index, and its roots.
    ///
    /// # Errors
    /// It is damaged, or of a newer version.
    pub fn index_state(&self) -> Result<IndexState> {
        let environment = &self.settings.environment;
        match index::roots(environment) {
            Ok(roots) => Ok(IndexState::Usable(roots)),
            Err(index::Error::NoIndex { .. }) => Ok(IndexState::Missing),
            Err(error) if index::is_older(&error) => {
                Ok(IndexState::Outdated(index::remembered_roots(environment).unwrap_or_default()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a first index began and has not looked at all of the mail yet.
    ///
    /// # Errors
    /// Disk errors.
    pub fn is_first_index_incomplete(&self) -> Result<bool> {
        Ok(index::is_first_incomplete(&self.settings.environment)?)
    }

    /// Takes over the newest commit of the index and of what the user saved, and returns whether there was a
    /// newer one.
    /// Views that were made before keep what they show. The cost depends on what changed, not on how much
    /// there is.
    ///
    /// # Errors
    /// As [`Host::view`]; the current state then stays.
    pub fn refresh(&self) -> Result<bool> {
        // A panic of another holder leaves nothing half done: states are exchanged whole.
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        self.opening_threads.run(|| self.take_over())
    }

    /// Does what [`Host::refresh`] does. The caller holds the lock.
    fn take_over(&self) -> Result<bool> {
        let environment = &self.settings.environment;
        let current = self.current().clone();
        let newest = SavedQueries::read(environment);
        let (mailbox, has_same_queries) = match &current {
            Some(State { mailbox, queries }) => (mailbox.newer(environment)?, *queries == newest),
            None => (Some(self.open()?), false),
        };
        if mailbox.is_none() && has_same_queries {
            return Ok(false);
        }
        if let Some(mailbox) = &mailbox {
            // Before it is visible: a view shows one state.
            mailbox.pin()?;
        }
        let Some(mailbox) = mailbox.or(current.map(|state| state.mailbox)) else { return Ok(false) };
        let queries = newest;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(State { mailbox, queries });
        Ok(true)
    }

    /// Takes over what this process wrote, if a view was ever needed.
    pub(crate) fn follow(&self) -> Result<()> {
        if self.current().is_some() {
            self.refresh()?;
        }
        Ok(())
    }

    /// Writes when all writers before in the queue have done so, and takes the result over. Only the wait is
    /// stopped by `progress`; what writes obeys it by itself.
    fn write<T: Send, E: Into<crate::Error> + Send>(
        &self,
        queue: &Queue,
        progress: &dyn Progress,
        write: impl FnOnce(&Environment) -> std::result::Result<T, E> + Send,
    ) -> Result<T> {
        let context = &self.settings.environment.context;
        let _turn = queue.wait(|| progress.is_cancelled() || context.cancel.is_cancelled())?;
        let environment = self.environment_of_writer();
        let written = on_threads(context.threads, || write(&environment)).map_err(E::into)?;
        self.follow()?;
        Ok(written)
    }

    /// Writes what the user saved, unless the work of the program is stopped before that begins.
    pub(crate) fn write_user<T: Send, E: Into<crate::Error> + Send>(
        &self,
        write: impl FnOnce(&Environment) -> std::result::Result<T, E> + Send,
    ) -> Result<T> {
        self.write_user_for(&self.settings.environment.context.cancel, write)
    }

    /// Writes what the user saved, unless `progress` stops the work before that begins.
    pub(crate) fn write_user_for<T: Send, E: Into<crate::Error> + Send>(
        &self,
        progress: &dyn Progress,
        write: impl FnOnce(&Environment) -> std::result::Result<T, E> + Send,
    ) -> Result<T> {
        self.write(&self.user_writers, progress, write)
    }

    /// Writes the index, and takes over what was committed before its merges begin. A merge alone changes no
    /// row and costs almost nothing to take over. Changes and merges together would have to be separated row
    /// by row.
    pub(crate) fn write_index<T: Send, E: Into<crate::Error> + Send>(
        &self,
        progress: &dyn Progress,
        write: impl FnOnce(&Environment, &dyn Progress) -> std::result::Result<T, E> + Send,
    ) -> Result<T> {
        let follow = |stage| {
            if stage == Stage::Merge {
                // If it fails, so does the one at the end, which reports it.
                let _ = self.follow();
            }
        };
        let following = Relay { progress, at_stage: &follow, is_stopped: &|| false };
        self.write(&self.index_writers, progress, |environment| write(environment, &following))
    }

    /// Returns a view of the newest commit, for an action of this process.
    pub(crate) fn newest_view(&self) -> Result<View> {
        self.follow()?;
        if self.current().is_some() { self.view() } else { self.open_view() }
    }

    /// Returns a number that no other action or writer of this process has.
    pub(crate) fn next_number(&self) -> u64 {
        self.writer_count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the environment of the next writer. Each has its own seed: two indexes must not look the same
    /// if one is deleted and written again.
    pub(crate) fn environment_of_writer(&self) -> Environment {
        let number = self.next_number();
        let environment = &self.settings.environment;
        Environment { seed: environment.seed.wrapping_add(number), ..environment.clone() }
    }

    fn open(&self) -> Result<Mailbox> {
        let mailbox = Mailbox::open(&self.settings.environment)?;
        let mailbox = mailbox.with_own_addresses(self.settings.own_addresses());
        Ok(mailbox.with_meaning(self.settings.meaning()))
    }

    fn current(&self) -> std::sync::RwLockReadGuard<'_, Option<State>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the index, and takes over the result. Creates the index if there is none. The headers that are
    /// indexed are those of the configuration.
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
        let options = self.configured(options);
        self.tagging_arrivals(Looked::Everywhere, || {
            self.write_index(progress, |environment, progress| {
                index::update(environment, roots, &options, progress)
            })
        })
    }

    /// Brings some places of the index in step with the disk, leaves everything else as it is, and takes over
    /// the result.
    ///
    /// A file that came from elsewhere is read, and stays known there until that place is updated.
    ///
    /// # Errors
    /// There is no index; as [`Host::update`]. A folder that is in no root of the index is a problem, not an
    /// error.
    pub fn update_places(
        &self,
        places: &Places,
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<Summary> {
        let options = self.configured(options);
        self.tagging_arrivals(Looked::Here, || {
            self.write_index(progress, |environment, progress| {
                index::update_places(environment, places, &options, progress)
            })
        })
    }

    /// Adds the messages of a repository that the index does not know. They have no file: see
    /// [`Archive::with_absent`](crate::archive::Archive::with_absent).
    ///
    /// # Errors
    /// There is no index; the repository cannot be reached; as [`Host::update`].
    pub fn import(
        &self,
        source: &ImportSource,
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<Imported> {
        let options = self.configured(options);
        let imported = source.import(&self.settings, progress, |messages| {
            let adopted = self.write_index(progress, |environment, progress| {
                index::adopt(environment, messages, &options, progress)
            });
            Ok(((), adopted?))
        });
        Ok(imported?.1)
    }

    /// Brings the index in step with the mail in `roots`, and then adds what only a repository has, if there
    /// is a source. Makes the index if there is none, and rebuilds one of an older version: then `options`
    /// do not count. `state` is what [`Host::index_state`] returned.
    ///
    /// # Errors
    /// As [`Host::update`] and [`Host::import`], or as [`Host::rebuild`].
    pub fn bring_in_step(
        &self,
        (state, roots): (&IndexState, &[Root]),
        source: Option<&ImportSource>,
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<(Summary, Imported)> {
        if matches!(state, IndexState::Outdated(_)) {
            return self.rebuild(roots, source, &UpdateOptions::default(), progress);
        }
        let summary = self.update(roots, options, progress)?;
        let imported = source.map(|source| self.import(source, options, progress)).transpose()?;
        Ok((self.with_problems(summary), imported.unwrap_or_default()))
    }

    /// Rebuilds the index from the mail, and from messages that only a repository has. The new index replaces
    /// the old one when it is complete.
    ///
    /// # Errors
    /// A root holds no mail; as [`Host::update`] and [`Host::import`]. The old index then stays.
    pub fn rebuild(
        &self,
        roots: &[Root],
        source: Option<&ImportSource>,
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<(Summary, Imported)> {
        let options = self.configured(options);
        self.rebuilding(|| self.rebuild_from(roots, source, &options, progress))
    }

    fn rebuild_from(
        &self,
        roots: &[Root],
        source: Option<&ImportSource>,
        options: &UpdateOptions,
        progress: &dyn Progress,
    ) -> Result<(Summary, Imported)> {
        let Some(source) = source else {
            let rebuilt = self.write(&self.index_writers, progress, |environment| {
                index::rebuild(environment, roots, options, progress)
            });
            return Ok((self.with_problems(rebuilt?), Imported::default()));
        };
        let rebuilt = source.import(&self.settings, progress, |messages| {
            self.write(&self.index_writers, progress, |environment| {
                index::rebuild_with(environment, roots, messages, options, progress)
            })
        });
        rebuilt.map(|(summary, imported)| (self.with_problems(summary), imported))
    }

    pub(crate) fn configured(&self, options: &UpdateOptions) -> UpdateOptions {
        let attachments = self.filters.clone().map(|filters| filters as Arc<dyn AttachmentReader>);
        let headers = self.settings.configuration.headers.clone();
        UpdateOptions { headers, attachments, ..options.clone() }
    }

    /// Returns the saved queries by their names.
    ///
    /// # Errors
    /// They cannot be read or are damaged.
    pub fn saved_queries(&self) -> Result<BTreeMap<String, String>> {
        Ok(index::saved_queries(&self.settings.environment)?)
    }

    /// Saves a query. Replaces one of the same name.
    ///
    /// # Errors
    /// The text cannot be a name; [`Error::Parse`](crate::Error::Parse) if the query cannot be understood or
    /// refers to itself; the saved queries are damaged or cannot be written. Nothing was changed then.
    pub fn save_query(&self, name: &str, text: &str) -> Result<()> {
        self.write_user(|environment| saved_queries::save(&self.settings, environment, name, text))
    }

    /// Removes a saved query, unless another one names it.
    ///
    /// # Errors
    /// The saved queries are damaged or cannot be written. Nothing was changed then.
    pub fn remove_query(&self, name: &str) -> Result<QueryRemoval> {
        self.write_user(|environment| saved_queries::remove(&self.settings, environment, name))
    }

    /// Returns the messages that [`Host::sweep`] would remove now, longest gone first.
    ///
    /// # Errors
    /// As [`Host::sweep`].
    pub fn sweepable(&self, older_than_seconds: i64, archive: Option<&Repository>) -> Result<Vec<Absent>> {
        let cancel = &self.settings.environment.context.cancel;
        self.asking(archive, cancel, |environment, archive| {
            Ok(index::sweepable(environment, older_than_seconds, archive)?)
        })
    }

    /// Removes the messages from the index whose last file was found to be gone at least `older_than_seconds`
    /// ago, and that the repository does not hold, if there is one.
    ///
    /// # Errors
    /// There is no index; the clock is not plausible; the repository cannot tell; as [`Host::update`].
    pub fn sweep(
        &self,
        older_than_seconds: i64,
        archive: Option<&Repository>,
        progress: &dyn Progress,
    ) -> Result<Swept> {
        self.asking(archive, progress, |_, archive| {
            self.write_index(progress, |environment, progress| {
                index::sweep(environment, older_than_seconds, archive, progress)
            })
        })
    }

    /// Removes messages from the index that have no file any more.
    ///
    /// # Errors
    /// As [`Host::sweep`].
    pub(crate) fn forget(&self, sha256: &[[u8; 32]], progress: &dyn Progress) -> Result<u64> {
        self.write_index(progress, |environment, progress| index::forget(environment, sha256, progress))
    }

    /// Calls `work` with what says which messages must stay. `progress` stops the reading of the repository.
    pub(crate) fn asking<T>(
        &self,
        archive: Option<&Repository>,
        progress: &dyn Progress,
        work: impl FnOnce(&Environment, &dyn index::Archive) -> Result<T>,
    ) -> Result<T> {
        let environment = &self.settings.environment;
        if environment.context.cancel.is_cancelled() {
            return Err(crate::Error::Cancelled);
        }
        match archive {
            Some(repository) => {
                let archive = MessageArchive { environment, repository };
                work(environment, &archive.messages_strict(progress))
            }
            None => work(environment, &NoArchive),
        }
    }
}
