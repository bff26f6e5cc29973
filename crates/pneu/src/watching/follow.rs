//! The loop that keeps an index in step with the disk, until it is cancelled.
//!
//! Input: roots. Output: passes over what changed, as soon as it changed. Directories are watched before they
//! are listed, so that nothing is missed in between. Where the kernel does not tell of all changes, a lazy
//! pass looks for them now and then.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::setup::roots::GivenRoot;
use crate::watching::beside::{Beside, End};
use crate::watching::cover::{Directories, cover, find};
use crate::watching::merging::{self, Merger, Trouble};
use crate::watching::moved::take_moved;
use crate::watching::todo::{Todo, Watched};
use index::{AttachmentsRead, Mode, Problem, Root, Summary, UpdateOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use watch::{Covered, Refused, Watcher};
use work::Progress;

/// How often a lazy pass looks where the kernel does not tell, and how long after a pass failed.
const LOOK: Duration = Duration::from_secs(30);
/// How long changes are collected when nothing happened before: programs do one thing in several steps.
const COLLECT: Duration = Duration::from_millis(5);
/// How long they are collected while many come.
const COLLECT_MANY: Duration = Duration::from_millis(40);
/// Whether many come: if the last pass ended less than this ago.
const SOON: Duration = Duration::from_millis(200);

/// The longest time for which changes are collected because passes over everything take long.
const COLLECT_MAX: Duration = Duration::from_secs(2);
/// How long a pass that failed is not tried again, whatever happens.
const RETRY: Duration = Duration::from_secs(5);
/// How often it is looked whether attachments were read, while they are. A signal may not end the process
/// then, so this is also how long it may take until one is noticed.
const LOOK_BESIDE: Duration = Duration::from_millis(50);
/// How often directories are found and watched until nothing changes in between.
const COVERED_COUNT_MAX: usize = 20;

/// Hears what following does.
pub trait FollowObserver {
    /// It waits for changes. A signal may end the process now: nothing is half done.
    fn waits(&self) {}

    /// The index was brought in step with what changed.
    fn updated(&self, _summary: &Summary) {}

    /// There is something that the user should know.
    fn notes(&self, _note: FollowNote) {}

    /// Returns the file of the configuration, if it is followed, too.
    fn configuration(&self) -> Option<&Path> {
        None
    }

    /// The configuration may have changed. Returns whether there is a new one, so that following ends.
    fn is_reconfigured(&self) -> bool {
        false
    }

    /// Returns whether following goes on if the first pass fails, because it went on before.
    fn goes_on(&self) -> bool {
        false
    }
}

/// What the user should know.
#[derive(Debug)]
pub enum FollowNote {
    /// These many directories are watched.
    Watching {
        /// Folders of messages.
        folder_count: usize,
        /// Directories.
        directory_count: usize,
    },
    /// Not all directories can be watched. A lazy pass looks for changes every 30 seconds.
    WatchLimit {
        /// Directories that are not watched.
        left_out_count: usize,
        /// How many watches there may be, if the kernel says so.
        limit: Option<u64>,
        /// A limit that would do.
        wanted: u64,
    },
    /// No directory can be watched, because the user has too many instances of inotify, or because of this
    /// error. A lazy pass looks for changes every 30 seconds.
    NoWatches(Option<std::io::Error>),
    /// The directory is on a file system that does not tell of all changes. A lazy pass looks for them every
    /// 30 seconds.
    Remote {
        /// The directory.
        path: PathBuf,
        /// The kind of file system.
        file_system: &'static str,
    },
    /// A pass failed, and is tried again in 30 seconds.
    Failed(Error),
    /// Parts of the index could not be merged. It is tried again after a change, 30 seconds from now at the
    /// soonest. The mail is followed meanwhile.
    MergeFailed(Error),
    /// Nothing can be merged beside passes, because the system refuses a thread, with this error, or because
    /// of a fault in the program. Passes merge instead, and take longer.
    MergedByPasses(Option<std::io::Error>),
    /// Attachments were read.
    Attachments(AttachmentsRead),
    /// Attachments could not be read. It is tried again after the next change.
    AttachmentsFailed(Error),
}

/// What is watched.
struct Followed {
    watcher: Option<Watcher>,
    watched: Watched,
    /// Whether the kernel does not tell of all changes.
    is_partial: bool,
    /// What was noted last, so that it is noted once.
    noted: Option<(Directories, Covered)>,
}

impl Host {
    /// Keeps the index in step with the mail until `progress` asks to stop. The roots are those of
    /// [`Host::roots_to_index`] with those `given`. Begins with a pass of these options; later ones are lazy.
    /// A pass that fails is tried again. Attachments of new messages are read on another thread.
    ///
    /// Returns when the observer says that there is a new configuration, before anything is done by the old
    /// one: then a host with the new one goes on. What changes in between is seen by its first pass.
    ///
    /// # Errors
    /// The first pass fails, unless the observer goes on; [`Error::Cancelled`].
    pub fn follow_mail(
        &self,
        given: &[Root],
        options: &UpdateOptions,
        progress: &dyn Progress,
        observer: &dyn FollowObserver,
    ) -> Result<()> {
        self.follow_and_merge(&Merger::default(), (given, options), progress, observer)
    }

    pub(super) fn follow_and_merge(
        &self,
        merger: &Merger,
        (given, options): (&[Root], &UpdateOptions),
        progress: &dyn Progress,
        observer: &dyn FollowObserver,
    ) -> Result<()> {
        let beside = &Beside::default();
        let follow = || {
            let roots = self.roots_to_follow(given).unwrap_or_else(|| given.to_vec());
            let followed = Followed::new(self.settings().environment.index_directory(), observer);
            let following = Following {
                host: self,
                given,
                progress,
                observer,
                beside,
                merger,
                followed,
                roots,
                moved: Vec::new(),
            };
            following.run(options)
        };
        std::thread::scope(|scope| {
            // Whatever happens, the threads end.
            let _ends = (End(beside), merging::End(merger));
            if self.filters.is_some() {
                scope.spawn(|| beside.run(self, progress));
            }
            merger.start(scope, self);
            follow()
        })
    }

    /// Returns the roots as they are now, if that can be told.
    fn roots_to_follow(&self, given: &[Root]) -> Option<Vec<Root>> {
        let named = |root: &Root| GivenRoot { root: root.clone(), is_named: true };
        let given: Vec<GivenRoot> = given.iter().map(named).collect();
        self.roots_to_index(&self.index_state().ok()?, &given).ok()
    }
}

/// A host that follows the mail.
struct Following<'a> {
    host: &'a Host,
    given: &'a [Root],
    progress: &'a dyn Progress,
    observer: &'a dyn FollowObserver,
    beside: &'a Beside,
    merger: &'a Merger,
    followed: Followed,
    roots: Vec<Root>,
    /// Problems of folders that moved while the last pass looked at them.
    moved: Vec<Problem>,
}

