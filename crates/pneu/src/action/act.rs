//! Does an action to all messages of a query, undoes the last one, and says what undo would do.
//!
//! Input: a query and an action. Output: what was done, and what was left alone. A file is touched only if it
//! is still the one that the index knows; else the index is brought in step first.

use crate::action::carry_out::{LeftAlone, RealHands, carry_out, folder_of, recover, undo};
use crate::action::deliver::create;
use crate::action::log::{Entry, Kind, Log, Place, State, Step};
use crate::action::plan::{Action, Plan, PlannedStep, Surroundings, plan};
use crate::error::{Error, Result};
use crate::host::Host;
use index::{FoundFile, Loss, Mode, Root, UpdateOptions};
use mail::UniqueParts;
use query::Query;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use work::Progress;

/// What an action did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acted {
    /// Messages whose files changed their places. Contents count once.
    pub message_count: u64,
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
    /// The files, each with its old and its new place.
    pub files: Vec<(PathBuf, PathBuf)>,
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
        if let Some(folders) = view.mailbox().folders_of_query(query)? {
            files.retain(|file| folders.contains(&file.folder));
        }
        let trash = |root: &Root| self.settings().configuration.trash.get(&root.name).cloned();
        let around = Surroundings {
            folders: &view.mailbox().folder_places(),
            roots: view.roots(),
            trash: &trash,
            unique_name: &|| self.unique_name(),
        };
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
        let log = Log::take(&self.settings().environment)?;
        recover(&log, &RealHands, &|| self.unique_name())?;
        let mut plan = self.plan_action(query, action)?;
        let stale: BTreeSet<PathBuf> = plan
            .steps
            .iter()
            .filter(|step| !is_there(&step.file))
            .map(|step| step.file.folder.clone())
            .collect();
        if !stale.is_empty() {
            self.bring_folders_in_step(&stale, BEFORE, progress)?;
            plan = self.plan_action(query, action)?;
        }
        let (steps, gone): (Vec<PlannedStep>, Vec<PlannedStep>) =
            plan.steps.into_iter().partition(|step| is_there(&step.file));
        let changed = |step: PlannedStep| LeftAlone { path: step.file.path(), why: CHANGED.to_owned() };
        let mut acted = Acted { left: gone.into_iter().map(changed).collect(), ..Acted::default() };
        if steps.is_empty() {
            return Ok(acted);
        }
        plan.new_folder.as_deref().map_or(Ok(()), create)?;
        for directory in steps.iter().filter_map(|step| step.to.parent()).collect::<BTreeSet<&Path>>() {
            mail::create_directory(directory).map_err(Error::Delivery)?;
        }
        let mut entry = log.begin(action.kind(), steps.iter().map(step).collect())?;
        acted.left.extend(carry_out(&log, &RealHands, &mut entry)?);
        let done = || steps.iter().zip(&entry.steps).filter(|(_, step)| step.is_done);
        acted.file_count = done().count() as u64;
        acted.message_count = done().map(|(step, _)| step.file.sha256).collect::<BTreeSet<_>>().len() as u64;
        self.bring_folders_in_step(&folders_of(&entry), AFTER, progress)?;
        Ok(acted)
    }

    /// Undoes the last action that is not undone yet. Returns `None` if there is none. Afterwards all files
    /// are in their old folders with their old flags; their names may differ. Files that changed since are
    /// left alone.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be written; as [`Host::update`].
    pub fn undo(&self, progress: &dyn Progress) -> Result<Option<(Undoable, Vec<LeftAlone>)>> {
        let log = Log::take(&self.settings().environment)?;
        recover(&log, &RealHands, &|| self.unique_name())?;
        for number in log.numbers()? {
            let mut entry = log.read(number)?;
            if entry.state == State::Undone {
                continue;
            }
            let undoable = undoable(&entry);
            let left = undo(&log, &RealHands, &mut entry, &|| self.unique_name())?;
            self.bring_folders_in_step(&folders_of(&entry), AFTER, progress)?;
            return Ok(Some((undoable, left)));
        }
        Ok(None)
    }

    /// Returns the actions that [`Host::undo`] would undo one after the other, the newest first.
    ///
    /// # Errors
    /// The log of actions is damaged or cannot be read.
    pub fn undoable(&self) -> Result<Vec<Undoable>> {
        let log = Log::take(&self.settings().environment)?;
        recover(&log, &RealHands, &|| self.unique_name())?;
        let mut list = Vec::new();
        for number in log.numbers()? {
            let entry = log.read(number)?;
            if entry.state != State::Undone {
                list.push(undoable(&entry));
            }
        }
        Ok(list)
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

    /// Brings folders in step.
    fn bring_folders_in_step(
        &self,
        folders: &BTreeSet<PathBuf>,
        (mode, loss): (Mode, Loss),
        progress: &dyn Progress,
    ) -> Result<()> {
        let folders: Vec<PathBuf> = folders.iter().cloned().collect();
        let options = UpdateOptions { mode, loss, ..UpdateOptions::default() };
        self.update_folders(&folders, &options, progress)?;
        Ok(())
    }
}

/// How folders are brought in step if a file is not as the index knows it.
const BEFORE: (Mode, Loss) = (Mode::Thorough, Loss::Refuse);
/// How they are after an action: they may have lost all their files.
const AFTER: (Mode, Loss) = (Mode::Default, Loss::Accept);

/// Why a file is left alone that is not as the index knows it.
const CHANGED: &str = "it changed just now; try again";

/// Returns whether a file is still as the index knows it.
fn is_there(file: &FoundFile) -> bool {
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
        is_done: false,
    }
}

fn undoable(entry: &Entry) -> Undoable {
    let done = entry.steps.iter().filter(|step| step.is_done);
    let files = done.map(|step| (step.from.0.clone(), step.to.0.clone())).collect();
    Undoable { number: entry.number, time: entry.time, kind: entry.kind, files }
}

/// Returns the folders that an action touches.
fn folders_of(entry: &Entry) -> BTreeSet<PathBuf> {
    let places = entry.steps.iter().flat_map(|step| [&step.from.0, &step.to.0]);
    places.filter_map(|place| folder_of(place)).map(Path::to_owned).collect()
}
