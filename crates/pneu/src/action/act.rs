//! Does an action to all messages of a query, undoes the last one, and says what undo would do.
//!
//! Input: a query and an action. Output: what was done, and what was left alone. A file is touched only if it
//! is still the one that the index knows; else the index is brought in step first.

use crate::action::carry_out::{
    LeftAlone, Recovered, Undoing, carry_out, folder_of, recover, resolve_all, undo,
};
use crate::action::deliver::create;
use crate::action::directories;
use crate::action::hands::{IdleHands, RealHands};
use crate::action::log::{Entry, Kind, Log, Place, State, Step};
use crate::action::plan::{Action, Plan, PlannedStep, Surroundings, plan};
use crate::action::role::Known;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{FoundFile, Loss, Mode, NumberSet, Places, UpdateOptions};
use mail::{Flags, UniqueParts};
use query::Query;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use work::{Progress, Silent};

/// What an action did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acted {
    /// Messages whose files changed their places. Contents count once.
    pub message_count: u64,
    /// Their contents.
    pub(crate) contents: BTreeSet<[u8; 32]>,
    /// Files that changed their places.
    pub file_count: u64,
    /// Files that were left alone.
    pub left: Vec<LeftAlone>,
}

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

impl Host {
    /// Returns what an action would do to the files of all messages that a query matches. If the query names
    /// folders (`maildir:`), only files in these are meant, and else all files of a message.
    ///
    /// # Errors
    /// The query cannot be answered; there is no such folder, or no trash.
    pub fn plan_action(&self, query: &Query, action: &Action) -> Result<Plan> {
        let view = self.newest_view()?;
        let found = view.matching(query)?;
        let mut files = view.mailbox().found_files(&found)?;
        view.mailbox().retain_meant(query, &mut files)?;
        self.plan_files(&view, files, action)
    }

    /// Returns what an action would do to files.
    ///
    /// # Errors
    /// There is no such folder, or no trash.
    pub(super) fn plan_files(&self, view: &View, files: Vec<FoundFile>, action: &Action) -> Result<Plan> {
        let known = Known {
            folders: &view.mailbox().folder_places(),
            roots: view.roots(),
            accounts: &self.settings().configuration.accounts,
        };
        let around = Surroundings { known, unique_name: &|| self.unique_name() };
        plan(files, action, &around)
    }

    /// Does an action to the files of all messages that a query matches: see [`Host::plan_action`]. What it
    /// is about to do is durable before the first file is touched, and the result when it returns. The next
    /// view shows it.
    ///
    /// # Errors
    /// As [`Host::plan_action`]: nothing was done then. The log of actions cannot be written. As
    /// [`Host::update`]: the action is done, and the next pass makes up for the index.
    pub fn act(&self, query: &Query, action: &Action, progress: &dyn Progress) -> Result<Acted> {
        self.act_as_planned(action.kind(), &|| self.plan_action(query, action), progress)
    }

    /// Changes the flags of all files of some messages, each in its own way, in one action: see
    /// [`Host::act`]. The sets have no message in common.
    ///
    /// # Errors
    /// As [`Host::act`].
    pub(crate) fn flag_found(&self, changes: &[((Flags, Flags), NumberSet)]) -> Result<Acted> {
        let make_plan = || {
            let view = self.newest_view()?;
            let mut plan = Plan::default();
            for ((add, remove), found) in changes {
                let action = Action::Flag { add: *add, remove: *remove };
                let files = view.mailbox().found_files(found)?;
                plan.steps.extend(self.plan_files(&view, files, &action)?.steps);
            }
            Ok(plan)
        };
        self.act_as_planned(Kind::Flag, &make_plan, &Silent)
    }