impl Following<'_> {
    /// Follows until there is a new configuration.
    fn run(mut self, options: &UpdateOptions) -> Result<()> {
        self.followed.cover(&self.roots, self.observer);
        if self.observer.is_reconfigured() {
            return Ok(());
        }
        let is_first = !self.followed.watched.index.exists();
        let first = self.host.update(&self.roots, &self.merging(options), self.progress);
        let mut fails = first.is_err();
        match first {
            Err(error) if !self.observer.goes_on() => return Err(error),
            done => self.end(done)?,
        }
        if is_first {
            // Its directory was not there to be watched.
            self.followed.cover(&self.roots, self.observer);
        }
        let lazy = UpdateOptions { mode: Mode::Lazy, ..options.clone() };
        let (mut looked, mut ended) = (Instant::now(), Instant::now());
        let mut longest = Duration::ZERO;
        loop {
            let is_due = self.followed.is_partial || fails;
            let many = if ended.elapsed() < SOON { COLLECT_MANY } else { COLLECT };
            let collects = if fails { RETRY } else { many.max(longest.min(COLLECT_MAX)) };
            let timeout = match self.moved.is_empty() {
                true => is_due.then(|| LOOK.saturating_sub(looked.elapsed())),
                false => Some(COLLECT_MANY),
            };
            let todo = self.collect(timeout, collects)?;
            let is_everything = todo.is_everything
                || !self.moved.is_empty()
                || (is_due && looked.elapsed() >= LOOK)
                || (todo.has_commit && self.has_other_roots());
            if todo.is_reconfigured {
                // A directory on the way to it may be new.
                self.followed.cover(&self.roots, self.observer);
            }
            if (todo.is_reconfigured || is_everything) && self.observer.is_reconfigured() {
                return Ok(());
            }
            if todo.places.is_empty() && !is_everything {
                continue;
            }
            let done = if is_everything || fails {
                looked = Instant::now();
                // Another process may have added one.
                if let Some(roots) = self.host.roots_to_follow(self.given) {
                    self.roots = roots;
                }
                self.followed.cover(&self.roots, self.observer);
                let done = self.host.update(&self.roots, &self.merging(&lazy), self.progress);
                longest = looked.elapsed();
                done
            } else {
                longest = Duration::ZERO;
                self.host.update_places(&todo.places, &self.merging(&lazy), self.progress)
            };
            ended = Instant::now();
            fails = done.is_err();
            self.end(done)?;
        }
    }

    /// Collects what happens next, and tells meanwhile what was read of attachments.
    fn collect(&mut self, timeout: Option<Duration>, collects: Duration) -> Result<Todo> {
        // In this order: when it is no longer busy, all is told.
        let is_busy = self.beside.is_busy();
        tell_done(self.beside, self.observer);
        let todo = self.followed.collect((timeout, collects), is_busy, self.observer);
        if self.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(todo) }
    }

    /// Returns the options of a pass, which merges only if no thread does.
    fn merging(&self, options: &UpdateOptions) -> UpdateOptions {
        UpdateOptions { merges: !self.merger.is_running(), ..options.clone() }
    }

    fn has_other_roots(&self) -> bool {
        self.host.roots_to_follow(self.given).is_some_and(|now| now != self.roots)
    }

    /// Tells how a pass ended, and has attachments of what it found read.
    fn end(&mut self, done: Result<Summary>) -> Result<()> {
        match done {
            Ok(mut summary) => {
                self.moved = take_moved(&mut summary.problems, &self.roots, &self.moved);
                self.observer.updated(&summary);
                for trouble in self.merger.take_troubles() {
                    self.observer.notes(match trouble {
                        Trouble::Failed(error) => FollowNote::MergeFailed(error),
                        Trouble::NoThread(why) => FollowNote::MergedByPasses(why),
                    });
                }
                self.merger.ask(summary.new_messages);
                if self.host.filters.is_some() {
                    self.beside.ask();
                }
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => self.observer.notes(FollowNote::Failed(error)),
        }
        Ok(())
    }
}

