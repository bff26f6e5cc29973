//! Undoes the last action, finishes what a crash left, and says what undo would do.
//!
//! Input: the log of actions. Output: files as they were, an index in step with them, and what was left
//! alone. An import is one action, however many parts it has: the newest part that is undone is noted as such
//! only when all others are and the index is in step, so that the next action after a crash undoes all of
//! them.

use crate::action::act::AFTER;
use crate::action::carry_out::{
    LeftAlone, Undoing, begin_undo, conclude, conclude_undo, left_of, note_undone, resolve_all, retain_there,
    undo,
};
use crate::action::directories;
use crate::action::follow::{backwards, ways};
use crate::action::hands::{Hands, IdleHands, RealHands};
use crate::action::log::{Entry, Kind, Log, Name, State, Step};
use crate::action::places::folder_of;
use crate::error::Result;
use crate::host::Host;
use crate::view::View;
use index::Places;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use work::{Progress, Silent};

/// An action that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undoable {
    /// Its number.
    pub number: u64,
    /// When it was done, in seconds since 1970.
    pub time: i64,
    /// What it was.
    pub kind: Kind,
    /// The files, each with its old and its new place. Of a file that was imported, the old one is empty.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// What was imported, if it was an import.
    pub import: Option<ImportedFrom>,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFrom {
    /// What the user named.
    pub sources: Vec<PathBuf>,
    /// The folder that the user named.
    pub folder: String,
}

/// What an undo did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The action, with its files.
    pub action: Undoable,
    /// How many of its files are as they were.
    pub restored_count: u64,
    /// Files that were left alone.
    pub left: Vec<LeftAlone>,
}

/// An undo of all parts of an action.
struct Undo<'a> {
    host: &'a Host,
    log: &'a Log<'a>,
    hands: &'a dyn Hands,
    view: View,
    /// Whether a crash ended it before.
    is_resumed: bool,
    /// What was undone.
    undone: Undone,
    /// The places that changed.
    places: Places,
}

impl Host {
    /// Undoes the last action that is not undone yet, or goes on with an undo that was interrupted. Returns
    /// `None` if there is none. Afterwards all files are in their old folders with their old flags; their
    /// names may differ. Files that changed since are left alone. What is in the way for now, such as a full
    /// disk, can be undone later. Files that were imported are removed, and so are the tags that the import
    /// set.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be written; as [`Host::update`].
    pub fn undo(&self, progress: &dyn Progress) -> Result<Option<Undone>> {
        self.undo_by(&RealHands, progress)
    }

    /// Does what [`Host::undo`] does, if the action that it would undo has this number. Returns `None` if it
    /// is another one, or none. Nothing happens between the look and the undo.
    ///
    /// # Errors
    /// As [`Host::undo`].
    pub fn undo_only(&self, number: u64, progress: &dyn Progress) -> Result<Option<Undone>> {
        let log = Log::take(&self.settings().environment, progress)?;
        let is_it = |entry: &Entry| Name::of(entry).first == number;
        // An undo that a crash ended would go on, of whatever action.
        if log.newest()?.is_some_and(|newest| newest.state == State::Undoing && !is_it(&newest)) {
            return Ok(None);
        }
        if let Some(undone) = self.recover(&log, progress)? {
            return Ok(Some(undone));
        }
        let last = log.newest()?.filter(is_it);
        last.map(|last| self.undo_action(&log, &RealHands, last, progress)).transpose()
    }

    /// Undoes by these hands: see [`Host::undo`].
    ///
    /// # Errors
    /// As [`Host::undo`].
    pub(super) fn undo_by(&self, hands: &dyn Hands, progress: &dyn Progress) -> Result<Option<Undone>> {
        let log = Log::take(&self.settings().environment, progress)?;
        if let Some(undone) = self.recover_by(&log, hands, progress)? {
            return Ok(Some(undone));
        }
        log.newest()?.map(|last| self.undo_action(&log, hands, last, progress)).transpose()
    }

    /// Undoes the action whose newest part that is not undone is `last`.
    fn undo_action(
        &self,
        log: &Log<'_>,
        hands: &dyn Hands,
        mut last: Entry,
        progress: &dyn Progress,
    ) -> Result<Undone> {
        let is_resumed = last.state == State::Undoing;
        let mut undo = Undo {
            host: self,
            log,
            hands,
            view: self.newest_view()?,
            is_resumed,
            undone: Undone { action: undoable(&last), restored_count: 0, left: Vec::new() },
            places: Places::default(),
        };
        undo.undone.action.files.clear();
        let parts = undo
            .part(&mut last)
            .and_then(|()| note_undone(log, &mut last))
            .and_then(|()| undo.earlier_parts(Name::of(&last)));
        // After an error in a later part, too: the files of the parts before it are gone.
        let left = self.bring_places_in_step(&undo.places, AFTER, progress)?;
        parts?;
        if last.kind == Kind::Rename {
            let stays = |step: &Step| step.is_done || step.left.is_some();
            self.take_ways_back(&undo.view, &backwards(&ways(&last.steps, stays)), progress)?;
            self.settle_ways(progress)?;
        }
        conclude_undo(log, &mut last)?;
        undo.undone.left.extend(left);
        Ok(undo.undone)
    }

