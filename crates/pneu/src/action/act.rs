//! Does an action to all messages of a query.
//!
//! Input: a query and an action. Output: what was done, and what was left alone. A file is touched only if it
//! is still the one that the index knows; else the index is brought in step first.

use crate::action::carry_out::{LeftAlone, carry_out};
use crate::action::deliver::create;
use crate::action::hands::RealHands;
use crate::action::import::ImportNotes;
use crate::action::log::{Entry, Kind, Log, Place, Step};
use crate::action::places::folder_of;
use crate::action::plan::{Action, Plan, PlannedStep, Surroundings, plan};
use crate::action::role::Known;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{FoundFile, Loss, Mode, NumberSet, Places, UpdateOptions};
use mail::{Flags, UniqueParts};
use query::Query;
use std::collections::BTreeSet;
use std::path::Path;
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
        self.act_as_planned((action.kind(), None), &|| self.plan_action(query, action), progress)
    }

    /// Changes the flags of all files of some messages, each in its own way, in one action, or as a part of
    /// an import: see [`Host::act`]. The sets have no message in common.
    ///
    /// # Errors
    /// As [`Host::act`].
    pub(crate) fn flag_found(
        &self,
        changes: &[((Flags, Flags), NumberSet)],
        import: Option<&ImportNotes>,
    ) -> Result<Acted> {
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
        self.act_as_planned((Kind::Flag, import), &make_plan, &Silent)
    }

    /// Does what `make_plan` says, and asks it again if the index has to be brought in step first. What an
    /// import does are parts of it.
    ///
    /// # Errors
    /// As [`Host::act`].
    pub(super) fn act_as_planned(
        &self,
        (kind, import): (Kind, Option<&ImportNotes>),
        make_plan: &dyn Fn() -> Result<Plan>,
        progress: &dyn Progress,
    ) -> Result<Acted> {
        let log = Log::take(&self.settings().environment, progress)?;
        let recovered = self.recover(&log, progress)?;
        let mut acted =
            Acted { left: recovered.map(|undone| undone.left).unwrap_or_default(), ..Acted::default() };
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
        let mut places = Places::default();
        let mut parts = steps.chunks(import.map_or(usize::MAX, ImportNotes::part_size));
        let done = parts.try_for_each(|part| -> Result<()> {
            let noted = part.iter().map(step).collect();
            let mut entry = match import {
                Some(notes) => notes.begin_files(&log, kind, noted)?,
                None => log.begin(kind, noted)?,
            };
            acted.left.extend(carry_out(&log, &RealHands, &mut entry)?);
            let done = part.iter().zip(&entry.steps).filter(|(_, step)| step.is_done);
            for (step, _) in done {
                acted.file_count += 1;
                acted.contents.insert(step.file.sha256);
            }
            add_places_of(&entry, &mut places);
            Ok(())
        });
        acted.message_count = acted.contents.len() as u64;
        // After an error in a later part, too: the log says that the parts before it are done.
        acted.left.extend(self.bring_places_in_step(&places, AFTER, progress)?);
        done?;
        Ok(acted)
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

    /// Returns a name for a new message file.
    pub(super) fn unique_name(&self) -> Vec<u8> {
        self.unique_name_at(None)
    }

    /// Returns a name for a message file that came at a time, or now.
    pub(super) fn unique_name_at(&self, seconds: Option<i64>) -> Vec<u8> {
        let at =
            seconds.filter(|seconds| *seconds >= 0).and_then(|seconds| seconds.checked_mul(1_000_000_000));
        mail::unique_name(&UniqueParts {
            now_ns: at.unwrap_or_else(|| self.settings().environment.context.now_ns()),
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
        left: None,
    }
}

/// Adds the places of the files of an action. If a file is at neither of them, another program has renamed
/// it since, and its folders are meant.
fn add_places_of(entry: &Entry, places: &mut Places) {
    for step in &entry.steps {
        let both = [step.from.0.as_path(), step.to.0.as_path()];
        both.into_iter().for_each(|path| places.add_file(path));
        if both.into_iter().all(|path| mail::stat_entry(path).is_err()) {
            both.into_iter().filter_map(folder_of).for_each(|folder| places.add_folder(folder));
        }
    }
}