/// Tells what was read of attachments.
fn tell_done(beside: &Beside, observer: &dyn FollowObserver) {
    for done in beside.take_done() {
        match done {
            Ok(read) => observer.notes(FollowNote::Attachments(read)),
            Err(Error::Cancelled) => {}
            Err(error) => observer.notes(FollowNote::AttachmentsFailed(error)),
        }
    }
}

impl Followed {
    fn new(index: PathBuf, observer: &dyn FollowObserver) -> Followed {
        let watcher = match Watcher::new() {
            Ok(watcher) => Some(watcher),
            Err(refused) => {
                let error = match refused {
                    Refused::Instances => None,
                    Refused::Other(error) => Some(error),
                };
                observer.notes(FollowNote::NoWatches(error));
                None
            }
        };
        let watched = Watched { index, ..Watched::default() };
        Followed { watcher, watched, is_partial: true, noted: None }
    }

    /// Watches the directories of the roots as they are now.
    fn cover(&mut self, roots: &[Root], observer: &dyn FollowObserver) {
        let mut found = find(roots, observer.configuration());
        let mut covered = self.cover_found(&found, observer);
        for _ in 1..COVERED_COUNT_MAX {
            // A directory may come after its parent was listed and before that was watched.
            let now = find(roots, observer.configuration());
            if now == found {
                break;
            }
            covered = self.cover_found(&now, observer);
            found = now;
        }
        self.is_partial = self.watcher.is_none() || covered.left_out_count > 0 || !found.remote.is_empty();
        self.watched.ways.clone_from(&found.ways);
        self.watched.configuration.clone_from(&found.configuration);
        self.watched.directories = found.watched.iter().map(|(path, _)| path.clone()).collect();
        let now = Some((found, covered));
        if self.noted != now {
            let before = std::mem::replace(&mut self.noted, now);
            self.note(before.as_ref(), observer);
        }
    }