    /// Returns the actions that [`Host::undo`] would undo one after the other, the newest first. Changes
    /// nothing, even if a crash left one unfinished: of such a one it has the files that are at their new
    /// places. An action of which nothing was done is none.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be read.
    pub fn undoable(&self) -> Result<Vec<Undoable>> {
        self.undoable_unless(&Silent)
    }

    /// Does what [`Host::undoable`] does. `progress` may give up the wait for another process.
    ///
    /// # Errors
    /// As [`Host::undoable`]; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn undoable_unless(&self, progress: &dyn Progress) -> Result<Vec<Undoable>> {
        let log = Log::take(&self.settings().environment, progress)?;
        let mut list: Vec<Undoable> = Vec::new();
        for name in log.names()? {
            let mut entry = log.read(name)?;
            match entry.state {
                State::Undone => continue,
                State::Begun => resolve_all(&IdleHands, &mut entry),
                // What is left of it may be to bring the index in step.
                State::Undoing => retain_there(&mut entry),
                State::Done => {}
            }
            let is_done = entry.steps.is_empty() || entry.steps.iter().any(|step| step.is_done);
            if !is_done && entry.state != State::Undoing {
                continue;
            }
            let part = undoable(&entry);
            match list.iter_mut().find(|known| known.number == part.number) {
                Some(known) => known.add(part),
                None => list.push(part),
            }
        }
        Ok(list)
    }

    /// Finishes what a crash left, and brings its folders in step. Returns what was undone, if it was an
    /// undo.
    ///
    /// # Errors
    /// As [`Host::undo`]. What is left is finished next time.
    pub(super) fn recover(&self, log: &Log<'_>, progress: &dyn Progress) -> Result<Option<Undone>> {
        self.recover_by(log, &RealHands, progress)
    }

    fn recover_by(
        &self,
        log: &Log<'_>,
        hands: &dyn Hands,
        progress: &dyn Progress,
    ) -> Result<Option<Undone>> {
        let Some(mut entry) = log.newest()? else { return Ok(None) };
        match entry.state {
            State::Done | State::Undone => Ok(None),
            State::Undoing => self.undo_action(log, hands, entry, progress).map(Some),
            State::Begun => {
                resolve_all(hands, &mut entry);
                let view = self.newest_view()?;
                let is_rename = entry.kind == Kind::Rename;
                if is_rename {
                    self.take_ways_back(&view, &ways(&entry.steps, |step| !step.is_done), progress)?;
                }
                let removed =
                    if entry.kind == Kind::Remove { messages_of(&entry, &view)? } else { Vec::new() };
                let touched = match entry.kind {
                    Kind::Rename => directories::places_of(&entry.steps, &view.mailbox().folder_places()),
                    _ => folders_of(&entry).collect(),
                };
                self.bring_places_in_step(&touched, AFTER, progress)?;
                if is_rename {
                    self.settle_ways(progress)?;
                }
                if !removed.is_empty() {
                    self.forget(&removed, progress)?;
                }
                conclude(log, &mut entry)?;
                Ok(None)
            }
        }
    }

    /// Finishes what a crash left, before an action looks at the index. Returns what an undo left alone.
    ///
    /// # Errors
    /// As [`Host::undo`].
    pub(crate) fn finish_interrupted(&self, progress: &dyn Progress) -> Result<Vec<LeftAlone>> {
        let log = Log::take(&self.settings().environment, progress)?;
        Ok(self.recover(&log, progress)?.map(|undone| undone.left).unwrap_or_default())
    }
}