    /// Does what `make_plan` says, and asks it again if the index has to be brought in step first.
    ///
    /// # Errors
    /// As [`Host::act`].
    pub(super) fn act_as_planned(
        &self,
        kind: Kind,
        make_plan: &dyn Fn() -> Result<Plan>,
        progress: &dyn Progress,
    ) -> Result<Acted> {
        let log = Log::take(&self.settings().environment)?;
        let recovered = self.recover(&log, progress)?;
        let mut acted =
            Acted { left: recovered.and_then(|done| done.undone).unwrap_or_default(), ..Acted::default() };
        let mut plan = make_plan()?;
        if let Some(left) = self.update_stale(plan.steps.iter().map(|step| &step.file), progress)? {
            acted.left.extend(left);
            plan = make_plan()?;
        }
        let (steps, changed): (Vec<PlannedStep>, Vec<PlannedStep>) =
            plan.steps.into_iter().partition(|step| is_there(&step.file));
        acted.left.extend(changed.iter().map(|step| why_not(&step.file)));
        if steps.is_empty() {
            return Ok(acted);
        }
        plan.new_folders.iter().try_for_each(|folder| create(folder))?;
        for directory in steps.iter().filter_map(|step| step.to.parent()).collect::<BTreeSet<&Path>>() {
            mail::create_directory(directory).map_err(Error::Delivery)?;
        }
        let mut entry = log.begin(kind, steps.iter().map(step).collect())?;
        acted.left.extend(carry_out(&log, &RealHands, &mut entry)?);
        let done = || steps.iter().zip(&entry.steps).filter(|(_, step)| step.is_done);
        acted.file_count = done().count() as u64;
        acted.contents = done().map(|(step, _)| step.file.sha256).collect();
        acted.message_count = acted.contents.len() as u64;
        acted.left.extend(self.bring_places_in_step(&places_of(&entry), AFTER, progress)?);
        Ok(acted)
    }

    /// Undoes the last action that is not undone yet, or goes on with an undo that was interrupted. Returns
    /// `None` if there is none. Afterwards all files are in their old folders with their old flags; their
    /// names may differ. Files that changed since are left alone. What is in the way for now, such as a full
    /// disk, can be undone later. Files that were imported are removed, and so are the tags that the import
    /// set.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be written; as [`Host::update`].
    pub fn undo(&self, progress: &dyn Progress) -> Result<Option<Undone>> {
        let log = Log::take(&self.settings().environment)?;
        // What was undone, with the number of its last part.
        let mut whole: Option<(u64, Undone)> = None;
        if let Some(Recovered { entry, undone: Some(left) }) = self.recover(&log, progress)? {
            let (action, file_count) = (undoable(&entry, false), entry.steps.len() as u64);
            let restored_count = file_count - (left.len() as u64).min(file_count);
            whole = Some((entry.number, Undone { restored_count, action, left }));
        }
        // The index is brought in step once for all parts.
        let mut places = None;
        let undone = self.undo_parts(&log, &mut whole, &mut places);
        // After an error in a later part, too: the files of the parts before it are gone.
        let mut whole = whole.map(|(_, undone)| undone);
        if let Some(places) = places {
            let left = self.bring_places_in_step(&places, AFTER, progress)?;
            whole.iter_mut().for_each(|undone| undone.left.extend(left.iter().cloned()));
        }
        undone?;
        Ok(whole)
    }

    /// Undoes the last action, or what is left of one that is partly undone already.
    fn undo_parts(
        &self,
        log: &Log<'_>,
        whole: &mut Option<(u64, Undone)>,
        places: &mut Option<Places>,
    ) -> Result<()> {
        for name in log.names()? {
            let known = whole.as_ref().map(|(number, undone)| (*number, undone.action.number));
            if known.is_some_and(|(number, first)| name.first != first || name.number >= number) {
                continue;
            }
            let mut entry = log.read(name)?;
            if entry.state == State::Undone {
                continue;
            }
            let part = self.undo_entry(log, &mut entry, places.get_or_insert_default())?;
            match whole {
                None => *whole = Some((name.number, part)),
                Some((_, undone)) => undone.add(part),
            }
        }
        Ok(())
    }