    fn cover_found(&mut self, found: &Directories, observer: &dyn FollowObserver) -> Covered {
        match self.watcher.as_mut().map(|watcher| cover(watcher, found, &self.watched.index)) {
            None => Covered::default(),
            Some(Ok(covered)) => covered,
            Some(Err(error)) => {
                observer.notes(FollowNote::NoWatches(Some(error)));
                self.watcher = None;
                Covered::default()
            }
        }
    }

    /// Tells what differs from what was told before.
    fn note(&self, before: Option<&(Directories, Covered)>, observer: &dyn FollowObserver) {
        let Some((found, covered)) = &self.noted else { return };
        if self.watcher.is_some() && before.is_none() {
            let (folder_count, directory_count) = (found.folder_count, covered.watched_count);
            observer.notes(FollowNote::Watching { folder_count, directory_count });
        }
        let left_out_count = covered.left_out_count;
        if left_out_count > 0 && before.is_none_or(|(_, covered)| covered.left_out_count == 0) {
            let limit = watch::watches_max();
            // Other programs need some, too.
            let wanted = (limit.unwrap_or(0) + left_out_count as u64).next_power_of_two() * 2;
            observer.notes(FollowNote::WatchLimit { left_out_count, limit, wanted });
        }
        for (path, file_system) in &found.remote {
            if before.is_none_or(|(found, _)| !found.remote.contains(&(path.clone(), file_system))) {
                observer.notes(FollowNote::Remote { path: path.clone(), file_system });
            }
        }
    }

    /// Waits for changes, for at most `timeout`, and collects those that come within `collects` of the first
    /// one. Returns nothing after the time, after a signal, or soon if another thread is busy: then something
    /// is half done.
    fn collect(
        &mut self,
        (timeout, collects): (Option<Duration>, Duration),
        is_busy: bool,
        observer: &dyn FollowObserver,
    ) -> Todo {
        let mut todo = Todo::default();
        let timeout = if is_busy { Some(timeout.unwrap_or(LOOK).min(LOOK_BESIDE)) } else { timeout };
        if !is_busy {
            observer.waits();
        }
        self.add_next(&mut todo, timeout);
        if todo.is_empty() {
            return todo;
        }
        let first = Instant::now();
        while let Some(left) = collects.checked_sub(first.elapsed()).filter(|left| !left.is_zero()) {
            self.add_next(&mut todo, Some(left));
        }
        todo
    }

    fn add_next(&mut self, todo: &mut Todo, timeout: Option<Duration>) {
        let Some(watcher) = &mut self.watcher else {
            return std::thread::sleep(timeout.unwrap_or(LOOK));
        };
        match watcher.wait(timeout) {
            Ok(report) => todo.add(&report, &self.watched),
            // Without it, lazy passes go on.
            Err(_) => (self.watcher, self.is_partial) = (None, true),
        }
    }
}