impl Undo<'_> {
    /// Undoes all parts of the action before this one, the newest first.
    fn earlier_parts(&mut self, last: Name) -> Result<()> {
        for name in self.log.names()? {
            if name.first != last.first || name.number >= last.number {
                continue;
            }
            let mut entry = self.log.read(name)?;
            match entry.state {
                // It may have been this undo, before the crash, or one before it. What was left alone was
                // perhaps not reported, and the index may not be in step.
                State::Undone if self.is_resumed => self.add(undoable(&entry), left_of(&entry), &entry),
                State::Undone => {}
                State::Begun | State::Done | State::Undoing => {
                    self.part(&mut entry)?;
                    conclude_undo(self.log, &mut entry)?;
                }
            }
        }
        Ok(())
    }

    /// Undoes a part of the action, which may be all of it. The log does not yet say that it is undone.
    fn part(&mut self, entry: &mut Entry) -> Result<()> {
        // Of an undo that goes on, some steps may be undone already.
        let action =
            if entry.state == State::Undoing { with_files(entry, was_done) } else { undoable(entry) };
        let view = self.view.clone();
        let has_unique_part = view.mailbox().has_unique_part();
        let is_taken = |folder: &Path, unique: &[u8]| has_unique_part(folder, unique).unwrap_or(true);
        if entry.kind == Kind::Rename {
            // After a crash, the log must say that the note is to be taken back or used.
            begin_undo(self.log, entry)?;
            let is_undone = |step: &Step| step.is_done && directories::may_go_back(step);
            let cancel = &self.host.settings().environment.context.cancel;
            self.host.note_ways(&view, &backwards(&ways(&entry.steps, is_undone)), cancel)?;
        }
        let Undoing { left, changed } = undo(self.log, self.hands, entry, &is_taken)?;
        if entry.steps.is_empty() {
            self.host.remove_added_tags(&view, entry)?;
        }
        changed.iter().filter(|_| entry.kind != Kind::Rename).for_each(|path| self.places.add_file(path));
        self.add(action, left, entry);
        Ok(())
    }

    /// Adds a part that was undone.
    fn add(&mut self, action: Undoable, left: Vec<LeftAlone>, entry: &Entry) {
        self.undone.restored_count += action.files.len().saturating_sub(left.len()) as u64;
        self.undone.action.add(action);
        self.undone.left.extend(left);
        let places = &mut self.places;
        match entry.kind {
            Kind::Rename => {
                directories::remove_empty(&entry.steps, self.view.roots());
                *places = directories::places_of(&entry.steps, &self.view.mailbox().folder_places());
            }
            // The names under which its files were removed before the crash are not known.
            _ if self.is_resumed => folders_of(entry).for_each(|folder| places.add_folder(folder)),
            kind => {
                let old = entry.steps.iter().filter(|_| kind != Kind::Import).map(|step| &step.from.0);
                old.chain(entry.steps.iter().map(|step| &step.to.0)).for_each(|path| places.add_file(path));
            }
        }
    }
}

/// Returns the messages of the files that an action removed, as far as a view knows them.
fn messages_of(entry: &Entry, view: &View) -> Result<Vec<[u8; 32]>> {
    let mut messages = BTreeSet::new();
    for step in entry.steps.iter().filter(|step| step.is_done) {
        for hit in view.mailbox().by_path(&step.from.0)? {
            messages.insert(view.message(&hit)?.sha256);
        }
    }
    Ok(messages.into_iter().collect())
}

/// Returns an action with the files that are to be undone; if it is undone, with those that were done.
///
/// An import has the files that it stored. Flags that it gave to others are like tags.
fn undoable(entry: &Entry) -> Undoable {
    match entry.state {
        State::Undone => with_files(entry, was_done),
        State::Begun | State::Done | State::Undoing => with_files(entry, |step| step.is_done),
    }
}

/// Returns whether a step was done, whether or not it is undone.
fn was_done(step: &Step) -> bool {
    step.new_inode.is_some()
}

/// Returns an action with the files of those steps that the test accepts.
fn with_files(entry: &Entry, is_meant: impl Fn(&Step) -> bool) -> Undoable {
    let files = |step: &Step| match (entry.kind, &entry.import) {
        (Kind::Import, _) => Some((PathBuf::new(), step.to.0.clone())),
        (_, Some(_)) => None,
        (_, None) => Some((step.from.0.clone(), step.to.0.clone())),
    };
    let import = entry.import.as_ref().map(|part| ImportedFrom {
        sources: part.sources.iter().map(|source| source.0.clone()).collect(),
        folder: part.folder.clone(),
    });
    Undoable {
        number: Name::of(entry).first,
        time: entry.time,
        kind: if import.is_some() { Kind::Import } else { entry.kind },
        files: entry.steps.iter().filter(|step| is_meant(step)).filter_map(files).collect(),
        import,
    }
}

impl Undoable {
    /// Adds an earlier part of the same import.
    fn add(&mut self, earlier: Undoable) {
        self.time = earlier.time;
        self.files.extend(earlier.files);
    }
}

/// Returns the folders that an action touches.
fn folders_of(entry: &Entry) -> impl Iterator<Item = &Path> {
    let places = entry.steps.iter().flat_map(|step| [&step.from.0, &step.to.0]);
    places.filter_map(|place| folder_of(place))
}