    /// Undoes an action, or a part of an import. Adds the places that changed.
    fn undo_entry(&self, log: &Log<'_>, entry: &mut Entry, places: &mut Places) -> Result<Undone> {
        let action = undoable(entry, true);
        if entry.steps.is_empty() {
            self.remove_added_tags(log, entry)?;
            return Ok(Undone { action, restored_count: 0, left: Vec::new() });
        }
        let view = self.newest_view()?;
        let has_unique_part = view.mailbox().has_unique_part();
        let is_taken = |folder: &Path, unique: &[u8]| has_unique_part(folder, unique).unwrap_or(true);
        let Undoing { left, changed } = undo(log, &RealHands, entry, &is_taken)?;
        let restored_count = action.files.len().saturating_sub(left.len()) as u64;
        match entry.kind {
            Kind::Rename => {
                directories::remove_empty(&entry.steps, view.roots());
                *places = directories::places_of(&entry.steps, &view.mailbox().folder_places());
            }
            kind => {
                let old = entry.steps.iter().filter(|_| kind != Kind::Import).map(|step| &step.from.0);
                let paths = old.chain(entry.steps.iter().map(|step| &step.to.0)).chain(&changed);
                paths.for_each(|path| places.add_file(path));
            }
        }
        Ok(Undone { action, restored_count, left })
    }

    /// Returns the actions that [`Host::undo`] would undo one after the other, the newest first. Changes
    /// nothing, even if a crash left one unfinished: of such a one it has the files that are at their new
    /// places. An action of which nothing was done is none.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be read.
    pub fn undoable(&self) -> Result<Vec<Undoable>> {
        let log = Log::take(&self.settings().environment)?;
        let mut list: Vec<Undoable> = Vec::new();
        for name in log.names()? {
            let mut entry = log.read(name)?;
            match entry.state {
                State::Undone => continue,
                State::Begun => resolve_all(&IdleHands, &mut entry),
                State::Done | State::Undoing => {}
            }
            if !entry.steps.is_empty() && !entry.steps.iter().any(|step| step.is_done) {
                continue;
            }
            let part = undoable(&entry, true);
            match list.iter_mut().find(|known| known.number == part.number) {
                Some(known) => known.add(part),
                None => list.push(part),
            }
        }
        Ok(list)
    }

    /// Brings the folders in step of which a file is not as the index knows it. Returns `None` if there are
    /// none.
    pub(super) fn update_stale<'a>(
        &self,
        files: impl Iterator<Item = &'a FoundFile>,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<LeftAlone>>> {
        let stale: BTreeSet<&Path> =
            files.filter(|file| !is_there(file)).map(|file| file.folder.as_path()).collect();
        if stale.is_empty() {
            return Ok(None);
        }
        self.bring_places_in_step(&stale.into_iter().collect(), BEFORE, progress).map(Some)
    }

    /// Finishes what a crash left, and brings its folders in step.
    pub(super) fn recover(&self, log: &Log<'_>, progress: &dyn Progress) -> Result<Option<Recovered>> {
        let view = self.newest_view()?;
        let has_unique_part = view.mailbox().has_unique_part();
        let is_taken = |folder: &Path, unique: &[u8]| has_unique_part(folder, unique).unwrap_or(true);
        let mut recovered = recover(log, &RealHands, &is_taken)?;
        if let Some(Recovered { entry, undone }) = &mut recovered {
            let removed = if entry.kind == Kind::Remove { messages_of(entry, &view)? } else { Vec::new() };
            let touched = match entry.kind {
                Kind::Rename => directories::places_of(&entry.steps, &view.mailbox().folder_places()),
                _ => folders_of(entry),
            };
            let left = self.bring_places_in_step(&touched, AFTER, progress)?;
            undone.iter_mut().for_each(|undone| undone.extend(left.iter().cloned()));
            if !removed.is_empty() {
                self.forget(&removed, progress)?;
            }
        }
        Ok(recovered)
    }

    /// Returns a name for a new message file.
    pub(super) fn unique_name(&self) -> Vec<u8> {
        mail::unique_name(&UniqueParts {
            now_ns: self.settings().environment.context.now_ns(),
            process: std::process::id(),
            count: self.next_number(),
            random: self.settings().environment.seed,
            host: &mail::host_name(),
        })
    }

    /// Brings places in step. Returns what could not be read, or was left as it was.
    pub(super) fn bring_places_in_step(
        &self,
        places: &Places,
        (mode, loss): (Mode, Loss),
        progress: &dyn Progress,
    ) -> Result<Vec<LeftAlone>> {
        let options = UpdateOptions { mode, loss, ..UpdateOptions::default() };
        let problems = self.update_places(places, &options, progress)?.problems;
        Ok(problems.into_iter().map(|problem| LeftAlone { path: problem.path, why: problem.what }).collect())
    }
}

/// How folders are brought in step if a file is not as the index knows it.
const BEFORE: (Mode, Loss) = (Mode::Thorough, Loss::Refuse);
/// How they are after an action: they may have lost all their files.
pub(super) const AFTER: (Mode, Loss) = (Mode::Default, Loss::Accept);

/// Says why a file is left alone that is not as the index knows it.
pub(super) fn why_not(file: &FoundFile) -> LeftAlone {
    let path = file.path();
    let why = match mail::stat_entry(&path) {
        Err(error) if error.is_not_found() => "it is gone",
        _ => "it changed just now; try again",
    };
    LeftAlone { why: why.to_owned(), path }
}

/// Returns whether a file is still as the index knows it.
pub(super) fn is_there(file: &FoundFile) -> bool {
    const TYPE: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    mail::stat_entry(&file.path()).is_ok_and(|stat| {
        (stat.inode, stat.size_bytes, stat.mtime_ns) == (file.inode, file.size_bytes, file.mtime_ns)
            && stat.mode & TYPE == REGULAR
    })
}

fn step(planned: &PlannedStep) -> Step {
    let PlannedStep { file, to } = planned;
    Step {
        from: Place(file.path()),
        to: Place(to.clone()),
        inode: file.inode,
        new_inode: None,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        sha256: None,
        is_done: false,
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

/// Returns an action with the files that are to be undone; with all of them, if nobody knows which are done.
fn undoable(entry: &Entry, is_known: bool) -> Undoable {
    let steps = entry.steps.iter().filter(|step| step.is_done || !is_known);
    let files = |step: &Step| match entry.kind {
        Kind::Import => (PathBuf::new(), step.to.0.clone()),
        _ => (step.from.0.clone(), step.to.0.clone()),
    };
    let import = entry.import.as_ref().map(|part| ImportedFrom {
        sources: part.sources.iter().map(|source| source.0.clone()).collect(),
        folder: part.folder.clone(),
    });
    let number = entry.import.as_ref().map_or(entry.number, |part| part.first);
    Undoable { number, time: entry.time, kind: entry.kind, files: steps.map(files).collect(), import }
}

impl Undoable {
    /// Adds an earlier part of the same import.
    fn add(&mut self, earlier: Undoable) {
        self.time = earlier.time;
        self.files.extend(earlier.files);
    }
}

impl Undone {
    /// Adds an earlier part of the same import.
    fn add(&mut self, earlier: Undone) {
        self.action.add(earlier.action);
        self.restored_count += earlier.restored_count;
        self.left.extend(earlier.left);
    }
}

/// Returns the folders that an action touches.
fn folders_of(entry: &Entry) -> Places {
    let places = entry.steps.iter().flat_map(|step| [&step.from.0, &step.to.0]);
    places.filter_map(|place| folder_of(place)).collect()
}

/// Returns the places of the files of an action. If a file is at neither of them, another program has renamed
/// it since, and its folders are meant.
fn places_of(entry: &Entry) -> Places {
    let mut places = Places::default();
    for step in &entry.steps {
        let both = [step.from.0.as_path(), step.to.0.as_path()];
        both.into_iter().for_each(|path| places.add_file(path));
        if both.into_iter().all(|path| mail::stat_entry(path).is_err()) {
            both.into_iter().filter_map(folder_of).for_each(|folder| places.add_folder(folder));
        }
    }
    places
}
